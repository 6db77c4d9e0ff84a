package provision

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Type is a kind of node that can be rented.
type Type struct {
	Name         string
	Family       string // standard, compute or memory, or whatever the provider has
	Cores        int
	MemoryMB     int
	PricePerHour float64       // in the currency of the report
	SpinUp       time.Duration // expected before any was measured
}

// Size is what a job needs of a node at least.
type Size struct{ Cores, MemoryMB int }

// fits reports whether a node of the type has room for it.
func (t Type) fits(s Size) bool { return t.Cores >= s.Cores && t.MemoryMB >= s.MemoryMB }

// Catalogue are the types that can be rented.
type Catalogue []Type

// Errors of a catalogue.
var (
	ErrNoTypes   = errors.New("provision: no type of node can be rented")
	ErrBadType   = errors.New("provision: a type of node makes no sense")
	ErrNoneLarge = errors.New("provision: no type of node is large enough")
)

// Check says what is wrong with a catalogue: each type has a name of its own, a size, and a price
// that is not negative.
func (c Catalogue) Check() error {
	if len(c) == 0 {
		return ErrNoTypes
	}
	seen := map[string]bool{}
	for _, t := range c {
		switch {
		case t.Name == "" || seen[t.Name]:
			return fmt.Errorf("%w: the name %q is missing or given twice", ErrBadType, t.Name)
		case t.Cores <= 0 || t.MemoryMB <= 0:
			return fmt.Errorf("%w: %s has %d cores and %d MB", ErrBadType, t.Name, t.Cores, t.MemoryMB)
		case !(t.PricePerHour >= 0) || t.SpinUp < 0:
			return fmt.Errorf("%w: %s costs %g per hour and takes %s to start", ErrBadType, t.Name, t.PricePerHour, t.SpinUp)
		}
		seen[t.Name] = true
	}
	return nil
}

// Smallest is the type that a job is given: of those with room for it the one with the fewest
// cores, of equals one of the family it prefers, then the cheapest, then the one with least memory.
func (c Catalogue) Smallest(s Size, family string) (Type, error) {
	var fitting []Type
	for _, t := range c {
		if t.fits(s) {
			fitting = append(fitting, t)
		}
	}
	if len(fitting) == 0 {
		return Type{}, fmt.Errorf("%w: %d cores and %d MB are needed", ErrNoneLarge, s.Cores, s.MemoryMB)
	}
	return slices.MinFunc(fitting, func(a, b Type) int {
		return cmp.Or(cmp.Compare(a.Cores, b.Cores), preferred(b, family)-preferred(a, family), cmp.Compare(a.PricePerHour, b.PricePerHour), cmp.Compare(a.MemoryMB, b.MemoryMB), cmp.Compare(a.Name, b.Name))
	}), nil
}

// Largest is the type with most cores, of equals the cheapest, then the one with most memory, which
// holds whatever a smaller type does: whole machines, which the provider shares with nobody. Those
// of the text are memory-optimized (§8.1).
func (c Catalogue) Largest() (Type, error) {
	if len(c) == 0 {
		return Type{}, ErrNoTypes
	}
	return slices.MinFunc(c, func(a, b Type) int {
		return cmp.Or(cmp.Compare(b.Cores, a.Cores), cmp.Compare(a.PricePerHour, b.PricePerHour), cmp.Compare(b.MemoryMB, a.MemoryMB), cmp.Compare(a.Name, b.Name))
	}), nil
}

func preferred(t Type, family string) int {
	if family != "" && t.Family == family {
		return 1
	}
	return 0
}
