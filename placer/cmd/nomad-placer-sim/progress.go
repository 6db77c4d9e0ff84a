package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/sim/figures"
)

// How often a line of progress is written: on a terminal, where it replaces the one
// before, and elsewhere, where it stays.
const (
	movingEvery = 500 * time.Millisecond
	stillEvery  = 30 * time.Second
)

// progressLine says on standard error how far the runs are, and how long the rest
// takes: as a moving line on a terminal, else as a line now and then, or not at all.
type progressLine struct {
	shell *command.Shell
	still time.Duration // between lines that stay; 0: there are none

	mutex sync.Mutex
	begun time.Time
	shown time.Time
	moved bool
}

func newProgressLine(s *command.Shell, still time.Duration) *progressLine {
	now := s.Now()
	return &progressLine{shell: s, still: still, begun: now, shown: now}
}

// show writes a line if it is time for one.
func (p *progressLine) show(line string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	now := p.shell.Now()
	switch {
	case p.shell.Terminal && now.Sub(p.shown) >= movingEvery:
		p.shown, p.moved = now, true
		fmt.Fprint(p.shell.Err, "\r\033[K"+line)
	case !p.shell.Terminal && p.still > 0 && now.Sub(p.shown) >= p.still:
		p.shown = now
		fmt.Fprintln(p.shell.Err, line)
	}
}

// end removes a moving line.
func (p *progressLine) end() {
	if p.moved {
		fmt.Fprint(p.shell.Err, "\r\033[K")
	}
}

// runProgress shows the progress of one scenario.
func runProgress(p *progressLine, name string) func(share float64, what string) {
	return func(share float64, what string) {
		if share <= 0 {
			return
		}
		left := time.Duration(float64(p.shell.Now().Sub(p.begun)) * (1 - share) / share).Round(time.Second)
		p.show(fmt.Sprintf("%s: %3.0f %%, %s left (%s)", name, 100*share, left, what))
	}
}

// figuresProgress shows the progress of many runs; command names them.
func figuresProgress(p *progressLine, command string) func(figures.Progress) {
	return func(now figures.Progress) {
		line := fmt.Sprintf("%s: %d of %d runs, %d of them kept", command, now.Done, now.Total, now.Kept)
		if now.Left > 0 {
			line += ", " + now.Left.Round(time.Second).String() + " left"
		}
		p.show(line + " (" + now.What + ")")
	}
}
