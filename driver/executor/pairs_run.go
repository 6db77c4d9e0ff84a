package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/pairs"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/probe"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// pairsRun is pairs mode: workloads of the allocation, two at a time.
type pairsRun struct {
	*profileRun // its progress, and its answers to commands
}

// runPairs measures the pairs of the request and leaves each as a line of the
// result file as soon as it is measured.
func (c *pairsRun) runPairs(ctx context.Context) error {
	request := *c.room.spec.Pairs
	// The tasks can write there, too: a link of theirs is not followed.
	out, err := os.OpenFile(filepath.Join(c.shared, pairs.ResultFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW, 0o644)
	if err != nil {
		return fmt.Errorf("%w: %w", errNothing, err)
	}
	measured := 0
	var left bytes.Buffer // as it was written, whatever the tasks make of the file
	err = c.measure(ctx, request, func(p profile.Pair) error {
		line, err := json.Marshal(p)
		if err == nil {
			left.Write(append(line, '\n'))
			_, err = out.Write(append(line, '\n'))
		}
		measured++
		return err
	})
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	err = errors.Join(err, out.Close())
	if measured > 0 {
		err = errors.Join(err, leaveReceipt(c.out, left.Bytes()))
	}
	if err == nil {
		return nil
	}
	c.say("%d of %d pairs measured: %v", measured, len(request.Pairs), err)
	if measured > 0 {
		return fmt.Errorf("%w: %w", errPartial, err)
	}
	return fmt.Errorf("%w: %w", errNothing, err)
}

func (c *pairsRun) measure(ctx context.Context, r pairs.Request, measured func(profile.Pair) error) error {
	if err := c.room.stepAside(r.CPUs[:1]); err != nil {
		return err
	}
	frozenGroups := &frozenGroups{record: filepath.Join(c.room.dir, PausedFile)}
	subjects := map[string]pairs.Subject{}
	for _, a := range r.Applications {
		target := c.room.target(a.Task)
		if err := await(ctx, target); err != nil {
			return err
		}
		reader, err := c.probe(ctx, profiler.Request{Task: a.Task, Target: a.Target, Probe: &a.Probe})
		if err != nil {
			return fmt.Errorf("%s: %w", a.Application, err)
		}
		subjects[a.Application] = &member{frozenGroups: frozenGroups, target: target, probe: reader}
	}
	machine := c.room.machine
	return pairs.Measure(ctx, r, subjects, pairs.Options{
		Clock: profiler.SystemClock{}, Measured: measured, Progress: c.progress,
		Machine: profile.Machine{
			Configuration: r.Configuration, CPUModel: machine.CPUModel, KernelRelease: machine.KernelRelease, Virtual: machine.Virtual,
		},
	})
}

// progress keeps the newest state, and leaves it for readers of the
// allocation's files.
func (c *pairsRun) progress(p profiler.Progress) {
	c.mu.Lock()
	c.last = p
	c.mu.Unlock()
	if err := writeJSON(filepath.Join(c.shared, pairs.ProgressFile), p); err != nil {
		c.say("progress: %v", err)
	}
}

// frozenGroups is what is frozen of the allocation at this moment. Its record lets
// the driver resume all of it should this process be killed.
type frozenGroups struct {
	record string

	mu     sync.Mutex
	frozen map[string]cgroup.Group // by path
}

// freeze stops groups; the record is written before, so that it never holds
// less than what is stopped.
func (c *frozenGroups) freeze(ctx context.Context, groups []cgroup.Group) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.frozen == nil {
		c.frozen = map[string]cgroup.Group{}
	}
	for _, g := range groups {
		c.frozen[g.Path()] = g
	}
	if err := c.write(); err != nil {
		return err
	}
	for _, g := range groups {
		if err := g.Freeze(ctx); err != nil {
			return err
		}
	}
	return nil
}

// thaw lets groups go on. One that is gone is fine.
func (c *frozenGroups) thaw(groups []cgroup.Group) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, g := range groups {
		if err := g.Thaw(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		delete(c.frozen, g.Path())
	}
	return c.write()
}

func (c *frozenGroups) write() error {
	if len(c.frozen) == 0 {
		if err := os.Remove(c.record); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("record of what is paused: %w", err)
		}
		return nil
	}
	if err := writeJSON(c.record, paused{Groups: slices.Sorted(maps.Keys(c.frozen))}); err != nil {
		return fmt.Errorf("record of what is paused: %w", err)
	}
	return nil
}

// member is one workload of those measured together.
type member struct {
	frozenGroups *frozenGroups
	target       *Target
	probe        probe.Probe
}

var _ pairs.Subject = (*member)(nil)

// ErrNoFreezer: a workload that cannot be stopped as a whole cannot be measured
// in pairs.
var ErrNoFreezer = errors.New("the task has no control group of its own to freeze")

// groups are the member's own control groups, found once.
func (m *member) groups() ([]cgroup.Group, error) {
	if len(m.target.groups) == 0 {
		if _, err := m.target.plan(); err != nil {
			return nil, err
		}
	}
	if len(m.target.groups) == 0 {
		return nil, ErrNoFreezer
	}
	return m.target.groups, nil
}

// Read returns a reading of its probe.
func (m *member) Read(ctx context.Context) (performance.Reading, error) { return m.probe.Read(ctx) }

// Pause stops it; it may be stopped already.
func (m *member) Pause(ctx context.Context) error {
	groups, err := m.groups()
	if err != nil {
		return err
	}
	return m.frozenGroups.freeze(ctx, groups)
}

// Resume lets it go on, also when ctx has ended: nothing may stay paused.
func (m *member) Resume(context.Context) error { return m.frozenGroups.thaw(m.target.groups) }

// Alive returns nil while it has a process.
func (m *member) Alive(context.Context) error { return m.target.Alive() }

// pinAttempts bounds the rounds of binding: only a workload that runs starts
// threads between being listed and being bound.
const pinAttempts = 3

// Pin binds every thread of it; what they start later inherits that.
func (m *member) Pin(_ context.Context, cpus []int) error {
	groups, err := m.groups()
	if err != nil {
		return err
	}
	var set unix.CPUSet
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	for range pinAttempts {
		for _, g := range groups {
			if err := m.bind(g, &set); err != nil {
				return fmt.Errorf("bind to CPUs %v: %w", cpus, err)
			}
		}
		now, err := m.target.CPUs()
		if err != nil {
			return err
		}
		if slices.Equal(now, cpus) {
			return nil
		}
	}
	return fmt.Errorf("bind to CPUs %v: it does not stay there", cpus)
}

func (m *member) bind(g cgroup.Group, set *unix.CPUSet) error {
	pids, err := g.Pids()
	if err != nil {
		return err
	}
	for _, pid := range pids {
		threads, err := os.ReadDir(m.target.Procs.file(pid, "task"))
		if errors.Is(err, fs.ErrNotExist) {
			continue // ended meanwhile
		}
		if err != nil {
			return err
		}
		for _, t := range threads {
			id, err := strconv.Atoi(t.Name())
			if err != nil {
				return err
			}
			if err := unix.SchedSetaffinity(id, set); err != nil && !errors.Is(err, unix.ESRCH) {
				return err
			}
		}
	}
	return nil
}

// PairsDuration bounds a run of that request.
func PairsDuration(r pairs.Request) time.Duration {
	const slack = 3 // windows of a workload that works in long steps take longer
	return slack*r.Duration() + profileGrace + pairsGrace
}

// pairsGrace is for the start of many workloads at once.
const pairsGrace = 5 * time.Minute
