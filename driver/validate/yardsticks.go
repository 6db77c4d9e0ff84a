package validate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/driver/validate/worker"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// yardstick is something independent that a kernel is compared with.
type yardstick struct {
	source   interference.Source
	name     string
	compares string // what with what
	unit     string
	counts   bool // the 95 % target is asked of it
	expect   time.Duration
	measure  func(ctx context.Context, t *team, out *YardstickResult) error
}

// yardsticks lists what each source is compared with, in the order of the
// paper. Sources whose unit no other program has are compared in what can be: the
// processor time a duty kernel takes, the memory a footprint kernel holds.
// Bogo operations of other programs are in no unit of ours, and are not used.
func yardsticks() []yardstick {
	const second = time.Second
	read := func(s interference.Source, size func(ibench.Machine) int64, all bool) yardstick {
		return yardstick{
			s, "memchr", "bytes read per second, by the vector search of the Go library over a working set of its own, one thread per CPU",
			"B/s", true, second * 3, peakAgainst(worker.Spec{Kind: "memchr"}, size, all, 1),
		}
	}
	stream := func(kind string) yardstick {
		return yardstick{
			interference.MemoryBandwidth, "STREAM " + kind, "bytes read per second against bytes read and written by a STREAM loop, as STREAM counts; writing also fetches, so a reader should be above",
			"B/s", false, second * 3, peakAgainst(worker.Spec{Kind: kind}, beyondLLC, true, 1),
		}
	}
	duty := func(s interference.Source) []yardstick {
		return []yardstick{
			{
				s, "processor time", "processor time at intensity 100, as the scheduler counts it, against the time there is",
				"CPU s/s", true, second, busyTime,
			},
			{
				s, "clock", "operations per clock cycle at intensity 100; the clock is measured by a chain of dependent additions. How many a core could do is not known here: for information",
				"per cycle", false, second * 3, peakAgainst(worker.Spec{Kind: "cycle"}, fixed(0), false, 1),
			},
		}
	}
	out := []yardstick{
		{
			interference.MemoryCapacity, "smaps_rollup", "memory the kernel says it holds at 100 against what the operating system counts",
			"bytes", true, second * 2, residentMemory,
		},
		read(interference.MemoryBandwidth, beyondLLC, true), stream("copy"), stream("triad"), stressStream(),
		{
			interference.StorageCapacity, "st_blocks", "space the kernel was given against the space its files take, as the file system counts",
			"bytes", true, second, occupiedDisk,
		},
		fioRead(), iperf(),
		knee(interference.LLCCapacity, llc), read(interference.LLCBandwidth, perCPU(shareOf(llc, shareOfLLC)), true),
		knee(interference.L2Capacity, l2), read(interference.L2Bandwidth, shareOf(l2, shareOfCache), false),
		knee(interference.L1Data, l1),
		{
			interference.Interconnect, "ping-pong", "lines passed per second against those of two threads that wait for each other's every message, which is slower than many under way: for information",
			"lines/s", false, 3 * second, peakAgainst(worker.Spec{Kind: "ping"}, fixed(0), true, linesPerPing),
		},
	}
	for _, s := range []interference.Source{
		interference.Integer, interference.FloatingPoint, interference.Prefetcher, interference.Vector,
	} {
		out = append(out, duty(s)...)
	}
	return out
}

// linesPerPing is how many lines move in one round trip.
const linesPerPing = 2

// perCPU shares a working set among as many threads as there are CPUs: it
// is divided where it is used.
func perCPU(size func(ibench.Machine) int64) func(ibench.Machine) int64 {
	return func(m ibench.Machine) int64 { return size(m) / int64(max(1, len(m.CPUs))) }
}

func (y yardstick) result() YardstickResult {
	return YardstickResult{
		Source: y.source, Yardstick: y.name, Compares: y.compares, Unit: y.unit, Counts: y.counts,
		Kernel: unknown, Other: unknown, Ratio: Interval{unknown, unknown, unknown, unknown, 0},
	}
}

// absentQuick is said of what takes too long for a quick run.
const absentQuick = "left out of a quick run"

// measureYardstick compares one kernel with one yardstick.
func (s *session) measureYardstick(ctx context.Context, y yardstick) (YardstickResult, error) {
	t := &team{session: s}
	out := y.result()
	err := y.measure(ctx, t, &out)
	return out, errors.Join(err, t.end())
}

