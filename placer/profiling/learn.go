package profiling

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
)

// Known is a workload with everything known of it before placement.
type Known struct {
	Workload  cluster.Workload
	Knowledge cluster.Knowledge
	Warnings  []string
	// WaitsUntil is how long a policy may leave it without a node for the hope of a better
	// one; zero: not at all.
	WaitsUntil time.Time
	// Rental is on which side of the cluster its nodes are; nil: there is one.
	Rental *cluster.Rental
}

// Learn profiles and classifies each group of the job.
func (l *Lab) Learn(ctx context.Context, job cluster.Job, limit time.Time, t *journal.Tracker) ([]Known, error) {
	out := make([]Known, 0, len(job.Workloads))
	for _, w := range job.Workloads {
		k, err := l.learn(ctx, job, w, limit, t)
		if err != nil {
			return nil, err
		}
		out = append(out, k)
	}
	return out, nil
}

// learn finds or measures the profile of one workload and classifies it. An
// error says why nothing at all is known; whatever was measured is used.
func (l *Lab) learn(ctx context.Context, job cluster.Job, w cluster.Workload, limit time.Time, t *journal.Tracker) (Known, error) {
	k := Known{Workload: w}
	desc, err := policy.Lookup(cmp.Or(w.Spec.Policy, l.cfg.Policy))
	if err != nil {
		return k, err
	}
	p, err := l.Stored(ctx, w.ID, w.ProfileKey)
	s, err := l.Postpone(ctx, job, l.Judge(desc, w, p, err))
	if err != nil {
		return k, err
	}
	k.Warnings = s.Warnings
	if s.ToMeasure {
		measured, warnings, err := l.profile(ctx, job, w, p, s.missing, limit, t)
		k.Warnings = append(k.Warnings, warnings...)
		if err != nil && (p == nil || ctx.Err() != nil) {
			return k, err
		}
		if err != nil {
			k.Warnings = append(k.Warnings, "it could not be measured at another size: "+err.Error())
		} else {
			p = measured
		}
	}
	t.Begin(ctx, journal.Entry{Stage: cluster.StageClassify, Group: w.ID.Group, Message: classifyMessage(p, s.ToMeasure)})
	k.Knowledge = l.estimator.Classify(w.ID.Namespace, w.ProfileKey, p) // its warnings reach the decision through the policy
	return k, nil
}

// KnownBefore is what the store has of a workload.
type KnownBefore struct {
	workload  cluster.Workload
	profile   *profile.Profile // nil: nothing
	missing   missing
	ToMeasure bool // what is missing is wanted and can be measured
	Warnings  []string
}

// Judge lists the measurements that the stored profile of a workload lacks.
func (l *Lab) Judge(desc policy.Descriptor, w cluster.Workload, p *profile.Profile, err error) KnownBefore {
	out := KnownBefore{workload: w}
	if err != nil {
		out.Warnings = append(out.Warnings, "the profile store did not answer: "+err.Error())
	}
	out.profile, out.missing = p, l.missingOf(p, w)
	if why := l.estimator.Distrusted(w.ID, w.ProfileKey, p); why != "" {
		out.Warnings = append(out.Warnings, why)
	}
	out.ToMeasure = out.missing.any() && desc.NeedsProfile && !w.Spec.Profile.Skip
	if out.ToMeasure && w.Spec.Probe == nil {
		out.Warnings = append(out.Warnings, "its performance block has no probe, so it was not profiled")
		out.ToMeasure = false
	}
	if out.ToMeasure && w.NotCopied != "" {
		out.Warnings = append(out.Warnings, NotCopied(w, p))
		out.ToMeasure = false
	}
	return out
}

// NotCopied is the sentence for a workload of which no copy may be run, and of which the
// store has p.
func NotCopied(w cluster.Workload, p *profile.Profile) string {
	if p != nil {
		return "it was not measured at another size: " + w.NotCopied
	}
	return "it was not profiled, so its scores are predicted from other workloads: " + w.NotCopied
}

