package hcl

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	hclv2 "github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// reading is a block that was read and checked against its schema. A nil
// reading is a block that is not there: it has no values.
type reading struct {
	at     hclv2.Range // of the head of the block
	label  string
	given  map[string]hclv2.Range // names that are there, right or wrong
	values map[string]value       // attributes that are right
	blocks map[string]*reading
	named  map[string][]*reading // blocks with names of their own, in the order of the text
}

func (r *reading) has(name string) bool {
	if r == nil {
		return false
	}
	_, ok := r.given[name]
	return ok
}

func (r *reading) value(name string) value {
	if r == nil {
		return value{}
	}
	return r.values[name]
}

// where is the place of an attribute, or of the block where it is missing.
func (r *reading) where(name string) hclv2.Range {
	if at, ok := r.given[name]; ok {
		return at
	}
	return r.at
}

func (r *reading) block(name string) *reading {
	if r == nil {
		return nil
	}
	return r.blocks[name]
}

func (r *reading) text(name string) string        { return r.value(name).text }
func (r *reading) number(name string) float64     { return r.value(name).number }
func (r *reading) truth(name string) bool         { return r.value(name).truth }
func (r *reading) span(name string) time.Duration { return r.value(name).span }
func (r *reading) texts(name string) []string     { return r.value(name).texts }

func (r *reading) pairs(name string) map[string]string { return r.value(name).pairs }

// sizes are the integers of a list in ascending order.
func (r *reading) sizes(name string) []int {
	return slices.Sorted(slices.Values(r.value(name).integers))
}

// read checks a body against its schema. root is the whole grammar, to say
// where a misplaced name belongs.
func (s *source) read(body *hclsyntax.Body, at hclv2.Range, schema, root block) *reading {
	r := &reading{
		at:     at,
		given:  map[string]hclv2.Range{},
		values: map[string]value{},
		blocks: map[string]*reading{},
		named:  map[string][]*reading{},
	}
	for _, name := range slices.Sorted(maps.Keys(body.Attributes)) {
		s.readAttribute(r, body.Attributes[name], schema, root)
	}
	for _, b := range body.Blocks {
		s.readBlock(r, b, schema, root)
	}
	for _, a := range schema.attributes {
		if a.required && !r.has(a.name) {
			s.fail(at, message{
				summary: fmt.Sprintf("%s has no %s", schema.name, a.name),
				detail:  sentence(a.name + " is " + a.summary),
				hint:    fmt.Sprintf("add a line, for example %s = %s", a.name, a.example),
			})
		}
	}
	return r
}

func (s *source) readAttribute(r *reading, attr *hclsyntax.Attribute, schema, root block) {
	a, ok := schema.attribute(attr.Name)
	if !ok {
		if _, asBlock := schema.block(attr.Name); asBlock {
			r.given[attr.Name] = attr.NameRange // wrong, but not missing
		}
		s.unknown(attr.Name, attr.NameRange, true, schema, root)
		return
	}
	r.given[a.name] = attr.NameRange
	l, ok := s.literal(attr.Expr, a)
	if !ok {
		return
	}
	if v, ok := s.convert(l, a); ok {
		r.values[a.name] = v
	}
}

func (s *source) readBlock(r *reading, b *hclsyntax.Block, schema, root block) {
	child, ok := schema.block(b.Type)
	if !ok {
		if _, asAttribute := schema.attribute(b.Type); asAttribute {
			r.given[b.Type] = b.TypeRange // wrong, but not missing
		}
		s.unknown(b.Type, b.TypeRange, false, schema, root)
		return
	}
	if child.named {
		s.readNamed(r, b, child, root)
		return
	}
	if first := r.blocks[b.Type]; first != nil {
		s.fail(b.DefRange(), message{
			summary: fmt.Sprintf("a second %s block in %s; the first is on line %d", b.Type, schema.name, first.at.Start.Line),
			hint:    "keep one of them",
		})
		return
	}
	r.blocks[b.Type] = s.readChild(b, child, root)
}

