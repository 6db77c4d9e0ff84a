package policy

import (
	"math"
	"math/rand/v2"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

var autoscaleSelector = SelectorDescriptor{
	Name:    "autoscale",
	Summary: "1 to 8 allocations, one more while their load is above 70 %, on the least loaded nodes",
	Paper:   "Delimitrou 2015, §4.5.4 (baseline)",
	New:     func(b *board.Board, _ Options) board.Selector { return &autoscale{newLeastLoaded(b)} },
	reason:  "the count the autoscaler starts with, the least loaded first",
}

// The autoscaler of the paper. The text gives the bound of 70 % and 1 to 8
// servers; when it gives one back is chosen by us.
const (
	autoscaleMin       = 1
	autoscaleMax       = 8
	autoscaleOutAbove  = 0.70
	autoscaleBackBelow = 0.60
)

// autoscaleStep is the autoscaler's next count: one more where the mean load of
// the allocations is above 70 %, one less where it would stay below 60 % without
// one. Load is a share of what they can do, 1 and above where they are
// saturated; NaN, nothing measured, changes nothing.
func autoscaleStep(count int, load float64) int {
	switch {
	case math.IsNaN(load):
		return count
	case load > autoscaleOutAbove && count < autoscaleMax:
		return count + 1
	case count > autoscaleMin && load*float64(count)/float64(count-1) < autoscaleBackBelow:
		return count - 1
	default:
		return count
	}
}

type autoscale struct{ *leastLoaded }

// Select starts with the count at which the rule comes to rest under the target
// as offered load, every allocation as fast as on the mean configuration;
// without a target or without known speed, with the count of the request.
func (s *autoscale) Select(b *board.Board, a *board.Request, _ *rand.Rand) board.Choice {
	c := s.take(b, a, restingCount(a))
	c.Reaches = reaches(a, c.Replicas)
	return c
}

func restingCount(a *board.Request) int {
	count := min(max(a.Count, autoscaleMin), autoscaleMax)
	speed, known := 0.0, 0
	for _, v := range a.Speed {
		if v > 0 {
			speed, known = speed+v, known+1
		}
	}
	if a.Target <= 0 || known == 0 || len(a.ScaleOut) == 0 {
		return count
	}
	speed /= float64(known)
	for range autoscaleMax {
		next := autoscaleStep(count, a.Target/(speed*efficiency(a, count)*float64(count)))
		if next == count {
			break
		}
		count = next
	}
	return count
}
