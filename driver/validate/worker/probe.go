package worker

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// unit is what a probe fills: lines of memory, or of code.
type unit interface {
	round() // touches every line once
	lines() int
	close() error
}

// prober fills a unit, keeps still, and times how long the next round takes: each
// line that was displaced meanwhile costs the time of a miss.
type prober struct {
	unit
	evict unit // touched while idle: what displaces everything; nil for a real probe
	still *stillness
}

// evictFactor is how many times its own size a probe touches to displace itself.
const evictFactor = 4

// newProber makes a probe; one that evicts itself is the one that finds everything
// displaced, for scale.
func newProber(o Spec, open func(bytes int64) (unit, error)) (loop, error) {
	u, err := open(o.Bytes)
	if err != nil {
		return nil, err
	}
	p := prober{unit: u, still: newStillness(o)}
	if !o.EvictSelf {
		return p, nil
	}
	if p.evict, err = open(evictFactor * o.Bytes); err != nil {
		return nil, errors.Join(err, u.close())
	}
	return p, nil
}

func (p prober) step() (count, error) {
	return p.still.probed(p.lines(), func() {
		p.round()
		if p.evict != nil {
			p.evict.round()
		}
	}, p.round)
}

func (p prober) close() error {
	err := p.unit.close()
	if p.evict != nil {
		err = errors.Join(err, p.evict.close())
	}
	return err
}

// stillness is how a probe keeps still between filling a unit and walking over
// it again.
type stillness struct {
	idle time.Duration
	// turns says that the kernel takes turns with the probe on one CPU. Then a
	// probe ends with the first turn of another process, and counts where that was
	// a process of this machine. A hypervisor also takes the CPU, some hundred
	// times a second, and what it leaves of a small cache is not the kernel's
	// doing.
	turns    bool
	switches int64 // of this thread so far, against its will
}

func newStillness(o Spec) *stillness { return &stillness{idle: o.Idle, turns: o.Turns} }

// probesPerStep make one step of a probe, whose median counts: another process's
// turn in the middle of a walk costs more than all the misses there can be.
const (
	probesPerStep   = 5
	attemptsPerStep = 8 * probesPerStep
)

// probed fills a unit, keeps still, and times the walk over its lines. A step
// of which too few probes count is none.
func (s *stillness) probed(lines int, fill, walk func()) (count, error) {
	var took []time.Duration
	for range attemptsPerStep {
		fill()
		undisturbed := s.keep()
		begin := time.Now()
		walk()
		elapsed := time.Since(begin)
		switched, err := s.switched()
		if err != nil {
			return count{}, err
		}
		if undisturbed || switched || !s.turns {
			took = append(took, elapsed)
		}
		if len(took) == probesPerStep {
			slices.Sort(took)
			return count{ops: uint64(lines), nanoseconds: uint64(took[probesPerStep/2])}, nil
		}
	}
	return count{}, nil
}

// turnMin is the shortest time without a look at the clock that is the turn
// of another: a look takes some tens of nanoseconds, a timer interrupt two
// microseconds.
const turnMin = 3 * time.Microsecond

// keep spins for a while, on registers and the clock only, and reports whether
// it kept the CPU. It does not sleep: a CPU that goes idle and wakes up
// runs so much of the operating system that a small cache is displaced by that
// alone. Kernels on this CPU preempt it.
func (s *stillness) keep() (undisturbed bool) {
	begin := time.Now()
	for last := begin; last.Sub(begin) < s.idle; {
		now := time.Now()
		if s.turns && now.Sub(last) > turnMin {
			return false
		}
		last = now
	}
	return true
}

// switched reports whether another process was given the CPU since the last
// time it was asked. Asked after a walk, as it touches memory itself.
func (s *stillness) switched() (bool, error) {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &usage); err != nil {
		return false, fmt.Errorf("context switches: %w", err)
	}
	before := s.switches
	s.switches = usage.Nivcsw
	return s.switches > before, nil
}
