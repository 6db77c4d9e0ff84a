package load

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// IOCounter is a number the kernel keeps of a process: see proc(5), /proc/PID/io.
type IOCounter string

// The counters. Bytes are counted in megabytes.
const (
	IOCalls      IOCounter = "calls"       // read and write system calls
	IOReadBytes  IOCounter = "read-bytes"  // by read calls, from whatever source
	IOWriteBytes IOCounter = "write-bytes" // by write calls, to whatever sink
)

// ioFields are the lines of the file that make up a counter, and what one unit is.
var ioFields = map[IOCounter]struct {
	names []string
	unit  float64
}{
	IOCalls:      {[]string{"syscr", "syscw"}, 1},
	IOReadBytes:  {[]string{"rchar"}, megabyte},
	IOWriteBytes: {[]string{"wchar"}, megabyte},
}

// IOCounters lists the counters.
func IOCounters() []IOCounter { return []IOCounter{IOCalls, IOReadBytes, IOWriteBytes} }

// ioEvery is how often the kernel's counters are read: often enough for windows
// of a fifth of a second, at a cost of some ten microseconds each.
const ioEvery = 5 * time.Millisecond

// watchIO counts what the command and its children read and write, by the
// kernel's own books.
func watchIO(ctx context.Context, c LoopConfig, count *progress) error {
	setDefault(&c.IO, IOCalls)
	if !slices.Contains(IOCounters(), c.IO) {
		return fmt.Errorf("unknown counter %q; known: %v", c.IO, IOCounters())
	}
	runner, err := newCommandRunner(c)
	if err != nil {
		return err
	}
	defer runner.close()
	return restart(ctx, count, func(ctx context.Context) error {
		cmd := runner.command(ctx)
		if err := cmd.Start(); err != nil {
			return runner.ended(ctx, cmd, err)
		}
		stop := make(chan struct{})
		watching := make(chan error, 1)
		go func() { watching <- followIO(procDir, cmd.Process.Pid, c.IO, stop, count) }()
		err := cmd.Wait()
		close(stop)
		return errors.Join(<-watching, runner.ended(ctx, cmd, err))
	})
}

const procDir = "/proc"

// followIO adds what a process and its descendants do to the count, until stop
// is closed. The kernel adds what a child did to the books of who waits for its end, so that what
// was counted of the child comes once more, and is taken off.
func followIO(proc string, root int, counter IOCounter, stop <-chan struct{}, count *progress) error {
	every := time.NewTicker(ioEvery)
	defer every.Stop()
	last, twice := map[int]float64{}, 0.0
	family := []int{root}
	for round := 0; ; round++ {
		select {
		case <-stop:
			return nil
		case <-every.C:
		}
		if round%familyRounds == 0 {
			family = union(descendants(proc, root), last)
		}
		now, grown := time.Now(), 0.0
		for _, pid := range family {
			v, err := readIO(filepath.Join(proc, strconv.Itoa(pid), "io"), counter)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				twice += last[pid]
				delete(last, pid)
				continue
			case errors.Is(err, errEnded):
				continue // nobody has waited for it yet
			case err != nil:
				return err
			}
			grown += max(0, v-last[pid])
			last[pid] = v
		}
		if off := min(twice, grown); off > 0 {
			grown, twice = grown-off, twice-off
		}
		if grown > 0 {
			count.tick(now, grown)
		}
	}
}

// union are those that are listed, and those that were read before: whether they have ended is seen
// when they are read.
func union(listed []int, read map[int]float64) []int {
	for pid := range read {
		if !slices.Contains(listed, pid) {
			listed = append(listed, pid)
		}
	}
	return listed
}

// familyRounds is how many readings pass until new children are looked for.
const familyRounds = 20

// descendants lists a process and all below it.
func descendants(proc string, root int) []int {
	out := []int{root}
	for i := 0; i < len(out); i++ {
		tasks, err := filepath.Glob(filepath.Join(proc, strconv.Itoa(out[i]), "task", "*", "children"))
		if err != nil {
			continue // not possible: the pattern is good
		}
		for _, file := range tasks {
			text, err := os.ReadFile(file)
			if err != nil {
				continue // the thread has ended
			}
			for _, field := range strings.Fields(string(text)) {
				if pid, err := strconv.Atoi(field); err == nil {
					out = append(out, pid)
				}
			}
		}
	}
	return out
}

// errEnded: the process is there, but no longer has books.
var errEnded = errors.New("the process has ended")

func readIO(file string, counter IOCounter) (float64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return 0, err
		}
		return 0, fmt.Errorf("%w: %w", errEnded, err) // ESRCH, as a dying process gives
	}
	sum, seen := 0.0, 0
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if !slices.Contains(ioFields[counter].names, name) {
			continue
		}
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", file, err)
		}
		sum += v
		seen++
	}
	if seen != len(ioFields[counter].names) {
		return 0, fmt.Errorf("%s does not count %v", file, ioFields[counter].names)
	}
	return sum / ioFields[counter].unit, nil
}
