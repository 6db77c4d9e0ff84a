package probetest

import (
	"bytes"
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/probe"
)

// Fixture is what the suite must know of one probe.
type Fixture struct {
	Spec   performance.ProbeSpec // valid
	Target performance.Target
	// Show makes the reach look like a workload that has done so much work.
	Show func(r *Reach, work float64)
	// Finish makes it look like one that has finished; nil for probes that do
	// not look for that.
	Finish func(r *Reach)
}

// Reach is a scripted workload. A nil error and no content is an empty answer.
type Reach struct {
	HTTP   func(ctx context.Context, portLabel, path string) ([]byte, error)
	Count  func() (float64, error) // of instructions; nil has none
	Log    []byte                  // the whole stream
	Output []byte                  // of a command
	State  probe.Status
	Silent bool // nothing answers until the context ends
	Flood  bool // every answer is larger than a probe may read
}

func (r *Reach) answer(ctx context.Context, content []byte) ([]byte, error) {
	if r.Silent {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if r.Flood {
		return bytes.Repeat([]byte("7"), probe.MaxBodyBytes+1), nil
	}
	return content, nil
}

// HTTPGet answers with what HTTP gives.
func (r *Reach) HTTPGet(ctx context.Context, portLabel, path string) ([]byte, error) {
	if r.Silent || r.Flood {
		return r.answer(ctx, nil)
	}
	return r.HTTP(ctx, portLabel, path)
}

// ReadLog reads from Log. A flood is an endless stream.
func (r *Reach) ReadLog(ctx context.Context, _, _ string, offset int64, limit int) ([]byte, int64, error) {
	if r.Flood {
		return bytes.Repeat([]byte("7"), limit), offset + int64(limit), ctx.Err()
	}
	if _, err := r.answer(ctx, nil); err != nil {
		return nil, offset, err
	}
	end := min(int64(len(r.Log)), offset+int64(limit))
	return r.Log[min(offset, end):end], end, nil
}

// Exec answers with Output.
func (r *Reach) Exec(ctx context.Context, _ string, _ []string) ([]byte, error) {
	return r.answer(ctx, r.Output)
}

// Instructions answers with what Count gives.
func (r *Reach) Instructions(ctx context.Context, _ string) (float64, error) {
	if r.Silent {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	if r.Count == nil {
		return 0, probe.ErrNoSuchData
	}
	return r.Count()
}

// Status answers with State.
func (r *Reach) Status(ctx context.Context, _ string) (probe.Status, error) {
	if r.Silent {
		<-ctx.Done()
		return probe.Status{}, ctx.Err()
	}
	return r.State, nil
}

// timeout is short, so that a silent workload does not hold up the suite.
const timeout = 20 * time.Millisecond

// Run takes the probe through the suite.
func Run(t *testing.T, d probe.Descriptor, f Fixture) {
	t.Helper()
	f.Spec.Timeout = timeout
	if d.Summary == "" {
		t.Error("no summary")
	}
	if err := d.Validate(f.Spec, f.Target); err != nil {
		t.Fatalf("the fixture's spec is refused: %v", err)
	}
	t.Run("never answers", func(t *testing.T) { neverAnswers(t, d, f) })
	if f.Finish != nil {
		t.Run("finish", func(t *testing.T) { finishes(t, d, f) })
	}
	if d.Progress {
		t.Run("counts", func(t *testing.T) { counts(t, d, f) })
		t.Run("restart", func(t *testing.T) { restart(t, d, f) })
		t.Run("garbage", func(t *testing.T) { garbage(t, d, f) })
		t.Run("flood", func(t *testing.T) { flood(t, d, f) })
		t.Run("bad numbers", func(t *testing.T) { badNumbers(t, d, f) })
	}
}

func open(t *testing.T, d probe.Descriptor, f Fixture, r *Reach) probe.Probe {
	t.Helper()
	p, err := d.New(f.Spec, r, "main")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func neverAnswers(t *testing.T, d probe.Descriptor, f Fixture) {
	p := open(t, d, f, &Reach{Silent: true})
	if _, err := p.Read(t.Context()); !errors.Is(err, probe.ErrNotReady) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want not ready after the time-out", err)
	}
}

func finishes(t *testing.T, d probe.Descriptor, f Fixture) {
	r := &Reach{}
	f.Finish(r)
	reading, err := open(t, d, f, r).Read(t.Context())
	if err != nil || !reading.Done || !(reading.Work > 0) || !reading.At.After(reading.Started) {
		t.Errorf("%+v, %v", reading, err)
	}
}

func counts(t *testing.T, d probe.Descriptor, f Fixture) {
	r := &Reach{}
	p := open(t, d, f, r)
	for _, work := range []float64{0, 10, 10, 1e12} {
		f.Show(r, work)
		reading, err := p.Read(t.Context())
		if err != nil || reading.Work != work || reading.At.IsZero() || reading.Done {
			t.Errorf("at %v: %+v, %v", work, reading, err)
		}
	}
}

func restart(t *testing.T, d probe.Descriptor, f Fixture) {
	r := &Reach{}
	p := open(t, d, f, r)
	f.Show(r, 1000)
	before, err := p.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.Show(r, 3)
	after, err := p.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	after.At = before.At.Add(time.Second)
	if _, err := performance.Between(before, after, f.Target); !errors.Is(err, performance.ErrCounterReset) {
		t.Errorf("a count from 1000 to 3 gives %v, want a reset", err)
	}
}

// garbage: whatever comes, the error has a name.
func garbage(t *testing.T, d probe.Descriptor, f Fixture) {
	for _, junk := range []string{"", "\x00\xff\xfe", "<html>502 Bad Gateway</html>", "{\"a\":", "one two three", "\n\n\n"} {
		r := &Reach{Log: []byte(junk + "\n"), Output: []byte(junk)}
		r.HTTP = func(context.Context, string, string) ([]byte, error) { return []byte(junk), nil }
		reading, err := open(t, d, f, r).Read(t.Context())
		if !Named(err) {
			t.Errorf("%q gives %+v, %v", junk, reading, err)
		}
	}
}

func flood(t *testing.T, d probe.Descriptor, f Fixture) {
	f.Spec.Timeout = time.Minute // it is the size that must end it
	if _, err := open(t, d, f, &Reach{Flood: true}).Read(t.Context()); !Named(err) {
		t.Errorf("error %v", err)
	}
}

func badNumbers(t *testing.T, d probe.Descriptor, f Fixture) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1} {
		r := &Reach{}
		f.Show(r, v)
		if reading, err := open(t, d, f, r).Read(t.Context()); !Named(err) {
			t.Errorf("%v gives %+v, %v", v, reading, err)
		}
	}
}

// Named reports whether an error is one that callers of a probe know.
func Named(err error) bool {
	return errors.Is(err, probe.ErrNotReady) || errors.Is(err, probe.ErrNoSuchData) || errors.Is(err, probe.ErrBadNumber)
}