// readNamed reads a block that may be there under many names.
func (s *source) readNamed(r *reading, b *hclsyntax.Block, child, root block) {
	if len(b.Labels) != 1 {
		s.fail(b.DefRange(), message{
			summary: fmt.Sprintf("%s takes one label, the name of the %s", child.name, child.labelled),
			hint:    fmt.Sprintf("for example %s \"a-name\" { … }", child.name),
		})
		return
	}
	if strings.TrimSpace(b.Labels[0]) == "" {
		s.fail(b.LabelRanges[0], message{
			summary: fmt.Sprintf("the name of the %s is empty", child.labelled),
			hint:    fmt.Sprintf("for example %s \"a-name\" { … }", child.name),
		})
		return
	}
	for _, other := range r.named[child.name] {
		if other.label == b.Labels[0] {
			s.fail(b.LabelRanges[0], message{
				summary: fmt.Sprintf("a second %s %q; the first is on line %d", child.name, shorten(b.Labels[0]), other.at.Start.Line),
				hint:    "keep one of them, or give it another name",
			})
			return
		}
	}
	one := child
	one.name = fmt.Sprintf("%s %q", child.name, shorten(b.Labels[0]))
	out := s.read(b.Body, b.DefRange(), one, root)
	out.label = b.Labels[0]
	r.named[child.name] = append(r.named[child.name], out)
}

func (s *source) readChild(b *hclsyntax.Block, child, root block) *reading {
	broken := &reading{at: b.DefRange()}
	if child.labelled == "" {
		if len(b.Labels) > 0 {
			s.fail(b.LabelRanges[0], message{
				summary: fmt.Sprintf("%s takes no label", child.name),
				hint:    fmt.Sprintf("write %s { … }", child.name),
			})
		}
		return s.read(b.Body, b.DefRange(), child, root)
	}
	names := child.variantNames()
	if len(b.Labels) != 1 {
		s.fail(b.DefRange(), message{
			summary: fmt.Sprintf("%s takes one label, the kind of %s", child.name, child.labelled),
			detail:  knownAre(names),
			hint:    fmt.Sprintf("for example %s %q { … }", child.name, names[len(names)-1]),
		})
		return broken
	}
	v, ok := child.variant(b.Labels[0])
	if !ok {
		s.fail(b.LabelRanges[0], message{
			summary: fmt.Sprintf("%s %q is not known", child.labelled, shorten(b.Labels[0])),
			detail:  knownAre(names),
			hint:    didYouMean(b.Labels[0], names),
		})
		return broken
	}
	out := s.read(b.Body, b.DefRange(), v, root)
	out.label = b.Labels[0]
	return out
}

// unknown reports a name the block does not take.
func (s *source) unknown(name string, at hclv2.Range, isAttribute bool, schema, root block) {
	what, other := "block", "attribute"
	if isAttribute {
		what, other = other, what
	}
	m := message{
		summary: fmt.Sprintf("unknown %s %q in %s", what, shorten(name), schema.name),
		detail:  sentence(schema.name + " takes " + schema.takes()),
	}
	_, asAttribute := schema.attribute(name)
	_, asBlock := schema.block(name)
	switch near := Nearest(name, append(schema.attributeNames(), schema.blockNames()...)); {
	case asAttribute || asBlock:
		m.summary = fmt.Sprintf("%s is a %s of %s, not an %s", name, other, schema.name, what)
		m.hint = fmt.Sprintf("write %s { … }, without =", name)
		if asAttribute {
			a, _ := schema.attribute(name)
			m.summary = fmt.Sprintf("%s is an %s of %s, not a %s", name, other, schema.name, what)
			m.hint = fmt.Sprintf("write %s = %s", name, a.example)
		}
	case len(root.homes(name)) > 0:
		m.hint = fmt.Sprintf("%s belongs in %s", name, strings.Join(root.homes(name), ", "))
	case near != "":
		m.hint = fmt.Sprintf("did you mean %q?", near)
	}
	s.fail(at, m)
}
