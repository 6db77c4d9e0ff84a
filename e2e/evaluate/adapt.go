package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/machine"
	"github.com/nomad-placer/nomad-placer/e2e/rig"
	"github.com/nomad-placer/nomad-placer/hcl"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// adaptation is what the placer did for jobs that fell below their target while
// they ran, and afterwards.
type adaptation struct {
	Began     time.Time `json:"began"`
	Load      string    `json:"load_before"`
	Neighbour cure      `json:"neighbour"`
	Spike     cure      `json:"spike"`
	Calm      calm      `json:"calm"`
}

// cure is one trouble and its end. Seconds count from the trouble's beginning; 0 is
// "not seen".
type cure struct {
	Target    string   `json:"target"`
	Before    float64  `json:"rate_before"`
	Worst     float64  `json:"rate_worst"`
	After     float64  `json:"rate_after"`
	Detected  float64  `json:"detected_seconds"` // the placer's action is on record
	Cured     float64  `json:"cured_seconds"`    // the target is reached again, measured
	Actions   []action `json:"actions"`
	Problem   string   `json:"problem,omitempty"` // why it says nothing
	NoiseFrom string   `json:"noise_from,omitempty"`
	NoiseTo   string   `json:"noise_to,omitempty"`
}

// calm is what was done while nothing changed any more.
type calm struct {
	Seconds float64             `json:"seconds"`
	Actions map[string][]action `json:"actions"` // by job
	Writes  int                 `json:"writes"`  // versions of the jobs that came
	Windows int                 `json:"windows"` // of the two jobs with a target
	Below   int                 `json:"below"`   // of these, below it
}

// The scenarios' numbers.
const (
	noiseJob = "noise"
	// The victim reserves much less than it uses, as a user does who never looked: its
	// node has room for both, and not enough time.
	victimMHz      = 100
	noiseMHz       = 300
	noiseMB        = 64
	noiseMaxMin    = 40
	spikeShare     = 0.75
	shortWindow    = 2 * time.Second
	cureWithin     = 90 * time.Second
	deployedWithin = 2 * time.Minute
	calmWindow     = 10 * time.Second
	spikeFile      = "spike"
)

// neighbourShare of its speed in isolation is the victim's target. The kernel and the victim
// are one thread each and share a CPU, which leaves the victim about half: at a target
// of half, chance decides whether there is anything to cure.
const neighbourShare = 0.75

// trouble is one scenario: the job that suffers and how the trouble begins.
type trouble struct {
	app   app
	file  rig.JobFile
	begin func(ctx context.Context) error
	acts  func(ctx context.Context) ([]action, error) // on record since
}

// adapt makes the items of a worker larger, then plants a noisy neighbour next to
// another job, and watches what comes afterwards: the kernel has moved on to another
// node, and the items stay large.
func (e *evaluation) adapt(ctx context.Context) (out adaptation, err error) {
	out = adaptation{Began: time.Now().UTC(), Load: machine.LoadAverages()}
	if err := os.Remove(e.spike()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return out, err
	}
	victim, worker := appNamed("encode"), appNamed("pages")
	victim.counts, worker.counts = nil, []int{1, 2, 3}
	// Their targets are shares of what they do now, not when the run began.
	known := map[string]alone{}
	for _, a := range []app{victim, worker} {
		e.progress.begin("alone", fmt.Sprintf("%s in isolation on the fastest node, once more", a.name))
		if known[a.name], err = e.measureAlone(ctx, a); err != nil {
			return out, err
		}
	}
	victim.share, worker.share = neighbourShare, spikeShare
	version := e.run + "-adapt"
	victimFile, err := e.render(victim, known[victim.name], variant{version: version, cpuMHz: victimMHz})
	if err != nil {
		return out, err
	}
	workerFile, err := e.render(worker, known[worker.name], variant{version: version})
	if err != nil {
		return out, err
	}
	files := []rig.JobFile{victimFile, workerFile, noiseFile()}
	defer func() { err = errors.Join(err, e.purge(context.WithoutCancel(ctx), files), removeIfThere(e.spike())) }()

	e.progress.begin("adapt", "the items of "+worker.name+" become twice as large")
	if out.Spike, err = e.loadSpike(ctx, worker, workerFile); err != nil {
		return out, fmt.Errorf("load spike: %w", err)
	}
	e.progress.begin("adapt", "a noisy neighbour is started next to "+victim.name)
	if out.Neighbour, err = e.neighbour(ctx, victim, victimFile); err != nil {
		return out, fmt.Errorf("noisy neighbour: %w", err)
	}
	if err := cluster.Sleep(ctx, e.plan.Aftermath); err != nil {
		return out, err
	}
	e.progress.begin("calm", fmt.Sprintf("nothing changes for %s: does adaptation come to rest?", e.plan.Calm))
	out.Calm, err = e.watchCalm(ctx, files, map[string]app{victimFile.ID: victim, workerFile.ID: worker})
	return out, err
}

