package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"text/template"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/rig"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

//go:embed jobs/*.hcl
var jobFiles embed.FS

// What is asked of the jobs is what placement decides, as a factor of what they do in
// isolation on the fastest node of this machine: twice the tail latency at a load of a
// fifth of a core, 5 ms at the least as in make evaluate, and an end after 1.2 times the time. On two CPUs one arrangement can
// reach all of it: the batch job needs most of a CPU, so the services share the other one,
// which two fifths of load leave free enough for their tails (at a third of a core each
// they cannot keep them, wherever they are).
const (
	serviceShare = 0.2
	finishFactor = 1.2
	tailFactor   = 2
	// leastLatency: who shares a CPU waits for a turn of the others, some 3 ms.
	leastLatency = 5 * time.Millisecond
	fastestClass = "fast-a"
)

// latencyStep is what a bound of latency is rounded up to.
const latencyStep = 100 * time.Microsecond

// asked is what a job must do: requests a second, or units of work; and how long a
// request may take.
type asked struct {
	Amount  int
	Latency time.Duration
}

// What a job is asked while it is measured in isolation: a load that every machine can
// serve, or work that does not end.
var tried = asked{Amount: 1000, Latency: time.Second}

const (
	triedWork  = 1_000_000
	tryWarmUp  = 2 * time.Second
	tryWindow  = 4 * time.Second
	tailWindow = 10 * time.Second // of a tail more requests are wanted
)

// isolated is what one job did in isolation on the fastest node.
type isolated struct {
	RatePerSec float64       `json:"rate_per_sec"`
	Tail       time.Duration `json:"tail_ns,omitempty"`
	// perCore is its rate for each core that it used: a load that waits for its requests
	// does not show otherwise what the node could do.
	perCore float64
}

// demoJob is a job with what it is asked for, and from what that was derived.
type demoJob struct {
	rig.JobFile
	Isolated isolated
}

// asking writes the job files of the demo with what they ask for.
type asking struct {
	rig    *rig.Rig
	folder string // where the files go
}

// ask reads a job file with what it asks for filled in.
func (a asking) ask(name string, what asked) (rig.JobFile, error) {
	text, err := jobText(name, what)
	if err != nil {
		return rig.JobFile{}, err
	}
	path := filepath.Join(a.folder, name)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return rig.JobFile{}, err
	}
	return a.rig.ReadJobFile(path)
}

// jobText fills in what a job asks for.
func jobText(name string, what asked) ([]byte, error) {
	text, err := jobFiles.ReadFile("jobs/" + name)
	if err != nil {
		return nil, err
	}
	t, err := template.New(name).Delims("[[", "]]").Parse(string(text))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, what)
	return out.Bytes(), err
}

// all measures every job in isolation, and returns them with what is asked of them.
func (a asking) all(ctx context.Context, p *progress) ([]demoJob, error) {
	names, err := fs.ReadDir(jobFiles, "jobs")
	if err != nil {
		return nil, err
	}
	jobs := make([]demoJob, len(names))
	for i, entry := range names {
		p.stage("what "+entry.Name()+" does in isolation on the fastest node", secondsTry)
		if jobs[i], err = a.suitable(ctx, entry.Name()); err != nil {
			return nil, fmt.Errorf("%s in isolation: %w", entry.Name(), err)
		}
	}
	return jobs, nil
}

// suitable asks of a job what it should reach on this machine.
func (a asking) suitable(ctx context.Context, name string) (demoJob, error) {
	f, err := a.ask(name, tried)
	if err != nil {
		return demoJob{}, err
	}
	if f.Spec.Target.Kind == performance.FinishWithin {
		return a.suitableBatch(ctx, name)
	}
	first, err := a.isolated(ctx, f, tryWindow)
	if err != nil {
		return demoJob{}, err
	}
	out := asked{Amount: rounded(serviceShare * first.perCore), Latency: tried.Latency}
	if f, err = a.ask(name, out); err != nil {
		return demoJob{}, err
	}
	at, err := a.isolated(ctx, f, tailWindow)
	if err != nil {
		return demoJob{}, err
	}
	out.Latency = max(leastLatency, roundedUp(tailFactor*at.Tail))
	f, err = a.ask(name, out)
	return demoJob{f, at}, err
}

func (a asking) suitableBatch(ctx context.Context, name string) (demoJob, error) {
	f, err := a.ask(name, asked{Amount: triedWork})
	if err != nil {
		return demoJob{}, err
	}
	did, err := a.isolated(ctx, f, tailWindow)
	if err != nil {
		return demoJob{}, err
	}
	f, err = a.ask(name, asked{Amount: rounded(did.RatePerSec * f.Spec.Target.FinishWithin.Seconds() / finishFactor)})
	return demoJob{f, did}, err
}

// isolated runs a job in isolation on the fastest node for a window.
func (a asking) isolated(ctx context.Context, f rig.JobFile, window time.Duration) (out isolated, err error) {
	if err := a.rig.SubmitStockOn(f, fastestClass); err != nil {
		return isolated{}, err
	}
	defer func() {
		if purged := a.rig.Purge(context.WithoutCancel(ctx), f.ID); err == nil {
			err = purged
		}
	}()
	if err := a.rig.WaitRunning(ctx, f.ID); err != nil {
		return isolated{}, err
	}
	if err := cluster.Sleep(ctx, tryWarmUp); err != nil {
		return isolated{}, err
	}
	m, err := a.rig.StartMeter(ctx, f.ID)
	if err != nil {
		return isolated{}, err
	}
	readings, err := a.rig.World.Observe(ctx, f.Workload(), window)
	if err != nil {
		return isolated{}, err
	}
	used, err := m.CPU()
	if err != nil {
		return isolated{}, err
	}
	cores := 0.0
	for _, r := range readings {
		if r.Unavailable != "" {
			return isolated{}, fmt.Errorf("not measured: %s", r.Unavailable)
		}
		out.RatePerSec += r.Measure.RatePerSec
		out.Tail = max(out.Tail, r.Measure.LatencyTail)
	}
	for _, mhz := range used {
		cores += mhz / m.CoreMHz
	}
	if !(out.RatePerSec > 0 && cores > 0) {
		return isolated{}, fmt.Errorf("it did %g units a second with %g cores", out.RatePerSec, cores)
	}
	out.perCore = out.RatePerSec / cores
	return out, nil
}

// roundedUp is a bound that can be read.
func roundedUp(d time.Duration) time.Duration {
	return max(latencyStep, (d + latencyStep - 1).Truncate(latencyStep))
}

// rounded keeps two digits.
func rounded(v float64) int {
	if v < 10 {
		return max(1, int(v))
	}
	scale := math.Pow(10, math.Floor(math.Log10(v))-1)
	return int(math.Floor(v/scale) * scale)
}
