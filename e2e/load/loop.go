package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// LoopMode says what a loop counts as work.
type LoopMode string

// The modes.
const (
	LoopRepeat   LoopMode = "repeat"   // runs of the command
	LoopFeed     LoopMode = "feed"     // megabytes of a file the command has taken, or given
	LoopLines    LoopMode = "lines"    // lines the command has printed
	LoopIO       LoopMode = "io"       // what the kernel counts of the command's reads and writes
	LoopRequests LoopMode = "requests" // requests the command, a server, has answered
)

// LoopConfig describes a loop. Zero values are defaults, where one is named.
type LoopConfig struct {
	Mode    LoopMode
	Command []string
	// Listen is the address of the Prometheus endpoint (/metrics); empty is none.
	Listen string
	// Duration ends the loop; 0 lets it run until the context ends.
	Duration time.Duration

	Parallel int // repeat: how many runs at a time, default 1

	// Pause is how long whoever asks for work rests after each piece of it: after a
	// run, a chunk, or an answer. 0 asks for as much as the command can do. Of no use
	// where the command sets its own pace: lines and io.
	Pause time.Duration

	Feed     FeedConfig
	IO       IOCounter // io: default reads and writes
	Requests RequestsConfig

	// Errors gets what the command writes to its standard error; nil drops it.
	// The end of it is part of a failure's text in any case.
	Errors io.Writer
}

// FeedConfig describes the input of a command that is fed without end.
type FeedConfig struct {
	File string
	// HeadBytes are the first bytes of the file, which are fed only once to each
	// run of the command.
	HeadBytes int64
	// ChunkBytes is how much is written at once, and the size of the pipe.
	// Default 16 KiB.
	ChunkBytes int
	// Output counts the bytes the command prints instead of those it takes: for
	// commands that read far ahead of their work.
	Output bool
}

// LoopSummary is the outcome of a loop.
type LoopSummary struct {
	Units float64 // of work done
	Ticks uint64  // steps in which they were counted
	Took  time.Duration
	Runs  uint64 // of the command that have ended
}

// RatePerSecond is the work done in a second.
func (s LoopSummary) RatePerSecond() float64 { return s.Units / s.Took.Seconds() }

// String prints one line.
func (s LoopSummary) String() string {
	return fmt.Sprintf("%.6g units in %.1f s: %.6g/s, %d ticks, %d runs", s.Units, s.Took.Seconds(), s.RatePerSecond(), s.Ticks, s.Runs)
}

// loopWork is a mode: it does the work and counts it until the context ends,
// and says why where that comes too early.
type loopWork func(ctx context.Context, c LoopConfig, count *progress) error

var loopModes = map[LoopMode]loopWork{
	LoopRepeat:   repeat,
	LoopFeed:     feed,
	LoopLines:    lines,
	LoopIO:       watchIO,
	LoopRequests: request,
}

// ErrCommand: the command failed, or cannot be run.
var ErrCommand = errors.New("the command failed")

// Loop runs a command as an endless workload until its duration is over or the
// context ends; both are no errors. A command that ends with success is started
// anew; one that fails ends the loop with ErrCommand and its last words.
func Loop(ctx context.Context, c LoopConfig) (LoopSummary, error) {
	work, ok := loopModes[c.Mode]
	switch {
	case !ok:
		return LoopSummary{}, fmt.Errorf("loop: unknown mode %q", c.Mode)
	case len(c.Command) == 0:
		return LoopSummary{}, errors.New("loop: no command")
	case c.Pause < 0 || c.Pause > 0 && (c.Mode == LoopLines || c.Mode == LoopIO):
		return LoopSummary{}, fmt.Errorf("loop: a pause of %s, counting %s: give a pause of at least 0, of runs, chunks or requests", c.Pause, c.Mode)
	case c.Parallel < 0:
		return LoopSummary{}, fmt.Errorf("loop: %d runs at a time", c.Parallel)
	}
	setDefault(&c.Parallel, 1)
	count := newProgress()
	closeMetrics, err := serveAt(c.Listen, count)
	if err != nil {
		return LoopSummary{}, fmt.Errorf("loop: metrics: %w", err)
	}
	defer closeMetrics()
	working, cancel := ctx, func() {}
	if c.Duration > 0 {
		working, cancel = context.WithTimeout(ctx, c.Duration)
	}
	defer cancel()
	start := time.Now()
	err = work(working, c, count)
	took := time.Since(start)
	if working.Err() != nil {
		err = nil // the end that was asked for
	}
	if err != nil {
		return LoopSummary{}, fmt.Errorf("loop: %w", err)
	}
	return count.summary(took), nil
}
