package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// The pace of following a job.
const (
	followInterval = 500 * time.Millisecond
	// quietAfter is how long a held job may stay unseen before we say that no
	// agent seems to run: agents list jobs every two seconds.
	quietAfter = 10 * time.Second
	// recordGrace is how long a released job's record may take to appear: the
	// placer writes the job first and its record after it.
	recordGrace = 5 * time.Second
)

// follower watches one job from its registration to running allocations.
type follower struct {
	shell   *command.Shell
	nomad   *api.Client
	records records
	id      cluster.JobID
	version uint64 // of the job as registered
	hold    string // hold pool
	quiet   bool   // print nothing on the way: the end is JSON
	started time.Time

	said   string // last line printed where there is no terminal
	warned bool   // that no agent seems to work on the job
	live   bool   // a moving line is on the terminal
}

// registered returns the version the job got. Another writer may have been
// faster; then the newest version is followed.
func (f *follower) registered(ctx context.Context, modifyIndex uint64) (uint64, error) {
	job, _, err := f.nomad.Jobs().Info(f.id.ID, f.query(ctx))
	if err != nil {
		return 0, fmt.Errorf("reading %s: %w", f.id, err)
	}
	if *job.JobModifyIndex == modifyIndex || *job.Version == 0 {
		return *job.Version, nil
	}
	// The placer released it between our write and our read.
	return *job.Version - 1, nil
}

// errSuperseded ends the following of a version that is not the newest.
var errSuperseded = errors.New("a newer version of the job was submitted; this one is not followed any more")

// untilReleased returns once the job has left the hold pool. The evaluation is
// the placer's record of it; its Stage is empty where there is none.
func (f *follower) untilReleased(ctx context.Context) (cluster.Evaluation, error) {
	var free time.Time // since when the job is out of the hold pool
	for {
		e, err := f.records.Evaluation(ctx, f.id)
		if err != nil && !errors.Is(err, cluster.ErrNoRecord) {
			f.say("the placer's records cannot be read: " + err.Error())
		}
		if err != nil || e.JobVersion < f.version {
			e = cluster.Evaluation{}
		}
		if e.JobVersion > f.version {
			return e, errSuperseded
		}
		f.show(e)
		if e.Stage.Ended() {
			f.endLine()
			return e, nil
		}
		held, err := f.held(ctx)
		if err != nil {
			return e, err
		}
		if !held {
			if free.IsZero() {
				free = f.shell.Now()
			}
			if f.shell.Now().Sub(free) > recordGrace {
				f.endLine()
				return e, nil // released by hand, or by a placer whose store fails
			}
		}
		if err := f.pause(ctx); err != nil {
			return e, err
		}
	}
}

// held reads the job itself, which is the truth.
func (f *follower) held(ctx context.Context) (bool, error) {
	job, _, err := f.nomad.Jobs().Info(f.id.ID, f.query(ctx))
	if isNotFound(err) {
		return false, fmt.Errorf("job %s: %w", f.id.ID, cluster.ErrGone)
	}
	if err != nil {
		f.say("Nomad does not answer: " + err.Error())
		return true, nil
	}
	if job.Stop != nil && *job.Stop {
		return false, fmt.Errorf("job %s was stopped while it was held", f.id.ID)
	}
	return job.NodePool != nil && *job.NodePool == f.hold, nil
}

func (f *follower) query(ctx context.Context) *api.QueryOptions {
	return (&api.QueryOptions{Namespace: f.id.Namespace}).WithContext(ctx)
}

func (f *follower) pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		f.endLine()
		return ctx.Err()
	case <-f.shell.After(followInterval):
		return nil
	}
}

// show prints how far the evaluation is: a moving line on a terminal, one
// line per stage elsewhere.
func (f *follower) show(e cluster.Evaluation) {
	now := f.shell.Now()
	if e.Stage == "" {
		if !f.warned && now.Sub(f.started) > quietAfter {
			f.warned = true
			f.say("no placer agent has taken the job up yet; is one running? `nomad-placer job release " + f.id.ID + "` runs it under stock rules")
		}
		return
	}
	if !f.shell.Terminal || f.quiet {
		f.say(fmt.Sprintf("%-9s %s", e.Stage, e.Message))
		return
	}
	f.live = true
	fmt.Fprintf(f.shell.Out, "\r\x1b[K%s", wording.Shorten(progressLine(e, now), command.PageWidth))
}

