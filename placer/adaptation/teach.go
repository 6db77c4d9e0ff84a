package adaptation

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// The windows of an experiment (chosen by us).
const (
	settlesFor       = 15 * time.Second // after a change of the situation, before windows count
	shortestLesson   = 20 * time.Second
	fewestWindows    = 3
	lessonEnds       = 5 * time.Minute // of the first in a situation; each further one is twice as long
	longestLesson    = 2 * time.Hour
	doubtfulEnds     = 20 * time.Minute // of one that follows on a contradiction: four take more than an hour
	correlatedFor    = time.Minute      // windows within it count as one
	lessonsInOnePass = 32
	learntPutAside   = time.Minute // between passes over what is to be written
)

// lesson gathers the windows of one allocation in one situation.
type lesson struct {
	situation       situation
	began           string
	since           time.Time // of the situation
	ends            time.Duration
	from, to        time.Time
	windows         int
	mean, squares   float64 // of the rate, by Welford
	atLeast         bool
	workload        cluster.Workload
	allocation      cluster.Allocation
	node            *cluster.Node
	coRunners       []profiling.CoRunner
	loads           map[cluster.WorkloadID]load
	silent          string
	silentWasTaught bool
}

// load is what the allocations of a co-runner did in windows of the lesson: the sum of their
// rates, how many windows had one, and in how many it was all that was demanded.
type load struct {
	sum               float64
	windows, demanded int
}

// situation is what makes the windows of an allocation one experiment, as text.
type situation struct{ configuration, size, coRunners, silent string }

// hash names a situation in records.
func (s situation) hash() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{s.configuration, s.size, s.coRunners}, "\x00")))
	return hex.EncodeToString(sum[:6])
}

// learn lets the windows of a pass teach: each allocation's go to the experiment that its
// situation is, and an experiment that has ended is evaluated.
func (a *term) learn(ctx context.Context, sc *scene, readings map[cluster.WorkloadID][]cluster.Observation) error {
	now := a.cfg.Clock.Now()
	var ended []*lesson
	for _, id := range sortedIDs(readings) {
		for _, handle := range sc.handles[id] {
			allocation := sc.allocation(handle)
			i := slices.IndexFunc(readings[id], func(o cluster.Observation) bool { return o.Allocation == allocation.ID })
			if i < 0 {
				continue
			}
			ended = append(ended, a.window(sc, sc.running[id], allocation, readings[id][i], now)...)
		}
	}
	for id, l := range a.lessons {
		if !a.there(id) {
			ended = append(ended, l.over()...)
			delete(a.lessons, id)
		}
	}
	slices.SortFunc(ended, func(x, y *lesson) int { return cmp.Compare(x.allocation.ID, y.allocation.ID) })
	return a.teach(ctx, ended)
}

// window adds a reading to the lesson of its allocation. What it ends is returned.
func (a *term) window(sc *scene, s subject, allocation cluster.Allocation, o cluster.Observation, now time.Time) (ended []*lesson) {
	if s.job.Type == "system" || s.job.Type == "sysbatch" {
		return nil
	}
	node, coRunners, silent := a.surroundings(sc, s, allocation)
	if node == nil {
		return nil
	}
	is := situationOf(node, allocation, coRunners, silent)
	l := a.lessons[allocation.ID]
	if l == nil || l.situation != is {
		began := "it started here"
		if l != nil {
			began = l.situation.became(is, l.coRunners, coRunners)
			ended = l.over()
		}
		l = &lesson{situation: is, began: began, since: now, ends: lessonEnds, loads: map[cluster.WorkloadID]load{}}
		a.lessons[allocation.ID] = l
	}
	l.workload, l.allocation, l.node, l.coRunners, l.silent = s.workload, allocation, node, coRunners, silent
	if now.Sub(l.since) < settlesFor || now.Sub(a.since(allocation.ID)) < warmUp || o.Unavailable != "" || o.FinishedIn > 0 || o.Measure.Goodput < 0 {
		return ended
	}
	l.add(o, s.workload.Spec.Target)
	l.addLoads()
	if l.to.Sub(l.from) >= l.ends {
		ended = append(ended, l.over()...)
		next := *l
		next.windows, next.mean, next.squares, next.ends = 0, 0, 0, min(longestLesson, 2*l.ends)
		next.loads = map[cluster.WorkloadID]load{}
		a.lessons[allocation.ID] = &next
	}
	return ended
}

