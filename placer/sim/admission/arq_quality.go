package admission

import (
	"fmt"
	"math"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

// stage is where an item of ARQ waits.
type stage uint8

const (
	stageQueued  stage = iota // in the queue of its class
	stageEnding               // at its last chance: every pool, then any room
	stageOverdue              // no room at its last chance: the first that comes
)

// qualityState is what ARQ knows of an item.
type qualityState struct {
	stage    stage
	class    int // of the queue; falls at each diversion
	own      int // class it arrived with
	pool     int // last tried; anyPool at the end
	priority int
	length   time.Duration // expected; longest where unknown
	urgent   bool
	window   time.Duration // it may wait from Ready
	slack    float64       // seconds, S of the switching rule
	speed    float64       // least one of a configuration that suits; 0: all do
	deadline Instant
	last     Instant // of the last chance
	todo     uint64  // pools of the last chance
	forced   bool    // any room was tried
}

const anyPool = -1

// qualityOf classifies an item, sets the time it may wait (Delimitrou 2015, §6.4: 5 %
// of its run time or what its ask says, less profiling), and how fast a configuration
// must be not to break the same bound by itself.
func (c *arq) qualityOf(it Item) qualityState {
	class := c.class(it.Ask)
	q := qualityState{class: class, own: class, pool: anyPool, priority: it.Ask.Priority, length: it.Ask.Expected}
	spent := max(it.Profile, it.Ready-it.Arrived)
	share := it.Ask.SlowdownMax
	if !(share > 0) {
		share = slowdownShare
	}
	if q.length > 0 {
		q.window = time.Duration(share*float64(q.length)) - spent
	} else {
		q.window, q.length = c.wait, math.MaxInt64
	}
	q.window = max(q.window, c.period)
	q.slack = q.window.Seconds()
	if !c.windows && it.Ask.Expected > 0 {
		q.slack = max(q.slack, (1+share)*it.Ask.Expected.Seconds()-spent.Seconds())
	}
	if !c.anyConfiguration {
		q.speed = (1 - share) * c.pools.fastest(it.Ask)
	}
	q.deadline = it.Ready + q.window
	q.last = q.deadline - max(time.Second, 2*c.period)
	return q
}

// class is the level of the mean score (Eq. 6.1). An ask without scores cannot be
// shown to be easy, and counts as the most demanding.
func (c *arq) class(a *board.Request) int {
	k := max(len(a.Caused), len(a.Tolerated))
	if k == 0 {
		return c.classes - 1
	}
	sum := 0.0
	for i := range k {
		switch {
		case c.sensitivity:
			sum += 100 - a.Tolerated[i]
		case c.both:
			sum += max(a.Caused[i], 100-a.Tolerated[i])
		default:
			sum += a.Caused[i]
		}
	}
	return levelOf(sum/float64(k), c.classes)
}

// levelOf is the class of a quality in percent, in equal ranges.
func levelOf(percent float64, classes int) int {
	return min(classes-1, max(0, int(percent*float64(classes)/100)))
}

// midpoint is the quality of a class, in percent.
func midpoint(class, classes int) float64 {
	return (float64(class) + 0.5) * 100 / float64(classes)
}

func checkClasses(n int) error {
	if n < 1 || n > mostClasses {
		return fmt.Errorf("admission arq: %w: %d classes; 1 to %d are possible", ErrOption, n, mostClasses)
	}
	return nil
}

// meanTime is the mean of durations above 0.
type meanTime struct {
	seconds float64
	n       int
}

func (m *meanTime) add(d time.Duration) {
	if d > 0 {
		m.seconds += d.Seconds()
		m.n++
	}
}

// mean is in seconds; 0 where nothing is known.
func (m *meanTime) mean() float64 {
	if m.n == 0 {
		return 0
	}
	return m.seconds / float64(m.n)
}
