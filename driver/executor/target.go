package executor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
	"github.com/nomad-placer/nomad-placer/profiler"
)

// Target is the workload a kernel puts pressure on: one or more tasks of an
// allocation, found on this node.
type Target struct {
	Procs Proc
	Tree  cgroup.Tree
	Tasks []TaskID
	// Record is the file that says what is paused while something is, so that
	// the driver can resume it should this process be killed.
	Record string

	groups []cgroup.Group // frozen together; found by the first Pause
	mains  []process      // the oldest process of each task, as last found
}

// Alive returns nil while every task has a process. The processes found last
// are looked at first: a look at every process of the machine takes CPU time
// from what is measured.
func (t *Target) Alive() error {
	if len(t.mains) == len(t.Tasks) && !slices.ContainsFunc(t.mains, t.gone) {
		return nil
	}
	t.mains = nil
	for _, id := range t.Tasks {
		pids, err := t.Procs.Find(id)
		if err != nil {
			return err
		}
		start, err := t.Procs.StartTicks(pids[0])
		if err != nil {
			continue // ended since: looked for anew next time
		}
		t.mains = append(t.mains, process{pids[0], start})
	}
	return nil
}

func (t *Target) gone(p process) bool {
	start, err := t.Procs.StartTicks(p.PID)
	return err != nil || start != p.StartTicks
}

// Pids lists the processes of all tasks; a task without one is an error.
func (t *Target) Pids() ([]int, error) {
	var out []int
	for _, id := range t.Tasks {
		pids, err := t.Procs.Find(id)
		if err != nil {
			return nil, err
		}
		out = append(out, pids...)
	}
	return out, nil
}

// CPUTime is what all processes of the target have used.
func (t *Target) CPUTime() (time.Duration, error) {
	pids, err := t.Pids()
	if err != nil {
		return 0, err
	}
	return t.Procs.CPUTime(pids)
}

// Threads is what all threads of the target have run.
func (t *Target) Threads() (map[int]profiler.ThreadTime, error) {
	pids, err := t.Pids()
	if err != nil {
		return nil, err
	}
	return t.Procs.Threads(pids)
}

// meters are those of all tasks; empty, and not nil, where one has none.
func (t *Target) meters() []*cgroup.Meter {
	out := []*cgroup.Meter{}
	for _, id := range t.Tasks {
		m, err := t.Tree.TaskMeter(id.AllocID, id.Task)
		if err != nil {
			return []*cgroup.Meter{}
		}
		out = append(out, m)
	}
	return out
}

// CPUs are the CPUs any process of the target may run on.
func (t *Target) CPUs() (cgroup.CPUs, error) {
	pids, err := t.Pids()
	if err != nil {
		return nil, err
	}
	var all cgroup.CPUs
	for _, pid := range pids {
		cpus, err := t.Procs.CPUs(pid)
		if errors.Is(err, fs.ErrNotExist) {
			continue // ended meanwhile
		}
		if err != nil {
			return nil, err
		}
		all = append(all, cpus...)
	}
	if len(all) == 0 {
		return nil, ErrNoProcess
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// paused is the content of the record.
type paused struct {
	Groups    []string  `json:"groups,omitempty"` // control groups frozen
	Processes []process `json:"processes,omitempty"`
}

// process identifies a process across pid reuse.
type process struct {
	PID        int    `json:"pid"`
	StartTicks uint64 `json:"start_ticks"`
}

// Pause stops all processes of the target: by the freezer where the target has
// control groups of its own, else by SIGSTOP. On error nothing stays stopped.
func (t *Target) Pause(ctx context.Context) error {
	stopped, err := t.plan()
	if err != nil {
		return err
	}
	if err := writeJSON(t.Record, stopped); err != nil {
		return fmt.Errorf("pause: %w", err)
	}
	for _, g := range t.groups {
		if err := g.Freeze(ctx); err != nil {
			return errors.Join(err, t.Resume())
		}
	}
	for _, p := range stopped.Processes {
		if err := sendSignal(p.PID, unix.SIGSTOP); err != nil {
			return errors.Join(err, t.Resume())
		}
	}
	return nil
}

// plan finds out what to stop. Groups are kept: freezing them needs no further
// look at the processes. Single processes are looked up each time.
func (t *Target) plan() (paused, error) {
	if len(t.groups) > 0 {
		return paused{Groups: paths(t.groups)}, nil
	}
	pids, err := t.Pids()
	if err != nil {
		return paused{}, err
	}
	groups, rest := t.ownGroups(pids)
	if len(rest) == 0 {
		t.groups = groups
		return paused{Groups: paths(groups)}, nil
	}
	var out paused
	for _, pid := range pids {
		start, err := t.Procs.StartTicks(pid)
		if err == nil {
			out.Processes = append(out.Processes, process{pid, start})
		}
	}
	return out, nil
}

// ownGroups returns the control groups that hold nothing but processes of the
// target, and the processes that are in none.
func (t *Target) ownGroups(pids []int) (groups []cgroup.Group, rest []int) {
	decided := map[string]bool{}
	for _, pid := range pids {
		g, err := t.Tree.FreezableOf(t.Procs.file(pid, ""))
		if err != nil {
			rest = append(rest, pid)
			continue
		}
		own, seen := decided[g.Path()]
		if !seen {
			own = t.owns(g, pids)
			decided[g.Path()] = own
			if own {
				groups = append(groups, g)
			}
		}
		if !own {
			rest = append(rest, pid)
		}
	}
	return groups, rest
}

func (t *Target) owns(g cgroup.Group, pids []int) bool {
	members, err := g.Pids()
	if err != nil || len(members) == 0 {
		return false
	}
	return !slices.ContainsFunc(members, func(pid int) bool { return !slices.Contains(pids, pid) })
}

// Resume lets the target go on. It is idempotent, and fails only if something
// may still be paused.
func (t *Target) Resume() error { return Release(t.Tree, t.Procs, t.Record) }

// Release resumes whatever a record says is paused and removes the record. The
// driver calls it when a child has ended, however that came about.
func Release(tree cgroup.Tree, procs Proc, record string) error {
	data, err := os.ReadFile(record)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	var p paused
	if err := json.Unmarshal(data, &p); err != nil {
		return fmt.Errorf("resume: %s: %w", record, err)
	}
	var errs []error
	for _, path := range p.Groups {
		if err := tree.Open(path).Thaw(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	for _, q := range p.Processes {
		if start, err := procs.StartTicks(q.PID); err == nil && start == q.StartTicks {
			errs = append(errs, sendSignal(q.PID, unix.SIGCONT))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	if err := os.Remove(record); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("resume: %w", err)
	}
	return nil
}

// sendSignal sends a signal; a process that is gone is fine.
func sendSignal(pid int, s unix.Signal) error {
	if err := unix.Kill(pid, s); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("signal process %d: %w", pid, err)
	}
	return nil
}

func paths(groups []cgroup.Group) []string {
	var out []string
	for _, g := range groups {
		out = append(out, g.Path())
	}
	return out
}
