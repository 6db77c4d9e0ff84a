package generate

import (
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

// slot is an interval of the generated time.
type slot struct {
	begin, length time.Duration
	ios           int64
}

// pace puts the I/Os of one type of threads on the clock.
type pace struct {
	slots   []slot
	cycle   time.Duration // after which the model begins again; 0: it does not
	base    time.Duration // of the cycle
	current int
	left    int64   // I/Os of the current slot that have no time yet
	threads float64 // that share them
	mean    float64 // of the gaps that are drawn, µs
}

// newPace plans the intervals of a type: their times shortened, their I/Os fewer by the
// scale of the gaps and by that. What does not divide is carried over.
func newPace(t *model.Type, span time.Duration, o Options, walkers int) *pace {
	p := &pace{threads: float64(walkers), mean: t.Gap.MeanMicroseconds}
	intervals := t.Intervals
	if o.OneRate {
		intervals = []model.Interval{{Seconds: span.Seconds(), IOs: t.IOs}}
	}
	carried := 0.0
	for _, i := range intervals {
		carried += float64(i.IOs) / o.Intensity / o.Compression
		whole := int64(carried)
		carried -= float64(whole)
		scaled := func(seconds float64) time.Duration {
			return time.Duration(seconds / o.Compression * float64(time.Second))
		}
		p.slots = append(p.slots, slot{scaled(i.StartSeconds), max(scaled(i.Seconds), 1), whole})
	}
	if o.IOs > 0 {
		p.cycle = max(time.Duration(float64(span)/o.Compression), 1)
		if !p.any() {
			// So little time that no I/O is in it: the pace is that of the whole.
			p.slots = []slot{{0, max(time.Duration(float64(span)*o.Intensity), 1), t.IOs}}
			p.cycle = p.slots[0].length
		}
	}
	if p.mean <= 0 {
		p.mean = 1
	}
	p.left = p.slots[0].ios
	return p
}

func (p *pace) any() bool {
	for _, s := range p.slots {
		if s.ios > 0 {
			return true
		}
	}
	return false
}

// next is the time of a thread's next I/O, whose last was at now, with a gap that was
// drawn in µs; false at the end of the model's time.
func (p *pace) next(now time.Duration, gap float64) (time.Duration, bool) {
	for p.left == 0 {
		p.current++
		if p.current == len(p.slots) {
			if p.cycle == 0 || !p.any() {
				p.current = len(p.slots) - 1
				return 0, false
			}
			p.current = 0
			p.base += p.cycle
		}
		p.left = p.slots[p.current].ios
	}
	s := p.slots[p.current]
	begin := p.base + s.begin
	now = max(now, begin)
	rest := float64(begin + s.length - now)
	if rest <= 0 {
		// Another thread of the type is late in the interval: so is this one.
		p.left--
		return now, true
	}
	behind := float64(p.left) / p.threads * p.mean
	p.left--
	return now + time.Duration(rest*gap/(gap+behind)), true
}
