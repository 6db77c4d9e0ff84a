package report

import (
	"math"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/numeric/student"
	"github.com/nomad-placer/nomad-placer/placer/sim"
)

// Format is the version of the JSON form.
const Format = 1

// Report is everything a scenario gave.
type Report struct {
	Format   int            `json:"format"`
	Scenario string         `json:"scenario"`
	Title    string         `json:"title"`
	Source   string         `json:"source,omitempty"`
	Notes    []string       `json:"notes,omitempty"`
	Seeds    []uint64       `json:"seeds"`
	Skipped  map[string]int `json:"skipped,omitempty"` // jobs of a trace, by reason
	Lines    []Line         `json:"lines"`
}

// Line is one policy at one load.
type Line struct {
	Policy  string   `json:"policy"`
	Load    float64  `json:"load,omitempty"`
	Metrics []Figure `json:"metrics"`
	Details []Figure `json:"details"` // of Details, and by class and priority
	// Curve and WithWait are performances, sorted from worst to best, at
	// curvePoints quantiles: means over seeds.
	Curve    []float64 `json:"curve"`
	WithWait []float64 `json:"curve_with_wait"`
	// Spread are further distributions at as many quantiles, by the names of the
	// Spread constants.
	Spread   map[string][]float64 `json:"spread,omitempty"`
	Usage    []UsagePoint         `json:"usage"`    // of the first seed
	Heat     [][]float64          `json:"heat"`     // of the first seed: a row per group of nodes, a column per time
	Counters sim.Counters         `json:"counters"` // summed over seeds
}

// Figure is a metric with its interval over seeds.
type Figure struct {
	Name string   `json:"name"`
	Mean float64  `json:"mean"`
	Low  *float64 `json:"low,omitempty"` // nil with one seed
	High *float64 `json:"high,omitempty"`
}

// UsagePoint is the cluster at a moment, as shares of its cores.
type UsagePoint struct {
	Seconds   float64 `json:"seconds"`
	Used      float64 `json:"used"`
	Allocated float64 `json:"allocated"`
	Reserved  float64 `json:"reserved"`
	Waiting   int     `json:"waiting"`
}

// Metric is one number of a run.
type Metric struct {
	Name    string
	Unit    string
	Summary string
	of      func(*run) float64
}

