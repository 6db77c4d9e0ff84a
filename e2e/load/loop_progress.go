package load

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	// stepLeast is the shortest step that is kept apart: sample times have
	// milliseconds, so a finer one would gain nothing.
	stepLeast = time.Millisecond
	// staleLeast and staleSteps say when a count has stopped: after that time,
	// and that many usual steps, without a tick (chosen by us).
	staleLeast = 100 * time.Millisecond
	staleSteps = 3
	// recentSteps are remembered for what is usual; a pause is one odd one.
	recentSteps = 8
)

// progress counts work that is done in steps whose ends are known exactly.
//
// A reading is a value and the millisecond it held at: the value is
// interpolated inside the newest step, so that the rate between two readings
// carries neither the length of a step nor the time of asking.
type progress struct {
	mu    sync.Mutex
	ticks uint64
	runs  uint64

	total  float64   // at the last tick
	last   time.Time // the last tick
	kept   float64   // at the end of the newest whole step
	keptAt time.Time
	step   float64       // work of the newest whole step
	length time.Duration // of the newest whole step; 0 before the first
	recent []time.Duration
	told   float64 // never falls
}

func newProgress() *progress { return &progress{} }

// tick counts work that was done at that time.
func (p *progress) tick(at time.Time, units float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ticks++
	p.total += units
	p.last = at
	if p.keptAt.IsZero() {
		p.kept, p.keptAt = p.total, at
		return
	}
	length := at.Sub(p.keptAt)
	if length < stepLeast {
		return
	}
	p.step, p.length = p.total-p.kept, length
	p.kept, p.keptAt = p.total, at
	if len(p.recent) == recentSteps {
		p.recent = p.recent[1:]
	}
	p.recent = append(p.recent, length)
}

func (p *progress) ran() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs++
}

// sample is the newest count and the time it is of. A count that has stopped
// is one of now: no more has been done.
func (p *progress) sample(now time.Time) (value float64, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.length == 0 || now.Sub(p.last) > p.stale() {
		value, at = p.total, now.Truncate(time.Millisecond)
	} else {
		at = p.keptAt.Truncate(time.Millisecond)
		value = p.kept - p.step*min(1, p.keptAt.Sub(at).Seconds()/p.length.Seconds())
	}
	p.told = max(p.told, value)
	return p.told, at
}

func (p *progress) stale() time.Duration {
	usual := slices.Sorted(slices.Values(p.recent))[len(p.recent)/2]
	return max(staleLeast, staleSteps*usual)
}

func (p *progress) summary(took time.Duration) LoopSummary {
	p.mu.Lock()
	defer p.mu.Unlock()
	return LoopSummary{Units: p.total, Ticks: p.ticks, Took: took, Runs: p.runs}
}

// ServeHTTP answers with the counters in the Prometheus text format, with
// timestamps.
func (p *progress) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	value, at := p.sample(time.Now())
	p.mu.Lock()
	ticks, runs := p.ticks, p.runs
	p.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	// A scraper that is gone does not matter.
	_, _ = fmt.Fprintf(w, "# HELP loop_units_total Units of work done.\n# TYPE loop_units_total counter\nloop_units_total %s %d\n",
		strconv.FormatFloat(round(value), 'f', -1, 64), at.UnixMilli())
	_, _ = fmt.Fprintf(w, "# HELP loop_ticks_total Steps the units were counted in.\n# TYPE loop_ticks_total counter\nloop_ticks_total %d\n", ticks)
	_, _ = fmt.Fprintf(w, "# HELP loop_runs_total Runs of the command that have ended.\n# TYPE loop_runs_total counter\nloop_runs_total %d\n", runs)
}

// round keeps nine decimals: less than a millionth of any unit in use.
func round(v float64) float64 { return math.Round(v*1e9) / 1e9 }
