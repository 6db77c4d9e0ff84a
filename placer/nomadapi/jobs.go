package nomadapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// metaOwner is the job meta key on every job this project makes; such jobs are
// never placed, profiled or rewritten.
const metaOwner = "placer.owner"

// ownerAdvice is said of a user's job that has the key.
const ownerAdvice = "its meta has the key " + metaOwner + ", which is for jobs that the placer makes; it has no effect here: take it out"

// isOwnJob reports whether a job was made here, by what is only on those: a name of ours,
// the mark, and a pool that is not the hold pool. Anybody may write the mark alone, and a
// job that it hid would wait in the hold pool for ever.
func (w *World) isOwnJob(id, pool, owner string) bool {
	ownName := strings.HasPrefix(id, labJobPrefix) || strings.HasPrefix(id, transferJobPrefix)
	return owner == w.opts.Owner && ownName && pool != w.opts.HoldPool
}

// jobCache keeps what was read of each job until the job changes.
type jobCache struct {
	following
	jobs  map[cluster.JobID]cluster.Job
	list  []cluster.Job // the same by name; never written to once it was handed out
	stale bool          // jobs has moved on from list
	once  onceLog       // warnings of a performance block, said once per text

	newMu sync.Mutex
	newer map[cluster.JobID]object // read by themselves while the list was in use
}

// jobStub is the part of Nomad's job list that is looked at.
type jobStub struct {
	ID             string
	Namespace      string
	NodePool       string
	Stop           bool
	Type, Status   string
	JobModifyIndex uint64
	Meta           map[string]string
}

// Jobs returns every job that is held or has a performance block, without
// stopped jobs and without our own, sorted by namespace and id.
func (w *World) Jobs(ctx context.Context) ([]cluster.Job, error) {
	c := &w.jobs
	if err := c.mu.take(ctx); err != nil {
		return nil, fmt.Errorf("another list of the jobs is being read: %w", err)
	}
	defer c.mu.Unlock()
	if !c.follow {
		if err := w.readJobs(ctx); err != nil {
			return nil, err
		}
	}
	w.learn()
	c.sort()
	return c.list, nil
}

// readJobs reads the list and the jobs that changed, some at a time. The caller
// holds the cache's lock.
func (w *World) readJobs(ctx context.Context) error {
	c := &w.jobs
	stubs, index, err := w.listJobs(ctx)
	if err != nil {
		return err
	}
	fresh := make(map[cluster.JobID]cluster.Job, len(stubs))
	var changed []cluster.JobID
	for _, s := range stubs {
		id := cluster.JobID{Namespace: s.Namespace, ID: s.ID}
		if job, ok := c.jobs[id]; ok && job.ModifyIndex == s.JobModifyIndex {
			job.Complete = hasCompleted(s.Type, s.Status)
			fresh[id] = job
		} else {
			changed = append(changed, id)
		}
	}
	read := make([]*cluster.Job, len(changed))
	err = eachAtOnce(ctx, len(changed), func(ctx context.Context, i int) error {
		raw, err := w.nomad.rawJob(ctx, changed[i])
		if errors.Is(err, cluster.ErrGone) {
			return nil // stopped between the list and the read
		}
		if err != nil {
			return err
		}
		job := w.readJob(raw)
		read[i] = &job
		return nil
	}, func(i int) {
		if read[i] != nil {
			fresh[changed[i]] = *read[i]
		}
	})
	if err != nil {
		return err
	}
	c.since, c.jobs, c.stale = index, fresh, true
	return nil
}

// rawJob reads a job, and the list learns what it says.
func (w *World) rawJob(ctx context.Context, id cluster.JobID) (object, error) {
	raw, err := w.nomad.rawJob(ctx, id)
	if err == nil || errors.Is(err, cluster.ErrGone) {
		w.found(id, raw)
	}
	return raw, err
}

// found brings a job in that was read by itself: where it is newer than the list, an event
// was lost or is still to come. nil: there is none any more. Nobody waits for a list that is
// in use: what is newer is brought in by who reads the list next, and what is gone by who
// reads the job again.
func (w *World) found(id cluster.JobID, raw object) {
	c := &w.jobs
	if !c.mu.try() {
		if raw != nil {
			c.keep(id, raw)
		}
		return
	}
	defer c.mu.Unlock()
	w.correct(id, raw)
}

// keep a job for who reads the list next.
func (c *jobCache) keep(id cluster.JobID, raw object) {
	c.newMu.Lock()
	defer c.newMu.Unlock()
	if c.newer == nil {
		c.newer = map[cluster.JobID]object{}
	}
	if was := c.newer[id]; was == nil || was.index("JobModifyIndex") < raw.index("JobModifyIndex") {
		c.newer[id] = raw
	}
}

