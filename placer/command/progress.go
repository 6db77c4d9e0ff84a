package command

import (
	"fmt"
	"sync"
	"time"
)

// How often a line of progress is written: on a terminal, where it replaces the one
// before, and elsewhere, where it stays.
const (
	movingEvery = 500 * time.Millisecond
	StillEvery  = 30 * time.Second
)

// Progress says on standard error how far a long work is, and how long the rest takes: as
// a moving line on a terminal, else as a line now and then, or not at all.
type Progress struct {
	shell *Shell
	still time.Duration // between lines that stay; 0: there are none

	mutex sync.Mutex
	begun time.Time
	shown time.Time
	moved bool
}

// NewProgress begins now. Lines that stay are still apart; 0 writes none.
func NewProgress(s *Shell, still time.Duration) *Progress {
	now := s.Now()
	return &Progress{shell: s, still: still, begun: now, shown: now}
}

// Show writes a line if it is time for one.
func (p *Progress) Show(line string) {
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

// End removes a moving line.
func (p *Progress) End() {
	if p.moved {
		fmt.Fprint(p.shell.Err, "\r\033[K")
	}
}

// Share shows which part of one work is done (0..1), and what of it is being done.
func (p *Progress) Share(name string) func(share float64, what string) {
	return func(share float64, what string) {
		if share <= 0 {
			return
		}
		left := time.Duration(float64(p.shell.Now().Sub(p.begun)) * (1 - min(share, 1)) / share).Round(time.Second)
		p.Show(fmt.Sprintf("%s: %3.0f %%, %s left (%s)", name, 100*min(share, 1), left, what))
	}
}