// Metrics lists every metric, in the order of the tables.
func Metrics() []Metric {
	return []Metric{
		{"qos", "%", "jobs that kept 95 % of the ideal while they ran", func(r *run) float64 { return shareOf(r, performance, sim.QoS) }},
		{"qos_with_wait", "%", "the same from submission on", func(r *run) float64 { return shareOf(r, withWait, sim.QoS) }},
		{"within_10", "%", "jobs that lost at most 10 %", func(r *run) float64 { return shareOf(r, performance, 0.9) }},
		{"within_20", "%", "jobs that lost at most 20 %", func(r *run) float64 { return shareOf(r, performance, 0.8) }},
		{"performance", "%", "mean performance, at most 100 of each job", func(r *run) float64 { return meanOf(r, capped(performance)) }},
		{"performance_with_wait", "%", "the same from submission on", func(r *run) float64 { return meanOf(r, capped(withWait)) }},
		{"worst_5", "%", "performance that 5 % of the jobs fall short of", func(r *run) float64 { return 100 * quantile(r.performances(), 0.05) }},
		{"best_configuration", "%", "jobs that ran on a configuration truly best for them", func(r *run) float64 { return placedBest(r) }},
		{"undisturbed", "%", "jobs that lost at most 5 % to co-runners", func(r *run) float64 { return shareOf(r, undisturbed, sim.QoS) }},
		{"interference", "%", "mean share of the speed that co-runners left", func(r *run) float64 { return meanOf(r, speedLeft) }},
		{"platform", "%", "mean share of the best configuration's speed", func(r *run) float64 { return meanOf(r, platform) }},
		{"in_bound", "%", "mean share of their life in which services served their load", inBound},
		{"killed", "%", "jobs that ran out of memory", func(r *run) float64 { return outcomes(r, sim.Killed) }},
		{"unfinished", "%", "jobs that had not ended", func(r *run) float64 { return outcomes(r, sim.Unfinished) }},
		{"wait_mean", "s", "mean wait from ready to started", func(r *run) float64 { return mean(r.waits()) }},
		{"wait_p95", "s", "wait that 5 % of the jobs exceed", func(r *run) float64 { return quantile(r.waits(), 0.95) }},
		{"wait_p99", "s", "wait that 1 % of the jobs exceed", func(r *run) float64 { return quantile(r.waits(), 0.99) }},
		{"waited_hour", "%", "jobs that waited more than an hour", waitedHour},
		{"wait_first_day", "s", "mean wait of the jobs of the first day", func(r *run) float64 { return mean(waitsOf(r, 0, day)) }},
		{"wait_later", "s", "mean wait of the jobs submitted after the first day", func(r *run) float64 { return mean(waitsOf(r, day, sim.Instant(math.MaxInt64))) }},
		{"wait_later_p99", "s", "wait that 1 % of these exceed", func(r *run) float64 { return quantile(waitsOf(r, day, sim.Instant(math.MaxInt64)), 0.99) }},
		{"queue_mean", "jobs", "jobs that wait, mean until the last submission", queueMean},
		{"queue_growth", "jobs/h", "growth of that number in the second half, by regression on time", queueGrowth},
		{"deciding_mean", "ms", "mean time of the decisions of a job", func(r *run) float64 { return mean(r.decidings()) }},
		{"deciding_p99", "ms", "decision time that 1 % of the jobs exceed", func(r *run) float64 { return quantile(r.decidings(), 0.99) }},
		{"used", "%", "cores busy, mean until the last submission", func(r *run) float64 { return usedShare(r, func(s *sim.Sample) float64 { return s.Used }) }},
		{"allocated", "%", "cores allocated, likewise", func(r *run) float64 { return usedShare(r, func(s *sim.Sample) float64 { return s.Allocated }) }},
		{"reserved", "%", "cores asked for by jobs running and waiting, likewise", func(r *run) float64 { return usedShare(r, func(s *sim.Sample) float64 { return s.Reserved }) }},
		{"makespan", "s", "until the last job ended", func(r *run) float64 { return r.End.Seconds() }},
		{"refused_plans", "%", "plans whose room another decision had taken", func(r *run) float64 {
			return percent(r.Counters.Conflicts, r.Counters.Conflicts+r.Counters.Placements)
		}},
		{"relaxed", "%", "placements that broke a bound in a source", func(r *run) float64 { return percent(r.Counters.Relaxed, r.Counters.Placements) }},
	}
}

func performance(r *sim.Record) float64 { return r.Performance() }
func withWait(r *sim.Record) float64    { return r.WithWait() }
func undisturbed(r *sim.Record) float64 {
	if r.Outcome != sim.Done {
		return 0
	}
	return float64(r.Interference)
}

func speedLeft(r *sim.Record) float64 { return float64(r.Interference) }
func platform(r *sim.Record) float64  { return float64(r.Platform) }

func capped(of func(*sim.Record) float64) func(*sim.Record) float64 {
	return func(r *sim.Record) float64 { return min(1, of(r)) }
}

func percent(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}

// shareTolerance lets a share of exactly the bound count, whatever the rounding.
const shareTolerance = 1e-6

func shareOf(r *run, of func(*sim.Record) float64, bound float64) float64 {
	n := 0
	for i := range r.Records {
		if of(&r.Records[i]) >= bound-shareTolerance {
			n++
		}
	}
	return percent(n, len(r.Records))
}

func meanOf(r *run, of func(*sim.Record) float64) float64 {
	sum := 0.0
	for i := range r.Records {
		sum += of(&r.Records[i])
	}
	return 100 * sum / float64(max(1, len(r.Records)))
}

func placedBest(r *run) float64 {
	n := 0
	for i := range r.Records {
		if r.Records[i].Best {
			n++
		}
	}
	return percent(n, len(r.Records))
}