func (e *evaluation) spike() string { return filepath.Join(e.rendered, spikeFile) }

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// noiseFile names the noise for what handles jobs.
func noiseFile() rig.JobFile { return rig.JobFile{ID: noiseJob, Group: groupName} }

// groupName is that of every job's one group.
const groupName = "main"

// noise is a best-effort job that presses on the integer units of one node. It goes
// past the gate, as a job that names the run pool would.
func noise(node string) *api.Job {
	mhz, mb, kill := noiseMHz, noiseMB, time.Second
	task := api.NewTask("noise", "ibench").
		SetConfig("kernel", []map[string]any{{"source": "int", "intensity": 100}}).
		SetConfig("max_duration", fmt.Sprintf("%dm", noiseMaxMin)).
		Require(&api.Resources{CPU: &mhz, MemoryMB: &mb})
	task.KillTimeout = &kill
	group := api.NewTaskGroup(groupName, 1).AddTask(task)
	group.Meta = map[string]string{hcl.MetaKey: "target {\n  best_effort = true\n}\n"}
	return api.NewServiceJob(noiseJob, noiseJob, "global", 50).AddTaskGroup(group).
		AddAffinity(api.NewAffinity("${node.unique.name}", "=", node, 100))
}

func (e *evaluation) neighbour(ctx context.Context, a app, f rig.JobFile) (cure, error) {
	if err := e.startPlaced(ctx, f); err != nil {
		return cure{}, err
	}
	nodes, err := e.rig.Nodes(f.ID)
	if err != nil || len(nodes) != 1 {
		return cure{}, fmt.Errorf("%s is on %v, %w", f.ID, nodes, err)
	}
	planted := func(ctx context.Context) error {
		if _, _, err := e.rig.API().Jobs().Register(noise(nodes[0]), nil); err != nil {
			return err
		}
		if err := e.rig.WaitRunning(ctx, noiseJob); err != nil {
			return err
		}
		on, err := e.rig.Nodes(noiseJob)
		if err == nil && !slices.Equal(on, nodes) {
			err = fmt.Errorf("the kernel was planted on %v, the job is on %v", on, nodes)
		}
		return err
	}
	out, err := e.see(ctx, trouble{a, f, planted, func(ctx context.Context) ([]action, error) { return e.actions(ctx, noiseFile()) }})
	if err != nil {
		return out, err
	}
	out.NoiseFrom = nodes[0]
	on, err := e.rig.Nodes(noiseJob)
	out.NoiseTo = strings.Join(on, ", ")
	return out, err
}

func (e *evaluation) loadSpike(ctx context.Context, a app, f rig.JobFile) (cure, error) {
	if err := e.startPlaced(ctx, f); err != nil {
		return cure{}, err
	}
	larger := func(context.Context) error { return os.WriteFile(e.spike(), nil, 0o644) }
	return e.see(ctx, trouble{a, f, larger, func(ctx context.Context) ([]action, error) { return e.actions(ctx, f) }})
}