// add a window. Requests that were served in time may be all that came; work that is done
// is all that could be.
func (l *lesson) add(o cluster.Observation, t performance.Target) {
	if l.windows == 0 {
		l.from, l.atLeast = o.At.Add(-o.Window), false
	}
	l.to = o.At
	l.windows++
	d := o.Measure.Goodput - l.mean
	l.mean += d / float64(l.windows)
	l.squares += d * (o.Measure.Goodput - l.mean)
	if t.Kind == performance.QPS && (t.Latency == nil || o.Measure.LatencyTail <= t.Latency.Max) {
		l.atLeast = true
	}
}

// addLoads adds what the co-runners did in a window.
func (l *lesson) addLoads() {
	for _, c := range l.coRunners {
		if c.Rate == nil {
			continue
		}
		of := l.loads[c.Workload.ID]
		of.sum += *c.Rate
		of.windows++
		if c.Demanded {
			of.demanded++
		}
		l.loads[c.Workload.ID] = of
	}
}

// active are the co-runners with what they did over the whole of the lesson, where that was
// seen in half of its windows at least.
func (l *lesson) active() []profiling.CoRunner {
	out := slices.Clone(l.coRunners)
	for i := range out {
		of := l.loads[out[i].Workload.ID]
		out[i].Rate, out[i].Demanded = nil, false
		if 2*of.windows >= l.windows {
			mean := of.sum / float64(of.windows)
			out[i].Rate, out[i].Demanded = &mean, of.demanded == of.windows
		}
	}
	return out
}

// over is the lesson, where it has enough windows to be one.
func (l *lesson) over() []*lesson {
	if l.windows < fewestWindows || l.to.Sub(l.from) < shortestLesson || l.silent != "" && l.silentWasTaught {
		return nil
	}
	done := *l
	l.silentWasTaught = l.silent != ""
	return []*lesson{&done}
}

// surroundings are the node of an allocation and its co-runners on the machine; silent is
// why its windows say nothing.
func (a *term) surroundings(sc *scene, s subject, allocation cluster.Allocation) (node *cluster.Node, _ []profiling.CoRunner, silent string) {
	i := slices.IndexFunc(sc.snapshot.Nodes, func(n *cluster.Node) bool { return n.ID == allocation.Node })
	if i < 0 {
		return nil, nil, ""
	}
	node = sc.snapshot.Nodes[i]
	by := map[cluster.WorkloadID]*profiling.CoRunner{}
	for _, n := range sc.snapshot.Machine(node) {
		for _, other := range sc.snapshot.Residents(n.ID, cluster.WorkloadID{}) {
			switch {
			case other.ID == allocation.ID, other.System:
				continue
			case other.Profiling:
				silent = "something was profiled next to it"
				continue
			case other.Workload == s.workload.ID:
				silent = "another allocation of its own ran next to it"
				continue
			}
			c := by[other.Workload]
			if c == nil {
				c = &profiling.CoRunner{Workload: cluster.Workload{ID: other.Workload}}
				if of, ok := sc.running[other.Workload]; ok {
					c.Workload = of.workload
				}
				by[other.Workload] = c
			}
			c.Allocations++
			c.CPUShare, c.Resources = max(c.CPUShare, shareOf(n, other.Resources)), other.Resources
			a.addRate(c, other.ID)
		}
	}
	var out []profiling.CoRunner
	for _, id := range sortedIDs(by) {
		out = append(out, *by[id])
	}
	return node, out, silent
}

// servedInTime: requests that were all served in time are all that came. Without a bound on
// their latency it is not known.
func servedInTime(o cluster.Observation, t performance.Target) bool {
	tail := o.Measure.LatencyTail
	return t.Kind == performance.QPS && t.Latency != nil && tail > 0 && tail <= t.Latency.Max
}

// addRate adds what one allocation of a co-runner did lately: the rate of a co-runner is the mean
// of all that it has there, and unknown where that of one of them is.
func (a *term) addRate(c *profiling.CoRunner, allocation string) {
	var last cluster.Observation
	if w := a.watched[c.Workload.ID]; w != nil {
		last = w.last[allocation]
	}
	first := c.Allocations == 1
	switch {
	case last.Allocation == "" || last.Unavailable != "" || last.FinishedIn > 0 || a.cfg.Clock.Now().Sub(last.At) > correlatedFor:
		c.Rate, c.Demanded = nil, false
	case first:
		c.Rate, c.Demanded = &last.Measure.Goodput, servedInTime(last, c.Workload.Spec.Target)
	case c.Rate != nil:
		mean := *c.Rate + (last.Measure.Goodput-*c.Rate)/float64(c.Allocations)
		c.Rate, c.Demanded = &mean, c.Demanded && servedInTime(last, c.Workload.Spec.Target)
	}
}

