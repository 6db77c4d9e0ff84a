package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// The pace of waiting for a held job.
const (
	// lookWait is how long one look at a held job waits for it to change: the
	// placer's own records are looked at in between.
	lookWait = 2 * time.Second
	// lookPause is the least time between two looks, where Nomad answers at once.
	lookPause = 100 * time.Millisecond
	// blindFor is how long looks at a held job may fail: a server of Nomad is started
	// again, or another elected, within it.
	blindFor = 5 * time.Minute
	// evaluationGrace is how long the released version's evaluation may take to
	// appear in Nomad's list.
	evaluationGrace = 5 * time.Second
)

// Why a held job is not followed to its release.
var (
	errSuperseded = errors.New("a newer version of the job was submitted")
	errStopped    = errors.New("the job was stopped")
)

// held is a job between its registration and its release.
type held struct {
	asker
	id    cluster.JobID
	index uint64 // JobModifyIndex of the held version
	since time.Time
	tell  func(string) // what happens now; nil: it is not shown

	taken    bool      // an agent has taken it up
	deadline time.Time // that the agent keeps
	insisted time.Time // when we first tried to release it
	freed    string    // why we released it ourselves

	blindSince time.Time // when looks began to fail; zero: they do not
}

// follow waits for the release, puts the released version's evaluation into the
// answer's fields, and returns what the user should read.
func (h *held) follow(ctx context.Context, fields map[string]any) (note string, err error) {
	job, err := h.released(ctx)
	if err != nil {
		return "", err
	}
	e, err := h.evaluation(ctx, job)
	if err != nil {
		return "", err
	}
	fields["JobModifyIndex"] = job["JobModifyIndex"]
	if e != nil {
		fields["EvalID"], fields["EvalCreateIndex"] = e["ID"], e["CreateIndex"]
	}
	if h.freed != "" {
		return h.freed + ", so it runs under stock rules", nil
	}
	record, err := h.evaluated(ctx, h.id)
	if err != nil {
		return "released; the record of it cannot be read: " + err.Error(), nil
	}
	return record.Message, nil
}

// released returns the job's version that may run. Its own record is the
// truth, not the placer's.
func (h *held) released(ctx context.Context) (map[string]any, error) {
	var seen uint64
	for {
		var job map[string]any
		index, err := h.look(ctx, "", seen, &job)
		if err != nil {
			if err := h.lookAgain(ctx, err); err != nil {
				return nil, err
			}
			continue
		}
		seen, h.blindSince = index, time.Time{}
		stopped, _ := job["Stop"].(bool)
		now := number(job, "JobModifyIndex")
		switch {
		case stopped:
			return nil, errStopped
		case now > h.index && text(job, "NodePool") == h.o.HoldPool:
			return nil, errSuperseded
		case now > h.index:
			return job, nil
		}
		if err := h.insist(ctx); err != nil {
			return nil, err
		}
		if err := h.pause(ctx, lookPause); err != nil {
			return nil, err
		}
	}
}

// lookAgain waits after a look that failed: Nomad may be starting again, and the job is
// held all the while. What Nomad refuses, and a silence that lasts, ends it.
func (h *held) lookAgain(ctx context.Context, failure error) error {
	now := h.o.Clock.Now()
	if h.blindSince.IsZero() {
		h.blindSince = now
	}
	var refused *refusedError
	if errors.As(failure, &refused) && refused.status < 500 && refused.status != http.StatusTooManyRequests || now.Sub(h.blindSince) >= blindFor || ctx.Err() != nil {
		return failure
	}
	return h.pause(ctx, lookWait)
}

// insist releases the job where no agent takes it up in time, or the agent that
// did let its deadline pass.
func (h *held) insist(ctx context.Context) error {
	if h.freed != "" {
		return nil
	}
	h.hear(ctx)
	now := h.o.Clock.Now()
	var why string
	switch {
	case h.taken && (h.deadline.IsZero() || now.Before(h.deadline.Add(h.o.TakenUpWithin))):
		return nil
	case h.taken:
		why = "its hold deadline passed and no agent released it"
	case now.Sub(h.since) < h.o.TakenUpWithin:
		return nil
	default:
		why = fmt.Sprintf("no agent took the job up within %s", h.o.TakenUpWithin)
	}
	return h.release(ctx, why)
}

// hear asks the placer how far the job is.
func (h *held) hear(ctx context.Context) {
	if h.taken && h.tell == nil && !h.deadline.IsZero() {
		return
	}
	e, err := h.evaluated(ctx, h.id)
	if err != nil || e.StartedAt.Before(h.since.Add(-clockSlack)) {
		return
	}
	h.taken, h.deadline = true, e.Deadline
	if h.tell != nil {
		h.tell(progressText(e))
	}
}

// release frees the job to stock rules.
func (h *held) release(ctx context.Context, why string) error {
	now := h.o.Clock.Now()
	if h.insisted.IsZero() {
		h.insisted = now
		h.o.Log.Warn("releasing a held job under stock rules", "job", h.id.String(), "reason", why)
	}
	within, cancel := context.WithTimeout(ctx, h.o.PlacerWithin)
	defer cancel()
	if err := h.o.Placer.Release(within, h.id, h.index); err != nil {
		if errors.Is(err, cluster.ErrStale) || now.Sub(h.insisted) < h.o.TakenUpWithin {
			return nil // again at the next look
		}
		return fmt.Errorf("%s, and it could not be released: %w", why, err)
	}
	h.freed = why
	return nil
}

// clockSlack: the agent's clock is another machine's.
const clockSlack = 5 * time.Second

// evaluation is that of the released version; nil where it has none, as periodic
// and parameterized jobs.
func (h *held) evaluation(ctx context.Context, job map[string]any) (map[string]any, error) {
	if job["Periodic"] != nil || job["ParameterizedJob"] != nil {
		return nil, nil
	}
	index := number(job, "JobModifyIndex")
	until := h.o.Clock.Now().Add(evaluationGrace)
	for {
		var list []map[string]any
		if _, err := h.look(ctx, "/evaluations", 0, &list); err != nil {
			return nil, err
		}
		for _, e := range list {
			if text(e, "TriggeredBy") == "job-register" && number(e, "JobModifyIndex") == index {
				return e, nil
			}
		}
		if !h.o.Clock.Now().Before(until) {
			return nil, fmt.Errorf("released, but Nomad lists no evaluation of it after %s", evaluationGrace)
		}
		if err := h.pause(ctx, lookPause); err != nil {
			return nil, err
		}
	}
}

func (h *held) pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-h.o.Clock.After(d):
		return nil
	}
}

// look reads something of the job. After an index it waits for a change.
func (h *held) look(ctx context.Context, more string, after uint64, out any) (index uint64, err error) {
	query := url.Values{"namespace": {h.id.Namespace}}
	if after > 0 {
		query.Set("index", strconv.FormatUint(after, 10))
		query.Set("wait", lookWait.String())
	}
	return h.read(ctx, "/v1/job/"+url.PathEscape(h.id.ID)+more, query, out)
}