func inBound(r *run) float64 {
	sum, n := 0.0, 0
	for i := range r.Records {
		if rec := &r.Records[i]; rec.Shape == sim.Service {
			sum, n = sum+float64(rec.InBound), n+1
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return 100 * sum / float64(n)
}

func outcomes(r *run, o sim.Outcome) float64 {
	n := 0
	for i := range r.Records {
		if r.Records[i].Outcome == o {
			n++
		}
	}
	return percent(n, len(r.Records))
}

const day = 24 * time.Hour

// waitsOf are sorted seconds, of the jobs submitted in a span. A job that never started has waited
// until the end.
func waitsOf(r *run, from, to sim.Instant) []float64 {
	var out []float64
	for i := range r.Records {
		rec := &r.Records[i]
		if rec.Arrived < from || rec.Arrived >= to {
			continue
		}
		w := rec.Wait()
		if rec.Started < 0 {
			w = max(0, r.End-rec.Arrived)
		}
		out = append(out, w.Seconds())
	}
	slices.Sort(out)
	return out
}

func usedShare(r *run, of func(*sim.Sample) float64) float64 {
	last := lastArrival(r)
	sum, n := 0.0, 0
	for i := range r.Samples {
		if s := &r.Samples[i]; s.At <= last || n == 0 {
			sum, n = sum+of(s), n+1
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return 100 * sum / float64(n) / r.Cores
}

func sorted(r *run, of func(*sim.Record) float64) []float64 {
	out := make([]float64, 0, len(r.Records))
	for i := range r.Records {
		out = append(out, of(&r.Records[i]))
	}
	slices.Sort(out)
	return out
}

// quantile of sorted values, by linear interpolation; NaN of none.
func quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	at := q * float64(len(v)-1)
	i := min(int(at), len(v)-1)
	j := min(i+1, len(v)-1)
	return v[i] + (v[j]-v[i])*(at-float64(i))
}

func mean(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// curvePoints are the points of a sorted curve.
const curvePoints = 101

// Interval is the mean of the values of seeds with its interval by Student's t;
// of one value there is none.
func Interval(name string, values []float64) Figure {
	f := Figure{Name: name}
	var half float64
	if f.Mean, half = student.Mean(values); len(values) >= 2 {
		low, high := f.Mean-half, f.Mean+half
		f.Low, f.High = &low, &high
	}
	return f
}

// curve of sorted values; nil where there are none.
func curve(all []float64) []float64 {
	if len(all) == 0 {
		return nil
	}
	out := make([]float64, curvePoints)
	for i := range out {
		out[i] = round(quantile(all, float64(i)/(curvePoints-1)))
	}
	return out
}

// round keeps four digits: what a picture shows.
func round(v float64) float64 { return math.Round(v*1e4) / 1e4 }

// The size of pictures.
const (
	usagePoints = 120
	heatRows    = 40
	heatColumns = 80
)

func usage(r *run) []UsagePoint {
	var out []UsagePoint
	step := max(1, (len(r.Samples)+usagePoints-1)/usagePoints)
	for i := 0; i < len(r.Samples); i += step {
		s := r.Samples[i]
		out = append(out, UsagePoint{s.At.Seconds(), round(s.Used / r.Cores), round(s.Allocated / r.Cores), round(s.Reserved / r.Cores), s.Waiting})
	}
	return out
}

// heat averages groups of nodes and of times.
func heat(r *run) [][]float64 {
	if len(r.Heat) == 0 {
		return nil
	}
	nodes := len(r.Heat[0])
	rows, columns := min(heatRows, nodes), min(heatColumns, len(r.Heat))
	out := make([][]float64, rows)
	for i := range out {
		out[i] = make([]float64, columns)
		for j := range out[i] {
			sum, n := 0.0, 0
			for t := j * len(r.Heat) / columns; t < (j+1)*len(r.Heat)/columns; t++ {
				for k := i * nodes / rows; k < (i+1)*nodes/rows; k++ {
					sum, n = sum+float64(r.Heat[t][k]), n+1
				}
			}
			out[i][j] = round(sum / float64(max(1, n)))
		}
	}
	return out
}

// Figure returns a metric or detail of a line by name.
func (l *Line) Figure(name string) (Figure, bool) {
	for _, figures := range [][]Figure{l.Metrics, l.Details} {
		for _, f := range figures {
			if f.Name == name {
				return f, true
			}
		}
	}
	return Figure{}, false
}