// Stored is the profile of a workload, nil where the store has none that counts for it.
func (l *Lab) Stored(ctx context.Context, w cluster.WorkloadID, key string) (*profile.Profile, error) {
	l.noteUse(key)
	p, _, err := store.Profiles{Store: l.cfg.Store}.Get(ctx, key)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, nil
	case errors.Is(err, store.ErrRefused):
		l.cfg.Log.Warn("a stored profile is not used, as if there were none", "workload", w.String(), "error", err)
		return nil, nil
	case err != nil:
		return nil, err
	case !l.countsFor(p, w):
		return nil, nil
	}
	return &p, nil
}

// countsFor reports whether a profile is of a workload whose profiles count for w. The key
// says so as well, but for profiles from before it did.
func (l *Lab) countsFor(p profile.Profile, w cluster.WorkloadID) bool {
	return l.estimator.scopeOf(p) == l.cfg.Sharing.Scope(w.Namespace)
}

// profile runs the workload next to kernels on one node, and in isolation on a node of
// another configuration, side by side; where its size may be chosen, in isolation at
// another size as well. It stores what was measured before it returns it. old is what
// the store had of it, nil for nothing.
func (l *Lab) profile(ctx context.Context, job cluster.Job, w cluster.Workload, old *profile.Profile, m missing, limit time.Time, t *journal.Tracker) (*profile.Profile, []string, error) {
	t.Begin(ctx, journal.Entry{Stage: cluster.StageProfile, Group: w.ID.Group, Message: "waiting for a node to profile on"})
	where := ""
	if !m.base {
		where = old.Machine.Configuration
	}
	under, err := l.cfg.World.Runs(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("reading which profiling runs there are: %w", err)
	}
	requests, warnings, release, err := l.reserveNodes(ctx, job, w, wantedRuns{m, where, under}, limit)
	if err != nil {
		return nil, warnings, err
	}
	t.Begin(ctx, journal.Entry{Stage: cluster.StageProfile, Group: w.ID.Group, Message: profileMessage(requests)})
	results := l.runAll(ctx, requests, limit, t, release)
	merged, failed := mergeRuns(results)
	if merged != nil && m.base && len(merged.Isolated) == 0 && len(merged.Sensitivity.Caused) == 0 {
		merged = nil // a speed at another size alone is no profile
	}
	if merged != nil && !m.base {
		both, err := store.Merge(withFirstPoint(*old), *merged)
		if err != nil {
			return nil, warnings, err
		}
		both.Complete = old.Complete
		merged = &both
	}
	for _, err := range failed {
		warnings = append(warnings, "profiling: "+err.Error())
	}
	if ctx.Err() != nil {
		return nil, warnings, ctx.Err()
	}
	if merged == nil {
		return nil, warnings, fmt.Errorf("it could not be profiled: %w", errors.Join(failed...))
	}
	stored, err := l.keep(ctx, w.ID, old, *merged, m)
	if err != nil {
		warnings = append(warnings, "the profile could not be stored and is used for this placement only: "+err.Error())
		return merged, warnings, nil
	}
	return &stored, warnings, l.estimator.Learned(ctx, stored)
}

// classifyMessage says why a profile that was taken just now ended early.
func classifyMessage(p *profile.Profile, taken bool) string {
	const predicting = "predicting what was not measured"
	if taken && p != nil && p.Ended != "" {
		return "the profile ended early: " + p.Ended + "; " + predicting
	}
	return predicting
}

func profileMessage(requests []cluster.ProfileRequest) string {
	message := fmt.Sprintf("profiling on %s", requests[0].Node.Name)
	for _, r := range requests[1:] {
		message += " and " + r.Node.Name
		if r.Purpose == cluster.PurposeSize {
			message += " with " + wording.Count(r.Size.Cores, "core")
		}
	}
	return message
}

