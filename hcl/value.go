package hcl

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	hclv2 "github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// value is a checked value; the field of its attribute's kind is set. A
// percentage and a number are in number.
type value struct {
	at       hclv2.Range
	text     string
	number   float64
	truth    bool
	span     time.Duration
	texts    []string
	integers []int
	pairs    map[string]string
}

// literal is a plain value as written.
type literal struct {
	at   hclv2.Range
	of   cty.Value // string, number or bool; unset for a list
	list []literal
	many bool
	keys []string // of list, where it has them
}

// describe names the value for a message.
func (l literal) describe() string {
	switch {
	case l.many:
		return "a list"
	case l.of.Type() == cty.String:
		return "the text " + strconv.Quote(shorten(l.of.AsString()))
	case l.of.Type() == cty.Number:
		return "the number " + shorten(l.of.AsBigFloat().Text('g', 17))
	default:
		return strconv.FormatBool(l.of.True())
	}
}

// shorten bounds a quoted value.
func shorten(s string) string {
	const most = 60
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most]) + "…"
}

// literal reads an expression that is a plain value. Nothing is evaluated, so
// no text can make reading costly.
func (s *source) literal(e hclsyntax.Expression, a attribute) (literal, bool) {
	switch e := e.(type) {
	case *hclsyntax.ParenthesesExpr:
		return s.literal(e.Expression, a)
	case *hclsyntax.LiteralValueExpr:
		if e.Val.IsNull() {
			s.fail(e.Range(), message{
				summary: a.name + " has no value",
				detail:  sentence(a.name + " takes " + a.want()),
				hint:    a.emptyHint(),
			})
			return literal{}, false
		}
		return literal{at: e.Range(), of: e.Val}, true
	case *hclsyntax.UnaryOpExpr:
		l, ok := s.literal(e.Val, a)
		if ok && e.Op == hclsyntax.OpNegate && !l.many && l.of.Type() == cty.Number {
			return literal{at: e.Range(), of: l.of.Negate()}, true
		}
		if !ok {
			return literal{}, false
		}
	case *hclsyntax.TemplateExpr:
		if text, ok := templateText(e); ok {
			return literal{at: e.Range(), of: cty.StringVal(text)}, true
		}
	case *hclsyntax.TupleConsExpr:
		out := literal{at: e.Range(), many: true}
		for _, item := range e.Exprs {
			l, ok := s.literal(item, a)
			if !ok {
				return literal{}, false
			}
			out.list = append(out.list, l)
		}
		return out, true
	case *hclsyntax.ObjectConsExpr:
		if a.kind == kindPairs {
			return s.literalPairs(e, a)
		}
	}
	s.fail(e.Range(), notPlain(e, a))
	return literal{}, false
}

// literalPairs reads { name = "…" }.
func (s *source) literalPairs(e *hclsyntax.ObjectConsExpr, a attribute) (literal, bool) {
	out := literal{at: e.Range(), many: true, keys: []string{}}
	for _, item := range e.Items {
		key := hclv2.ExprAsKeyword(item.KeyExpr)
		if quoted, ok := unwrapped(item.KeyExpr).(*hclsyntax.TemplateExpr); ok && key == "" {
			key, _ = templateText(quoted)
		}
		if key == "" {
			s.fail(item.KeyExpr.Range(), message{summary: a.name + " has a name that is not plain text", hint: "for example " + a.name + " = " + a.example})
			return literal{}, false
		}
		l, ok := s.literal(item.ValueExpr, a)
		if !ok {
			return literal{}, false
		}
		out.keys, out.list = append(out.keys, key), append(out.list, l)
	}
	return out, true
}

func unwrapped(e hclsyntax.Expression) hclsyntax.Expression {
	if key, ok := e.(*hclsyntax.ObjectConsKeyExpr); ok {
		return key.Wrapped
	}
	return e
}

func templateText(e *hclsyntax.TemplateExpr) (string, bool) {
	var b strings.Builder
	for _, part := range e.Parts {
		l, ok := part.(*hclsyntax.LiteralValueExpr)
		if !ok || l.Val.IsNull() || l.Val.Type() != cty.String {
			return "", false
		}
		b.WriteString(l.Val.AsString())
	}
	return b.String(), true
}

