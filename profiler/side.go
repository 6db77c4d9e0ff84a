package profiler

import (
	"math"

	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

const (
	// gridStep is the distance of two levels, in percent points.
	gridStep  = 5
	topLevel  = 100
	levelsAll = topLevel / gridStep
)

// side is one of the two comparisons of a source: the workload's performance
// with and without pressure, or the kernel's with and without the workload.
type side struct {
	party    string // "workload" or "kernel", for people
	logBound float64
	noise    stat.NoiseGuess
	visits   []visited
	steadied steadying       // what is known of the tempo
	dropped  int             // visits without a ratio
	fit      stat.Response   // to the visits so far
	doubts   []stat.Response // the same, were the heat another
	picks    int             // levels chosen for this side
}

// visited is one measured ratio.
type visited struct {
	percent int
	log     float64 // of the speeds, on over off
	tempo   float64 // of the tempos, likewise
	cpus    float64 // of the CPU time used, likewise; NaN where it is not known
	pass    pass
}

// pass says why a level was visited.
type pass int

const (
	upwards   pass = iota // covering the curve from below
	downwards             // covering it from above
	closing               // closing in on the crossing
)

// add takes one visit's two windows, without and with the other party.
func (s *side) add(percent int, p pass, on, off timed) {
	speed, tempo, ok := logRatios(on, off)
	if !ok {
		s.dropped++
		return
	}
	cpus, known := stat.LogRatio(on.cpus, off.cpus)
	if !known {
		cpus = math.NaN()
	}
	s.visits = append(s.visits, visited{percent, speed, tempo, cpus, p})
}

// refit brings the fit up to date.
func (s *side) refit() {
	s.steadied = learnSteadying(s.visits)
	s.fit = s.fitOf(all, s.steadied)
	s.doubts = nil
	if s.steadied.doubtful() {
		for _, errors := range []float64{-heatErrors, heatErrors} {
			s.doubts = append(s.doubts, s.fitOf(all, s.steadied.warmer(errors)))
		}
	}
}

func all(visited) bool { return true }

// heatErrors: the interval of a score is that over the heats within so many
// standard errors, each with its own interval; together that is more than 95 %.
const heatErrors = 1.5

// fitOf fits a part of the visits.
func (s *side) fitOf(part func(visited) bool, t steadying) stat.Response {
	var ratios []stat.LevelRatio
	for _, v := range s.visits {
		if part(v) {
			ratios = append(ratios, stat.LevelRatio{Level: v.percent / gridStep, Log: t.steady(v)})
		}
	}
	return stat.FitResponse(ratios, levelsAll, s.logBound, s.noise)
}

// tail is the probability beyond either end of an interval. An interval for the
// score of an independent repeat must be wider than one for the truth; the model
// is careful enough that this one holds the repeat in more than 90 % of the cases
// of the study (TestStudy) and the truth in more than 95 %.
const tail = (1 - confidence) / 2

// crossing is the pressure at which the bound is crossed, with its interval, in
// percent.
type crossing struct{ at, low, high float64 }

// onGrid widens the interval to whole steps of the grid: what happens between
// two levels was not measured.
func (c crossing) onGrid() crossing {
	c.low = gridStep * math.Floor(c.low/gridStep)
	c.high = gridStep * math.Ceil(c.high/gridStep)
	return c
}

// crossing of the bound; what is not known of the heat widens its interval.
func (s *side) crossing() crossing {
	out := crossingOf(s.fit)
	for _, f := range s.doubts {
		c := crossingOf(f)
		out.low, out.high = min(out.low, c.low), max(out.high, c.high)
	}
	return out
}

func crossingOf(f stat.Response) crossing {
	return crossing{
		at:   gridStep * f.Crossing(0.5),
		low:  gridStep * f.Crossing(tail),
		high: gridStep * f.Crossing(1-tail),
	}
}

func (c crossing) width() float64 { return c.high - c.low }

// atLevel summarises the ratios of one level. Few visits say little of the noise
// of their level, so its scale is that of the whole fit: the interval is the
// asymptotic one of a location under Student noise.
func (s *side) atLevel(percent int) (stat.Summary, bool) {
	if s == nil {
		return stat.Summary{}, false
	}
	var logs []float64
	for _, v := range s.visits {
		if v.percent == percent {
			logs = append(logs, s.steadied.steady(v))
		}
	}
	if len(logs) == 0 {
		return stat.Summary{}, false
	}
	center := stat.Pseudomedian(logs)
	half := s.fit.HalfWidth(len(logs))
	return stat.Exp(stat.Summary{Center: center, Low: center - half, High: center + half, Confidence: confidence, N: len(logs)}), true
}

// hysteresisPoints: a crossing that differs by more between the way up and the
// later visits is worth a note (specification of the kernels, §2.5).
const hysteresisPoints = 10

// hysteresis is the difference of the crossings found on the way up and after,
// in points; 0 unless it is larger than both are uncertain.
func (s *side) hysteresis() float64 {
	up := crossingOf(s.fitOf(func(v visited) bool { return v.pass == upwards }, s.steadied))
	after := crossingOf(s.fitOf(func(v visited) bool { return v.pass != upwards }, s.steadied))
	apart := up.low > after.high || after.low > up.high
	if d := math.Abs(up.at - after.at); apart && d > hysteresisPoints {
		return d
	}
	return 0
}
