package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/schollz/progressbar/v3"
)

// How long each stage took on the machine the demo was written on (2 cores);
// the remaining time starts from these and follows the clock.
const (
	secondsStart       = 12
	secondsTry         = 13
	secondsInstall     = 8
	secondsPlaceStock  = 8
	secondsProfile     = 150
	secondsPlacePlacer = 20
	secondsMeasure     = 110
	secondsStop        = 8
	plannedSeconds     = secondsStart + 3*secondsTry + secondsInstall + secondsPlaceStock + secondsProfile + secondsPlacePlacer + 2*secondsMeasure
)

// progress shows a bar with the remaining time on a terminal, and one line per
// stage elsewhere.
type progress struct {
	mu       sync.Mutex
	out      io.Writer
	bar      *progressbar.ProgressBar // nil off a terminal
	started  time.Time
	reached  int // planned seconds of the stages that are done
	planned  int // of the present stage
	since    time.Time
	stopTick chan struct{}
	paused   bool
}

func newProgress(out *os.File, planned int) *progress {
	p := &progress{out: out, started: time.Now(), stopTick: make(chan struct{})}
	if isatty.IsTerminal(out.Fd()) {
		p.bar = progressbar.NewOptions(planned, progressbar.OptionSetWriter(out), progressbar.OptionSetWidth(24),
			progressbar.OptionSetPredictTime(true), progressbar.OptionSetElapsedTime(true), progressbar.OptionUseANSICodes(true),
			progressbar.OptionClearOnFinish())
		go p.tick()
	}
	return p
}

// stage ends the present stage and begins one planned to take that long.
func (p *progress) stage(text string, seconds int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reached += p.planned
	p.planned, p.since = seconds, time.Now()
	if p.bar != nil && !p.paused {
		p.bar.Describe(text)
		return
	}
	remaining := max(0, plannedSeconds-p.reached)
	fmt.Fprintf(p.out, "[%4ds, about %ds to go] %s\n", int(time.Since(p.started).Seconds()), remaining, text)
}

// note prints a line between stages.
func (p *progress) note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil && !p.paused {
		p.bar.Describe(text)
		return
	}
	fmt.Fprintf(p.out, "[%4ds] %s\n", int(time.Since(p.started).Seconds()), text)
}

// tick moves the bar with the clock, never past the end of the present stage.
func (p *progress) tick() {
	for {
		select {
		case <-p.stopTick:
			return
		case <-time.After(500 * time.Millisecond):
		}
		p.mu.Lock()
		at := p.reached + min(p.planned, int(time.Since(p.since).Seconds()))
		if !p.paused {
			_ = p.bar.Set(min(at, plannedSeconds)) // a bar that cannot be drawn stops nothing
		}
		p.mu.Unlock()
	}
}

// pause takes the bar off the screen for good, to make room for the table.
func (p *progress) pause() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar != nil && !p.paused {
		_ = p.bar.Clear() // see tick
	}
	p.paused = true
}

func (p *progress) close() {
	close(p.stopTick)
	p.pause()
}
