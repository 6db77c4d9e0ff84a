package report

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
	"github.com/nomad-placer/nomad-placer/placer/sim/fleet"
)

// provisionDetails are the metrics of runs whose nodes are owned or rented (Delimitrou 2015,
// §8.5). Other runs have none of them. Performance is sim.Record.Relative.
func provisionDetails() []Metric {
	of := func(f func(r *run, p *sim.Provision) float64) func(*run) float64 {
		return func(r *run) float64 {
			if r.Provision == nil {
				return math.NaN()
			}
			return f(r, r.Provision)
		}
	}
	out := []Metric{
		{"relative", "%", "mean performance relative to isolation", of(relativeOf(every))},
		{"relative_batch", "%", "the same of batch work", of(relativeOf(isBatch))},
		{"relative_services", "%", "of services", of(relativeOf(isService))},
		{"relative_base", "%", "of jobs on owned nodes", of(relativeOf(onBase))},
		{"relative_rented", "%", "of jobs on rented nodes", of(relativeOf(onRented))},
		{"tail_factor", "", "mean factor on the tail latency of services while they ran", of(tailFactor)},
		{"ideal_completion", "s", "when the last job would end that began at once and was alone", of(idealCompletion)},
		{"base_share", "%", "jobs that ran on owned nodes", of(baseShare(every, 0, 1))},
		{"base_batch_before", "%", "batch jobs on owned nodes, of those submitted in the first third", of(baseShare(isBatch, 0, third))},
		{"base_batch_middle", "%", "of those in the second third", of(baseShare(isBatch, third, 2*third))},
		{"base_services_before", "%", "services on owned nodes, of those submitted in the first third", of(baseShare(isService, 0, third))},
		{"base_services_middle", "%", "of those in the second third", of(baseShare(isService, third, 2*third))},
		{"queued_share", "%", "jobs that waited for owned nodes", of(func(r *run, p *sim.Provision) float64 { return percent(p.Sides.Queued, len(r.Records)) })},
		{"owned_cores", "cores", "owned", of(func(_ *run, p *sim.Provision) float64 { return p.OwnedCores })},
		{"rented_nodes", "", "nodes rented in all", of(func(_ *run, p *sim.Provision) float64 { return float64(len(p.Rented)) })},
		{"rented_nodes_mean", "", "rented nodes that are there, on average", of(func(r *run, p *sim.Provision) float64 { return fleet.MeanNodes(p.Rented, r.End) })},
		{"rented_cores", "cores", "rented and billed, on average", of(func(r *run, p *sim.Provision) float64 {
			return fleet.MeanCores(p.Rented, r.End, p.MinimumBilled)
		})},
		{"rented_cores_sustained", "cores", "the same at the full price, with the discounts on sustained use", of(func(r *run, p *sim.Provision) float64 {
			return fleet.SustainedCores(p.Rented, r.End, p.Discounts)
		})},
		{"cost_per_hour", "core hours", "cost of an hour in hours of a rented core, owned ones paid by the hour, too", of(costPerHour)},
		{"load_cores", "cores", "given to jobs that ran, on average", of(loadCores)},
		{"base_used", "%", "cores of owned nodes that are busy, in the middle half of the submissions", of(baseUse(func(s *sim.Sample) float64 { return s.OwnedUsed }))},
		{"base_allocated", "%", "cores of owned nodes that are given to jobs, likewise", of(baseUse(func(s *sim.Sample) float64 { return s.OwnedAllocated }))},
		{"base_nearly_idle", "%", "owned nodes of which less than a tenth is busy, on average until the last submission", of(nearlyIdle)},
		{"released_at_once", "%", "rented nodes given back because they were not good enough, of those given back", of(func(_ *run, p *sim.Provision) float64 {
			return percent(p.Sides.ReleasedAtOnce, p.Sides.Released)
		})},
		{"estimate_error", "s", "median distance of estimated waits for owned nodes from the real ones", of(func(_ *run, p *sim.Provision) float64 { return estimateError(p.Sides.Waits) })},
		{"estimate_coverage", "%", "such waits that were at most as long as estimated", of(func(_ *run, p *sim.Provision) float64 { return estimateCoverage(p.Sides.Waits) })},
		{"estimates", "", "waits that were estimated", of(func(_ *run, p *sim.Provision) float64 { return float64(len(p.Sides.Waits)) })},
	}
	for _, percentile := range []int{5, 25, 75, 95} {
		out = append(out, Metric{fmt.Sprintf("relative_p%d", percentile), "%", fmt.Sprintf("relative performance that %d %% of the jobs fall short of", percentile),
			of(func(r *run, _ *sim.Provision) float64 {
				return 100 * quantile(sorted(r, (*sim.Record).Relative), float64(percentile)/100)
			})})
	}
	for _, minimum := range []time.Duration{time.Minute, 10 * time.Minute} {
		out = append(out, Metric{fmt.Sprintf("rented_cores_%ds", int(minimum.Seconds())), "cores", fmt.Sprintf("rented and billed, each node for %s at least", minimum),
			of(func(r *run, p *sim.Provision) float64 { return fleet.MeanCores(p.Rented, r.End, minimum) })})
	}
	return out
}