// learn brings in what was kept. The caller holds the cache's lock.
func (w *World) learn() {
	c := &w.jobs
	c.newMu.Lock()
	newer := c.newer
	c.newer = nil
	c.newMu.Unlock()
	for id, raw := range newer {
		w.correct(id, raw)
	}
}

// correct the list by a job that was read. The caller holds the cache's lock.
func (w *World) correct(id cluster.JobID, raw object) {
	c := &w.jobs
	known, ok := c.jobs[id]
	switch {
	case !c.follow || !ok || raw != nil && raw.index("JobModifyIndex") <= known.ModifyIndex:
		return
	case raw == nil || !w.listed(raw):
		delete(c.jobs, id)
	default:
		c.jobs[id] = w.readJob(raw)
	}
	c.stale = true
}

// sort brings the list up to date.
func (c *jobCache) sort() {
	if !c.stale {
		return
	}
	c.list = slices.SortedFunc(maps.Values(c.jobs), func(a, b cluster.Job) int {
		return cmp.Or(strings.Compare(a.ID.Namespace, b.ID.Namespace), strings.Compare(a.ID.ID, b.ID.ID))
	})
	c.stale = false
}

// versionAt is the version of a job of ours from which the scheduler worked at an
// index; unknown for other jobs, and before the newest version.
func (c *jobCache) versionAt(id cluster.JobID, index uint64) (uint64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	job, ok := c.jobs[id]
	return job.Version, ok && index > job.ModifyIndex
}

