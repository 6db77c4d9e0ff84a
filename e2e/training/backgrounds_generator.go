package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/training/backgrounds"
)

// generatorWorker is the command of this program that is a background workload, in a folder.
const generatorWorker = "generator-worker"

// What the generator does. The paper has iterations of arithmetic, of reads and of writes with
// pauses between them, in five intensities, of a file much larger than memory; how long an
// iteration is, and how large a request, it does not say. Iterations of a fixed time and pauses
// in proportion give, whatever the neighbour does, a part of the time: a sequential reader that
// takes 10.23 times as long next to one of 100 % takes 1.82 times as long next to one of 50 %, and
// table 1 has 1.78 next to an application that is medium.
const (
	generatorBusy      = 50 * time.Millisecond // of an iteration
	generatorRequest   = readAheadBytes        // as one that reads through the page cache makes
	generatorFileBytes = 512 << 20             // read and written past the page cache
)

// generatorFiles are read by one thread and written by another.
var generatorFiles = [2]string{"read", "write"}

// idleFor is the pause after an iteration of an intensity.
func idleFor(busy time.Duration, percent int) time.Duration {
	return busy * time.Duration(100-percent) / time.Duration(percent)
}

// generateBackground reads intensities from its input, a line of three each, and presses.
func generateBackground(ctx context.Context, folder string, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var levels [3]atomic.Int32
	ended := make(chan error, len(levels))
	go func() { ended <- calculate(ctx, &levels[0]) }()
	for i, name := range generatorFiles {
		go func() { ended <- transfer(ctx, filepath.Join(folder, name), i == 1, &levels[1+i]) }()
	}
	lines := make(chan [3]int32)
	go func() { ended <- readLevels(ctx, in, lines) }()
	for {
		select {
		case err := <-ended:
			return err
		case l := <-lines:
			for i := range levels {
				levels[i].Store(l[i])
			}
			if _, err := fmt.Fprintln(out, "set"); err != nil {
				return err
			}
		}
	}
}

func readLevels(ctx context.Context, in io.Reader, to chan<- [3]int32) error {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var l [3]int32
		if _, err := fmt.Sscan(lines.Text(), &l[0], &l[1], &l[2]); err != nil {
			return fmt.Errorf("three percentages are needed, not %q: %w", lines.Text(), err)
		}
		select {
		case to <- l:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// generatorLook is how often one that is told to do nothing looks whether that is still so.
const generatorLook = 5 * time.Millisecond

// iterate calls one iteration after another, each of at least a part of the time of work.
func iterate(ctx context.Context, level *atomic.Int32, iteration func(busy time.Duration) error) error {
	for {
		pause, percent := generatorLook, int(level.Load())
		if percent > 0 {
			if err := iteration(generatorBusy); err != nil {
				return err
			}
			pause = idleFor(generatorBusy, percent)
		}
		if pause > 0 {
			if err := cluster.Sleep(ctx, pause); err != nil {
				return err
			}
		}
	}
}

// calculate does arithmetic. An iteration is as much CPU time as it has, so that the pause after
// it is the same whoever shares the CPU.
func calculate(ctx context.Context, level *atomic.Int32) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	x := 1.0
	return iterate(ctx, level, func(busy time.Duration) error {
		begun, err := threadTime()
		for used := time.Duration(0); err == nil && used < busy; {
			for range 10_000 {
				x = x*1.0000001 + 1e-9
			}
			var now time.Duration
			now, err = threadTime()
			used = now - begun
		}
		if x < 0 {
			return errors.New("arithmetic went wrong") // never: x is used, so that it is computed
		}
		return err
	})
}

func threadTime() (time.Duration, error) {
	var t unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	return time.Duration(t.Nano()), err
}

// transfer reads or writes a file in sequence, over and over.
func transfer(ctx context.Context, path string, writes bool, level *atomic.Int32) error {
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_DIRECT, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	buffer, err := unix.Mmap(-1, 0, generatorRequest, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE) // aligned
	if err != nil {
		return err
	}
	offset := int64(0)
	return iterate(ctx, level, func(busy time.Duration) error {
		for begun := time.Now(); time.Since(begun) < busy && ctx.Err() == nil; {
			var err error
			if writes {
				_, err = f.WriteAt(buffer, offset)
			} else {
				_, err = f.ReadAt(buffer, offset)
			}
			if err != nil {
				return err
			}
			offset = (offset + generatorRequest) % generatorFileBytes
		}
		return nil
	})
}

// generator is such a process, in a slot.
type generator struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Reader
}

// startGenerator starts what wraps the generator's command.
func startGenerator(cmd *exec.Cmd) (*generator, error) {
	g := &generator{cmd: cmd}
	var err error
	if g.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	g.lines, cmd.Stderr = bufio.NewReader(out), os.Stderr
	return g, cmd.Start()
}

// set makes it press from now on.
func (g *generator) set(l backgrounds.Level) error {
	if _, err := fmt.Fprintln(g.in, l.CPU, l.Read, l.Write); err != nil {
		return fmt.Errorf("the background's process: %w", err)
	}
	if _, err := g.lines.ReadString('\n'); err != nil {
		return fmt.Errorf("the background's process ended: %w", err)
	}
	return nil
}

func (g *generator) end() error {
	err := g.in.Close()
	return errors.Join(err, g.cmd.Wait())
}