// notPlain says why an expression is refused.
func notPlain(e hclsyntax.Expression, a attribute) message {
	m := message{
		summary: a.name + " is not a plain value",
		detail:  sentence(a.name + " takes " + a.want()),
		hint:    "variables, functions and operators are not known where the block is read; write the value itself",
	}
	switch e := e.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		if len(e.Traversal) > 1 {
			m.summary = fmt.Sprintf("%s uses a variable of %q", a.name, shorten(e.Traversal.RootName()))
			m.hint = "variables are not known where the block is read; write the value itself, or put the block into meta { performance = <<EOT … EOT }, where Nomad fills them in"
			return m
		}
		word := shorten(e.Traversal.RootName())
		m.summary = fmt.Sprintf("%s has the bare word %s", a.name, word)
		m.hint = "string values must be quoted: " + strconv.Quote(word)
		if a.kind == kindNumber || a.kind == kindInteger || a.kind == kindIntegers {
			m.summary = fmt.Sprintf("%s is %s, which is not a number", a.name, word)
			m.hint = ""
		}
	case *hclsyntax.FunctionCallExpr:
		m.summary = fmt.Sprintf("%s calls the function %q", a.name, shorten(e.Name))
	case *hclsyntax.TemplateExpr, *hclsyntax.TemplateWrapExpr:
		m.summary = a.name + " holds a ${ } or %{ } template"
		m.hint = "write the value itself; a literal ${ is written $${"
	}
	return m
}

// convert checks a literal against the attribute.
func (s *source) convert(l literal, a attribute) (value, bool) {
	v := value{at: l.at}
	if a.isList() {
		return s.convertList(l, a)
	}
	if a.kind == kindPairs {
		return s.convertPairs(l, a)
	}
	if l.many {
		return v, s.wrongKind(l, a)
	}
	switch a.kind {
	case kindText:
		return s.convertText(l, a)
	case kindNumber, kindInteger:
		return s.convertNumber(l, a)
	case kindTruth:
		if l.of.Type() != cty.Bool {
			return v, s.wrongKind(l, a)
		}
		v.truth = l.of.True()
		return v, true
	case kindSpan:
		return s.convertSpan(l, a)
	case kindPercent:
		return s.convertPercent(l, a)
	default:
		return s.convertChoice(l, a)
	}
}

func (s *source) wrongKind(l literal, a attribute) bool {
	hint := a.misuse
	if hint == "" {
		hint = fmt.Sprintf("for example %s = %s", a.name, a.example)
	}
	s.fail(l.at, message{
		summary: fmt.Sprintf("%s is %s", a.name, l.describe()),
		detail:  sentence(a.name + " takes " + a.want()),
		hint:    hint,
	})
	return false
}

func (s *source) outside(l literal, a attribute, got, hint string) bool {
	s.fail(l.at, message{
		summary: fmt.Sprintf("%s is %s", a.name, got),
		detail:  sentence(a.name + " takes " + a.want()),
		hint:    hint,
	})
	return false
}

func (s *source) convertText(l literal, a attribute) (value, bool) {
	v := value{at: l.at}
	if l.of.Type() != cty.String {
		return v, s.wrongKind(l, a)
	}
	v.text = l.of.AsString()
	switch {
	case strings.TrimSpace(v.text) == "":
		return v, s.outside(l, a, "empty", a.emptyHint())
	case len(v.text) > maxTextLength:
		return v, s.outside(l, a, fmt.Sprintf("%d bytes long; at most %d are read", len(v.text), maxTextLength), "")
	case a.kind == kindText && strings.ContainsAny(v.text, "\n\r\x00"):
		return v, s.outside(l, a, "text with a line break", "write it in quotes, on one line")
	}
	return v, true
}

func (s *source) convertNumber(l literal, a attribute) (value, bool) {
	v := value{at: l.at}
	if l.of.Type() != cty.Number {
		if _, err := strconv.ParseFloat(textOf(l), 64); err == nil {
			return v, s.outside(l, a, l.describe(), "remove the quotes")
		}
		return v, s.wrongKind(l, a)
	}
	exact := l.of.AsBigFloat()
	v.number, _ = exact.Float64()
	if a.kind == kindInteger || a.kind == kindIntegers {
		if !exact.IsInt() {
			return v, s.outside(l, a, l.describe(), "")
		}
	}
	if math.IsInf(v.number, 0) || !a.bounds.hold(v.number) || tooSmall(exact, v.number) {
		return v, s.outside(l, a, l.describe(), a.beyond)
	}
	return v, true
}

// tooSmall reports a number that is not zero and became zero.
func tooSmall(exact *big.Float, v float64) bool { return v == 0 && exact.Sign() != 0 }

func textOf(l literal) string {
	if l.many || l.of.Type() != cty.String {
		return ""
	}
	return l.of.AsString()
}

func (s *source) convertSpan(l literal, a attribute) (value, bool) {
	v := value{at: l.at}
	if l.of.Type() == cty.Number {
		return v, s.outside(l, a, l.describe()+" without a unit",
			fmt.Sprintf("write a unit (us, ms, s, m, h) and quotes: %s = %s", a.name, a.example))
	}
	if l.of.Type() != cty.String {
		return v, s.wrongKind(l, a)
	}
	text := strings.TrimSpace(l.of.AsString())
	span, err := time.ParseDuration(text)
	if err != nil {
		hint := fmt.Sprintf("the units are us, ms, s, m and h: %s = %s", a.name, a.example)
		if strings.HasSuffix(text, "d") {
			hint = "there is no unit for days; write hours, for example \"48h\""
		}
		return v, s.outside(l, a, l.describe()+", which is not a duration", hint)
	}
	v.span = span
	if !a.bounds.hold(span.Seconds()) {
		return v, s.outside(l, a, l.describe(), "")
	}
	return v, true
}