// reserveNodes chooses nodes and sources and marks the nodes busy; it waits while
// every usable node profiles something else. release gives the nodes back.
func (l *Lab) reserveNodes(ctx context.Context, job cluster.Job, w cluster.Workload, what wantedRuns, limit time.Time) ([]cluster.ProfileRequest, []string, func(), error) {
	turn, leave := l.queue(w.ID.Namespace)
	defer leave()
	for {
		snapshot, err := l.cfg.World.Snapshot(ctx)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("reading the cluster: %w", err)
		}
		choice, release := l.tryNodes(snapshot, job, w, what, turn)
		if choice.err != nil {
			return nil, nil, nil, choice.err
		}
		if release != nil {
			return l.requests(snapshot, job, w, choice, limit), append(choice.warnings, l.cutSeconds(w)...), release, nil
		}
		if !l.cfg.Clock.Now().Before(limit) {
			return nil, nil, nil, errors.New("no node was free to profile on before the hold deadline")
		}
		select {
		case <-ctx.Done():
			return nil, nil, nil, ctx.Err()
		case <-l.cfg.Clock.After(l.cfg.Poll):
		}
		if _, err := Unchanged(ctx, l.cfg.World, job); err != nil {
			return nil, nil, nil, err
		}
	}
}

// queue lets a workload wait for its turn.
func (l *Lab) queue(namespace string) (turn *waiter, leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	turn = l.turns.join(namespace)
	return turn, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.turns.leave(turn)
	}
}

// tryNodes chooses nodes for a workload and takes them, where there are any and it is its
// turn; release is nil else.
func (l *Lab) tryNodes(s *cluster.Snapshot, job cluster.Job, w cluster.Workload, what wantedRuns, turn *waiter) (choice nodeChoice, release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.underProfile >= l.cfg.Concurrency {
		return nodeChoice{}, nil
	}
	choice = l.chooseNodes(s, job, w, what)
	turn.stuck = len(choice.nodes()) == 0
	if turn.stuck || choice.err != nil || !l.turns.next(turn) {
		return choice, nil
	}
	return choice, l.occupy(w.ID.Namespace, choice)
}

// secondsOf is how long a workload is profiled.
func (l *Lab) secondsOf(w cluster.Workload) int {
	return min(cmp.Or(w.Spec.Profile.Seconds, l.cfg.ProfileSeconds), cmp.Or(l.cfg.SecondsMax, math.MaxInt))
}

// cutSeconds says that a workload asked for more.
func (l *Lab) cutSeconds(w cluster.Workload) []string {
	if seconds := l.secondsOf(w); w.Spec.Profile.Seconds > seconds {
		return []string{fmt.Sprintf("it asks to be profiled for %d seconds; the operator allows %d (seconds_max in the agent's profile block)", w.Spec.Profile.Seconds, seconds)}
	}
	return nil
}

// occupy marks the chosen nodes and returns how to free them. The caller holds l.mu.
func (l *Lab) occupy(namespace string, c nodeChoice) (release func()) {
	end := l.turns.take(namespace)
	for _, n := range c.nodes() {
		l.busy[n.ID] = true
	}
	l.underProfile++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, n := range c.nodes() {
			delete(l.busy, n.ID)
		}
		l.underProfile--
		end()
	}
}