// place is where the kernel of a peak runs: on every CPU, or alone on the
// victim's.
func (t *team) place(all bool) place {
	if all {
		return place{CPUs: t.layout.all, Name: placementIsolated}
	}
	return place{CPUs: []int{t.layout.victim}, Name: placementIsolated}
}

// peakAgainst compares a kernel at 100 with a worker on the same CPUs, in turns.
func peakAgainst(spec worker.Spec, size func(ibench.Machine) int64, all bool, workerUnits float64) func(context.Context, *team, *YardstickResult) error {
	return func(ctx context.Context, t *team, out *YardstickResult) error {
		where := t.place(all)
		k, err := t.kernel(ctx, out.Source, where)
		if err != nil {
			return err
		}
		spec.CPUs, spec.Bytes = where.CPUs, size(t.machine)
		w, err := t.worker(ctx, spec)
		if err != nil {
			return err
		}
		turns := duel{kernel: k, worker: w, workerUnits: workerUnits, team: t}
		out.Ratio, err = contrast(ctx, t.pace.peakPairs, func(kernel bool) (float64, error) { return turns.window(ctx, kernel) })
		out.Kernel, out.Other = medianOf(turns.seen[1]), medianOf(turns.seen[0])
		return err
	}
}

// duel lets a kernel and a worker work in turns.
type duel struct {
	team        *team
	kernel      kernel
	worker      subject
	workerUnits float64      // per op of the worker
	seen        [2][]float64 // of the worker, of the kernel
}

func (d *duel) window(ctx context.Context, kernel bool) (float64, error) {
	p := d.team.pace
	if kernel {
		if err := d.team.setAndSettle(ctx, d.kernel, 100); err != nil {
			return 0, err
		}
		v, err := d.team.wallWindow(d.kernel)(ctx, p.peak)
		d.seen[1] = append(d.seen[1], v)
		return v, errors.Join(err, d.kernel.Set(ctx, 0))
	}
	d.worker.Run()
	defer d.worker.Pause()
	if err := d.team.bench.Sleep(ctx, p.settle); err != nil {
		return 0, err
	}
	v, err := d.team.workerWindow(d.worker)(ctx, p.peak)
	v *= d.workerUnits
	d.seen[0] = append(d.seen[0], v)
	return v, err
}

// medianOf is the median of the windows that have a speed: one in which no
// thread came to account for its time has none.
func medianOf(v []float64) Number {
	return Number(stat.Median(slices.DeleteFunc(slices.Clone(v), math.IsNaN)))
}

// repeated is the ratio of two numbers measured together several times.
func repeated(ctx context.Context, times int, out *YardstickResult, once func() (kernel, other float64, err error)) error {
	var kernels, others []float64
	for range times {
		if err := ctx.Err(); err != nil {
			return err
		}
		a, b, err := once()
		if err != nil {
			return err
		}
		kernels, others = append(kernels, a), append(others, b)
	}
	out.Kernel, out.Other = medianOf(kernels), medianOf(others)
	ratio := stat.RatioMedian(kernels, others, confidence)
	if ratio.N == 0 {
		return errNothingDone
	}
	out.Ratio = intervalOf(ratio)
	return nil
}

// residentMemory compares what the kernel holds with what is counted.
func residentMemory(ctx context.Context, t *team, out *YardstickResult) error {
	k, err := t.kernel(ctx, out.Source, t.place(false))
	if err != nil {
		return err
	}
	ground, err := t.bench.Anonymous(k.PID())
	if err != nil {
		return err
	}
	return repeated(ctx, 2, out, func() (kernel, other float64, err error) {
		if err := t.setAndSettle(ctx, k, 100); err != nil {
			return 0, 0, err
		}
		report, err := k.Report(ctx)
		if err != nil {
			return 0, 0, err
		}
		counted, err := t.bench.Anonymous(k.PID())
		if err != nil {
			return 0, 0, err
		}
		return float64(counted - ground), float64(report.ResidentBytes), t.setAndSettle(ctx, k, 0)
	})
}

// occupiedDisk compares the space of the kernel's files with what it was given.
func occupiedDisk(ctx context.Context, t *team, out *YardstickResult) error {
	k, err := t.kernel(ctx, out.Source, t.place(false))
	if err != nil {
		return err
	}
	if err := t.setAndSettle(ctx, k, 100); err != nil {
		return err
	}
	return repeated(ctx, 2, out, func() (kernel, other float64, err error) {
		taken, err := t.bench.DiskBytes(k.PID())
		return float64(taken), float64(bounds[out.Source]), err
	})
}

