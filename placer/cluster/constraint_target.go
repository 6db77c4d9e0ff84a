package cluster

import "strings"

// targetKind says what a side of a constraint refers to.
type targetKind int

const (
	literal targetKind = iota
	nodeField
	attribute
	meta
	nothing // an interpolation Nomad does not know: never found
)

// target is one side of a constraint, parsed.
type target struct {
	kind targetKind
	name string               // literal text, or key of an attribute or meta value
	of   func(n *Node) string // with nodeField
}

// nodeFields are the ${node.*} Nomad resolves in constraints.
var nodeFields = map[string]func(n *Node) string{
	"${node.unique.id}":   func(n *Node) string { return string(n.ID) },
	"${node.unique.name}": func(n *Node) string { return n.Name },
	"${node.datacenter}":  func(n *Node) string { return n.Datacenter },
	"${node.class}":       func(n *Node) string { return n.Class },
	"${node.pool}":        func(n *Node) string { return n.Pool },
}

// parseTarget reads a side. Only a text that is one whole interpolation is
// resolved; anything else is literal, as in Nomad.
func parseTarget(text string) target {
	if !strings.HasPrefix(text, "${") {
		return target{kind: literal, name: text}
	}
	if of, ok := nodeFields[text]; ok {
		return target{kind: nodeField, of: of}
	}
	if key, ok := strings.CutPrefix(text, "${attr."); ok {
		return target{kind: attribute, name: strings.TrimSuffix(key, "}")}
	}
	if key, ok := strings.CutPrefix(text, "${meta."); ok {
		return target{kind: meta, name: strings.TrimSuffix(key, "}")}
	}
	return target{kind: nothing}
}

// OfNode reports whether a side of a constraint is something that nodes have: ${node.class},
// ${meta.rack}, ${attr.cpu.arch}.
func OfNode(text string) bool {
	t := parseTarget(text)
	return t.kind == nodeField || (t.kind == attribute || t.kind == meta) && t.name != ""
}

func (t target) resolve(n *Node) value {
	switch t.kind {
	case literal:
		return value{t.name, true}
	case nodeField:
		return value{t.of(n), true}
	case attribute:
		v, ok := n.Attributes.Of(t.name)
		return value{v, ok}
	case meta:
		v, ok := n.Meta[t.name]
		return value{v, ok}
	default:
		return value{}
	}
}
