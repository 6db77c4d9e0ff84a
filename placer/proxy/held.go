package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
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
	// evaluationGrace is how long the released version's evaluation may take to
	// appear in Nomad's list.
	evaluationGrace = 5 * time.Second
	// maxReadBytes of an answer to our own reads.
	maxReadBytes = 64 << 20
)

// Why a held job is not followed to its release.
var (
	errSuperseded = errors.New("a newer version of the job was submitted")
	errStopped    = errors.New("the job was stopped")
)

// held is a job between its registration and its release.
type held struct {
	*Proxy
	request *http.Request // the user's: its token reads what we read
	id      cluster.JobID
	index   uint64 // JobModifyIndex of the held version
	since   time.Time
	taken   bool // an agent has taken it up
	freed   bool // we released it ourselves
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
	if h.freed {
		return fmt.Sprintf("no agent took the job up within %s, so it runs under stock rules", h.o.TakenUpWithin), nil
	}
	record, err := h.o.Placer.Evaluation(ctx, h.id)
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
		index, err := h.read(ctx, "/v1/job/"+url.PathEscape(h.id.ID), seen, &job)
		if err != nil {
			return nil, err
		}
		seen = index
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

// insist releases the job where no agent takes it up in time.
func (h *held) insist(ctx context.Context) error {
	if h.taken || h.freed {
		return nil
	}
	e, err := h.o.Placer.Evaluation(ctx, h.id)
	if err == nil && !e.StartedAt.Before(h.since.Add(-clockSlack)) {
		h.taken = true
		return nil
	}
	if h.o.Clock.Now().Sub(h.since) < h.o.TakenUpWithin {
		return nil
	}
	h.o.Log.Warn("no agent takes a held job up; releasing it to stock rules", "job", h.id.String(), "waited", h.o.TakenUpWithin)
	if err := h.o.Placer.Release(ctx, h.id); err != nil {
		if h.o.Clock.Now().Sub(h.since) < 2*h.o.TakenUpWithin {
			return nil // again at the next look
		}
		return fmt.Errorf("no agent took the job up, and it could not be released: %w", err)
	}
	h.freed = true
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
		if _, err := h.read(ctx, "/v1/job/"+url.PathEscape(h.id.ID)+"/evaluations", 0, &list); err != nil {
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

// read asks Nomad with the user's own token, so that nobody reads through us what
// they may not read themselves. With an index it waits for a change.
func (h *held) read(ctx context.Context, path string, after uint64, out any) (index uint64, err error) {
	query := url.Values{"namespace": {h.id.Namespace}}
	if region := h.request.URL.Query().Get("region"); region != "" {
		query.Set("region", region)
	}
	if after > 0 {
		query.Set("index", strconv.FormatUint(after, 10))
		query.Set("wait", lookWait.String())
	}
	target := *h.o.Nomad
	target.Path, target.RawPath = "", ""
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(target.String(), "/")+path+"?"+query.Encode(), nil)
	if err != nil {
		return 0, err
	}
	for _, header := range []string{"X-Nomad-Token", "Authorization"} {
		if v := h.request.Header.Get(header); v != "" {
			r.Header.Set(header, v)
		}
	}
	answer, err := h.o.Transport.RoundTrip(r)
	if err != nil {
		return 0, err
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxReadBytes))
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return 0, err
	}
	if answer.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("GET %s: %s: %s", path, answer.Status, strings.TrimSpace(string(data[:min(len(data), 200)])))
	}
	index, err = strconv.ParseUint(answer.Header.Get("X-Nomad-Index"), 10, 64)
	if err != nil {
		index = 0 // then we look without waiting
	}
	return index, decode(data, out)
}