// busyTime compares a duty kernel's processor time with the time there is.
func busyTime(ctx context.Context, t *team, out *YardstickResult) error {
	k, err := t.kernel(ctx, out.Source, t.place(false))
	if err != nil {
		return err
	}
	if err := t.setAndSettle(ctx, k, 100); err != nil {
		return err
	}
	return repeated(ctx, t.pace.peakPairs, out, func() (kernel, other float64, err error) {
		before, err := t.bench.CPUTime(k.PID())
		if err != nil {
			return 0, 0, err
		}
		a, b, err := t.kernelStretch(ctx, k, t.pace.peak)
		if err != nil {
			return 0, 0, err
		}
		after, err := t.bench.CPUTime(k.PID())
		wall := b.At.Sub(a.At).Seconds()
		return (after - before).Seconds() / wall, 1, err
	})
}

// The sweep for the size of a cache: from an eighth of the reported size to one
// and a half times it, in eighths of an octave. A size is within the cache as
// long as a step takes less than kneeFactor times the plateau's median; a single
// slow size may be a disturbance.
const (
	kneeFactor  = 1.3
	kneePlateau = 8
	kneeSteps   = 30
	kneeInARow  = 2
	kneeWindow  = 10 * time.Millisecond
	kneeWindows = 3
)

// knee compares the capacity a kernel fills with the largest working set that
// a pointer chase of ours is still served from the cache.
func knee(s interference.Source, cache cacheOf) yardstick {
	return yardstick{
		s, "pointer chase", "memory the kernel keeps occupied at 100 against the largest working set that a pointer chase runs through at the speed of the cache",
		"bytes", true, kneeSteps * (kneeWindows*kneeWindow + 60*time.Millisecond),
		func(ctx context.Context, t *team, out *YardstickResult) error {
			c, ok := cache(t.machine)
			switch {
			case t.pace.quick:
				out.Absent = absentQuick
				return nil
			case !ok:
				out.Absent = "the machine reports no such cache"
				return nil
			}
			size, err := t.kneeOf(ctx, c)
			if err != nil {
				return err
			}
			k, err := t.kernel(ctx, out.Source, t.place(false))
			if err != nil {
				return err
			}
			report, err := k.Report(ctx)
			if err != nil {
				return err
			}
			out.Kernel, out.Other = Number(report.ResidentBytes), Number(size)
			out.Ratio = Interval{out.Kernel / out.Other, unknown, unknown, unknown, 1}
			return nil
		},
	}
}

// kneeOf finds the size of a cache.
func (t *team) kneeOf(ctx context.Context, c ibench.Cache) (int64, error) {
	var plateau []float64
	last, above := int64(0), 0
	for i := range kneeSteps {
		size := eighthOctave(c.SizeBytes/8, i)
		ns, err := t.chaseNs(ctx, size)
		if err != nil {
			return 0, err
		}
		if len(plateau) < kneePlateau {
			plateau = append(plateau, ns)
		}
		if ns <= kneeFactor*stat.Median(plateau) {
			last, above = size, 0
			continue
		}
		if above++; above == kneeInARow {
			return last, nil
		}
	}
	return last, nil
}

// eighthOctave is the i-th size from first in steps of an eighth of an octave,
// in whole lines.
func eighthOctave(first int64, i int) int64 {
	const line = 64
	return int64(float64(first)*math.Exp2(float64(i)/8)) / line * line
}

// chaseNs is the time of one step of a chase through a working set.
func (t *team) chaseNs(ctx context.Context, size int64) (float64, error) {
	w, err := t.bench.Worker(ctx, worker.Spec{Kind: "chase", CPUs: []int{t.layout.victim}, Bytes: size})
	if err != nil {
		return 0, err
	}
	w.Run()
	fastest := 0.0
	// A disturbance only ever slows a walk down. One that did not get its CPU in
	// any of the windows is given more of them.
	for i := 0; i < kneeWindows || (fastest == 0 && i < 10*kneeWindows); i++ {
		speed, err := t.workerWindow(w)(ctx, kneeWindow)
		if err != nil {
			return 0, errors.Join(err, w.Close())
		}
		fastest = max(fastest, speed)
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	if fastest <= 0 {
		return 0, fmt.Errorf("a chase through %d bytes: %w", size, errNothingDone)
	}
	return 1e9 / fastest, nil
}