func (s *source) convertPercent(l literal, a attribute) (value, bool) {
	v := value{at: l.at}
	if l.of.Type() != cty.String {
		return v, s.wrongKind(l, a)
	}
	digits, ok := strings.CutSuffix(strings.TrimSpace(l.of.AsString()), "%")
	if !ok {
		return v, s.outside(l, a, l.describe()+" without a percent sign", a.misuse)
	}
	digits = strings.TrimSpace(digits)
	number, err := strconv.ParseFloat(digits, 64)
	if err != nil || strings.Trim(digits, "-0123456789.") != "" {
		return v, s.outside(l, a, l.describe()+", which is not a percentage", a.misuse)
	}
	v.number = number
	if !a.bounds.hold(number) {
		return v, s.outside(l, a, l.describe(), "")
	}
	return v, true
}

func (s *source) convertChoice(l literal, a attribute) (value, bool) {
	v := value{at: l.at}
	if l.of.Type() != cty.String {
		return v, s.wrongKind(l, a)
	}
	v.text = l.of.AsString()
	if slices.Contains(a.choices, v.text) {
		return v, true
	}
	summary := fmt.Sprintf("%s %q is not known", a.name, shorten(v.text))
	if a.isList() {
		summary = fmt.Sprintf("%s has %q, which is not known", a.name, shorten(v.text))
	}
	s.fail(l.at, message{
		summary: summary,
		detail:  knownAre(a.choices),
		hint:    didYouMean(v.text, a.choices),
	})
	return v, false
}

// didYouMean is the hint for a name that is not known.
func didYouMean(word string, known []string) string {
	if near := Nearest(word, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// convertList checks a list and all its items; no item may be there twice, except
// in a command.
func (s *source) convertList(l literal, a attribute) (value, bool) {
	v := value{at: l.at}
	if !l.many {
		return v, s.wrongKind(l, a)
	}
	most := maxSizes
	if a.kind != kindIntegers {
		most = maxTexts
	}
	if len(l.list) == 0 {
		return v, s.outside(l, a, "an empty list", a.emptyHint())
	}
	if len(l.list) > most {
		return v, s.outside(l, a, fmt.Sprintf("a list of %d values; at most %d are read", len(l.list), most), "")
	}
	good := true
	for _, item := range l.list {
		iv, ok := s.convertItem(item, a)
		if ok && a.kind != kindTexts && v.contains(iv, a.kind) {
			s.fail(item.at, message{summary: fmt.Sprintf("%s has %s twice", a.name, item.describe()), hint: "remove one"})
			ok = false
		}
		if !ok {
			good = false
			continue
		}
		if a.kind == kindIntegers {
			v.integers = append(v.integers, int(iv.number))
		} else {
			v.texts = append(v.texts, iv.text)
		}
	}
	return v, good
}

// convertPairs checks names and texts; no name may be there twice.
func (s *source) convertPairs(l literal, a attribute) (value, bool) {
	v := value{at: l.at, pairs: map[string]string{}}
	if l.keys == nil {
		return v, s.wrongKind(l, a)
	}
	if len(l.list) == 0 || len(l.list) > maxTexts {
		return v, s.outside(l, a, fmt.Sprintf("a map of %d names", len(l.list)), a.emptyHint())
	}
	good := true
	for i, item := range l.list {
		key := l.keys[i]
		if _, twice := v.pairs[key]; twice {
			s.fail(item.at, message{summary: fmt.Sprintf("%s has %q twice", a.name, shorten(key)), hint: "remove one"})
			good = false
			continue
		}
		text, ok := s.convertItem(item, a)
		good = good && ok
		v.pairs[key] = text.text
	}
	return v, good
}

func (s *source) convertItem(item literal, a attribute) (value, bool) {
	switch {
	case item.many:
		return value{}, s.wrongKind(item, a)
	case a.kind == kindIntegers:
		return s.convertNumber(item, a)
	case a.kind == kindChoices:
		return s.convertChoice(item, a)
	case item.of.Type() != cty.String:
		return value{}, s.wrongKind(item, a)
	case len(item.of.AsString()) > maxTextLength:
		return value{}, s.outside(item, a, fmt.Sprintf("text of %d bytes; at most %d are read", len(item.of.AsString()), maxTextLength), "")
	default:
		return value{at: item.at, text: item.of.AsString()}, true
	}
}

func (v value) contains(item value, k kind) bool {
	if k == kindIntegers {
		return slices.Contains(v.integers, int(item.number))
	}
	return slices.Contains(v.texts, item.text)
}

// sentence ends a text that may begin with a name, which keeps its case.
func sentence(s string) string { return s + "." }
