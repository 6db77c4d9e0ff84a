package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/rig"
	"github.com/nomad-placer/nomad-placer/e2e/training/catalogue"
	placer "github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// lab is a one-node cluster with the driver, on which everything is measured.
type lab struct {
	*rig.Rig
	settings
	node        placer.Node
	calibration string // file
}

// labRunID names the cluster; a dead one of that name is cleaned up first.
const labRunID = "training"

// openLab calibrates the machine, unless that was done, and starts the cluster.
func openLab(ctx context.Context, s settings) (*lab, error) {
	if err := cluster.Clean(ctx, labRunID); err != nil {
		return nil, err
	}
	l := &lab{settings: s, calibration: filepath.Join(s.inputs, "calibration.json")}
	if err := l.calibrate(ctx); err != nil {
		return nil, err
	}
	cpus, err := cluster.AllowedCPUs(os.Getpid())
	if err != nil {
		return nil, err
	}
	l.Rig, err = rig.Start(ctx, rig.Options{
		Bin: s.bin, BasePort: s.port, RunID: labRunID, Clients: cluster.OneNode(cpus), KeepDir: s.keep,
		DriverConfig: fmt.Sprintf("calibration_file = %q\n    max_duration = %q", l.calibration, labMaxDuration),
	})
	if err != nil {
		return nil, err
	}
	snapshot, err := l.World.Snapshot(ctx)
	if err == nil && len(snapshot.Nodes) != 1 {
		err = fmt.Errorf("%d nodes, want one", len(snapshot.Nodes))
	}
	if err != nil {
		return nil, errors.Join(err, l.Stop(context.WithoutCancel(ctx)))
	}
	l.node = *snapshot.Nodes[0]
	return l, nil
}

// labMaxDuration bounds one task of the driver: the pairs of a whole set.
const labMaxDuration = 4 * time.Hour

// calibrate measures the kernels of this machine, once: every row then has the
// same scale.
func (l *lab) calibrate(ctx context.Context) error {
	machine, err := ibench.ReadMachine("/")
	if err != nil {
		return err
	}
	cpus, err := ibench.AllowedCPUs()
	if err != nil {
		return err
	}
	if _, err := ibench.LoadCalibration(l.calibration, ibench.KeyOf(machine, cpus)); err == nil {
		return nil
	}
	fmt.Println("calibrating the kernels of this machine")
	cmd := exec.CommandContext(ctx, filepath.Join(l.bin, "nomad-driver-ibench"), "calibrate", "-file", l.calibration, "-storage-dir", l.inputs)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("calibrate: %w", err)
	}
	return nil
}

// Names of a measuring job.
const (
	labTask      = "lab"
	labDiskMB    = 900
	labTaskMHz   = 50
	labTaskMB    = 1024 // what a kernel may take: the driver bounds it by the task's memory
	memoryMargin = 200  // MB an application may take beyond what it says, for its loop and page cache
)

// tenant is an application in a measuring job.
type tenant struct {
	app   catalogue.Application
	task  string
	cpus  []int // it is bound to; none is all
	cores int
	size  int // MB; 0 is the usual one
}

// port is the label of its counter.
func (t tenant) port() string { return "loop_" + t.task }

// job is a batch job of some applications and a task of the driver that leads
// it: config is the driver's, its request as JSON inside.
func (l *lab) job(id string, tenants []tenant, block string, request any) (*api.Job, error) {
	text, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	group := api.NewTaskGroup("lab", 1)
	network := &api.NetworkResource{}
	for _, t := range tenants {
		network.DynamicPorts = append(network.DynamicPorts, api.Port{Label: t.port()})
		if t.app.NeedsPort() {
			network.DynamicPorts = append(network.DynamicPorts, api.Port{Label: "app_" + t.task})
		}
		group.AddTask(l.task(t))
	}
	group.Networks = []*api.NetworkResource{network}
	disk, none, no := labDiskMB, 0, false
	group.EphemeralDisk = &api.EphemeralDisk{SizeMB: &disk}
	mode, delay, interval := "fail", time.Second, time.Minute
	group.RestartPolicy = &api.RestartPolicy{Attempts: &none, Mode: &mode, Delay: &delay, Interval: &interval}
	group.ReschedulePolicy = &api.ReschedulePolicy{Attempts: &none, Unlimited: &no}
	// The driver's configuration is a template to Nomad; as an escape the
	// character is the same to the JSON reader and nothing to Nomad.
	quoted := strings.ReplaceAll(string(text), "$", `\u0024`)
	leader := api.NewTask(labTask, "ibench").SetConfig(block, []map[string]any{{"request": quoted}}).Require(resources(labTaskMHz, labTaskMB))
	leader.Leader = true
	group.AddTask(leader)
	job := api.NewBatchJob(id, id, "global", 50).AddTaskGroup(group)
	return job.AddDatacenter("*"), nil
}

