package profiler

import (
	"math"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// Tempo says how fast the cores ran. Their clock follows power and heat, on a
// shared host also those of other guests, and takes the workload and the kernel
// along (decision 0010 has figures of one such host).
type Tempo interface {
	// Mean is the mean speed of the cores between two moments, in any unit that
	// stays the same; NaN where it is not known.
	Mean(from, to time.Time) float64
}

// timed is a speed measured over some time, with the tempo and the CPU time of that time.
type timed struct {
	speed float64
	tempo float64 // NaN where it is not known
	cpus  float64 // CPU time used, in CPUs; NaN where it is not known
}

var untimed = timed{math.NaN(), math.NaN(), math.NaN()}

// timed adds the tempo to a speed.
func (r *run) timed(speed float64, from, to time.Time) timed {
	t := timed{speed, math.NaN(), math.NaN()}
	if r.tempo != nil && to.After(from) {
		t.tempo = r.tempo.Mean(from, to)
	}
	return t
}

// logRatios compares two speeds and their tempos; a tempo that is not known is
// taken to have been the same.
func logRatios(on, off timed) (speed, tempo float64, ok bool) {
	speed, ok = stat.LogRatio(on.speed, off.speed)
	if v, known := stat.LogRatio(on.tempo, off.tempo); known {
		tempo = v
	}
	return speed, tempo, ok
}

// followsPrior is the spread, before anything was seen, of how much a speed follows
// the tempo. It is centred at not at all: nothing is corrected without evidence.
const followsPrior = 1

// What full pressure does to the tempo, before anything was seen (chosen by us): in
// nine of ten cases next to nothing, as the power of a package is that of dozens of
// cores, else some per cent, as of wide vector units.
var heatPrior = stat.SpikeAndSlab{Spike: 0.003, Slab: 0.05, InSpike: 0.9}

// follows is how much a speed follows the tempo, from 0, not at all, to 1, as a
// loop in registers does: the slope of the one over the other.
func follows(changes []stat.Point) float64 {
	slope, _ := stat.Slope(changes, followsPrior)
	return min(1, max(0, slope))
}

// steadied takes out of windows in order what the tempo did to them.
func steadied(windows []timed) []float64 {
	var changes []stat.Point
	for i := 1; i < len(windows); i++ {
		if speed, tempo, ok := logRatios(windows[i], windows[i-1]); ok {
			changes = append(changes, stat.Point{X: tempo, Y: speed})
		}
	}
	share := follows(changes)
	out := make([]float64, len(windows))
	for i, w := range windows {
		out[i] = w.speed
		if _, tempo, ok := logRatios(w, windows[0]); ok {
			out[i] *= math.Exp(-share * tempo)
		}
	}
	return out
}

// steadying is how the visits of one side are freed of what the tempo did. What
// pressure did to the tempo stays in: a kernel that heats the package slows its
// co-runners by that.
//
// How much the speed follows is learned within levels, where pressure is the same;
// what pressure does to the tempo is taken to grow evenly with the level.
type steadying struct {
	follows float64
	heat    float64 // log of the tempo at full pressure over that without
	error   float64 // standard error of heat
}

func learnSteadying(visits []visited) steadying {
	response := make([]stat.Point, len(visits))
	known := false
	for i, v := range visits {
		response[i] = stat.Point{X: float64(v.percent) / topLevel, Y: v.tempo}
		known = known || v.tempo != 0
	}
	if !known {
		return steadying{}
	}
	s := steadying{follows: follows(withinLevels(visits))}
	s.heat, s.error = heatPrior.Update(stat.Slope(response, math.Inf(1)))
	return s
}

// steady is the log ratio of a visit as it would be at an even tempo.
func (s steadying) steady(v visited) float64 {
	return v.log - s.follows*(v.tempo-s.heat*float64(v.percent)/topLevel)
}

// doubtful says whether what is not known of the heat could change a score.
func (s steadying) doubtful() bool { return s.follows*s.error > leastDoubt }

// leastDoubt is a fiftieth of the usual bound of 5 %.
const leastDoubt = 0.001

// warmer is the same with another heat, by so many standard errors.
func (s steadying) warmer(errors float64) steadying {
	s.heat += errors * s.error
	return s
}

// withinLevels are the deviations of speeds and tempos from the means of their
// levels.
func withinLevels(visits []visited) []stat.Point {
	var sums [levelsAll + 1]struct{ n, speed, tempo float64 }
	for _, v := range visits {
		s := &sums[v.percent/gridStep]
		s.n++
		s.speed += v.log
		s.tempo += v.tempo
	}
	var out []stat.Point
	for _, v := range visits {
		if s := sums[v.percent/gridStep]; s.n > 1 {
			out = append(out, stat.Point{X: v.tempo - s.tempo/s.n, Y: v.log - s.speed/s.n})
		}
	}
	return out
}
