package consolidation

import (
	"context"
	"fmt"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/consolidate"
	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// Outcome is what a scheme comes to on the judged day.
type Outcome struct {
	Scheme string `json:"scheme"`
	// Joules of the day, and Savings against one instance on each node.
	Joules  float64 `json:"joules"`
	Savings float64 `json:"savings"`
	// Day is missing for a bound, which places nothing.
	Day *Day `json:"day,omitempty"`
}

// Day is what the judged day was like.
type Day struct {
	// Performance is what instances do, as a part of what they do with a node for themselves
	// (0..1): of all I/Os, and of those of the worst application.
	Performance      float64 `json:"performance"`
	WorstApplication float64 `json:"worst_application"`
	// LossP95 is the 95th percentile of what an instance loses in an interval.
	LossP95 float64 `json:"loss_p95"`
	// Broken is the part of the intervals of instances in which a node of theirs was used
	// beyond MB_s.
	Broken float64 `json:"broken"`
	// NodesOn is the mean number of nodes that are on, and ActiveTime their part of all.
	NodesOn    float64 `json:"nodes_on"`
	ActiveTime float64 `json:"active_time"`
	// MovedShare is the part of the bandwidth of the nodes that are on that moves use.
	MovedShare float64 `json:"moved_share"`
	// Unplaced is how many objects had no node at the begin.
	Unplaced int `json:"unplaced,omitempty"`
}

// The days: data are placed at the begin of the fifth, the sixth is judged.
const (
	placedAt = 4 * dayIntervals
	judgedAt = 5 * dayIntervals
)

// Run simulates a scheme.
func (s *Setup) Run(ctx context.Context, scheme consolidate.Scheme) (*Outcome, error) {
	if scheme.Bound {
		return s.bound(scheme)
	}
	scene := s.scene
	if scheme.Chunks {
		scene = s.divided()
	}
	r := &run{setup: s, scene: scene, scheme: scheme, rules: scheme.Rules()}
	r.watch()
	r.place()
	for t := placedAt; t < allIntervals; t++ {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("consolidation: %w", err)
		}
		r.interval(t)
	}
	return r.outcome(), nil
}

// run is one scheme on its way through the days.
type run struct {
	setup  *Setup
	scene  *consolidate.Scene
	scheme consolidate.Scheme
	rules  consolidate.Rules

	forecasts []*consolidate.Forecast // by instance; they have seen all until now
	at        consolidate.Placement
	unplaced  int
	joules    float64

	losses                []float64 // by instance and interval
	kept, asked           []float64 // by application, weighted by demand
	intervals, broken, on int
	moved, movable        float64
}

// watch shows the days before the placement to the forecasts.
func (r *run) watch() {
	r.kept, r.asked = make([]float64, applications), make([]float64, applications)
	for i := range r.scene.Instances {
		f := consolidate.NewForecast(Interval)
		for t := range placedAt {
			f.Observe(r.setup.rates[i][t])
		}
		r.forecasts = append(r.forecasts, f)
	}
}

// predicted is the demand that the scheme knows of the next interval.
func (r *run) predicted() []consolidate.Demand {
	of := make([]float64, len(r.forecasts))
	for i, f := range r.forecasts {
		of[i], _ = f.Next() // it has seen days
	}
	return r.setup.demand(r.scene, func(i int) float64 { return of[i] })
}

// place is the first placement.
func (r *run) place() {
	switch {
	case r.scheme.Isolated:
		r.at = r.scene.NewPlacement()
		for i := range r.at {
			r.at[i] = i
		}
	case r.scheme.Peak:
		day := r.setup.demand(r.scene, func(i int) float64 {
			return stat.Quantile(slices.Sorted(slices.Values(r.setup.rates[i][placedAt-dayIntervals:placedAt])), 0.95)
		})
		r.at = r.pack(day)
	default:
		r.at = r.pack(r.predicted())
	}
}

func (r *run) pack(d []consolidate.Demand) consolidate.Placement {
	p, unplaced := r.scene.Pack(d, nil, r.rules)
	r.unplaced = len(unplaced)
	return p
}

// interval lets one happen; meanwhile the scheme prepares the next.
func (r *run) interval(t int) {
	actual := r.setup.demand(r.scene, func(i int) float64 { return r.setup.rates[i][t] })
	for i, f := range r.forecasts {
		f.Observe(r.setup.rates[i][t])
	}
	next := &consolidate.Plan{Next: r.at}
	if r.scheme.Dynamic {
		next = r.scene.Update(r.at, r.predicted(), r.rules)
	}
	if t >= judgedAt {
		r.judge(t, actual, next)
	}
	r.at = next.Next
}