// progressLine is one line: stage, bar, time left, what happens, deadline.
func progressLine(e cluster.Evaluation, now time.Time) string {
	parts := []string{fmt.Sprintf("%-8s", e.Stage)}
	if e.Fraction != nil {
		parts = append(parts, fmt.Sprintf("%s %3.0f %%", command.Gauge(*e.Fraction, 20), *e.Fraction*100))
	}
	if e.RemainingSeconds != nil {
		parts = append(parts, "about "+wording.Duration(time.Duration(*e.RemainingSeconds)*time.Second)+" left")
	}
	parts = append(parts, e.Message)
	if !e.Deadline.IsZero() {
		parts = append(parts, "(held until "+wording.Ago(now, e.Deadline)+" at most)")
	}
	return strings.Join(parts, "  ")
}

// say prints a line once.
func (f *follower) say(line string) {
	if line == f.said || f.quiet {
		return
	}
	f.said = line
	f.endLine()
	fmt.Fprintln(f.shell.Out, "  "+line)
}

func (f *follower) endLine() {
	if f.live {
		fmt.Fprint(f.shell.Out, "\r\x1b[K")
		f.live = false
	}
}

// running counts a job's allocations.
type running struct {
	wanted, up, done, failed int
	nodes                    []string
	failure                  string
}

// untilRunning returns once every wanted allocation of the released version
// runs or has finished.
func (f *follower) untilRunning(ctx context.Context, released uint64) (running, error) {
	for {
		job, _, err := f.nomad.Jobs().Info(f.id.ID, f.query(ctx))
		if isNotFound(err) {
			return running{}, fmt.Errorf("job %s: %w", f.id.ID, cluster.ErrGone)
		}
		if err == nil && (job.IsPeriodic() || job.IsParameterized()) {
			return running{}, nil
		}
		if err == nil {
			r, err := f.count(ctx, job, released)
			if err == nil && r.wanted > 0 && r.up+r.done >= r.wanted {
				f.endLine()
				return r, nil
			}
			if err == nil && r.failure != "" {
				f.say(r.failure)
			}
			if err == nil {
				f.say(fmt.Sprintf("%-9s %d of %d allocations", "running", r.up+r.done, r.wanted))
			}
		}
		if err := f.pause(ctx); err != nil {
			return running{}, err
		}
	}
}

func (f *follower) count(ctx context.Context, job *api.Job, released uint64) (running, error) {
	allocs, _, err := f.nomad.Jobs().Allocations(f.id.ID, false, f.query(ctx))
	if err != nil {
		return running{}, err
	}
	r := running{wanted: wantedAllocations(job, len(allocs))}
	for _, a := range allocs {
		if a.JobVersion < released {
			continue
		}
		switch a.ClientStatus {
		case api.AllocClientStatusRunning:
			r.up++
			r.nodes = append(r.nodes, a.NodeName)
		case api.AllocClientStatusComplete:
			r.done++
			r.nodes = append(r.nodes, a.NodeName)
		case api.AllocClientStatusFailed:
			r.failed++
			r.failure = fmt.Sprintf("allocation %s failed on %s: %s", wording.Shorten(a.ID, 9), a.NodeName, lastEvent(a))
		}
	}
	return r, nil
}

// wantedAllocations is the sum of counts; a system job wants what it has got.
func wantedAllocations(job *api.Job, present int) int {
	if job.Type != nil && (*job.Type == api.JobTypeSystem || *job.Type == api.JobTypeSysbatch) {
		return present
	}
	n := 0
	for _, g := range job.TaskGroups {
		if g.Count == nil {
			n++
			continue
		}
		n += *g.Count
	}
	return n
}

// lastEvent is the newest message of an allocation's tasks.
func lastEvent(a *api.AllocationListStub) string {
	var newest int64
	message := a.ClientDescription
	for _, state := range a.TaskStates {
		for _, e := range state.Events {
			if e.Time >= newest && e.DisplayMessage != "" {
				newest, message = e.Time, e.DisplayMessage
			}
		}
	}
	return message
}
