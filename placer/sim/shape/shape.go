package shape

import (
	"errors"
	"fmt"
	"strings"
)

// Origin says where a number comes from.
type Origin uint8

// The origins. The zero value is a number that was not given.
const (
	Unknown   Origin = iota
	Stated           // in the paper
	Catalogue        // published by the maker of the part or the provider of the instance
	Choice           // ours
)

// String is the name of the origin.
func (o Origin) String() string {
	switch o {
	case Stated:
		return "stated"
	case Catalogue:
		return "catalogue"
	case Choice:
		return "choice"
	default:
		return "unknown"
	}
}

// Number is a value and where it comes from.
type Number struct {
	Value  float64 `json:"value"`
	Origin Origin  `json:"-"`
}

// Known reports whether anybody gave the number.
func (n Number) Known() bool { return n.Origin != Unknown }

// Or is the value, or another one where it is not known.
func (n Number) Or(other float64) float64 {
	if n.Known() {
		return n.Value
	}
	return other
}

// String is the value and its origin.
func (n Number) String() string {
	if !n.Known() {
		return "unknown"
	}
	return fmt.Sprintf("%g (%s)", n.Value, n.Origin)
}

// Text is a word and where it comes from.
type Text struct {
	Value  string `json:"value"`
	Origin Origin `json:"-"`
}

// Node is one configuration and how many nodes of it there are.
type Node struct {
	Configuration string
	Count         Number
	Cores         Number // hardware threads of an instance, cores of a server, over all sockets
	Sockets       Number
	SpeedGHz      Number // nominal clock
	MemoryBytes   Number
	DiskBytes     Number // local
	LLCBytes      Number // last-level cache, of a socket as the source counts it
	L1IBytes      Number
	L1DBytes      Number
	GPUs          Number
	GPUType       Text
}

// Cluster is a number of configurations.
type Cluster struct {
	Name    string
	Summary string
	Source  string
	Notes   []string // what was chosen, and why
	Nodes   []Node
}

// ErrShape: a shape cannot be a cluster.
var ErrShape = errors.New("bad cluster shape")

// Check tells what is wrong with a shape.
func (c Cluster) Check() error {
	if len(c.Nodes) == 0 {
		return fmt.Errorf("%w: %s has no nodes", ErrShape, c.Name)
	}
	seen := map[string]bool{}
	for _, node := range c.Nodes {
		if node.Configuration == "" || seen[node.Configuration] {
			return fmt.Errorf("%w: %s: the configuration %q is empty or there twice", ErrShape, c.Name, node.Configuration)
		}
		seen[node.Configuration] = true
		if n := node.Count; !n.Known() || n.Value < 1 || n.Value != float64(int(n.Value)) {
			return fmt.Errorf("%w: %s: %v nodes of %s", ErrShape, c.Name, n, node.Configuration)
		}
		for _, field := range node.Fields() {
			if field.Number.Known() && !(field.Number.Value >= 0) {
				return fmt.Errorf("%w: %s: %s of %s is %v", ErrShape, c.Name, field.Name, node.Configuration, field.Number)
			}
		}
	}
	return nil
}

// Field is a number of a node, by name.
type Field struct {
	Name   string
	Number Number
}

// Fields lists the numbers of a node, for tables and checks.
func (n Node) Fields() []Field {
	return []Field{
		{"count", n.Count}, {"cores", n.Cores}, {"sockets", n.Sockets}, {"speed_ghz", n.SpeedGHz},
		{"memory_bytes", n.MemoryBytes}, {"disk_bytes", n.DiskBytes}, {"llc_bytes", n.LLCBytes},
		{"l1i_bytes", n.L1IBytes}, {"l1d_bytes", n.L1DBytes}, {"gpus", n.GPUs},
	}
}

// Descriptor is one line of the table of shapes.
type Descriptor struct {
	Name    string
	Summary string
	Build   func() Cluster
}

// Shapes lists every named shape, sorted by name.
func Shapes() []Descriptor {
	return []Descriptor{
		lshDefault,
		lshHigh,
		lshLow,
		azure500,
		ec2x1000,
		gce100,
		paragonLocal40,
		quasarEC2x200,
		quasarLocal40,
		tarcil100,
		tarcil100Mixed,
		tarcil400,
	}
}

// Lookup builds the shape of that name: one of Shapes, or
// "homogeneous-<nodes>x<cores>x<memory>", such as homogeneous-1000x8x32GiB.
func Lookup(name string) (Cluster, error) {
	var names []string
	for _, d := range Shapes() {
		if d.Name == name {
			c := d.Build()
			c.Name, c.Summary = d.Name, d.Summary
			return c, c.Check()
		}
		names = append(names, d.Name)
	}
	if size, ok := strings.CutPrefix(name, "homogeneous-"); ok {
		return parseHomogeneous(name, size)
	}
	return Cluster{}, fmt.Errorf("unknown cluster shape %q; known: %s, homogeneous-<nodes>x<cores>x<memory>", name, strings.Join(names, ", "))
}