const third = 1.0 / 3

func every(*sim.Record) bool       { return true }
func isService(r *sim.Record) bool { return r.Shape == sim.Service }
func isBatch(r *sim.Record) bool   { return r.Shape != sim.Service }
func onBase(r *sim.Record) bool    { return r.Started >= 0 && !r.Rented }
func onRented(r *sim.Record) bool  { return r.Started >= 0 && r.Rented }

func relativeOf(which func(*sim.Record) bool) func(*run, *sim.Provision) float64 {
	return func(r *run, _ *sim.Provision) float64 {
		var values []float64
		for i := range r.Records {
			if which(&r.Records[i]) {
				values = append(values, 100*r.Records[i].Relative())
			}
		}
		return mean(values)
	}
}

func tailFactor(r *run, _ *sim.Provision) float64 {
	var values []float64
	for i := range r.Records {
		if rec := &r.Records[i]; isService(rec) && rec.Outcome == sim.Done {
			values = append(values, float64(rec.Tail))
		}
	}
	return mean(values)
}

func idealCompletion(r *run, _ *sim.Provision) float64 {
	last := sim.Instant(0)
	for i := range r.Records {
		last = max(last, r.Records[i].Arrived+r.Records[i].Ideal)
	}
	return last.Seconds()
}

// baseShare is of jobs that were submitted in a part of the submissions.
func baseShare(which func(*sim.Record) bool, from, to float64) func(*run, *sim.Provision) float64 {
	return func(r *run, _ *sim.Provision) float64 {
		last := float64(lastArrival(r))
		all, base := 0, 0
		for i := range r.Records {
			rec := &r.Records[i]
			if at := float64(rec.Arrived); !which(rec) || at < from*last || at > to*last {
				continue
			}
			all++
			if onBase(rec) {
				base++
			}
		}
		if all == 0 {
			return math.NaN()
		}
		return percent(base, all)
	}
}

// loadOf is what a strategy has of a run.
func loadOf(r *run, p *sim.Provision) provision.Load {
	return provision.Load{Owned: p.OwnedCores, Rented: fleet.MeanCores(p.Rented, r.End, p.MinimumBilled)}
}

func costPerHour(r *run, p *sim.Provision) float64 {
	return p.Prices.PerHour(loadOf(r, p)) / p.Prices.RentedPerCoreHour
}

func loadCores(r *run, _ *sim.Provision) float64 {
	sum := 0.0
	for i := range r.Records {
		if rec := &r.Records[i]; rec.Started >= 0 && rec.Ended > rec.Started {
			sum += float64(rec.Cores) * (rec.Ended - rec.Started).Seconds()
		}
	}
	return sum / r.End.Seconds()
}

func baseUse(of func(*sim.Sample) float64) func(*run, *sim.Provision) float64 {
	return func(r *run, p *sim.Provision) float64 {
		sum, n := 0.0, 0
		last := lastArrival(r)
		for i := range r.Samples {
			if s := &r.Samples[i]; s.At >= last/4 && s.At <= last-last/4 {
				sum, n = sum+of(s), n+1
			}
		}
		if p.OwnedCores <= 0 {
			return math.NaN()
		}
		return 100 * sum / float64(n) / p.OwnedCores
	}
}

// nearlyIdleBelow is the busy share of a node below which it is nearly idle (chosen by us).
const nearlyIdleBelow = 0.1

func nearlyIdle(r *run, _ *sim.Provision) float64 {
	idle, all := 0, 0
	last := lastArrival(r)
	for i, row := range r.Heat {
		if r.Samples[i].At > last {
			break
		}
		for _, busy := range row {
			all++
			if busy < nearlyIdleBelow {
				idle++
			}
		}
	}
	if all == 0 {
		return math.NaN()
	}
	return percent(idle, all)
}

func estimateError(waits []admission.WaitSample) float64 {
	var errors []float64
	for _, w := range waits {
		errors = append(errors, (w.Estimated - w.Waited).Abs().Seconds())
	}
	slices.Sort(errors)
	return quantile(errors, 0.5)
}

func estimateCoverage(waits []admission.WaitSample) float64 {
	if len(waits) == 0 {
		return math.NaN()
	}
	kept := 0
	for _, w := range waits {
		if w.Waited <= w.Estimated {
			kept++
		}
	}
	return percent(kept, len(waits))
}

// estimateParts are the errors of estimated waits by type of node.
func estimateParts(r *run) []named {
	if r.Provision == nil {
		return nil
	}
	byClass := map[string][]admission.WaitSample{}
	var classes []string
	for _, w := range r.Provision.Sides.Waits {
		if byClass[w.Class] == nil {
			classes = append(classes, w.Class)
		}
		byClass[w.Class] = append(byClass[w.Class], w)
	}
	slices.Sort(classes)
	var out []named
	for _, c := range classes {
		out = append(out, named{"estimate_error:" + c, estimateError(byClass[c])}, named{"estimate_coverage:" + c, estimateCoverage(byClass[c])})
	}
	return out
}