// task runs an application in its own folder. The words of a Nomad task's
// environment are replaced by Nomad.
func (l *lab) task(t tenant) *api.Task {
	place := catalogue.Place{
		Workload: l.workload, Inputs: l.inputs, CPUs: t.cpus, Cores: t.cores, SizeMB: t.size,
		Listen: "127.0.0.1:${NOMAD_PORT_" + t.port() + "}",
	}
	if t.app.NeedsPort() {
		place.AppPort = "${NOMAD_PORT_app_" + t.task + "}"
	}
	args := append([]string{"-c", `cd "$NOMAD_TASK_DIR" && exec "$@"`, "sh"}, t.app.Argv(place)...)
	task := api.NewTask(t.task, "raw_exec").SetConfig("command", "/bin/sh").SetConfig("args", args).
		Require(resources(100, t.app.MemoryMB+memoryMargin))
	task.Env = t.app.Environment(place)
	files, megabytes := 2, 1
	task.LogConfig = &api.LogConfig{MaxFiles: &files, MaxFileSizeMB: &megabytes}
	return task
}

func resources(mhz, memoryMB int) *api.Resources {
	return &api.Resources{CPU: &mhz, MemoryMB: &memoryMB}
}

// probe reads the counter of a loop.
func (t tenant) probe() performance.ProbeSpec {
	return performance.ProbeSpec{Type: "prometheus", Port: t.port(), Rate: "loop_units_total"}
}

// target says what its number is.
func (t tenant) target() performance.Target {
	return performance.Target{Kind: performance.Rate, Rate: 1, Unit: t.app.Unit}
}

// labPoll is how often a run under way is looked at.
const labPoll = 500 * time.Millisecond

// conduct runs a job until its leader has ended, at most until the deadline.
// look, if given, is called now and then while it runs; read is called once it
// has ended. The job is removed in any case.
func (l *lab) conduct(ctx context.Context, job *api.Job, within time.Duration, look, read func(alloc *api.Allocation) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if _, _, err := l.API().Jobs().Register(job, nil); err != nil {
		return fmt.Errorf("register: %w", err)
	}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		err = errors.Join(err, l.Purge(ending, *job.ID))
	}()
	for {
		alloc, err := l.allocation(ctx, *job.ID)
		if err != nil {
			return err
		}
		if alloc != nil {
			if state := alloc.TaskStates[labTask]; state != nil && state.State == "dead" || alloc.ClientTerminalStatus() {
				return errors.Join(read(alloc), l.failure(alloc))
			}
			if look != nil {
				if err := look(alloc); err != nil {
					return err
				}
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", *job.ID, ctx.Err())
		case <-time.After(labPoll):
		}
	}
}

// allocation is the job's one allocation; nil before there is one. A job that
// cannot be placed is an error.
func (l *lab) allocation(ctx context.Context, id string) (*api.Allocation, error) {
	stubs, _, err := l.API().Jobs().Allocations(id, true, (&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return nil, fmt.Errorf("allocations: %w", err)
	}
	if len(stubs) > 0 {
		alloc, _, err := l.API().Allocations().Info(stubs[0].ID, (&api.QueryOptions{}).WithContext(ctx))
		return alloc, err
	}
	evaluations, _, err := l.API().Jobs().Evaluations(id, (&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return nil, fmt.Errorf("evaluations: %w", err)
	}
	for _, e := range evaluations {
		for _, why := range e.FailedTGAllocs {
			return nil, fmt.Errorf("it cannot be placed: %d nodes, exhausted %v, filtered %v", why.NodesEvaluated, why.DimensionExhausted, why.ConstraintFiltered)
		}
	}
	return nil, nil
}

// failure is how the tasks of an allocation failed by themselves; nil if none
// did.
func (l *lab) failure(alloc *api.Allocation) error {
	var errs []error
	for name, state := range alloc.TaskStates {
		if !state.Failed {
			continue
		}
		text := ""
		for _, e := range state.Events {
			if e.Type == "Driver Failure" || e.Type == "Terminated" {
				text += " " + e.DisplayMessage
			}
		}
		errs = append(errs, fmt.Errorf("task %s failed:%s %s", name, text, l.lastWords(alloc, name)))
	}
	return errors.Join(errs...)
}

// lastWordsBytes of a task's error output are reported with its failure.
const lastWordsBytes = 1000

func (l *lab) lastWords(alloc *api.Allocation, task string) string {
	data, err := l.file(alloc, "alloc/logs", task+".stderr.0")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data[max(0, len(data)-lastWordsBytes):]))
}

// maxFile bounds a result.
const maxFile = 16 << 20

// file reads a file of a folder of the allocation.
func (l *lab) file(alloc *api.Allocation, dir, name string) ([]byte, error) {
	r, err := l.API().AllocFS().Cat(alloc, dir+"/"+name, nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, maxFile))
}

// jobID is a name no two runs share.
func jobID(app string, cores, size int) string {
	return "training-" + strings.ToLower(strings.ReplaceAll(app, ".", "-")) + "-" + strconv.Itoa(cores) + "-" + strconv.Itoa(size)
}
