package profiling

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/predict/production"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
)

// What production says is written so seldom (chosen by us: each write is one entry of
// Nomad's log), so much of it in one pass, and only where it changed the odds of some score
// by so much.
const (
	productionWrittenEvery = 5 * time.Minute
	productionWritesAPass  = 16
	productionWorthWriting = 0.05 // of a log-likelihood
	productionsKept        = 4000
)

// Experiment is what adaptation saw of one allocation while its node, its size and its
// co-runners stayed as they were.
type Experiment struct {
	Workload    cluster.Workload
	Allocation  cluster.Allocation
	Node        *cluster.Node
	CoRunners   []CoRunner
	Situation   string // the same for the same node configuration, size and co-runners
	Began       string // what made it: a sentence
	Silent      string // why it says nothing; "" where it may say something
	From, To    time.Time
	Windows     int
	Independent float64 // how many windows they count for
	Rate        float64 // mean
	Deviation   float64 // of one window
	AtLeast     bool    // there may have been no demand for more
}

// CoRunner is a workload that ran next to it.
type CoRunner struct {
	Workload    cluster.Workload // only its ID where it has no performance block
	Allocations int
	Resources   cluster.Resources // of one allocation
	CPUShare    float64           // of the node, by what it asks for
	Rate        *float64          // mean of one allocation meanwhile; nil: unknown
	Demanded    bool              // the rate is all that was asked of it: it could have done more
}

// experience is what production says of workloads, by profile key. Documents are not
// written to once they are in it.
type experience struct {
	mu sync.Mutex
	of map[string]experienced
}

type experienced struct {
	said    profile.Production
	index   uint64 // in the store; 0: not there yet
	written time.Time
	change  float64 // since it was written
}

func (x *experience) get(key string) (experienced, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	e, ok := x.of[key]
	return e, ok
}

func (x *experience) put(key string, e experienced) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.of == nil {
		x.of = map[string]experienced{}
	}
	if _, ok := x.of[key]; !ok && len(x.of) >= productionsKept {
		return
	}
	x.of[key] = e
}

func (x *experience) drop(key string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.of, key)
}

func (x *experience) keys() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Sorted(maps.Keys(x.of))
}

// unprofiled are rows of workloads without a profile, of which production says something.
func (x *experience) unprofiled(but map[string]bool) []profile.Profile {
	x.mu.Lock()
	defer x.mu.Unlock()
	var out []profile.Profile
	for _, key := range slices.Sorted(maps.Keys(x.of)) {
		if !but[key] {
			out = append(out, unprofiled(x.of[key].said))
		}
	}
	return out
}

func unprofiled(said profile.Production) profile.Profile {
	return profile.Profile{Key: said.Key, Workload: said.Workload, Taken: said.Updated, SlowdownMax: said.SlowdownMax}
}

