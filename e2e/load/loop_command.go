package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	// lastWordsBytes is how much of a failed command's error output is reported.
	lastWordsBytes = 4 << 10
	// lastWordsWait bounds the wait for it once the command has ended: a process
	// it has left behind may hold its standard error open.
	lastWordsWait = 200 * time.Millisecond
	// waitDelay bounds the wait for a command that was killed.
	waitDelay = 2 * time.Second
)

// commandRunner runs commands one after another or at once. They share one pipe for
// their standard errors, so that a run costs no goroutine.
type commandRunner struct {
	argv   []string
	errors *os.File
	words  *lastWords
	done   chan struct{} // the end of errors was read
}

func newCommandRunner(c LoopConfig) (*commandRunner, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	r := &commandRunner{argv: c.Command, errors: write, words: &lastWords{also: c.Errors}, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		defer read.Close()
		_, _ = io.Copy(r.words, read) // ends with the last writer
	}()
	return r, nil
}

// close lets the reader of the error output end.
func (r *commandRunner) close() { _ = r.errors.Close() }

// command prepares a run in a process group of its own, which ends with the
// context.
func (r *commandRunner) command(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, r.argv[0], r.argv[1:]...)
	cmd.Stderr = r.errors
	cmd.WaitDelay = waitDelay
	ownGroup(cmd)
	return cmd
}

// ended judges how a run ended.
func (r *commandRunner) ended(ctx context.Context, cmd *exec.Cmd, err error) error {
	// What the command has left behind in its group goes with it.
	endGroup(cmd)
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	_ = r.errors.Close()
	select {
	case <-r.done:
	case <-time.After(lastWordsWait):
	}
	text := fmt.Errorf("%w: %s: %w", ErrCommand, r.argv[0], err)
	if words := r.words.String(); words != "" {
		text = fmt.Errorf("%w: %s", text, words)
	}
	return text
}

// lastWords keeps the end of what is written to it.
type lastWords struct {
	also io.Writer

	mu   sync.Mutex
	text []byte
}

func (w *lastWords) Write(data []byte) (int, error) {
	if w.also != nil {
		_, _ = w.also.Write(data) // a reader that is gone does not end the loop
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, data...)
	if more := len(w.text) - lastWordsBytes; more > 0 {
		w.text = append(w.text[:0], w.text[more:]...)
	}
	return len(data), nil
}

func (w *lastWords) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.TrimSpace(string(w.text))
}

// repeat runs the command again and again; a unit is one run.
func repeat(ctx context.Context, c LoopConfig, count *progress) error {
	runner, err := newCommandRunner(c)
	if err != nil {
		return err
	}
	defer runner.close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	failures := make(chan error, c.Parallel)
	for range c.Parallel {
		go func() { failures <- repeatOne(ctx, c.Pause, runner, count) }()
	}
	var first error
	for range c.Parallel {
		if err := <-failures; first == nil {
			first = err
		}
		cancel()
	}
	return first
}

func repeatOne(ctx context.Context, pause time.Duration, runner *commandRunner, count *progress) error {
	for {
		cmd := runner.command(ctx)
		if err := runner.ended(ctx, cmd, cmd.Run()); err != nil {
			return err
		}
		count.tick(time.Now(), 1)
		count.ran()
		if !rest(ctx, pause) {
			return ctx.Err()
		}
	}
}

// rest for a while; false when the context has ended.
func rest(ctx context.Context, pause time.Duration) bool {
	if pause <= 0 {
		return ctx.Err() == nil
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pause):
		return true
	}
}

// restart keeps a command running that counts its work while it runs. one
// returns how a run ended. A command that ends at once, again and again, is a
// failure too: it does no work.
func restart(ctx context.Context, count *progress, one func(ctx context.Context) error) error {
	for idle := 0; ; {
		before := count.summary(0).Ticks
		if err := one(ctx); err != nil {
			return err
		}
		count.ran()
		idle++
		if count.summary(0).Ticks > before {
			idle = 0
		}
		if idle == idleRuns {
			return errors.Join(ErrCommand, fmt.Errorf("it ended %d times without any work", idle))
		}
	}
}

// idleRuns of a command are enough to see that it does no work.
const idleRuns = 3
