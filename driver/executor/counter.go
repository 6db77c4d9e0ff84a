package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
	"github.com/nomad-placer/nomad-placer/profiler/probe"
)

// Instructions is how many events the task has caused since it was first asked for. A task
// that has started again begins at 0 again.
func (r *Reach) Instructions(_ context.Context, task string) (float64, error) {
	if c := r.counters[task]; c != nil {
		n, err := c.Read()
		if !errors.Is(err, cgroup.ErrGroupGone) {
			return n, err
		}
		delete(r.counters, task)
		if err := c.Close(); err != nil {
			return 0, err
		}
	}
	dir, err := r.ownGroup(TaskID{r.AllocID, task})
	if err != nil {
		return 0, final(err)
	}
	c, err := cgroup.Count(dir, r.Event)
	if err != nil {
		return 0, final(err)
	}
	if r.counters == nil {
		r.counters = map[string]*cgroup.Counter{}
	}
	r.counters[task] = c
	return c.Read()
}

// final marks what no later try will mend.
func final(err error) error {
	if errors.Is(err, cgroup.ErrNoCounters) || errors.Is(err, cgroup.ErrShared) {
		return fmt.Errorf("%w: %w", probe.ErrUnsupported, err)
	}
	return err
}

// ownGroup is the directory of the group by which the kernel counts events of the task. It
// holds all processes of the task and no other: whoever names a task gets its counts and
// nobody else's.
func (r *Reach) ownGroup(id TaskID) (string, error) {
	pids, err := r.Procs.Find(id)
	if err != nil {
		return "", err
	}
	dir, err := r.eventsDir(pids[0])
	if err != nil {
		return "", err
	}
	for _, pid := range pids[1:] {
		other, err := r.eventsDir(pid)
		if r.Procs.ended(pid) {
			continue
		}
		if err != nil || other != dir && !strings.HasPrefix(other, dir+"/") {
			return "", errors.Join(fmt.Errorf("task %q: %w: its processes are in several", id.Task, cgroup.ErrShared), err)
		}
	}
	members, err := cgroup.PidsBelow(dir)
	if err != nil {
		return "", err
	}
	for _, pid := range members {
		if !slices.Contains(pids, pid) && !r.Procs.matches(pid, id) && !r.Procs.ended(pid) {
			return "", fmt.Errorf("task %q: %w: other processes are in its group", id.Task, cgroup.ErrShared)
		}
	}
	return dir, nil
}

func (r *Reach) eventsDir(pid int) (string, error) {
	m, err := cgroup.MembershipOf(r.Procs.file(os.Getpid(), "mountinfo"), filepath.Dir(r.Procs.file(pid, "cgroup")))
	if err != nil {
		return "", err
	}
	return m.OwnEventsDir()
}

// ended reports whether there is no such process any more.
func (p Proc) ended(pid int) bool {
	s, err := p.stat(pid)
	return err != nil || s.state == 'Z'
}
