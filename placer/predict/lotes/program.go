package lotes

import (
	"errors"
	"fmt"
	"math"
)

// Errors of a plan.
var (
	// ErrProgram: numbers that no plan can be made of.
	ErrProgram = errors.New("lotes: unusable configurations or classes")
	// ErrNowhere: a class that no machine can hold, or may run.
	ErrNowhere = errors.New("lotes: no machine for a job class")
)

// Configuration is a kind of machine.
type Configuration struct {
	Name     string
	Machines int
	Capacity []float64 // by resource
}

// Class is a kind of job.
type Class struct {
	Name  string
	Share float64   // of the arrivals; those of all classes are normalised to sum to 1
	Need  []float64 // by resource, the mean; some may be 0, not all
	Rate  []float64 // jobs per unit of time by configuration; 0 forbids the pairing
}

// Program is what a plan is made of.
type Program struct {
	Configurations []Configuration
	Classes        []Class
}

// check returns the first thing that is wrong, and normalised shares.
func (p *Program) check() ([]float64, error) {
	if len(p.Configurations) == 0 || len(p.Classes) == 0 {
		return nil, fmt.Errorf("%w: %d configurations, %d classes", ErrProgram, len(p.Configurations), len(p.Classes))
	}
	resources := len(p.Configurations[0].Capacity)
	for j, c := range p.Configurations {
		if c.Machines < 0 || len(c.Capacity) != resources {
			return nil, fmt.Errorf("%w: configuration %d has %d machines, %d resources", ErrProgram, j, c.Machines, len(c.Capacity))
		}
		if l, ok := bad(c.Capacity); ok {
			return nil, fmt.Errorf("%w: configuration %d has %v of resource %d", ErrProgram, j, c.Capacity[l], l)
		}
	}
	shares, sum := make([]float64, len(p.Classes)), 0.0
	for k, c := range p.Classes {
		if len(c.Need) != resources || len(c.Rate) != len(p.Configurations) {
			return nil, fmt.Errorf("%w: class %d needs %d resources and runs on %d configurations, of %d and %d", ErrProgram, k, len(c.Need), len(c.Rate), resources, len(p.Configurations))
		}
		for _, v := range [][]float64{c.Need, c.Rate, {c.Share}} {
			if l, ok := bad(v); ok {
				return nil, fmt.Errorf("%w: class %d has %v", ErrProgram, k, v[l])
			}
		}
		shares[k] = c.Share
		sum += c.Share
	}
	if sum <= 0 {
		return nil, fmt.Errorf("%w: no class has a share of the arrivals", ErrProgram)
	}
	for k := range shares {
		shares[k] /= sum
		if err := p.placeable(k); shares[k] > 0 && err != nil {
			return nil, err
		}
	}
	return shares, nil
}

// placeable: some machine holds one job of the class and may run it.
func (p *Program) placeable(k int) error {
	c := &p.Classes[k]
	needs := false
	for _, v := range c.Need {
		needs = needs || v > 0
	}
	if !needs {
		return fmt.Errorf("%w: class %d (%s) needs nothing", ErrProgram, k, c.Name)
	}
	for j := range p.Configurations {
		if p.Configurations[j].Machines > 0 && p.holds(j, k) {
			return nil
		}
	}
	return fmt.Errorf("%w: %d (%s) needs %v", ErrNowhere, k, c.Name, c.Need)
}

// holds: an empty machine has room for a job of the class, and may run it.
func (p *Program) holds(j, k int) bool {
	if p.Classes[k].Rate[j] <= 0 {
		return false
	}
	for l, v := range p.Classes[k].Need {
		if v > p.Configurations[j].Capacity[l]*(1+1e-9) {
			return false
		}
	}
	return true
}

func bad(v []float64) (int, bool) {
	for l, x := range v {
		if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
			return l, true
		}
	}
	return 0, false
}
