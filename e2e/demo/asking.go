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

	"github.com/nomad-placer/nomad-placer/e2e/rig"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

//go:embed jobs/*.hcl
var jobFiles embed.FS

// What is asked of the jobs is a share of what they do alone on the fastest node, and
// twice the latency that they have there or some milliseconds, so that the targets can
// be reached on the machine at hand, and not by all jobs on one node: there they would
// need more than its one CPU.
const (
	serviceShare = 0.35
	batchShare   = 0.7
	tailFactor   = 2
	leastMillis  = 5
	fastestClass = "fast-a"
)

// asked is what a job must do: requests a second, or units of work; and how long a
// request may take.
type asked struct {
	Amount        int
	LatencyMillis int
}

// What a job is asked while it is tried alone: a load that every machine can bear, or
// work that does not end.
var tried = asked{Amount: 1000, LatencyMillis: 1000}

const (
	triedWork = 1_000_000
	tryWarmUp = 2 * time.Second
	tryWindow = 4 * time.Second
)

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

// all tries every job alone, and returns them with what is asked of them.
func (a asking) all(ctx context.Context, p *progress) ([]rig.JobFile, error) {
	names, err := fs.ReadDir(jobFiles, "jobs")
	if err != nil {
		return nil, err
	}
	files := make([]rig.JobFile, len(names))
	for i, entry := range names {
		p.stage("what "+entry.Name()+" does alone on the fastest node", secondsTry)
		what, err := a.suitable(ctx, entry.Name())
		if err != nil {
			return nil, fmt.Errorf("%s alone: %w", entry.Name(), err)
		}
		if files[i], err = a.ask(entry.Name(), what); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// suitable is what is asked of a job on this machine.
func (a asking) suitable(ctx context.Context, name string) (asked, error) {
	f, err := a.ask(name, tried)
	if err != nil {
		return asked{}, err
	}
	if f.Spec.Target.Kind == performance.FinishWithin {
		if f, err = a.ask(name, asked{Amount: triedWork}); err != nil {
			return asked{}, err
		}
		perSecond, _, err := a.alone(ctx, f)
		return asked{Amount: rounded(batchShare * perSecond * f.Spec.Target.FinishWithin.Seconds())}, err
	}
	perSecond, _, err := a.alone(ctx, f)
	if err != nil {
		return asked{}, err
	}
	out := asked{Amount: rounded(serviceShare * perSecond), LatencyMillis: tried.LatencyMillis}
	if f, err = a.ask(name, out); err != nil {
		return asked{}, err
	}
	_, tail, err := a.alone(ctx, f)
	out.LatencyMillis = max(leastMillis, int(math.Ceil(tailFactor*tail.Seconds()*1000)))
	return out, err
}

// alone runs a job alone on the fastest node: what one core gives it, by the CPU time
// that it took, since a load that waits for its requests does not show it otherwise;
// and its tail latency, 0 where it has none.
func (a asking) alone(ctx context.Context, f rig.JobFile) (perSecond float64, tail time.Duration, err error) {
	if err := a.rig.SubmitStockOn(f, fastestClass); err != nil {
		return 0, 0, err
	}
	defer func() {
		if purged := a.rig.Purge(context.WithoutCancel(ctx), f.ID); err == nil {
			err = purged
		}
	}()
	if err := a.rig.WaitRunning(ctx, f.ID); err != nil {
		return 0, 0, err
	}
	if err := sleep(ctx, tryWarmUp); err != nil {
		return 0, 0, err
	}
	m, err := a.rig.StartMeter(ctx, f.ID)
	if err != nil {
		return 0, 0, err
	}
	readings, err := a.rig.World.Observe(ctx, f.Workload(), tryWindow)
	if err != nil {
		return 0, 0, err
	}
	used, err := m.CPU()
	if err != nil {
		return 0, 0, err
	}
	rate, cores := 0.0, 0.0
	for _, r := range readings {
		if r.Unavailable != "" {
			return 0, 0, fmt.Errorf("not measured: %s", r.Unavailable)
		}
		rate += r.Measure.RatePerSec
		tail = max(tail, r.Measure.LatencyTail)
	}
	for _, mhz := range used {
		cores += mhz / m.CoreMHz
	}
	if !(rate > 0 && cores > 0) {
		return 0, 0, fmt.Errorf("it did %g units a second with %g cores", rate, cores)
	}
	return rate / cores, tail, nil
}

// rounded keeps two digits.
func rounded(v float64) int {
	if v < 10 {
		return max(1, int(v))
	}
	scale := math.Pow(10, math.Floor(math.Log10(v))-1)
	return int(math.Floor(v/scale) * scale)
}