// shareOf the node's CPU that an allocation asks for; half where it is not known.
func shareOf(n *cluster.Node, r cluster.Resources) float64 {
	if n.Total.CPUMHz <= 0 {
		return 0.5
	}
	return min(1, float64(r.Megahertz(n.CoreMHz))/float64(n.Total.CPUMHz))
}

// situationOf is the same on all nodes of a configuration: what is learnt next to the same
// co-runners is the same experiment wherever it is made.
func situationOf(n *cluster.Node, allocation cluster.Allocation, coRunners []profiling.CoRunner, silent string) situation {
	names := make([]string, len(coRunners))
	for i, c := range coRunners {
		names[i] = fmt.Sprintf("%s×%d", cmp.Or(c.Workload.ProfileKey, c.Workload.ID.String()), c.Allocations)
	}
	slices.Sort(names)
	r := allocation.Resources
	return situation{n.Configuration, fmt.Sprintf("%d/%d/%d", r.Cores, r.CPUMHz, r.MemoryMB), strings.Join(names, ","), silent}
}

// became says what has changed.
func (s situation) became(now situation, before, after []profiling.CoRunner) string {
	switch {
	case s.size != now.size:
		return "its size changed"
	case s.silent != now.silent:
		return cmp.Or(now.silent, s.silent+", and does no more")
	}
	was, is := map[cluster.WorkloadID]int{}, map[cluster.WorkloadID]int{}
	for _, c := range before {
		was[c.Workload.ID] = c.Allocations
	}
	for _, c := range after {
		is[c.Workload.ID] = c.Allocations
	}
	came, left := 0, 0
	for id := range is {
		came += max(0, is[id]-was[id])
	}
	for id := range was {
		left += max(0, was[id]-is[id])
	}
	var parts []string
	if came > 0 {
		parts = append(parts, wording.Count(came, "allocation")+" came next to it")
	}
	if left > 0 {
		parts = append(parts, wording.Count(left, "allocation")+" next to it left")
	}
	if len(parts) == 0 {
		return "a workload next to it has another version"
	}
	return strings.Join(parts, ", ")
}

// teach evaluates experiments that have ended, some of them in each pass.
func (a *term) teach(ctx context.Context, ended []*lesson) error {
	a.waiting = append(a.waiting, ended...)
	var errs []error
	for range min(len(a.waiting), lessonsInOnePass) {
		l := a.waiting[0]
		a.waiting = a.waiting[1:]
		if a.cfg.Clock.Now().Sub(l.to) > longestLesson {
			continue
		}
		contradicts, err := a.cfg.Lab.Teach(ctx, l.experiment())
		if err != nil {
			errs = append(errs, fmt.Errorf("learning from %s: %w", l.workload.ID, err))
		}
		if next := a.lessons[l.allocation.ID]; contradicts && next != nil && next.situation == l.situation {
			next.ends = doubtfulEnds
		}
	}
	return errors.Join(errs...)
}

func (l *lesson) experiment() profiling.Experiment {
	return profiling.Experiment{
		Workload: l.workload, Allocation: l.allocation, Node: l.node, CoRunners: l.active(), Situation: l.situation.hash(), Began: l.began, Silent: l.silent,
		From: l.from, To: l.to, Windows: l.windows, AtLeast: l.atLeast, Rate: l.mean, Deviation: math.Sqrt(l.squares / float64(max(1, l.windows-1))),
		Independent: min(float64(l.windows), 1+l.to.Sub(l.from).Seconds()/correlatedFor.Seconds()),
	}
}

// writeLearnt writes what was learnt, once in a while, and puts it in force for those that
// run: their scores count in the decisions on others.
func (c *Controller) writeLearnt(ctx context.Context, running map[cluster.WorkloadID]subject) error {
	now := c.cfg.Clock.Now()
	if now.Sub(c.live.written) < learntPutAside {
		return nil
	}
	c.live.written = now
	if err := c.cfg.Lab.DropForgotten(ctx); err != nil {
		return err
	}
	keys, err := c.cfg.Lab.FlushProduction(ctx)
	for _, id := range sortedIDs(running) {
		if slices.Contains(keys, running[id].workload.ProfileKey) {
			err = errors.Join(err, c.Reclassify(ctx, id))
		}
	}
	return err
}