// judge measures an interval in which data are on their way to their next nodes.
func (r *run) judge(t int, actual []consolidate.Demand, next *consolidate.Plan) {
	moving := make([]float64, len(r.scene.Nodes)) // bytes per second in and out
	for _, m := range next.Moves {
		rate := m.Bytes / Interval.Seconds()
		moving[m.To] += rate
		if m.From != consolidate.Nowhere {
			moving[m.From] += rate
		}
		r.moved += m.Bytes
	}
	bins := r.scene.Bins(r.at, actual)
	after := r.scene.On(next.Next)
	nodes := make([]nodeTruth, len(bins))
	for n, b := range bins {
		kind := r.scene.Types[r.scene.Nodes[n]]
		nodes[n] = r.truth(b, t, moving[n])
		if r.scheme.Isolated || len(b.Objects) > 0 || after[n] {
			r.on++
			r.movable += kind.BandwidthBytesPerSec * Interval.Seconds()
			r.joules += kind.Power.Watts((b.Bandwidth+moving[n])/kind.BandwidthBytesPerSec) * Interval.Seconds()
		}
	}
	for _, n := range next.SwitchOn {
		p := r.scene.Types[r.scene.Nodes[n]].Power
		r.joules += p.MostWatts * p.Boot.Seconds()
	}
	r.count(t, nodes)
}

// nodeTruth is what happens on a node: what instances keep there of their performance.
type nodeTruth struct {
	kept   []float64 // by instance
	broken bool      // used beyond MB_s
}

// truth is the world: a node does no more than its workloads let it, and they lose what
// pairs really lose, by how much is asked of the others at that time.
func (r *run) truth(b *consolidate.Bin, t int, moving float64) nodeTruth {
	kind := r.scene.Nodes[b.Node]
	shares := make([]float64, len(r.scene.Instances))
	use := moving / r.scene.Types[kind].BandwidthBytesPerSec
	for _, o := range b.Objects {
		object := r.scene.Objects[o]
		shares[object.Instance] += object.Share
		use += object.Share * r.effort(object.Instance, kind, t)
	}
	most, _ := b.Most()
	out := nodeTruth{kept: make([]float64, len(shares)), broken: b.Bandwidth > most}
	for i, own := range shares {
		if own > 0 {
			out.kept[i] = min(1, 1/max(use, 1)) * (1 - min(1, r.loss(i, kind, t, shares)))
		}
	}
	return out
}

// effort is the part of what a node of a type can do of a workload that an instance asks for.
func (r *run) effort(instance, kind, t int) float64 {
	a := r.scene.Applications[r.scene.Instances[instance].Application]
	return r.setup.rates[instance][t] / (min(1, a.MostBandwidth[kind]/saturation) * r.scene.Types[kind].BandwidthBytesPerSec)
}

// loss is what an instance really loses by the others on a node.
func (r *run) loss(instance, kind, t int, shares []float64) float64 {
	truth, sum := r.setup.truth[kind][r.scene.Instances[instance].Application], 0.0
	for j, share := range shares {
		if j != instance && share > 0 {
			sum += share * r.setup.rates[j][t] / r.setup.means[j] * truth[r.scene.Instances[j].Application]
		}
	}
	return sum
}

// count adds an interval to the outcome. An instance has the mean of where its data are.
func (r *run) count(t int, nodes []nodeTruth) {
	kept, broken := make([]float64, len(r.scene.Instances)), make([]bool, len(r.scene.Instances))
	for o, object := range r.scene.Objects {
		if n := r.at[o]; n != consolidate.Nowhere {
			kept[object.Instance] += object.Share * nodes[n].kept[object.Instance]
			broken[object.Instance] = broken[object.Instance] || nodes[n].broken
		}
	}
	for i, in := range r.scene.Instances {
		// In isolation an instance has the node of its number, as in the scheme "none".
		isolated := 1 / max(1, r.effort(i, r.scene.Nodes[i], t))
		r.losses = append(r.losses, max(0, 1-kept[i]/isolated))
		r.kept[in.Application] += kept[i] * r.setup.rates[i][t]
		r.asked[in.Application] += isolated * r.setup.rates[i][t]
		r.intervals++
		if broken[i] {
			r.broken++
		}
	}
}

func (r *run) outcome() *Outcome {
	kept, asked, worst := 0.0, 0.0, 1.0
	for a := range r.kept {
		kept, asked = kept+r.kept[a], asked+r.asked[a]
		if r.asked[a] > 0 {
			worst = min(worst, r.kept[a]/r.asked[a])
		}
	}
	on := float64(r.on) / float64(allIntervals-judgedAt)
	return &Outcome{Scheme: r.scheme.Name, Joules: r.joules, Day: &Day{
		Performance: kept / asked, WorstApplication: worst, LossP95: stat.Quantile(slices.Sorted(slices.Values(r.losses)), 0.95),
		Broken: float64(r.broken) / float64(r.intervals), NodesOn: on, ActiveTime: on / float64(len(r.scene.Nodes)),
		MovedShare: r.moved / r.movable, Unplaced: r.unplaced,
	}}
}

// bound is the energy that no placement does with less, each interval by itself.
func (s *Setup) bound(scheme consolidate.Scheme) (*Outcome, error) {
	scene := s.divided()
	out := &Outcome{Scheme: scheme.Name}
	for t := judgedAt; t < allIntervals; t++ {
		watts, err := scene.LowerBound(s.demand(scene, func(i int) float64 { return s.rates[i][t] }))
		if err != nil {
			return nil, err
		}
		out.Joules += watts * Interval.Seconds()
	}
	return out, nil
}
