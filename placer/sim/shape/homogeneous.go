package shape

import (
	"fmt"
	"strconv"
	"strings"
)

// Homogeneous is a cluster of equal nodes.
func Homogeneous(nodes int, cores, memoryBytes float64) (Cluster, error) {
	c := Cluster{
		Name:    fmt.Sprintf("homogeneous-%dx%g", nodes, cores),
		Summary: fmt.Sprintf("%d equal nodes of %g cores", nodes, cores),
		Source:  "given",
		Nodes:   []Node{{Configuration: "node", Count: chosen(float64(nodes)), Cores: chosen(cores), MemoryBytes: chosen(memoryBytes)}},
	}
	if !(cores > 0 && memoryBytes > 0) {
		return c, fmt.Errorf("%w: nodes of %g cores and %g bytes of memory", ErrShape, cores, memoryBytes)
	}
	return c, c.Check()
}

// parseHomogeneous reads <nodes>x<cores>x<memory>.
func parseHomogeneous(name, size string) (Cluster, error) {
	parts := strings.Split(size, "x")
	if len(parts) != 3 {
		return Cluster{}, fmt.Errorf("%w: %q is not homogeneous-<nodes>x<cores>x<memory>, such as homogeneous-1000x8x32GiB", ErrShape, name)
	}
	nodes, err := strconv.Atoi(parts[0])
	if err != nil {
		return Cluster{}, fmt.Errorf("%w: %q: %q is not a number of nodes", ErrShape, name, parts[0])
	}
	cores, err := strconv.ParseFloat(parts[1], 64)
	if err != nil {
		return Cluster{}, fmt.Errorf("%w: %q: %q is not a number of cores", ErrShape, name, parts[1])
	}
	memory, err := parseBytes(parts[2])
	if err != nil {
		return Cluster{}, fmt.Errorf("%w: %q: %w", ErrShape, name, err)
	}
	c, err := Homogeneous(nodes, cores, memory)
	c.Name = name
	return c, err
}

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
	gb  = 1e9
)

// parseBytes reads a size such as 32GiB.
func parseBytes(text string) (float64, error) {
	for _, unit := range []struct {
		name  string
		bytes float64
	}{{"TiB", 1 << 40}, {"GiB", gib}, {"MiB", mib}, {"TB", 1e12}, {"GB", gb}, {"MB", 1e6}} {
		number, ok := strings.CutSuffix(text, unit.name)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is not a size", text)
		}
		return v * unit.bytes, nil
	}
	return 0, fmt.Errorf("%q is not a size with its unit (MiB, GiB, TiB, MB, GB, TB)", text)
}

func stated(v float64) Number    { return Number{v, Stated} }
func catalogue(v float64) Number { return Number{v, Catalogue} }
func chosen(v float64) Number    { return Number{v, Choice} }
