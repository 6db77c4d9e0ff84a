package rig

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/executor"
)

// TaskUse is the mean CPU and the most memory of a task.
type TaskUse struct {
	CPUMHz   float64 `json:"cpu_mhz"`
	MemoryMB float64 `json:"memory_mb"`
}

// Meter reads what the tasks of one allocation use. Nomad's own numbers of CPU come
// from samples of the processes that live when it looks, which misses the short
// ones, so CPU time is added up from the kernel's: every process of the task and the
// children it has waited for.
type Meter struct {
	// CoreMHz is the clock that the node tells of one core.
	CoreMHz float64

	groups, memoryGroups map[string]string // by task
	began                time.Time
	before               map[string]time.Duration
	memory               map[string]float64 // MB, the most seen
}

// StartMeter begins to measure the job's one allocation.
func (r *Rig) StartMeter(ctx context.Context, job string) (*Meter, error) {
	stubs, _, err := r.API().Jobs().Allocations(job, false, nil)
	if err != nil || len(stubs) != 1 {
		return nil, fmt.Errorf("%s has %d allocations, want one: %w", job, len(stubs), err)
	}
	m := &Meter{
		before: map[string]time.Duration{}, memory: map[string]float64{}, began: time.Now(),
	}
	snapshot, err := r.World.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range snapshot.Nodes {
		if string(n.ID) == stubs[0].NodeID {
			m.CoreMHz = float64(n.CoreMHz)
		}
	}
	if !(m.CoreMHz > 0) {
		return nil, fmt.Errorf("node %s says nothing of its clock", stubs[0].NodeName)
	}
	client, ok := r.ClientNamed(stubs[0].NodeName)
	if !ok {
		return nil, fmt.Errorf("node %s is not of this cluster", stubs[0].NodeName)
	}
	if m.groups, err = findGroups(r.TaskGroup(client, "cpu"), stubs[0].ID); err != nil {
		return nil, err
	}
	if m.memoryGroups, err = findGroups(r.TaskGroup(client, "memory"), stubs[0].ID); err != nil {
		return nil, err
	}
	for task, group := range m.groups {
		if m.before[task], err = groupCPU("/proc", group); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// findGroups finds the control groups ALLOCATION.TASK of the tasks.
func findGroups(root, allocation string) (map[string]string, error) {
	groups := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if task, ok := strings.CutPrefix(d.Name(), allocation+"."); ok {
			groups[strings.TrimSuffix(task, ".scope")] = path
			return fs.SkipDir
		}
		return nil
	})
	return groups, err
}

// Look reads the memory in use, as the kernel counts it: Nomad's own numbers are of
// its last sample, and may be from before the task had any.
func (m *Meter) Look() {
	for task, group := range m.memoryGroups {
		text, err := os.ReadFile(filepath.Join(group, "memory.stat"))
		if err != nil {
			continue // the next look tells
		}
		if bytes, ok := resident(string(text)); ok {
			m.memory[task] = max(m.memory[task], bytes/(1<<20))
		}
	}
}

// resident is what a control group holds that the kernel cannot take back: total_rss
// of version 1, anon of version 2.
func resident(stat string) (bytes float64, ok bool) {
	for line := range strings.Lines(stat) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name != "total_rss" && name != "anon" {
			continue
		}
		v, err := strconv.ParseFloat(value, 64)
		return v, err == nil
	}
	return 0, false
}

// Stop returns what each task used since the start.
func (m *Meter) Stop() (map[string]TaskUse, error) {
	cpu, err := m.CPU()
	if err != nil {
		return nil, err
	}
	out := map[string]TaskUse{}
	for task, mhz := range cpu {
		memory, ok := m.memory[task]
		if !ok {
			return nil, fmt.Errorf("task %s: the operating system reports nothing of its memory", task)
		}
		out[task] = TaskUse{CPUMHz: mhz, MemoryMB: memory}
	}
	return out, nil
}

// CPU returns the MHz that each task used since the start.
func (m *Meter) CPU() (map[string]float64, error) {
	seconds := time.Since(m.began).Seconds()
	out := map[string]float64{}
	for task, group := range m.groups {
		after, err := groupCPU("/proc", group)
		if err != nil {
			return nil, err
		}
		out[task] = (after - m.before[task]).Seconds() / seconds * m.CoreMHz
	}
	return out, nil
}

// groupCPU is the CPU time of the processes of a control group and of the children
// they have waited for.
func groupCPU(proc, group string) (time.Duration, error) {
	list, err := os.ReadFile(filepath.Join(group, "cgroup.procs"))
	if err != nil {
		return 0, err
	}
	var pids []int
	for text := range strings.FieldsSeq(string(list)) {
		pid, err := strconv.Atoi(text)
		if err != nil {
			return 0, fmt.Errorf("control group %s: %w", group, err)
		}
		pids = append(pids, pid)
	}
	return executor.Proc{Root: proc}.CPUTime(pids)
}
