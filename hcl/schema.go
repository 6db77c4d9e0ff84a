package hcl

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// kind is what an attribute's value must be.
type kind int

const (
	kindText     kind = iota // "…"
	kindNumber               // 1.5
	kindInteger              // 2
	kindTruth                // true or false
	kindSpan                 // "5ms"; bounds in seconds
	kindPercent              // "5%"; bounds in percent
	kindChoice               // one of choices
	kindTexts                // ["…", "…"]
	kindIntegers             // [1, 2], no value twice; bounds for each
	kindChoices              // [one of choices, …], none twice
	kindPairs                // { name = "…" }
)

// bounds is the closed interval [min, max]; with above, (min, max].
type bounds struct {
	min, max float64
	above    bool
}

func (b bounds) hold(v float64) bool {
	if b.above && v <= b.min {
		return false
	}
	return v >= b.min && v <= b.max
}

// attribute is one line of the grammar.
type attribute struct {
	name      string
	kind      kind
	bounds    bounds
	unit      string   // of a number, for people
	choices   []string // of kindChoice and kindChoices
	required  bool
	byDefault string // in words or as written
	example   string // as written after the =
	summary   string
	misuse    string // hint where the value is of the wrong kind
	beyond    string // hint where a number is outside its bounds
}

// block is one block of the grammar. A block is at most once in its
// parent. Where variants are given the block has one label, the name of the
// variant, and takes the variant's attributes besides its own. A block that is
// named has one label of the user's choice instead, and may be there under many.
type block struct {
	name       string
	summary    string
	labelled   string // what the label names, for messages
	named      bool
	variants   []block
	attributes []attribute
	blocks     []block
}

// maxTextLength bounds one text value; a regular expression or a command's
// argument is far shorter.
const maxTextLength = 4 << 10

// Lengths of lists. Each size of a scale list is a column of the classifier's
// matrix, so a list is short.
const (
	maxSizes = 16
	maxTexts = 64
)

func (a attribute) isList() bool {
	return a.kind == kindTexts || a.kind == kindIntegers || a.kind == kindChoices
}

// emptyHint says what to write instead of nothing.
func (a attribute) emptyHint() string {
	if a.required || a.byDefault == "" {
		return fmt.Sprintf("for example %s = %s", a.name, a.example)
	}
	return "remove the line to use the default"
}

// want says what value the attribute takes, with its bounds.
func (a attribute) want() string {
	switch a.kind {
	case kindText:
		return "text in quotes"
	case kindNumber:
		return "a number" + a.unitSuffix() + ", " + a.boundsText(formatBound)
	case kindInteger:
		return "a whole number" + a.unitSuffix() + ", " + a.boundsText(formatBound)
	case kindTruth:
		return "true or false"
	case kindSpan:
		return "a duration in quotes, " + a.boundsText(formatSeconds)
	case kindPercent:
		return "a percentage in quotes, " + a.boundsText(func(v float64) string { return formatNumber(v) + "%" })
	case kindChoice:
		return quoteList(a.choices)
	case kindTexts:
		return fmt.Sprintf("a list of 1 to %d strings in quotes", maxTexts)
	case kindPairs:
		return fmt.Sprintf("1 to %d names with strings in quotes, in braces", maxTexts)
	case kindIntegers:
		return fmt.Sprintf("a list of 1 to %d different whole numbers%s, each %s", maxSizes, a.unitSuffix(), a.boundsText(formatBound))
	default:
		return "a list of " + quoteList(a.choices)
	}
}

func (a attribute) unitSuffix() string {
	if a.unit == "" {
		return ""
	}
	return " of " + a.unit
}

func (a attribute) boundsText(format func(float64) string) string {
	if a.bounds.above {
		return fmt.Sprintf("more than %s and at most %s", format(a.bounds.min), format(a.bounds.max))
	}
	return fmt.Sprintf("%s to %s", format(a.bounds.min), format(a.bounds.max))
}

// attributeNames are the names the block takes, in the order of the table.
func (b block) attributeNames() []string {
	out := make([]string, len(b.attributes))
	for i, a := range b.attributes {
		out[i] = a.name
	}
	return out
}

func (b block) blockNames() []string {
	out := make([]string, len(b.blocks))
	for i, c := range b.blocks {
		out[i] = c.name
	}
	return out
}

func (b block) variantNames() []string {
	out := make([]string, len(b.variants))
	for i, v := range b.variants {
		out[i] = v.name
	}
	return out
}

func (b block) attribute(name string) (attribute, bool) {
	for _, a := range b.attributes {
		if a.name == name {
			return a, true
		}
	}
	return attribute{}, false
}

func (b block) block(name string) (block, bool) {
	for _, c := range b.blocks {
		if c.name == name {
			return c, true
		}
	}
	return block{}, false
}

// variant is the block as its label makes it.
func (b block) variant(label string) (block, bool) {
	for _, v := range b.variants {
		if v.name == label {
			return block{
				name: b.name + ` "` + label + `"`, summary: v.summary,
				attributes: append(append([]attribute(nil), b.attributes...), v.attributes...),
			}, true
		}
	}
	return block{}, false
}

// homes are the blocks below b, as a user writes them, that take name.
func (b block) homes(name string) []string {
	var out []string
	for _, c := range b.blocks {
		_, attr := c.attribute(name)
		_, nested := c.block(name)
		if attr || nested {
			out = append(out, c.name)
		}
		out = append(out, c.homes(name)...)
		for _, v := range c.variants {
			if _, ok := v.attribute(name); ok {
				out = append(out, c.name+` "`+v.name+`"`)
			}
		}
	}
	return out
}

// takes lists what the block may have.
func (b block) takes() string {
	var parts []string
	if names := b.attributeNames(); len(names) > 0 {
		parts = append(parts, "the "+wording.Plural(len(names), "attribute")+" "+strings.Join(names, ", "))
	}
	if names := b.blockNames(); len(names) > 0 {
		parts = append(parts, "the "+wording.Plural(len(names), "block")+" "+strings.Join(names, ", "))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, " and ")
}

// formatBound prints a bound; large ones are powers of ten.
func formatBound(v float64) string {
	if v < 1e9 {
		return formatNumber(v)
	}
	return strings.Replace(strconv.FormatFloat(v, 'g', -1, 64), "e+", "e", 1)
}

func formatNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func formatSeconds(v float64) string {
	return formatSpan(time.Duration(v * float64(time.Second)))
}

// formatSpan prints a duration without the zero parts of its String.
func formatSpan(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}
