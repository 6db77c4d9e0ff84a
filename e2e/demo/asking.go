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

// What is asked of the jobs is a share of what they do alone on the fastest node, so
// that the targets can be reached on the machine at hand, and not by all jobs on one
// node: there they would need more than its one CPU.
const (
	serviceShare = 0.35
	batchShare   = 0.7
	fastestClass = "fast-a"
)

// Amounts while a job is tried alone: a load that every machine can bear, and work
// that does not end.
const (
	triedPerSecond = 1000
	triedWork      = 1_000_000
	tryWarmUp      = 2 * time.Second
	tryWindow      = 4 * time.Second
)

// asking writes the job files of the demo with the amounts that they ask for.
type asking struct {
	rig    *rig.Rig
	folder string // where the files go
}

// ask reads a job file with an amount filled in: requests a second, or units of work.
func (a asking) ask(name string, amount int) (rig.JobFile, error) {
	text, err := jobText(name, amount)
	if err != nil {
		return rig.JobFile{}, err
	}
	path := filepath.Join(a.folder, name)
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return rig.JobFile{}, err
	}
	return a.rig.ReadJobFile(path)
}

// jobText fills an amount into a job file.
func jobText(name string, amount int) ([]byte, error) {
	text, err := jobFiles.ReadFile("jobs/" + name)
	if err != nil {
		return nil, err
	}
	t, err := template.New(name).Delims("[[", "]]").Parse(string(text))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, struct{ Amount int }{amount})
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
		amount, err := a.suitable(ctx, entry.Name())
		if err != nil {
			return nil, fmt.Errorf("%s alone: %w", entry.Name(), err)
		}
		if files[i], err = a.ask(entry.Name(), amount); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// suitable is the amount that is asked of a job on this machine.
func (a asking) suitable(ctx context.Context, name string) (amount int, err error) {
	f, err := a.ask(name, triedPerSecond)
	if err != nil {
		return 0, err
	}
	batch := f.Spec.Target.Kind == performance.FinishWithin
	if batch {
		if f, err = a.ask(name, triedWork); err != nil {
			return 0, err
		}
	}
	if err := a.rig.SubmitStockOn(f, fastestClass); err != nil {
		return 0, err
	}
	defer func() {
		if purged := a.rig.Purge(context.WithoutCancel(ctx), f.ID); err == nil {
			err = purged
		}
	}()
	if err := a.rig.WaitRunning(ctx, f.ID); err != nil {
		return 0, err
	}
	if err := sleep(ctx, tryWarmUp); err != nil {
		return 0, err
	}
	perSecond, err := a.alone(ctx, f)
	switch {
	case err != nil:
		return 0, err
	case batch:
		return rounded(batchShare * perSecond * f.Spec.Target.FinishWithin.Seconds()), nil
	default:
		return rounded(serviceShare * perSecond), nil
	}
}

// alone is what one core gives a job: what it did, by the CPU time that it took. A
// load that waits for its requests does not show it otherwise.
func (a asking) alone(ctx context.Context, f rig.JobFile) (perSecond float64, err error) {
	m, err := a.rig.StartMeter(ctx, f.ID)
	if err != nil {
		return 0, err
	}
	readings, err := a.rig.World.Observe(ctx, f.Workload(), tryWindow)
	if err != nil {
		return 0, err
	}
	used, err := m.CPU()
	if err != nil {
		return 0, err
	}
	rate := 0.0
	for _, r := range readings {
		if r.Unavailable != "" {
			return 0, fmt.Errorf("not measured: %s", r.Unavailable)
		}
		rate += r.Measure.RatePerSec
	}
	cores := 0.0
	for _, mhz := range used {
		cores += mhz / m.CoreMHz
	}
	if !(rate > 0 && cores > 0) {
		return 0, fmt.Errorf("it did %g units a second with %g cores", rate, cores)
	}
	return rate / cores, nil
}

// rounded keeps two digits.
func rounded(v float64) int {
	if v < 10 {
		return max(1, int(v))
	}
	scale := math.Pow(10, math.Floor(math.Log10(v))-1)
	return int(math.Floor(v/scale) * scale)
}
