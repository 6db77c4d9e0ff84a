package whatif

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Bounds, chosen by us.
const (
	// A run that was seen so long after the submission of its version has not waited for that long: it
	// was there before, and was started again.
	longestWait = time.Hour
	// What somebody else wrote into a record must not take the memory of a machine.
	mostAllocations = 50_000
	// What is assumed of a score that is not known (decision 0007).
	assumedPercent = 50
)

// Why runs and jobs are left out.
const (
	noEnd    = "runs whose end nobody saw"
	noStart  = "runs whose beginning nobody saw"
	noTimes  = "runs whose times make no sense"
	noSize   = "runs whose size makes no sense"
	tooLarge = "runs with an allocation that is larger than an owned node, or than the largest type that can be rented"
	noRun    = "groups that were placed, and of which no run is on record: their decision is of before runs were recorded, or they never started"
)

// Recorded is what is on record of a cluster.
type Recorded struct {
	provision.Runs
	Decisions []cluster.Decision // the newest on each workload; to count those without a run
}

// replay is what is replayed.
type replay struct {
	columns []interference.Source // of which something is known of somebody
	model   *truth.Model
	jobs    []sim.Job
	known   known
	load    load

	runs, unknown, running int
	leftOut                map[string]int
}

// known says of a program what its record says. Of others nothing is said, and their scores are assumed.
type known map[*truth.Application]sim.Estimate

// Know implements sim.Estimator.
func (k known) Know(j *sim.Job, _, _ int) (sim.Estimate, error) { return k[j.App], nil }

// piece is the part of a run that is within the time asked for.
type piece struct {
	run      provision.Run
	arrived  time.Time
	from, to time.Time // it ran
}

// program is an application at a size: runs of both share what happens to them.
type program struct {
	name     string
	cores    float64
	memoryMB int
}

func newReplay(recorded Recorded, q provision.Question) (*replay, error) {
	r := &replay{known: known{}, leftOut: map[string]int{}, columns: columnsOf(recorded.Programs)}
	r.model = truth.NewModel(r.columns, []truth.Machine{machineOf(q.Prices)})
	pieces := r.within(recorded, q)
	r.countWithoutRun(recorded, q)
	if len(pieces) == 0 {
		return nil, provision.NothingToReplay(r.leftOut)
	}
	if n := allocationsOf(pieces); n > mostAllocations {
		return nil, fmt.Errorf("%w: %d allocations, at most %d; choose a shorter time", provision.ErrTooMany, n, mostAllocations)
	}
	r.load = loadOf(pieces, q.From, q.To)
	r.submit(pieces, recorded.Programs, q.From)
	return r, nil
}

// machineOf is the largest node that there may be: all are of one configuration, and a slice of a machine
// is as good as the machine, but for who else is there.
func machineOf(p provision.PriceList) truth.Machine {
	m := truth.Machine{Name: configuration, Cores: float64(p.Owned.Cores), MemoryMB: float64(p.Owned.MemoryMB), IPC: 1, Siblings: 1, Family: configuration}
	for _, t := range p.Types {
		m.Cores, m.MemoryMB = max(m.Cores, float64(t.Cores)), max(m.MemoryMB, float64(t.MemoryMB))
	}
	return m
}

// columnsOf are the sources of which a score of some program is known, in the order of the list.
func columnsOf(programs map[string]provision.Scores) []interference.Source {
	said := map[interference.Source]bool{}
	for _, s := range programs {
		for c := range s.Tolerated {
			said[c] = true
		}
		for c := range s.Caused {
			said[c] = true
		}
	}
	var out []interference.Source
	for _, info := range interference.Sources() {
		if said[info.Source] {
			out = append(out, info.Source)
		}
	}
	return out
}

// within are the parts of runs that are replayed, by when they arrived. What is left out is counted.
func (r *replay) within(recorded Recorded, q provision.Question) []piece {
	var out []piece
	for _, run := range recorded.Runs.Runs {
		p, why := pieceOf(run, q)
		switch {
		case why != "":
			r.leftOut[why]++
		case p.to.After(p.from):
			out = append(out, p)
			r.runs++
			if !run.Gone {
				r.running++
			}
			if !recorded.Programs[run.Program].Known() {
				r.unknown++
			}
		}
	}
	slices.SortStableFunc(out, func(a, b piece) int {
		return cmp.Or(a.arrived.Compare(b.arrived), a.run.Workload.Compare(b.run.Workload), a.from.Compare(b.from))
	})
	return out
}