// startPlaced submits a job to the placer and waits until it runs and its deployment
// is over: before, it is left alone.
func (e *evaluation) startPlaced(ctx context.Context, f rig.JobFile) error {
	if err := e.rig.SubmitHeld(f); err != nil {
		return err
	}
	if err := e.waitRunning(ctx, []rig.JobFile{f}); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, deployedWithin)
	defer cancel()
	for {
		d, _, err := e.rig.API().Jobs().LatestDeployment(f.ID, nil)
		if err == nil && (d == nil || d.Status == api.DeploymentStatusSuccessful) {
			return nil
		}
		if cluster.Sleep(ctx, batchPoll) != nil {
			return fmt.Errorf("%s was not deployed within %s: %w", f.ID, deployedWithin, errors.Join(ctx.Err(), err))
		}
	}
}

// see begins the trouble and watches until the target is reached again after an
// action, or for cureWithin.
func (e *evaluation) see(ctx context.Context, t trouble) (cure, error) {
	target, _, _ := t.file.Spec.Target.Value()
	out := cure{Target: t.file.Spec.Target.String()}
	before := e.measure(ctx, t.app, t.file, e.plan.Window/2)
	out.Before = before.RatePerSec
	if !before.Met {
		out.Problem = "it missed its target before anything was done to it: " + before.Missing
	}
	if err := t.begin(ctx); err != nil {
		return out, err
	}
	began := time.Now()
	since := func(at time.Time) float64 { return at.Sub(began).Seconds() }
	for time.Since(began) < cureWithin {
		o := e.measure(ctx, t.app, t.file, shortWindow)
		if ctx.Err() != nil {
			return out, ctx.Err()
		}
		list, err := t.acts(ctx)
		if err != nil {
			return out, err
		}
		list = slices.DeleteFunc(list, func(a action) bool { return a.At.Before(began) })
		out.Actions = list
		if out.Detected == 0 {
			if i := slices.IndexFunc(list, func(a action) bool { return a.Result == actionDone }); i >= 0 {
				out.Detected = since(list[i].At)
			}
		}
		if o.Missing != "" {
			continue // an allocation is just starting
		}
		if out.Worst == 0 || o.RatePerSec < out.Worst {
			out.Worst = o.RatePerSec
		}
		out.After = o.RatePerSec
		if out.Detected > 0 && o.RatePerSec >= target*(1-performance.RateTolerance) {
			out.Cured = since(time.Now())
			break
		}
	}
	if out.Worst >= target*(1-performance.RateTolerance) && out.Problem == "" {
		out.Problem = "nothing that was done to it brought it below its target"
	}
	return out, nil
}

// actionDone is the result of an action that was carried out.
const actionDone = "done"

// watchCalm counts what is written and recorded while nothing changes.
func (e *evaluation) watchCalm(ctx context.Context, files []rig.JobFile, measured map[string]app) (calm, error) {
	out := calm{Actions: map[string][]action{}}
	began := time.Now()
	versions, err := e.versions(files)
	if err != nil {
		return out, err
	}
	for time.Since(began) < e.plan.Calm {
		for _, f := range files {
			a, ok := measured[f.ID]
			if !ok {
				continue
			}
			o := e.measure(ctx, a, f, calmWindow/2)
			if ctx.Err() != nil {
				return out, ctx.Err()
			}
			out.Windows++
			if !o.Met {
				out.Below++
			}
		}
	}
	out.Seconds = time.Since(began).Seconds()
	now, err := e.versions(files)
	if err != nil {
		return out, err
	}
	for _, f := range files {
		out.Writes += int(now[f.ID] - versions[f.ID])
		list, err := e.actions(ctx, f)
		if err != nil {
			return out, err
		}
		list = slices.DeleteFunc(list, func(a action) bool { return a.At.Before(began) })
		if len(list) > 0 {
			out.Actions[f.ID] = list
		}
	}
	return out, nil
}

// versions of the jobs.
func (e *evaluation) versions(files []rig.JobFile) (map[string]uint64, error) {
	out := map[string]uint64{}
	for _, f := range files {
		job, _, err := e.rig.API().Jobs().Info(f.ID, nil)
		if err != nil {
			return nil, fmt.Errorf("job %s: %w", f.ID, err)
		}
		out[f.ID] = *job.Version
	}
	return out, nil
}