// foldJob brings an event of a job in, and reports whether it is one of those
// that Jobs returns.
func (w *World) foldJob(index uint64, kind string, text json.RawMessage) (relevant bool, err error) {
	var head struct{ ID, Namespace, Type string }
	if err := json.Unmarshal(text, &head); err != nil {
		return false, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	id := cluster.JobID{Namespace: head.Namespace, ID: head.ID}
	w.allocs.noteType(id, head.Type == "system")
	c := &w.jobs
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.news(index) {
		return false, nil
	}
	known, was := c.jobs[id]
	// Most jobs of a cluster are neither held nor marked, which their text tells
	// without reading it all.
	ours := bytes.Contains(text, []byte(w.opts.HoldPool)) || bytes.Contains(text, []byte(MetaKey))
	if !was && !ours {
		return false, nil
	}
	var raw object
	if err := decodeNumbers(bytes.NewReader(text), &raw); err != nil {
		return false, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	if was && raw.index("JobModifyIndex") < known.ModifyIndex {
		return false, nil // it was read meanwhile, or an event came late
	}
	if kind == jobGone || kind == jobsGone || !w.listed(raw) {
		delete(c.jobs, id)
		w.reservations.drop(id) // what it never started is not awaited any more
		c.stale = c.stale || was
		return was, nil
	}
	if was && known.ModifyIndex == raw.index("JobModifyIndex") {
		// Its status changed, which is no new version.
		if done := hasCompleted(raw.text("Type"), raw.text("Status")); done != known.Complete {
			known.Complete = done
			c.jobs[id], c.stale = known, true
		}
		return false, nil
	}
	c.jobs[id], c.stale = w.readJob(raw), true
	return true, nil
}

// listed reports whether Jobs returns a job; the same as the filter of listJobs.
func (w *World) listed(raw object) bool {
	if raw.boolean("Stop") || w.isOwnJob(raw.text("ID"), raw.text("NodePool"), raw.object("Meta").text(metaOwner)) {
		return false
	}
	return raw.text("NodePool") == w.opts.HoldPool || slices.ContainsFunc(raw.objects("TaskGroups"), func(g object) bool {
		_, ok := g.object("Meta")[MetaKey]
		return ok
	})
}

// listJobs lets the server filter, so that a cluster of ten thousand other jobs
// costs nothing.
func (w *World) listJobs(ctx context.Context) ([]jobStub, uint64, error) {
	var stubs []jobStub
	index, err := w.nomad.get(ctx, "/v1/jobs", api.QueryOptions{
		Namespace: allNamespaces,
		Params:    map[string]string{"meta": "true"},
		Filter:    fmt.Sprintf("NodePool == %q or any TaskGroups as g { %q in g.Meta }", w.opts.HoldPool, MetaKey),
	}, &stubs)
	if err != nil {
		return nil, 0, err
	}
	return slices.DeleteFunc(stubs, func(s jobStub) bool { return s.Stop || w.isOwnJob(s.ID, s.NodePool, s.Meta[metaOwner]) }), index, nil
}

// Job reads one job afresh.
func (w *World) Job(ctx context.Context, id cluster.JobID) (cluster.Job, error) {
	raw, err := w.rawJob(ctx, id)
	if err != nil {
		return cluster.Job{}, err
	}
	return w.readJob(raw), nil
}

func (w *World) readJob(raw object) cluster.Job {
	id := jobIDOf(raw)
	if submitted := raw.number("SubmitTime"); submitted > 0 {
		w.serverTime.saw(time.Unix(0, submitted), raw.index("JobModifyIndex"))
	}
	job := cluster.Job{
		ID:          id,
		Version:     raw.index("Version"),
		ModifyIndex: raw.index("JobModifyIndex"),
		SubmittedAt: time.Unix(0, raw.number("SubmitTime")),
		Type:        raw.text("Type"),
		Held:        raw.text("NodePool") == w.opts.HoldPool,
		Stopped:     raw.boolean("Stop"),
		Complete:    hasCompleted(raw.text("Type"), raw.text("Status")),
		RunPool:     w.opts.RunPool,
	}
	if !job.Held {
		job.RunPool = raw.text("NodePool")
	}
	if _, has := raw.object("Meta")[metaOwner]; has {
		job.Warnings = append(job.Warnings, ownerAdvice)
	}
	if job.Held && raw.boolean("Dispatched") {
		return job // nothing of it can be rewritten: it is dispatched again as its parent was placed
	}
	for _, group := range raw.objects("TaskGroups") {
		text, ok := group.object("Meta")[MetaKey].(string)
		if !ok {
			continue
		}
		workload, problem := w.readWorkload(raw, group, text)
		if problem != "" {
			job.Problems = append(job.Problems, problem)
			continue
		}
		job.Workloads = append(job.Workloads, workload)
	}
	return job
}

// hasCompleted: all allocations of the job have ended, and Nomad starts no more of it.
func hasCompleted(jobType, status string) bool {
	return status == "dead" && (jobType == "batch" || jobType == "sysbatch")
}

func jobIDOf(raw object) cluster.JobID {
	return cluster.JobID{Namespace: raw.text("Namespace"), ID: raw.text("ID")}
}

func (w *World) readWorkload(raw, group object, text string) (cluster.Workload, string) {
	id := cluster.WorkloadID{Namespace: raw.text("Namespace"), Job: raw.text("ID"), Group: group.text("Name")}
	if w.opts.Decode == nil {
		return cluster.Workload{}, "this placer was started without a decoder of performance blocks"
	}
	spec, warnings, err := w.opts.Decode(text, id.Job+"/"+id.Group+"/performance")
	if err != nil {
		return cluster.Workload{}, fmt.Sprintf("group %q: %s", id.Group, err)
	}
	if len(warnings) > 0 && w.jobs.once.first(id.String(), strings.Join(warnings, "\n")) {
		w.log.Warn("performance block", "workload", id.String(), "warnings", warnings)
	}
	bound, _ := ShortlistOf(group)
	return cluster.Workload{
		ID:          id,
		Spec:        spec,
		ProfileKey:  w.opts.Keys.profileKey(id.Namespace, asSubmitted(group), spec.Target.Kind),
		Count:       int(group.number("Count")),
		Ask:         askOf(group),
		Drivers:     driversOf(group),
		Constraints: userConstraints(raw, group),
		Datacenters: raw.texts("Datacenters"),
		Sizable:     sizableOf(group, spec),
		Spread:      spreadOf(raw, group),
		NotCopied:   notCopied(group, spec.Profile.Allow),
		Bound:       cluster.DigestShortlist(bound),
		Pinned:      hostVolumeOf(group),
		Migrates:    group.object("EphemeralDisk").boolean("Migrate"),
	}, ""
}

// hostVolumeOf is the first by name of the host volumes that a group uses, or "".
func hostVolumeOf(group object) string {
	volumes := group.object("Volumes")
	for _, name := range sortedKeys(volumes) {
		if v := volumes.object(name); v.text("Type") == "host" {
			return v.text("Source")
		}
	}
	return ""
}

// spreadOf is what the user spreads a group over first; "" is nothing.
func spreadOf(raw, group object) string {
	spreads := slices.Concat(group.objects("Spreads"), raw.objects("Spreads"))
	if len(spreads) == 0 {
		return ""
	}
	return spreads[0].text("Attribute")
}

func driversOf(group object) []string {
	var out []string
	for _, task := range group.objects("Tasks") {
		if d := task.text("Driver"); d != "" && !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	slices.Sort(out)
	return out
}

// userConstraints are those of the job, the group and its tasks, without ours.
func userConstraints(raw, group object) []cluster.Constraint {
	var out []cluster.Constraint
	add := func(list []object) {
		for _, c := range list {
			if isOurs(c) {
				continue
			}
			operator := c.text("Operand")
			if operator == "" {
				operator = "="
			}
			out = append(out, cluster.Constraint{Attribute: c.text("LTarget"), Operator: operator, Value: c.text("RTarget")})
		}
	}
	add(raw.objects("Constraints"))
	add(group.objects("Constraints"))
	for _, task := range group.objects("Tasks") {
		add(task.objects("Constraints"))
	}
	return out
}
