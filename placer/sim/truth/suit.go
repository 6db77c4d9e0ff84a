package truth

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// suit is how a machine is for programs of the Published platforms: what it or its
// family is good at, and the level at which it is the best one for its share of
// them.
type suit struct {
	taste [platformFactors]float64
	level float64
}

// suits draws how the machines of a seed are. It depends on the machines, the parameters and
// the seed only: the same for every program.
func suits(m *Model, seed uint64) []suit {
	random := rand.New(rand.NewPCG(seed, 0))
	out := make([]suit, len(m.machines))
	for i, first := range m.family {
		if first != i && m.parameters.Tastes != OwnTastes {
			out[i].taste = out[first].taste
			continue
		}
		for f := range out[i].taste {
			out[i].taste[f] = random.NormFloat64()
		}
	}
	if m.parameters.Tastes == OwnTastes {
		space(m.machines, out)
	}
	level(&m.parameters, m.machines, out, random)
	return out
}

// space sets the first taste of every machine by how strong it is: the middles of as many equal
// parts of ±√3, of a mean of 0 and a deviation of nearly 1. Of equals the first counts as weaker.
func space(machines []Machine, suits []suit) {
	order := make([]int, len(machines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(machines[a].Strength(), machines[b].Strength()) })
	n := len(order)
	for rank, i := range order {
		suits[i].taste[0] = math.Sqrt(3) * float64(2*rank+1-n) / float64(n)
	}
}

// How levels are found. Shares of a sample of this size are within two points of
// the true ones; each round moves a level by a part of what its share is off, which
// climbs a concave function (the dual of a transport problem) and cannot circle.
const (
	levelSample = 2000
	levelRounds = 300
	levelStep   = 0.12
)

// candidate is a program of the sample: what it does on each machine that can
// hold it, before levels, as a logarithm.
type candidate struct {
	cores float64
	speed []float64
}

// level sets the levels so that each machine is the best one for as many cores of
// programs as it has.
func level(p *Parameters, machines []Machine, suits []suit, random *rand.Rand) {
	sample := candidates(p, machines, suits, random)
	wanted := make([]float64, len(machines))
	total := 0.0
	for i := range machines {
		wanted[i] = machines[i].Share
		total += wanted[i]
	}
	for i := range wanted {
		if total > 0 {
			wanted[i] /= total
		} else {
			wanted[i] = 1 / float64(len(wanted))
		}
	}
	got := make([]float64, len(machines))
	for range levelRounds {
		bestShares(sample, suits, got)
		for i := range suits {
			suits[i].level += levelStep * (wanted[i] - got[i])
		}
	}
}

func candidates(p *Parameters, machines []Machine, suits []suit, random *rand.Rand) []candidate {
	var whole []Class // what runs on one machine, in equal parts
	for _, c := range classes {
		if !c.distributed {
			whole = append(whole, c)
		}
	}
	out := make([]candidate, levelSample)
	for i := range out {
		c := &whole[i%len(whole)]
		cores, memory := c.size(0, random)
		likes := likings(p, random)
		out[i] = candidate{cores: cores, speed: make([]float64, len(machines))}
		for k := range machines {
			out[i].speed[k] = math.Inf(-1)
			if machines[k].Holds(cores, memory) {
				out[i].speed[k] = likes.of(p, &suits[k], random)
			}
		}
	}
	return out
}

// bestShares is the share of the cores for which each machine is the best.
func bestShares(sample []candidate, suits []suit, got []float64) {
	clear(got)
	total := 0.0
	for i := range sample {
		best, top := -1, math.Inf(-1)
		for k, v := range sample[i].speed {
			if v += suits[k].level; v > top {
				best, top = k, v
			}
		}
		if best >= 0 {
			got[best] += sample[i].cores
			total += sample[i].cores
		}
	}
	for k := range got {
		got[k] /= max(1, total)
	}
}

// liking is what a program gains from what machines are good at.
type liking [platformFactors]float64

func likings(p *Parameters, random *rand.Rand) liking {
	var out liking
	for f := range out {
		out[f] = p.PlatformStrength[f] * random.NormFloat64()
	}
	return out
}

// of is the logarithm of the program's speed on a machine, before its level.
func (l *liking) of(p *Parameters, s *suit, random *rand.Rand) float64 {
	ln := p.PlatformResidual * random.NormFloat64()
	for f := range l {
		ln += l[f] * s.taste[f]
	}
	return ln
}

// isolatedBySuit draws the performance on every configuration where none is better
// for everything.
func (a *Application) isolatedBySuit(p *Parameters, machines []suit, random *rand.Rand) {
	base := math.Exp(3 + 1.5*random.NormFloat64()) // units differ by orders of magnitude
	likes := likings(p, random)
	for i := range machines {
		a.Isolated = append(a.Isolated, base*math.Exp(likes.of(p, &machines[i], random)+machines[i].level))
	}
}
