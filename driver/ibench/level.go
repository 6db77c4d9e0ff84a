package ibench

import (
	"context"
	"math"
	"time"
)

// The measures by which kernels that fill memory or a disk say how far they are.
const (
	MeasureGoal = "goal_bytes"
	MeasureHeld = "held_bytes"
)

// A kernel that fills something takes its time: its level counts once it holds
// what it should.
const (
	levelPoll  = 20 * time.Millisecond
	levelPolls = 150     // at most
	levelBytes = 1 << 20 // as near to its goal as counts
	// stillPolls is how many looks in a row may show no change before the kernel
	// counts as stuck short of its goal, or as one that does not give back.
	stillPolls = 10
	// keptPolls is the same for one that holds more than its goal: some give
	// back at once, others not at all.
	keptPolls = 2
)

// AwaitLevel waits until a kernel has reached the level it was set to, or comes no
// nearer to it. Kernels that fill nothing are there at once.
func AwaitLevel(ctx context.Context, report func(context.Context) (Report, error), sleep func(context.Context, time.Duration) error) error {
	last := math.NaN()
	for still, polls := 0, 0; polls < levelPolls; polls++ {
		r, err := report(ctx)
		if err != nil {
			return err
		}
		held, fills := r.Measures[MeasureHeld]
		if !fills || math.Abs(held-r.Measures[MeasureGoal]) <= levelBytes {
			return nil
		}
		still++
		if held != last {
			still = 0
		}
		last = held
		if still >= stillPolls || (still >= keptPolls && held > r.Measures[MeasureGoal]) {
			return nil
		}
		if err := sleep(ctx, levelPoll); err != nil {
			return err
		}
	}
	return nil
}

// The shortest windows over which a kernel's pressure and its own speed are even:
// some of the windows within which it keeps its pace, or of its beats; long against
// the time in which a large shared cache changes hands; and many of its operations
// where one is a request to a disk or a message.
const (
	besideWindow = 12 * windowBeside
	sameWindow   = 10 * windowSame
	refillWindow = 100 * time.Millisecond
	coarseWindow = 120 * time.Millisecond
)

// Window is the shortest time in which a level of the kernel can be measured, on
// CPUs of its own or on those of others. It is a multiple of the kernel's own
// windows, so that it holds the same pressure wherever it begins.
func (d Descriptor) Window(same bool) time.Duration {
	switch {
	case d.Dwell > levelDwell:
		return coarseWindow
	case same && d.Knob != Footprint:
		return sameWindow
	case !same && d.Knob == Footprint:
		return refillWindow
	}
	return besideWindow
}