// readProduction reads what production has said so far. What was not written yet stays.
func (k *Estimator) readProduction(ctx context.Context) error {
	refused, err := store.Productions{Store: k.cfg.Store}.Each(ctx, func(said profile.Production, index uint64) error {
		if e, ok := k.experience.get(said.Key); !ok || e.index != index {
			k.experience.put(said.Key, experienced{said: said, index: index})
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading what production says: %w", err)
	}
	for _, err := range refused {
		k.cfg.Log.Warn("what production says of a workload is not used", "error", err)
	}
	return nil
}

// said is what production says of a workload beside a profile, as far as it counts for a
// namespace; nil where it says nothing. A profile that was taken since the one before lost
// its trust has it.
func (k *Estimator) said(namespace, key string, p *profile.Profile) *profile.Production {
	e, ok := k.experience.get(key)
	if !ok || k.cfg.Sharing.Scope(namespaceOf(e.said.Workload)) != k.cfg.Sharing.Scope(namespace) {
		return nil
	}
	if d := e.said.Distrust; d != nil && p != nil && !p.Taken.Before(d.At) {
		e.said.Distrust = nil
	}
	return &e.said
}

func namespaceOf(workload string) string { return profile.Profile{Workload: workload}.Namespace() }

// rowOf is a profile as a row to learn from, with what production says.
func (k *Estimator) rowOf(p profile.Profile) profile.Profile {
	return production.Row(p, k.said(p.Namespace(), p.Key, &p))
}

// Distrusted is why the profile of a workload is measured again when it is submitted next;
// "" where it is not.
func (k *Estimator) Distrusted(w cluster.WorkloadID, key string, p *profile.Profile) string {
	said := k.said(w.Namespace, key, p)
	if said == nil || said.Distrust == nil || p == nil {
		return ""
	}
	return "its profile is not trusted any more, and is taken again when the job is submitted next: " + said.Distrust.Reason
}

// Teach lets an experiment change what is known of the workload and of those it ran next to.
// contradicts: it may be of another behaviour, and a further one is wanted soon.
func (l *Lab) Teach(ctx context.Context, x Experiment) (contradicts bool, err error) {
	w := x.Workload
	p, err := l.Stored(ctx, w.ID, w.ProfileKey)
	if err != nil {
		return false, err
	}
	k := l.estimator.withoutProduction(w.ID.Namespace, p)
	own := l.estimator.experienced(w, p)
	record := recordOf(x, w.ID.Namespace)
	evidence, silent := evidenceOf(x, &k)
	if silent != "" {
		record.Says = "nothing: " + silent
		l.noteSilent(own, w.ProfileKey, x, record)
		return false, nil
	}
	subject := production.Subject{Knowledge: &k, SlowdownPercent: bound(w.Spec), Said: &own.said}
	coRunners, err := l.coRunners(ctx, x)
	if err != nil {
		return false, err
	}
	situation := x.Situation + busy(coRunners)
	evidence.Before, evidence.Earlier = production.SeenIn(&own.said, situation)
	columns := l.estimator.Columns()
	f := production.Learn(columns, subject, of(coRunners), evidence)
	record.Ratio, record.AtLeast = evidence.Ratio, evidence.AtLeast
	record.Low, record.High = intervalOf(evidence)
	record.Predicted, record.PredictedLow, record.PredictedHigh = f.Predicted.Value, f.Predicted.Low, f.Predicted.High
	own.said.Counted++
	aside, reason := l.suspect(&own.said, p, f, evidence, record.Neighbours, x.To)
	production.Note(&own.said, situation, evidence, f, !aside, x.To)
	switch {
	case reason != "":
		record.Says = "it behaves differently: what was learnt before is set aside"
		production.SetAside(&own.said, reason, x.To)
		l.cfg.Log.Warn("a profile is not trusted any more; the job is profiled again when it is submitted next", "workload", w.ID.String(), "key", w.ProfileKey, "reason", reason)
		own.change = math.Inf(1)
	case aside:
		record.Says = "nothing yet: it contradicts what is known, and may be of another behaviour"
		own.change += productionWorthWriting
	default:
		change := production.AddTolerated(&own.said, columns, f, evidence, whoseOf(coRunners))
		record.Says = says(f, coRunners, change)
		own.change += change
	}
	l.estimator.note(&own, record, x.To)
	l.estimator.experience.put(w.ProfileKey, own)
	if !aside {
		l.teachCoRunners(x, columns, f, coRunners)
	}
	return aside, nil
}

// suspect asks whether a workload has drifted. Without a profile, or with one that is not
// trusted, there is nothing to set aside: whatever it does is learnt.
func (l *Lab) suspect(said *profile.Production, p *profile.Profile, f production.Finding, e production.Evidence, coRunners []string, at time.Time) (aside bool, reason string) {
	if p == nil || said.Distrust != nil {
		return false, ""
	}
	return production.Suspect(said, f, e, coRunners, at)
}

// whoseOf an experiment is the word.
func whoseOf(coRunners []known) production.Whose {
	if slices.ContainsFunc(coRunners, func(c known) bool { return c.Foreign }) {
		return production.Foreign
	}
	return production.Own
}

// teachCoRunners adds what an experiment says of those that ran next to the workload: of
// the same namespace, and, closely bounded, of those that share profiles with it.
func (l *Lab) teachCoRunners(x Experiment, columns []interference.Source, f production.Finding, all []known) {
	for j, c := range all {
		if c.run.Workload.ProfileKey == "" || len(f.Caused[j]) == 0 || c.run.Workload.ProfileKey == x.Workload.ProfileKey {
			continue
		}
		whose := production.Own
		switch {
		case l.cfg.Sharing.Scope(c.run.Workload.ID.Namespace) != l.cfg.Sharing.Scope(x.Workload.ID.Namespace):
			continue
		case c.run.Workload.ID.Namespace != x.Workload.ID.Namespace:
			whose = production.Foreign
		}
		e := c.experienced
		change := production.AddCaused(&e.said, columns, f, j, whose)
		if change == 0 {
			continue
		}
		e.change += change
		e.said.Updated = x.To
		l.estimator.experience.put(c.run.Workload.ProfileKey, e)
	}
}

// noteSilent keeps the record of an experiment that says nothing, once for each situation.
func (l *Lab) noteSilent(own experienced, key string, x Experiment, record profile.Experiment) {
	n := len(own.said.Experiments)
	if n > 0 && own.said.Experiments[n-1].Says == record.Says && own.said.Experiments[n-1].Node == record.Node {
		return
	}
	l.estimator.note(&own, record, x.To)
	own.change += productionWorthWriting
	l.estimator.experience.put(key, own)
}

// note appends a record to a copy of the list.
func (k *Estimator) note(e *experienced, record profile.Experiment, at time.Time) {
	all := append(slices.Clone(e.said.Experiments), record)
	e.said.Experiments = all[max(0, len(all)-profile.ExperimentsKept):]
	e.said.Updated = at
}

// experienced is a copy that may be changed.
func (k *Estimator) experienced(w cluster.Workload, p *profile.Profile) experienced {
	e, ok := k.experience.get(w.ProfileKey)
	if !ok || k.said(w.ID.Namespace, w.ProfileKey, p) == nil || e.said.SlowdownMax != bound(w.Spec) {
		e.said = profile.Production{
			Format: profile.ProductionFormat, Key: w.ProfileKey, Workload: w.ID.String(), Since: k.cfg.Clock.Now(), SlowdownMax: bound(w.Spec),
		}
	}
	e.said.Tolerated, e.said.Caused, e.said.Levels = maps.Clone(e.said.Tolerated), maps.Clone(e.said.Caused), maps.Clone(e.said.Levels)
	e.said.Situations = slices.Clone(e.said.Situations)
	if p != nil && !p.Taken.Equal(e.said.ProfileTaken) {
		if e.said.Distrust != nil {
			e.change += productionWorthWriting // who reads the record reads that it is trusted again
		}
		production.Recalibrate(&e.said)
		e.said.ProfileTaken = p.Taken
	}
	return e
}

func bound(s performance.Spec) float64 {
	return cmp.Or(s.SlowdownMaxPercent, performance.DefaultSlowdownMaxPercent)
}

func recordOf(x Experiment, namespace string) profile.Experiment {
	r := profile.Experiment{
		From: x.From, To: x.To, Allocation: x.Allocation.ID, Node: x.Node.Name, Configuration: x.Node.Configuration, Began: x.Began,
		Windows: x.Windows, Independent: math.Round(100*x.Independent) / 100,
	}
	for _, c := range x.CoRunners {
		if c.Workload.ID.Namespace == namespace {
			r.Neighbours = append(r.Neighbours, c.Workload.ID.String())
		} else {
			r.Others++
		}
	}
	return r
}

// leastNoise of one window, as a share of its rate (chosen by us: few windows may agree by
// chance).
const leastNoise = 0.02

// evidenceOf compares what was achieved with the performance in isolation at this size and
// on this configuration; silent is why that cannot be done.
func evidenceOf(x Experiment, k *cluster.Knowledge) (_ production.Evidence, silent string) {
	if x.Silent != "" {
		return production.Evidence{}, x.Silent
	}
	if x.Allocation.Transferred.CPUMHz != 0 || x.Allocation.Transferred.Cores != 0 {
		return production.Evidence{}, "it runs with CPU time that was transferred to it, and its performance at that size is not known"
	}
	isolated, unknown := inIsolation(x.Workload, x.Allocation.Resources, x.Node.Configuration, k)
	if unknown != "" {
		return production.Evidence{}, unknown
	}
	e := production.Evidence{
		Ratio: x.Rate / isolated.Value, AtLeast: x.AtLeast, Configuration: x.Node.Configuration, Isolated: production.IsolatedDeviation(isolated),
		Noise: max(x.Deviation, leastNoise*x.Rate) / isolated.Value / math.Sqrt(max(1, x.Independent)),
	}
	if err := e.Check(); err != nil {
		return e, err.Error()
	}
	return e, ""
}

// inIsolation is the performance of a workload of some size on a configuration; unknown is why
// that cannot be told.
func inIsolation(w cluster.Workload, size cluster.Resources, configuration string, k *cluster.Knowledge) (_ profile.Measurement, unknown string) {
	isolated, ok := k.Speed[configuration]
	unit := w.Spec.Target.RateUnit()
	switch {
	case !ok || !(isolated.Value > 0):
		return profile.Measurement{}, fmt.Sprintf("its performance in isolation on %s is not known", configuration)
	case isolated.Unit != "" && isolated.Unit != unit:
		return profile.Measurement{}, fmt.Sprintf("its performance in isolation was measured in %s, and now it is in %s", isolated.Unit, unit)
	}
	if size.Cores > 0 && len(k.ScaleUp) > 0 && size.Cores != k.ReferenceCores {
		at, ok := k.AtCores(size.Cores)
		if !ok {
			return profile.Measurement{}, fmt.Sprintf("its performance in isolation with %d cores is not known", size.Cores)
		}
		isolated = k.AtSize(at).Speed[configuration]
	}
	if !(isolated.Value > 0) {
		return profile.Measurement{}, "its performance in isolation at this size is not known"
	}
	return isolated, ""
}

// activity of a co-runner. What is asked of it from outside and done in time is all that it
// does; what does as much as it can does less where it is slowed down, and may want as much
// as ever.
func (c CoRunner) activity(configuration string, k *cluster.Knowledge) *production.Activity {
	if c.Rate == nil {
		return nil
	}
	isolated, unknown := inIsolation(c.Workload, c.Resources, configuration, k)
	if unknown != "" {
		return nil
	}
	of := production.Activity{Least: *c.Rate / isolated.Value, Most: 1}
	if c.Demanded {
		of.Most = of.Least
	}
	return &of
}

func intervalOf(e production.Evidence) (low, high float64) {
	half := 1.96 * math.Hypot(e.Noise, e.Ratio*e.Isolated)
	return max(0, e.Ratio-half), e.Ratio + half
}

// known is a co-runner with what is known of it.
type known struct {
	run         CoRunner
	experienced experienced
	production.CoRunner
}

func of(all []known) []production.CoRunner {
	out := make([]production.CoRunner, len(all))
	for i, c := range all {
		out[i] = c.CoRunner
	}
	return out
}

func (l *Lab) coRunners(ctx context.Context, x Experiment) ([]known, error) {
	columns := l.estimator.Columns()
	var out []known
	for _, c := range x.CoRunners {
		n := known{run: c, CoRunner: production.CoRunner{Allocations: c.Allocations, Foreign: c.Workload.ID.Namespace != x.Workload.ID.Namespace}}
		if c.Workload.ProfileKey != "" {
			p, err := l.Stored(ctx, c.Workload.ID, c.Workload.ProfileKey)
			if err != nil {
				return nil, err
			}
			k := l.estimator.withoutProduction(c.Workload.ID.Namespace, p)
			n.Caused, n.Known, n.Demand = k.Sensitivity.Caused, bearsOnIt(k.Sensitivity.Caused), k.Sensitivity.DemandFactor[x.Node.Configuration]
			n.Activity = c.activity(x.Node.Configuration, &k)
			n.experienced = l.estimator.experienced(c.Workload, p)
			n.Said = &n.experienced.said
		}
		if !n.Known {
			n.Caused = assumedCaused(columns, c.CPUShare)
		}
		out = append(out, n)
	}
	return out, nil
}

// bearsOnIt: something of the workload was measured that its scores follow from.
func bearsOnIt(scores interference.Scores) bool {
	for _, e := range scores {
		if e.Origin == interference.Measured || e.Origin == interference.Predicted {
			return true
		}
	}
	return false
}

// assumedCaused of a co-runner of which nothing is known: as the pressure of a node is
// assumed, with an interval that may be off by a factor of three and 20 points.
func assumedCaused(columns []interference.Source, cpuShare float64) interference.Scores {
	out := interference.Scores{}
	points := 100 * min(1, max(0, cpuShare))
	for _, s := range columns {
		out[s] = interference.Estimate{
			Score: interference.Percent(points), Low: interference.Percent(0), High: interference.Percent(3*points + 20), Origin: interference.Assumed,
		}
	}
	return out
}

// busy tells situations apart in which the same co-runners were busy and were not: it is the
// third of its performance in isolation that each was in.
func busy(coRunners []known) string {
	var of []byte
	for _, c := range coRunners {
		third := byte('?')
		if a := c.Activity; a != nil {
			third = '1' + byte(min(2, max(0, 3*(a.Least+a.Most)/2)))
		}
		of = append(of, third)
	}
	slices.Sort(of)
	return "/" + string(of)
}

// idlePercent of their performance in isolation: co-runners that did no more say little.
const idlePercent = 10.0

// mostActive is the most that any co-runner may have done, in percent of what it does in
// isolation.
func mostActive(coRunners []known) (percent float64) {
	for _, c := range coRunners {
		if c.Activity == nil {
			return 100
		}
		percent = max(percent, 100*min(1, c.Activity.Most))
	}
	return percent
}

// says is what was learnt, as a sentence.
func says(f production.Finding, coRunners []known, change float64) string {
	active := mostActive(coRunners)
	switch {
	case len(coRunners) == 0:
		return "nothing ran next to it: how fast it is in isolation"
	case active <= idlePercent:
		return fmt.Sprintf("little: what ran next to it was idle, at %.0f %% of its performance in isolation at most", active)
	case !f.Predicted.Known:
		return "little: nothing is known of a workload next to it"
	case f.Weight < 0.1:
		return "little: the same situation has counted before"
	case change < productionWorthWriting:
		return "little: what was achieved is what was predicted, or others explain it as well"
	default:
		return "its scores and those of what ran next to it changed"
	}
}

// FlushProduction writes what production says where it has changed, a little at a time. It
// returns the keys it wrote.
func (l *Lab) FlushProduction(ctx context.Context) ([]string, error) {
	now := l.cfg.Clock.Now()
	var written []string
	for _, key := range l.estimator.experience.keys() {
		e, ok := l.estimator.experience.get(key)
		if !ok || e.change < productionWorthWriting || now.Sub(e.written) < productionWrittenEvery || len(written) >= productionWritesAPass {
			continue
		}
		index, err := store.Productions{Store: l.cfg.Store}.Put(ctx, e.said, e.index)
		if errors.Is(err, store.ErrConflict) {
			// It was forgotten meanwhile, or another leader wrote: what is stored counts.
			l.estimator.experience.drop(key)
			continue
		}
		if err != nil {
			return written, fmt.Errorf("writing what production says of %s: %w", e.said.Workload, err)
		}
		e.index, e.written, e.change = index, now, 0
		l.estimator.experience.put(key, e)
		written = append(written, key)
		if err := l.relearn(ctx, key); err != nil {
			return written, err
		}
	}
	return written, nil
}

// relearn puts what production says of a workload among the rows that others learn from.
func (l *Lab) relearn(ctx context.Context, key string) error {
	e, ok := l.estimator.experience.get(key)
	if !ok {
		return nil
	}
	p, _, err := store.Profiles{Store: l.cfg.Store}.Get(ctx, key)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrRefused) {
		p = unprofiled(e.said)
	} else if err != nil {
		return err
	}
	return l.estimator.Learned(ctx, p)
}

// DropForgotten forgets what was deleted from the store: an operator has asked for it, or it
// was not used for long.
func (l *Lab) DropForgotten(ctx context.Context) error {
	ours, learnt := l.estimator.experience.keys(), l.estimator.learntFrom() // before the store is asked: what is stored later is not among them
	if len(ours)+len(learnt) == 0 {
		return nil
	}
	stored, err := store.Productions{Store: l.cfg.Store}.Keys(ctx)
	if err != nil {
		return err
	}
	for _, key := range ours {
		if _, found := slices.BinarySearch(stored, key); found {
			continue
		}
		if e, ok := l.estimator.experience.get(key); ok && e.index > 0 {
			l.estimator.experience.drop(key)
			if err := l.relearnWithout(ctx, key); err != nil {
				return err
			}
		}
	}
	profiles, err := store.Profiles{Store: l.cfg.Store}.Keys(ctx)
	if err != nil {
		return err
	}
	gone := slices.DeleteFunc(learnt, func(key string) bool { return slices.Contains(stored, key) || slices.Contains(profiles, key) })
	return l.estimator.unlearn(ctx, gone)
}

func (l *Lab) relearnWithout(ctx context.Context, key string) error {
	p, _, err := store.Profiles{Store: l.cfg.Store}.Get(ctx, key)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrRefused) {
		return nil
	}
	if err != nil {
		return err
	}
	return l.estimator.Learned(ctx, p)
}
