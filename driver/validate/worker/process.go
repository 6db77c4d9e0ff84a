package worker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/child"
)

// Spec says which worker to start, and how. Its JSON is the order that the
// worker's process gets.
type Spec struct {
	Executable string   `json:"-"` // a program that calls Main; empty is this one
	Arguments  []string `json:"-"` // its arguments before the worker's own

	Kind   string        `json:"kind"`
	CPUs   []int         `json:"cpus"`   // each thread gets one of them
	Bytes  int64         `json:"bytes"`  // working set
	Stride int           `json:"stride"` // bytes between two places of a walk
	Idle   time.Duration `json:"idle"`   // of a probe, between prime and probe
	// EvictSelf makes a probe displace everything by itself, for scale.
	EvictSelf bool   `json:"evict_self"`
	Turns     bool   `json:"turns"` // a probe shares its CPU with the kernel
	Dir       string `json:"dir"`   // directory on a disk
	Seed      uint64 `json:"seed"`
	// Join is called with the worker's pid before it allocates, to put it into
	// a cgroup.
	Join func(pid int) error `json:"-"`
}

// Process is a running worker, seen from outside.
type Process struct {
	kind  string
	page  *page
	child *child.Process // ends when it is left
}

// Reading is a worker's counters at one moment.
type Reading struct {
	At          time.Time
	Ops         float64
	Nanoseconds float64 // that probes took
}

// Start starts a worker; it waits for Run. ctx bounds the start.
func Start(ctx context.Context, spec Spec) (*Process, error) {
	if _, err := kindOf(spec.Kind); err != nil {
		return nil, err
	}
	file, page, err := newPage()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	cmd, err := child.Command(spec.Executable, spec.Arguments, spec)
	if err != nil {
		return nil, errors.Join(err, page.close())
	}
	cmd.ExtraFiles = []*os.File{file}
	c, err := child.Start(ctx, cmd, spec.Join)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start worker %s: %w", spec.Kind, err), page.close())
	}
	return &Process{kind: spec.Kind, page: page, child: c}, nil
}

// Run lets the worker work.
func (p *Process) Run() { p.page.command(commandRun) }

// Pause makes the worker sleep after the step it is in.
func (p *Process) Pause() { p.page.command(commandPause) }

// Read returns the counters; an error says that the worker has ended.
func (p *Process) Read() (Reading, error) {
	select {
	case <-p.child.Ended:
		return Reading{}, fmt.Errorf("worker %s ended by itself: %s", p.kind, p.child.State())
	default:
	}
	t := p.page.total()
	return Reading{At: time.Now(), Ops: float64(t.ops), Nanoseconds: float64(t.nanoseconds)}, nil
}

// Close ends the worker.
func (p *Process) Close() error {
	err := p.child.Leave()
	p.Run() // a paused one would notice late
	select {
	case <-p.child.Ended:
	case <-time.After(closeGrace):
		// Its page stays mapped: it may still write.
		return errors.Join(err, fmt.Errorf("worker %s does not end", p.kind))
	}
	return errors.Join(err, p.page.close())
}

// closeGrace is how long a worker may take to end: a disk may be slow.
const closeGrace = 10 * time.Second
