package classify

import (
	"fmt"
	"math"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// boundByTime lowers caused scores to what the CPU time of the workload allows: an
// intensity is a part of the time, and a workload that uses a fifth of a CPU cannot load its
// units, or use bandwidth, for more than a fifth of the time (decision 0017). A
// caused score as iBench defines it says at which intensity a kernel begins to notice,
// which is much the same for one that uses a fifth of a CPU and one that uses all of it;
// pressures of co-runners are added up, which needs amounts. Unknown CPU time bounds
// nothing.
func (b *builder) boundByTime(caused interference.Scores) {
	used := b.profile.CPUsIsolated
	if !(used > 0) {
		return
	}
	cpus := math.Max(1, float64(len(b.profile.Machine.CPUs)))
	for _, s := range b.columns {
		bound, ok := timeBound(s, used, cpus)
		e := caused[s]
		score, known := e.Score.Percent()
		if !ok || !known || score <= bound {
			continue
		}
		e.Note = join(e.Note, fmt.Sprintf("it uses %.2g of %g CPUs, which is less than the score of %.0f points", used, cpus, score))
		e.Score, e.Low, e.High = atMost(e.Score, bound), atMost(e.Low, bound), atMost(e.High, bound)
		caused[s] = e
	}
}

func atMost(s interference.Score, bound float64) interference.Score {
	if v, known := s.Percent(); known && v > bound {
		return interference.Percent(bound)
	}
	return s
}

// timeBound is the highest intensity that the CPU time allows: of what is private to a
// core on an average CPU of the workload's; of bandwidths, which one CPU may fill, the
// time on any. Capacity stays taken while the workload waits, and devices work by
// themselves.
func timeBound(s interference.Source, used, cpus float64) (percent float64, ok bool) {
	info, known := interference.Info(s)
	switch {
	case known && info.Scope == interference.ScopeCore:
		return 100 * math.Min(1, used/cpus), true
	case s == interference.Interconnect, s == interference.LLCBandwidth, s == interference.MemoryBandwidth:
		return 100 * math.Min(1, used), true
	default:
		return 0, false
	}
}

// dutyCycle is the part of its time in isolation in which a workload works on a CPU, where
// its performance is its throughput. One with a tail latency to keep loses by every delay.
func dutyCycle(p *profile.Profile) float64 {
	if p.Target.Latency != nil {
		return 0
	}
	return math.Min(1, p.CPUsIsolated)
}

// demandFactor is how many times the part of the CPU time a workload takes on the
// configurations where it was run, of that where its scores were measured. Less is not
// believed: a score stays what it was where nodes are faster.
func demandFactor(p *profile.Profile) map[string]float64 {
	reference := p.CPUShareIsolated[p.Machine.Configuration]
	if !(reference > 0) {
		return nil
	}
	var out map[string]float64
	for c, part := range p.CPUShareIsolated {
		if part > reference {
			if out == nil {
				out = map[string]float64{}
			}
			out[c] = part / reference
		}
	}
	return out
}
