package ibench

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// walk is a cyclic walk over the lines or pages of a working set whose size
// can be changed. One thread uses it.
type walk interface {
	// resize makes the walk cover about n lines.
	resize(n int)
	// size is how many lines the walk covers, all how many it can cover.
	size() int
	all() int
	// advance moves on by at least that many lines and returns how many. Asked
	// for none it touches none.
	advance(lines int) int
	Close() error
}

// burst is how a footprint is kept on the workload's own CPU.
type burst struct {
	// Beat is the time between two bursts; 0 walks without a break.
	beat time.Duration
	// Passes is how many lines a burst touches in all, as a multiple of the
	// capacity.
	passes int
}

// burstsMedian of the last bursts counts as the time of one: interrupts and
// the hypervisor lengthen every tenth burst of microseconds manifold.
const burstsMedian = 9

// footprintWorker occupies a share of a capacity by walking over it.
//
// Beside the workload, or on the other hardware thread of its core, it walks
// without a break. On the workload's own CPU both cannot run at once: there it
// exerts pressure by replacing the workload's lines. Once per beat it walks over its
// footprint, and the workload must fetch that share of the capacity again. A
// burst takes the same few microseconds of CPU time at every intensity, so what
// the workload loses grows with the lines and not with the time.
//
// Its own speed there tells how much of its footprint the workload replaced
// since the last burst. A burst touches every line of the footprint once, cold,
// and goes on to a number of lines that is the same at every intensity. Lines
// that were left cost little, lines that were replaced cost a fetch from the
// level below. So the loss is in proportion to the share of the whole capacity
// that the kernel has lost, and does not jump as soon as anything was. With the
// workload paused the CPU idles, which replaces some lines as well: that is the
// speed to compare with.
type footprintWorker struct {
	walk   walk
	burst  burst
	recent [burstsMedian]time.Duration
	seen   int // bursts since the last Tune
	took   time.Duration
}

// newFootprintLoad makes the load of a kernel that walks over a footprint on each of
// its CPUs. open makes the walk of one thread; bytes is its size.
func newFootprintLoad(s Setup, b burst, bytes int64, open func(random *rand.Rand) (walk, error)) *Load {
	threads := len(s.CPUs)
	return &Load{
		Threads: threads,
		Worker: func(thread int) (Worker, error) {
			w, err := open(rand.New(rand.NewPCG(s.Seed, uint64(thread))))
			if err != nil {
				return nil, err
			}
			return newFootprintWorker(w, s.Same, b), nil
		},
		ResidentBytes: func() int64 { return bytes * int64(threads) },
	}
}

// newFootprintWorker makes the worker of a walk; b counts only on the
// workload's own CPUs.
func newFootprintWorker(w walk, same bool, b burst) *footprintWorker {
	if !same {
		b = burst{}
	}
	return &footprintWorker{walk: w, burst: b}
}

// Tune makes the walk cover the share u of the capacity.
func (w *footprintWorker) Tune(u, _ float64) Pace {
	if u <= 0 {
		return Pace{}
	}
	w.walk.resize(int(math.Round(u * float64(w.walk.all()))))
	w.seen = 0
	if w.burst.beat == 0 {
		return Pace{OpsPerSecond: math.Inf(1), Busy: 1, DemandPerSec: math.Inf(1)}
	}
	perSecond := float64(w.burst.passes*w.walk.all()) / w.burst.beat.Seconds()
	return Pace{OpsPerSecond: perSecond, Busy: 1, DemandPerSec: perSecond, Window: w.burst.beat}
}

// footprintQuantum is how many lines are walked between two looks at the clock.
const footprintQuantum = 8192

// Work walks on; an operation is a line of the footprint touched.
func (w *footprintWorker) Work(maxOps float64) (float64, error) {
	lines := footprintQuantum
	if w.burst.beat > 0 {
		lines = w.burst.passes * w.walk.all()
	}
	w.walk.advance(0) // fetches the code: after a pause it is as cold as the lines
	begin := time.Now()
	ops := w.walk.advance(int(min(float64(lines), math.Ceil(maxOps))))
	w.keep(time.Since(begin))
	return float64(ops), nil
}

// keep takes the time of a quantum; a burst counts as the median of the last.
func (w *footprintWorker) keep(took time.Duration) {
	w.took = took
	if w.burst.beat == 0 {
		return
	}
	w.recent[w.seen%burstsMedian] = took
	w.seen++
	sorted := w.recent
	last := sorted[:min(w.seen, burstsMedian)]
	slices.Sort(last)
	w.took = last[len(last)/2]
}

// Took is the time of the walk alone, without the cold code around it.
func (w *footprintWorker) Took() time.Duration { return w.took }

// Close frees the working set.
func (w *footprintWorker) Close() error { return w.walk.Close() }

// dataWalk walks over a ring of memory lines.
type dataWalk struct {
	*ring
	at cursors
}

// newDataWalk makes a walk over lines of memory, as newRing lays them.
func newDataWalk(bytes int64, lineBytes, sets int, huge bool, random *rand.Rand) (walk, error) {
	r, err := newRing(bytes, lineBytes, sets, huge, random)
	if err != nil {
		return nil, err
	}
	return &dataWalk{ring: r}, nil
}

func (d *dataWalk) resize(n int) {
	d.ring.resize(n)
	d.at = d.spread()
}

func (d *dataWalk) size() int { return d.n }

func (d *dataWalk) all() int { return len(d.order) }

func (d *dataWalk) advance(lines int) int {
	steps := (lines + ringCursors - 1) / ringCursors
	d.walk(&d.at, steps)
	return steps * ringCursors
}
