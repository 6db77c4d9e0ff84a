package journal

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler"
)

// progressEvery bounds how often a running profile writes its progress to the
// store: people watch it, and each write is a Raft entry.
const progressEvery = 2 * time.Second

// Tracker writes one job's evaluation record as it moves through the stages.
type Tracker struct {
	book  Book
	clock cluster.Clock
	log   *slog.Logger // of this job
	warn  func(error)
	mute  bool // nothing is written

	mu      sync.Mutex
	lease   cluster.Lease // of who begins its stages
	record  cluster.Evaluation
	written time.Time
	runs    map[string]profiler.Progress
}

// NewTracker begins the record of a job's evaluation; nothing is written before its
// first stage.
func NewTracker(book Book, clock cluster.Clock, log *slog.Logger, job cluster.Job, deadline time.Time) *Tracker {
	now := clock.Now()
	return &Tracker{
		book:  book,
		clock: clock,
		log:   log.With("job", job.ID.String()),
		warn: func(err error) {
			log.Warn("writing an evaluation record", "job", job.ID.String(), "error", err)
		},
		record: cluster.Evaluation{
			Job: job.ID, JobVersion: job.Version, StartedAt: now, StageAt: now, Deadline: deadline,
		},
		runs: map[string]profiler.Progress{},
	}
}

// NewUnrecordedTracker follows what is done about a job that runs: the record of its evaluation,
// which has ended, stays as it is.
func NewUnrecordedTracker(clock cluster.Clock, log *slog.Logger, job cluster.Job) *Tracker {
	t := NewTracker(Book{}, clock, log, job, time.Time{})
	t.mute = true
	return t
}

// Entry is a stage of an evaluation, as it begins.
type Entry struct {
	Stage    cluster.Stage
	Group    string // that it is about; empty: the job
	Message  string
	Waits    bool   // it lasts until something changes
	Released uint64 // version of the job that the placer wrote; 0: none, or version 0
}

// Begin ends the present stage, times it, and begins the next.
func (t *Tracker) Begin(ctx context.Context, e Entry) {
	t.log.Debug("stage", "version", t.record.JobVersion, "stage", string(e.Stage), "message", e.Message)
	t.mu.Lock()
	t.lease = cluster.LeaseOf(ctx)
	now := t.clock.Now()
	if t.record.Stage != "" {
		t.record.Steps = t.stepsUntil(now)
	}
	t.record.Stage, t.record.Group, t.record.Message = e.Stage, e.Group, e.Message
	t.record.StageAt, t.record.UpdatedAt = now, now
	t.record.Released = max(t.record.Released, e.Released)
	t.record.Fraction, t.record.RemainingSeconds = nil, nil
	t.record.Source, t.record.IntensityPercent = "", 0
	clear(t.runs)
	if brief(e.Stage) && (!e.Waits || now.Sub(t.written) < progressEvery) {
		t.mu.Unlock()
		return
	}
	record := t.snapshot()
	t.mu.Unlock()
	t.write(ctx, record)
}

// brief reports the stages that pass in milliseconds: they are no Raft entry each. On
// a busy cluster, where jobs wait for each other's writes, they would be most of them.
func brief(s cluster.Stage) bool {
	return s == cluster.StageClassify || s == cluster.StagePlace || s == cluster.StageRewrite
}

// Steps returns the timed stages so far, the present one included; none before the first.
func (t *Tracker) Steps() []cluster.Step {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.record.Stage == "" {
		return nil
	}
	return t.stepsUntil(t.clock.Now())
}

// stepsUntil ends the present stage. One that is tried again, as where a job waits for room, is one step
// with what went before: a record is bounded, however long a job waits.
func (t *Tracker) stepsUntil(now time.Time) []cluster.Step {
	steps, present := slices.Clone(t.record.Steps), cluster.Step{Name: string(t.record.Stage), Duration: now.Sub(t.record.StageAt)}
	if last := len(steps) - 1; last >= 0 && steps[last].Name == present.Name {
		steps[last].Duration += present.Duration
		return steps
	}
	return append(steps, present)
}

// Progress folds one run's progress into the record. With several runs side by
// side the slowest one counts.
func (t *Tracker) Progress(id string, p profiler.Progress) {
	t.mu.Lock()
	t.runs[id] = p
	slowest := p
	for _, r := range t.runs {
		if r.RemainingSeconds > slowest.RemainingSeconds {
			slowest = r
		}
	}
	fraction, remaining := slowest.Fraction, slowest.RemainingSeconds
	t.record.Fraction, t.record.RemainingSeconds = &fraction, &remaining
	t.record.Source, t.record.IntensityPercent = slowest.Source, slowest.IntensityPercent
	if slowest.Message != "" {
		t.record.Message = slowest.Message
	}
	now := t.clock.Now()
	t.record.UpdatedAt = now
	if now.Sub(t.written) < progressEvery {
		t.mu.Unlock()
		return
	}
	record, ctx := t.snapshot(), cluster.WithLease(context.Background(), t.lease)
	t.mu.Unlock()
	t.write(ctx, record)
}

func (t *Tracker) snapshot() cluster.Evaluation {
	t.written = t.clock.Now()
	r := t.record
	r.Steps = append([]cluster.Step(nil), t.record.Steps...)
	return r
}

// write stores the record. A record that cannot be written must not stop the
// job it is about.
func (t *Tracker) write(ctx context.Context, r cluster.Evaluation) {
	if t.mute {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := t.book.PutEvaluation(ctx, r); err != nil {
		t.warn(err)
	}
}