// pieceOf a run; why it cannot be replayed, or nothing of it where it is of another time.
func pieceOf(run provision.Run, q provision.Question) (p piece, why string) {
	switch {
	case run.Started.After(q.To), run.Gone && !run.Ended.IsZero() && run.Ended.Before(q.From):
		return piece{}, ""
	case run.Started.IsZero():
		return piece{}, noStart
	case run.Gone && run.Ended.IsZero():
		return piece{}, noEnd
	case run.Gone && !run.Ended.After(run.Started):
		return piece{}, noTimes
	case run.Count < 1 || !(run.Cores > 0) || math.IsInf(run.Cores, 0) || run.MemoryMB < 1:
		return piece{}, noSize
	case !holds(q.Prices, sizeOf(run)):
		return piece{}, tooLarge
	}
	p = piece{run: run, from: later(run.Started, q.From), to: q.To}
	if run.Gone && run.Ended.Before(q.To) {
		p.to = run.Ended
	}
	arrived := run.Started
	if s := run.Submitted; !s.IsZero() && s.Before(arrived) && arrived.Sub(s) <= longestWait {
		arrived = s
	}
	p.arrived = later(arrived, q.From)
	return p, ""
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// holds reports whether every strategy has a node for an allocation.
func holds(p provision.PriceList, size cluster.Resources) bool {
	largest, err := p.Types.Largest()
	return err == nil && size.CPUMHz <= min(p.Owned.Cores, largest.Cores)*mhzPerCore && size.MemoryMB <= min(p.Owned.MemoryMB, largest.MemoryMB)
}

// sizeOf an allocation of a run, in the unit of the simulated world.
func sizeOf(run provision.Run) cluster.Resources {
	return cluster.Resources{CPUMHz: max(1, int(math.Ceil(min(run.Cores*mhzPerCore, math.MaxInt32)-1e-6))), MemoryMB: run.MemoryMB}
}

// countWithoutRun counts workloads that were placed within the time, and of which there is no run.
func (r *replay) countWithoutRun(recorded Recorded, q provision.Question) {
	seen := map[cluster.WorkloadID]bool{}
	for _, run := range recorded.Runs.Runs {
		seen[run.Workload] = true
	}
	for _, d := range recorded.Decisions {
		if d.Outcome == cluster.Placed && !seen[d.Workload] && !d.At.Before(q.From) && d.At.Before(q.To) {
			r.leftOut[noRun]++
		}
	}
}

func allocationsOf(pieces []piece) int {
	n := 0
	for _, p := range pieces {
		n += min(p.run.Count, mostAllocations+1)
	}
	return n
}

// submit makes a job of each allocation.
func (r *replay) submit(pieces []piece, programs map[string]provision.Scores, from time.Time) {
	applications := map[program]*truth.Application{}
	for _, p := range pieces {
		size := sizeOf(p.run)
		key := program{p.run.Program, float64(size.CPUMHz) / mhzPerCore, size.MemoryMB}
		scores := programs[p.run.Program]
		if !scores.Known() {
			key.name = p.run.Workload.String()
		}
		app := applications[key]
		if app == nil {
			app = r.application(key, scores)
			applications[key] = app
		}
		for range p.run.Count {
			j := sim.Job{
				Number: len(r.jobs), At: p.arrived.Sub(from), App: app, Duration: p.to.Sub(p.from), Size: size, Count: 1, Target: app.Isolated[0],
			}
			if p.run.Service {
				j.Shape = sim.Service
			}
			r.jobs = append(r.jobs, j)
		}
	}
}

// application is what really happens to a program, and what is known of it.
func (r *replay) application(p program, scores provision.Scores) *truth.Application {
	tolerated, caused := r.byColumn(scores.Tolerated), r.byColumn(scores.Caused)
	a := truth.FromScores(r.model, p.name, p.cores, float64(p.memoryMB), tolerated, caused)
	if scores.Known() {
		r.known[a] = sim.Estimate{Tolerated: assumed(tolerated), Caused: assumed(caused), Speed: a.Isolated}
	}
	return a
}

// byColumn are scores in the order of the columns; NaN is not known.
func (r *replay) byColumn(scores map[interference.Source]float64) []float64 {
	out := make([]float64, len(r.columns))
	for k, c := range r.columns {
		if v, ok := scores[c]; ok && v >= 0 && v <= 100 {
			out[k] = v
		} else {
			out[k] = math.NaN()
		}
	}
	return out
}

// assumed fills in what is assumed of scores that are not known.
func assumed(scores []float64) []float64 {
	out := slices.Clone(scores)
	for k, v := range out {
		if math.IsNaN(v) {
			out[k] = assumedPercent
		}
	}
	return out
}

// load is what the runs were given over time.
type load struct {
	meanCores, leastCores, mostCores float64
	leastMB, mostMB                  float64
	most                             int // allocations at once
}

// loadOf pieces within a stretch of time.
func loadOf(pieces []piece, from, to time.Time) load {
	type change struct {
		at    time.Time
		count int
		cores float64
		mb    float64
	}
	var changes []change
	for _, p := range pieces {
		n := p.run.Count
		changes = append(changes,
			change{p.from, n, float64(n) * p.run.Cores, float64(n) * float64(p.run.MemoryMB)},
			change{p.to, -n, -float64(n) * p.run.Cores, -float64(n) * float64(p.run.MemoryMB)})
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.count, b.count)) })
	out := load{leastCores: math.Inf(1), leastMB: math.Inf(1)}
	cores, mb, there, at := 0.0, 0.0, 0, from
	until := func(next time.Time) {
		if !next.After(at) {
			return
		}
		out.meanCores += cores * next.Sub(at).Hours()
		out.leastCores, out.mostCores = min(out.leastCores, cores), max(out.mostCores, cores)
		out.leastMB, out.mostMB = min(out.leastMB, mb), max(out.mostMB, mb)
		out.most = max(out.most, there)
		at = next
	}
	for _, c := range changes {
		until(c.at)
		cores, mb, there = cores+c.cores, mb+c.mb, there+c.count
		if there == 0 {
			cores, mb = 0, 0 // no rest of rounding
		}
	}
	until(to)
	out.meanCores /= to.Sub(from).Hours()
	return out
}