// requests writes the run next to kernels and, where there are nodes for them, the runs in
// isolation on another configuration and at another size.
func (l *Lab) requests(s *cluster.Snapshot, job cluster.Job, w cluster.Workload, c nodeChoice, limit time.Time) []cluster.ProfileRequest {
	seconds := l.secondsOf(w)
	var out []cluster.ProfileRequest
	if c.main != nil {
		r := cluster.ProfileRequest{
			ID: mainID(w), Purpose: cluster.PurposeInterference, Job: job, Workload: w, Node: *c.main,
			Size: l.profiledSize(w), Scales: l.sizesCores(w), Sources: c.sources, Seconds: seconds, Deadline: limit,
		}
		l.estimator.advise(&r, s)
		out = append(out, r)
	}
	if c.other != nil {
		out = append(out, cluster.ProfileRequest{
			ID: isolatedID(w, c.other), Purpose: cluster.PurposeIsolated, Job: job, Workload: w, Node: *c.other,
			Size: l.profiledSize(w), Seconds: isolatedSeconds, Deadline: limit,
		})
	}
	if c.sized != nil {
		// Of the interference run's configuration there is no other run alone.
		out = append(out, cluster.ProfileRequest{
			ID: isolatedID(w, c.sized), Purpose: cluster.PurposeSize, Job: job, Workload: w, Node: *c.sized,
			Size: c.size, Seconds: isolatedSeconds, Deadline: limit,
		})
	}
	return out
}

func mainID(w cluster.Workload) string { return runID(w.ProfileKey, "interference") }

func isolatedID(w cluster.Workload, n *cluster.Node) string {
	return runID(w.ProfileKey, "alone/"+n.Configuration)
}

// isolatedSeconds is the length of a run that only measures performance in isolation;
// Delimitrou 2015, §4.3 gives 5 to 10 s for a service under live traffic.
const isolatedSeconds = 8

// runID is deterministic, so that the next leader adopts a run under way.
func runID(key, purpose string) string {
	sum := sha256.Sum256([]byte(key + "\x00" + purpose))
	return hex.EncodeToString(sum[:8])
}

// Seed makes choices repeatable for one job version and workload.
func Seed(job cluster.Job, w cluster.Workload) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", w.ID, job.Version))
	return binary.BigEndian.Uint64(sum[:8])
}

// missing says which runs a stored profile leaves to be made.
type missing struct {
	base bool // next to kernels, and in isolation elsewhere
	size bool // in isolation at another size
}

func (m missing) any() bool { return m.base || m.size }

func (l *Lab) missingOf(p *profile.Profile, w cluster.Workload) missing {
	sized := l.sizesCores(w)
	switch {
	case p == nil, l.estimator.Distrusted(w.ID, w.ProfileKey, p) != "":
		return missing{base: true, size: sized}
	case !sized:
		return missing{}
	case len(p.ScaleUp) == 0 && w.Sizable.Own.Cores == 0:
		// Its runs had no bound but the node's, so their speeds are of no size.
		return missing{base: true, size: true}
	}
	known := map[int]bool{len(p.Machine.CPUs): true}
	for _, point := range p.ScaleUp {
		known[point.Cores] = true
	}
	wanted := min(scaleUpKnown, len(l.otherSizes(w))+1)
	return missing{size: len(known) < wanted}
}

// withFirstPoint adds the interference run's own size to the scale-up of a stored
// profile that was taken before sizes mattered.
func withFirstPoint(p profile.Profile) profile.Profile {
	isolated, ok := p.Isolated[p.Machine.Configuration]
	cores := len(p.Machine.CPUs)
	if !ok || cores == 0 || slices.ContainsFunc(p.ScaleUp, func(s profile.ScalePoint) bool { return s.Cores == cores }) {
		return p
	}
	p.ScaleUp = append(slices.Clone(p.ScaleUp), profile.ScalePoint{Cores: cores, Speed: isolated})
	return p
}

// keep stores what was measured. The unbound runs of an earlier profile do not mix
// with bound ones.
func (l *Lab) keep(ctx context.Context, w cluster.WorkloadID, old *profile.Profile, measured profile.Profile, m missing) (profile.Profile, error) {
	profiles := store.Profiles{Store: l.cfg.Store}
	measured.Used = l.cfg.Clock.Now()
	if old != nil && m.base {
		_, err := profiles.Put(ctx, measured, store.Any)
		return measured, err
	}
	return profiles.PutMerged(ctx, measured, func(p profile.Profile) bool { return l.countsFor(p, w) })
}
