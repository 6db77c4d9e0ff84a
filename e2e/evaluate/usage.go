package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"
)

// meter reads what the tasks of one allocation use. Nomad's own numbers of CPU come
// from samples of the processes that live when it looks, which misses the short
// ones, so CPU time is added up from the kernel's: every process of the task and the
// children it has waited for.
type meter struct {
	e       *evaluation
	alloc   *api.Allocation
	groups  map[string]string // by task
	coreMHz float64
	began   time.Time
	before  map[string]time.Duration
	memory  map[string]float64 // MB, the most seen
}

// startMeter begins to measure the job's one allocation.
func (e *evaluation) startMeter(ctx context.Context, job string) (*meter, error) {
	stubs, _, err := e.rig.API().Jobs().Allocations(job, false, nil)
	if err != nil || len(stubs) != 1 {
		return nil, fmt.Errorf("%s has %d allocations, want one: %w", job, len(stubs), err)
	}
	m := &meter{
		e: e, alloc: &api.Allocation{ID: stubs[0].ID, NodeID: stubs[0].NodeID}, groups: map[string]string{},
		before: map[string]time.Duration{}, memory: map[string]float64{}, began: time.Now(),
	}
	snapshot, err := e.rig.World.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range snapshot.Nodes {
		if string(n.ID) == stubs[0].NodeID {
			m.coreMHz = float64(n.CoreMHz)
		}
	}
	if !(m.coreMHz > 0) {
		return nil, fmt.Errorf("node %s says nothing of its clock", stubs[0].NodeName)
	}
	client, ok := e.rig.ClientNamed(stubs[0].NodeName)
	if !ok {
		return nil, fmt.Errorf("node %s is not of this cluster", stubs[0].NodeName)
	}
	if err := m.findGroups(e.rig.TaskGroup(client, "cpu")); err != nil {
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
func (m *meter) findGroups(root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if task, ok := strings.CutPrefix(d.Name(), m.alloc.ID+"."); ok {
			m.groups[strings.TrimSuffix(task, ".scope")] = path
			return fs.SkipDir
		}
		return nil
	})
}

// look reads the memory in use.
func (m *meter) look() {
	stats, err := m.e.rig.API().Allocations().Stats(m.alloc, nil)
	if err != nil {
		return // the next look tells
	}
	for task, t := range stats.Tasks {
		if t.ResourceUsage != nil && t.ResourceUsage.MemoryStats != nil {
			s := t.ResourceUsage.MemoryStats
			m.memory[task] = max(m.memory[task], float64(max(s.RSS, s.Usage))/bytesPerMB)
		}
	}
}

// stop returns what each task used since the start.
func (m *meter) stop() (map[string]taskUse, error) {
	seconds := time.Since(m.began).Seconds()
	out := map[string]taskUse{}
	for task, group := range m.groups {
		after, err := groupCPU("/proc", group)
		if err != nil {
			return nil, err
		}
		if _, ok := m.memory[task]; !ok {
			return nil, fmt.Errorf("task %s: Nomad told nothing of its memory", task)
		}
		out[task] = taskUse{CPUMHz: (after - m.before[task]).Seconds() / seconds * m.coreMHz, MemoryMB: m.memory[task]}
	}
	return out, nil
}

// tick of the kernel's process times.
const tick = 10 * time.Millisecond

// groupCPU is the CPU time of the processes of a control group and of the children
// they have waited for.
func groupCPU(proc, group string) (time.Duration, error) {
	list, err := os.ReadFile(filepath.Join(group, "cgroup.procs"))
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	for pid := range strings.FieldsSeq(string(list)) {
		text, err := os.ReadFile(filepath.Join(proc, pid, "stat"))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it ended meanwhile: its parent has its time
		}
		if err != nil {
			return 0, err
		}
		one, err := processCPU(string(text))
		if err != nil {
			return 0, err
		}
		sum += one
	}
	return sum, nil
}

// processCPU adds utime, stime, cutime and cstime, fields 14 to 17 of proc(5)'s stat.
func processCPU(stat string) (time.Duration, error) {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 15 {
		return 0, fmt.Errorf("unreadable process status %q", stat)
	}
	var ticks int64
	for _, f := range fields[11:15] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("unreadable process status %q: %w", stat, err)
		}
		ticks += n
	}
	return time.Duration(ticks) * tick, nil
}
