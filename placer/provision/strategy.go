package provision

import "fmt"

// Strategy is what nodes there are (table 8.3).
type Strategy string

// The strategies of §8.3 and §8.4.1.
const (
	StaticReserved  Strategy = "SR"  // owned nodes for the highest load, and a reserve
	OnDemandFull    Strategy = "OdF" // rented whole machines
	OnDemandMixed   Strategy = "OdM" // rented machines of any size
	HybridFull      Strategy = "HF"  // owned nodes for the steady load, and rented whole machines
	HybridMixed     Strategy = "HM"  // owned nodes for the steady load, and rented machines of any size
	overprovisioned          = 0.15  // the reserve of SR (§8.5.4; 10 to 15 % in §8.3.3)
)

// Strategies are all of them, in the order of the text.
func Strategies() []Strategy {
	return []Strategy{StaticReserved, OnDemandFull, OnDemandMixed, HybridFull, HybridMixed}
}

// StrategyNames are their names.
func StrategyNames() []string {
	var out []string
	for _, s := range Strategies() {
		out = append(out, string(s))
	}
	return out
}

// Owns reports whether there are nodes that are not rented.
func (s Strategy) Owns() bool { return s == StaticReserved || s.hybrid() }

// Rents reports whether nodes are rented.
func (s Strategy) Rents() bool { return s != StaticReserved }

func (s Strategy) hybrid() bool { return s == HybridFull || s == HybridMixed }

// OwnedCores is how many cores are owned for a load of cores: SR those of its peak with a reserve,
// the hybrids those of its steady part.
func (s Strategy) OwnedCores(steady, peak float64) float64 {
	switch {
	case s == StaticReserved:
		return peak * (1 + overprovisioned)
	case s.hybrid():
		return steady
	default:
		return 0
	}
}

// Uses are the types of a catalogue that may be rented: whole machines, or all.
func (s Strategy) Uses(c Catalogue) Catalogue {
	if s != OnDemandFull && s != HybridFull {
		return c
	}
	largest, err := c.Largest()
	if err != nil {
		return c // it is empty
	}
	return Catalogue{largest}
}

// TypeFor is the type of node that a job is rented.
func (s Strategy) TypeFor(c Catalogue, size Size, family string) (Type, error) {
	switch s {
	case OnDemandFull, HybridFull:
		t, err := c.Largest()
		if err == nil && !t.fits(size) {
			return t, fmt.Errorf("%w: %d cores and %d MB are needed", ErrNoneLarge, size.Cores, size.MemoryMB)
		}
		return t, err
	case OnDemandMixed, HybridMixed:
		return c.Smallest(size, family)
	default:
		return Type{}, fmt.Errorf("%w: strategy %s rents nothing", ErrNoTypes, s)
	}
}
