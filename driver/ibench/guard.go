package ibench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// guardInterval is how often a kernel looks whether it must give way.
const guardInterval = 500 * time.Millisecond

// pressureMaxPercent is the share of time in which every task of the machine
// waited for memory, over the last 10 s, beyond which a kernel ends (our §6).
const pressureMaxPercent = 20

// shortChecksMax is how many looks in a row may find less than the reserve: a
// moment's dip is no shortage, and mem_cap gives memory back meanwhile.
const shortChecksMax = 3

// The reasons a kernel gives way for.
var (
	errMemory = errors.New("the machine is short of memory")
	errCPUs   = errors.New("the kernel's CPUs were taken away")
)

// guard ends a kernel where it would damage other work, or cannot exert its pressure
// any more.
type guard struct {
	root     string
	healthy  func() error // of the load; may be nil
	threads  []pinnedThread
	affinity affinity
	short    int // looks in a row that found less than the reserve
}

// newGuard guards a kernel whose process runs on cpus, with its workers on
// some of them each.
func newGuard(root string, cpus []int, threads []pinnedThread, healthy func() error) *guard {
	return &guard{root: root, healthy: healthy, threads: threads, affinity: affinity{
		get: allowedCPUs, set: pinThread, setAll: func() error { return pinProcess(cpus) },
	}}
}

// watch looks until ctx ends, or until the kernel must: then it calls stop
// with the reason.
func (g *guard) watch(ctx context.Context, stop context.CancelCauseFunc) {
	tick := time.NewTicker(guardInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := g.check(); err != nil {
			stop(err)
			return
		}
	}
}

// ready returns an error where a kernel may not even start.
func (g *guard) ready() error {
	if err := memoryPressure(g.root); err != nil {
		return err
	}
	return memoryShort(g.root)
}

// check looks once.
func (g *guard) check() error {
	if err := memoryPressure(g.root); err != nil {
		return err
	}
	err := memoryShort(g.root)
	if err == nil {
		g.short = 0
	} else if g.short++; g.short >= shortChecksMax {
		return err
	}
	if g.healthy != nil {
		if err := g.healthy(); err != nil {
			return err
		}
	}
	return g.affinity.keep(g.threads)
}

// memoryPressure returns errMemory where tasks wait for memory too much. A
// kernel without pressure accounting does not tell.
func memoryPressure(root string) error {
	text, err := readText(filepath.Join(root, "proc/pressure/memory"))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.EOPNOTSUPP) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("memory pressure: %w", err)
	}
	for line := range strings.Lines(text) {
		// full avg10=0.00 avg60=0.00 avg300=0.00 total=0
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != "full" {
			continue
		}
		percent, err := strconv.ParseFloat(strings.TrimPrefix(fields[1], "avg10="), 64)
		if err != nil {
			return fmt.Errorf("memory pressure: %w", err)
		}
		if percent > pressureMaxPercent {
			return fmt.Errorf("%w: all tasks waited for it %.0f %% of the last 10 s, more than %d %%", errMemory, percent, pressureMaxPercent)
		}
	}
	return nil
}

// memoryShort returns errMemory where less than the reserve is available.
func memoryShort(root string) error {
	available, total, err := readAvailable(filepath.Join(root, "proc/meminfo"))
	if err != nil {
		return err
	}
	if reserve := memoryReserve(total); available < reserve {
		return fmt.Errorf("%w: %d MiB are available, the reserve is %d MiB", errMemory, available>>20, reserve>>20)
	}
	return nil
}

// pinnedThread is a thread with the CPUs it is to run on.
type pinnedThread struct {
	tid  int
	cpus []int
}

// affinity reads and sets the CPUs of threads.
type affinity struct {
	get    func(tid int) ([]int, error)
	set    func(tid int, cpus []int) error
	setAll func() error // puts every thread of the process onto its CPUs
}

// keep puts the threads back onto their CPUs. A change of the process's
// cpuset, or a CPU that goes offline, moves all threads elsewhere: where they
// may not go back they would put pressure on the wrong ones.
func (a affinity) keep(threads []pinnedThread) error {
	for _, t := range threads {
		in, err := a.inPlace(t)
		if err != nil {
			return err
		}
		if !in {
			return a.restore(threads)
		}
	}
	return nil
}

// inPlace reports whether a thread is on its CPUs. One that has ended is.
func (a affinity) inPlace(t pinnedThread) (bool, error) {
	now, err := a.get(t.tid)
	if len(t.cpus) == 0 || errors.Is(err, unix.ESRCH) {
		return true, nil
	}
	return slices.Equal(now, t.cpus), err
}

func (a affinity) restore(threads []pinnedThread) error {
	err := a.setAll()
	for _, t := range threads {
		if err == nil {
			err = a.set(t.tid, t.cpus)
		}
		in := false
		if err == nil {
			in, err = a.inPlace(t)
		}
		if err != nil || !in {
			now, _ := a.get(t.tid)
			gone := fmt.Errorf("%w: asked for %s, may run on %s", errCPUs, FormatCPUList(t.cpus), FormatCPUList(now))
			return errors.Join(gone, err)
		}
	}
	return nil
}

// checkOnline returns an error where a CPU is not online: pinning to a set
// succeeds as long as any CPU of it is.
func checkOnline(root string, cpus []int) error {
	text, err := readText(filepath.Join(root, "sys/devices/system/cpu/online"))
	if err != nil {
		return fmt.Errorf("online CPUs: %w", err)
	}
	online, err := ParseCPUList(text)
	if err != nil {
		return fmt.Errorf("online CPUs: %w", err)
	}
	for _, cpu := range cpus {
		if !slices.Contains(online, cpu) {
			return fmt.Errorf("run on CPUs %s: CPU %d is not online; online are %s", FormatCPUList(cpus), cpu, FormatCPUList(online))
		}
	}
	return nil
}
