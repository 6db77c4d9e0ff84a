package executor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler"
)

// mostThreads are read of one workload: what it costs to read them is up to its owner.
const mostThreads = 4096

// ErrManyThreads means that a workload has too many threads to be read one by one.
var ErrManyThreads = errors.New("it has too many threads to be read one by one")

// Threads is what the threads of processes have run so far, by their identifiers: the first
// number of a thread's schedstat, and the voluntary switches of its status. Those that end
// meanwhile are left out.
func (p Proc) Threads(pids []int) (map[int]profiler.ThreadTime, error) {
	out := map[int]profiler.ThreadTime{}
	for _, pid := range pids {
		entries, err := os.ReadDir(p.file(pid, "task"))
		if err != nil && !ended(err) {
			return nil, fmt.Errorf("threads of process %d: %w", pid, err)
		}
		if len(out)+len(entries) > mostThreads {
			return nil, fmt.Errorf("%w: more than %d", ErrManyThreads, mostThreads)
		}
		for _, e := range entries {
			tid, err := strconv.Atoi(e.Name())
			if err != nil {
				continue
			}
			t, err := threadTime(p.file(pid, filepath.Join("task", e.Name())))
			if ended(err) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("thread %d of process %d: %w", tid, pid, err)
			}
			out[tid] = t
		}
	}
	return out, nil
}

// ended reports whether a process or thread could not be read because it has ended.
func ended(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) }

func threadTime(dir string) (profiler.ThreadTime, error) {
	text, err := os.ReadFile(filepath.Join(dir, "schedstat"))
	if err != nil {
		return profiler.ThreadTime{}, err
	}
	first, _, _ := strings.Cut(string(text), " ")
	ran, err := strconv.ParseInt(first, 10, 64)
	if err != nil {
		return profiler.ThreadTime{}, fmt.Errorf("schedstat: %w", err)
	}
	if text, err = os.ReadFile(filepath.Join(dir, "status")); err != nil {
		return profiler.ThreadTime{}, err
	}
	_, value, _ := strings.Cut(string(text), "\nvoluntary_ctxt_switches:")
	value, _, _ = strings.Cut(value, "\n")
	waits, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
	if err != nil {
		return profiler.ThreadTime{}, fmt.Errorf("voluntary switches: %w", err)
	}
	return profiler.ThreadTime{Ran: time.Duration(ran), Waits: waits}, nil
}
