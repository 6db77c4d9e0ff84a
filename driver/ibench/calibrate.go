package ibench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// The calibration protocol. Times are chosen so that all kernels of a release
// take 20 s at most; they are shorter than the design's for that reason.
const (
	levelDwell        = 30 * time.Millisecond // default Dwell of a kernel
	peakRuns          = 5                     // the median counts
	peakGain          = 1.03                  // more threads must gain this much
	curveStepPercent  = 5
	verifyStepPercent = 10
	gapMaxPercent     = 5                // more is nonlinear
	calibrateTime     = 20 * time.Second // for all kernels, on a quiet machine
	calibrateTimeout  = 30 * time.Second // on any
)

// CalibrateSpec says how to calibrate.
type CalibrateSpec struct {
	Executable string   // as in Spec
	Arguments  []string // as in Spec
	Machine    Machine
	CPUs       []int                 // empty is every CPU this process may use
	Sources    []interference.Source // empty is every source
	Path       string                // directory on the disk to calibrate; without it storage is unsupported
	MaxBytes   int64
	Seed       uint64
}

// CalibrationProgress tells how far a calibration is.
type CalibrationProgress struct {
	Source interference.Source // about to be calibrated
	Done   int                 // sources
	Total  int
}

// Calibrate measures every kernel of the machine, one after the other, each in
// a process of its own; it takes about 20 s, 30 s at most, and loads the CPUs meanwhile. A
// source that fails is unsupported with the reason: only the end of ctx is an
// error. progress may be nil.
func Calibrate(ctx context.Context, spec CalibrateSpec, progress func(CalibrationProgress)) (Calibration, error) {
	cpus := spec.CPUs
	if len(cpus) == 0 {
		var err error
		if cpus, err = AllowedCPUs(); err != nil {
			return Calibration{}, err
		}
	}
	sources := spec.Sources
	if len(sources) == 0 {
		for _, info := range interference.Sources() {
			sources = append(sources, info.Source)
		}
	}
	c := Calibration{Format: CalibrationFormat, Key: KeyOf(spec.Machine, cpus), At: time.Now().UTC()}
	soon := time.Now().Add(calibrateTime)
	bounded, cancel := context.WithTimeout(ctx, calibrateTimeout)
	defer cancel()
	left := runnable(spec.Machine, sources)
	for i, source := range sources {
		if progress != nil {
			progress(CalibrationProgress{Source: source, Done: i, Total: len(sources)})
		}
		if err := Supported(spec.Machine, source); err != nil {
			c.Sources = append(c.Sources, unsupported(source, err))
			continue
		}
		c.Sources = append(c.Sources, calibrateChild(bounded, spec, source, cpus, max(time.Until(soon)/time.Duration(left), time.Millisecond)))
		left--
		if ctx.Err() != nil {
			return Calibration{}, fmt.Errorf("calibrate: %w", ctx.Err())
		}
	}
	return c, nil
}

// runnable counts the sources the machine has a kernel for.
func runnable(m Machine, sources []interference.Source) int {
	n := 0
	for _, s := range sources {
		if Supported(m, s) == nil {
			n++
		}
	}
	return n
}

// EnsureCalibration returns the calibration in the file at path if it belongs
// to the machine, and otherwise calibrates and saves it there. warn hears why
// a file that exists was not used.
func EnsureCalibration(ctx context.Context, path string, spec CalibrateSpec, progress func(CalibrationProgress), warn func(error)) (Calibration, error) {
	if len(spec.CPUs) == 0 {
		var err error
		if spec.CPUs, err = AllowedCPUs(); err != nil {
			return Calibration{}, err
		}
	}
	c, err := LoadCalibration(path, KeyOf(spec.Machine, spec.CPUs))
	if err == nil {
		return c, nil
	}
	if !errors.Is(err, ErrNoCalibration) {
		warn(fmt.Errorf("calibrating anew: %w", err))
	}
	if c, err = Calibrate(ctx, spec, progress); err != nil {
		return Calibration{}, err
	}
	return c, c.Save(path)
}

// unsupported is the calibration of a kernel that cannot run.
func unsupported(s interference.Source, err error) SourceCalibration {
	return SourceCalibration{Source: s, Status: StatusUnsupported, Reason: reasonOf(err, s)}
}

// uncalibrated is the calibration of a kernel that runs, but was not measured
// to the end: nothing says that it is linear.
func uncalibrated(s interference.Source) SourceCalibration {
	return SourceCalibration{Source: s, Status: StatusNonlinear, Reason: "calibration ran out of time: whether it is linear is not known"}
}

// calibrateChild calibrates one source in a child process, which dies with
// this one and should take the time at most.
func calibrateChild(ctx context.Context, spec CalibrateSpec, source interference.Source, cpus []int, should time.Duration) SourceCalibration {
	if ctx.Err() != nil {
		return uncalibrated(source)
	}
	cmd, err := command(Spec{
		Executable: spec.Executable, Arguments: spec.Arguments, Source: source, CPUs: cpus,
		MaxDuration: should, DieWithParent: true, Path: spec.Path, MaxBytes: spec.MaxBytes, Seed: spec.Seed,
	}, "-calibrate")
	if err != nil {
		return unsupported(source, err)
	}
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	exited := make(chan Exit, 1)
	if err := startAndReap(cmd, exited); err != nil {
		return unsupported(source, fmt.Errorf("calibration: %w", err))
	}
	select {
	case exit := <-exited:
		return parseCalibrated(source, exit, out.Bytes(), complaint.String())
	case <-ctx.Done():
		_ = cmd.Process.Kill() // it may have ended just now
		<-exited
		return uncalibrated(source)
	}
}

func parseCalibrated(source interference.Source, exit Exit, out []byte, complaint string) SourceCalibration {
	if exit.Code != ExitStopped {
		return unsupported(source, fmt.Errorf("calibration %s: %s", exit, strings.TrimSpace(complaint)))
	}
	var sc SourceCalibration
	if err := json.Unmarshal(out, &sc); err != nil {
		return unsupported(source, fmt.Errorf("calibration answered with no result: %w", err))
	}
	return sc
}

// calibrateMain is the child's side.
func calibrateMain(ctx context.Context, spec Spec, stdout io.Writer) int {
	ends := time.Now().Add(spec.MaxDuration)
	d, err := Describe(spec.Source)
	var setup Setup
	if err == nil {
		setup, _, err = setupOf(spec)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "kernel:", err)
		return ExitFailed
	}
	sc, err := calibrateSource(ctx, d, setup, ends)
	if err != nil {
		sc = unsupported(d.Source, err)
	}
	if err := json.NewEncoder(stdout).Encode(sc); err != nil {
		fmt.Fprintln(os.Stderr, "kernel:", err)
		return ExitFailed
	}
	return ExitStopped
}

// calibrateSource finds capacity, peak and transfer curve of one kernel and
// checks the curve in a second pass. It repeats doubtful levels as long as it
// can hope to be done by ends.
func calibrateSource(ctx context.Context, d Descriptor, setup Setup, ends time.Time) (SourceCalibration, error) {
	sc := SourceCalibration{Source: d.Source, Unit: d.Unit, Status: StatusSupported}
	if brief := d.BriefBytes; brief > 0 && (setup.MaxBytes == 0 || setup.MaxBytes > brief) {
		setup.MaxBytes = brief
	}
	if d.Knee != nil {
		sweep, err := d.Knee(ctx, setup)
		if err != nil {
			return sc, fmt.Errorf("knee: %w", err)
		}
		sc.CapacityBytes, sc.KneeBytes = sweep.capacity()
		setup.Calibration.CapacityBytes = sc.CapacityBytes
	}
	if err := sc.findPeak(ctx, d, setup); err != nil {
		return sc, fmt.Errorf("peak: %w", err)
	}
	setup.Threads = sc.Threads
	setup.Calibration = sc
	r, err := openRig(ctx, d, setup)
	if err != nil {
		return sc, err
	}
	sc.Notes = r.load.Notes
	bench := &calibrationBench{
		descriptor: d, rig: r, peak: sc.PeakOpsPerSec, ends: ends,
		left: 100/curveStepPercent + 1 + 100/verifyStepPercent + 1,
	}
	err = sc.findCurve(func(knob, expected float64) (float64, error) { return bench.sure(ctx, knob, expected) })
	if err = errors.Join(err, r.end()); err != nil {
		return sc, fmt.Errorf("curve: %w", err)
	}
	if sc.MaxGapPercent > gapMaxPercent {
		sc.Status = StatusNonlinear
		sc.Reason = fmt.Sprintf("pressure and intensity differ by up to %.0f points", sc.MaxGapPercent)
	}
	return sc, nil
}

// findPeak raises the number of threads, doubling it, until the gain is below
// 3 %.
func (sc *SourceCalibration) findPeak(ctx context.Context, d Descriptor, setup Setup) error {
	limit := 1
	if d.MaxThreads != nil {
		limit = d.MaxThreads(len(setup.CPUs))
	}
	for threads := 1; ; threads = min(2*threads, limit) {
		if d.MaxThreads != nil {
			setup.Threads = threads
		}
		used, peak, err := peakOf(ctx, d, setup)
		if err != nil {
			return err
		}
		gained := peak > peakGain*sc.PeakOpsPerSec
		if peak > sc.PeakOpsPerSec {
			sc.PeakOpsPerSec, sc.Threads = peak, used
		}
		sc.Peaks = append(sc.Peaks, ThreadPeak{Threads: used, OpsPerSec: peak})
		if !gained || threads >= limit {
			return nil
		}
	}
}

// peakOf returns the median speed of short runs at the top, and the number of
// threads that reached it together.
func peakOf(ctx context.Context, d Descriptor, setup Setup) (threads int, opsPerSec float64, err error) {
	r, err := openRig(ctx, d, setup)
	if err != nil {
		return 0, 0, err
	}
	threads = r.load.Threads
	runs := make([]float64, 0, peakRuns)
	for range peakRuns {
		done, err := r.measure(ctx, 1, d.Dwell)
		if err != nil {
			return 0, 0, errors.Join(err, r.end())
		}
		runs = append(runs, done.opsPerSec(threads))
	}
	opsPerSec = median(runs)
	if err := r.end(); err != nil {
		return 0, 0, err
	}
	if !(opsPerSec > 0) {
		return 0, 0, errors.New("the kernel did nothing at intensity 100")
	}
	return threads, opsPerSec, nil
}

// opsPerSec is the speed of all threads together over wall time.
func (t totals) opsPerSec(threads int) float64 {
	return t.ops / t.wall.Seconds() * float64(threads)
}

// calibrationBench measures the impact of knobs.
type calibrationBench struct {
	descriptor Descriptor
	rig        *rig
	peak       float64 // operations per second
	// Levels are measured again only as long as the rest still fits.
	ends time.Time
	left int // levels to measure
}

// repeatRuns is how often a surprising level is measured again.
const repeatRuns = 2

// sure measures the impact of a knob that should have the impact expected. A
// surprise may be the machine's other work: it is measured again where there
// is time, and the median counts.
func (b *calibrationBench) sure(ctx context.Context, knobPercent, expectedPercent float64) (float64, error) {
	impact, err := b.impact(ctx, knobPercent)
	b.left--
	if err != nil || math.Abs(impact-expectedPercent) <= gapMaxPercent || !b.mayRepeat() {
		return impact, err
	}
	runs := []float64{impact}
	for range repeatRuns {
		impact, err := b.impact(ctx, knobPercent)
		if err != nil {
			return 0, err
		}
		runs = append(runs, impact)
	}
	return median(runs), nil
}

func (b *calibrationBench) mayRepeat() bool {
	needed := time.Duration(b.left+repeatRuns) * (b.descriptor.Dwell + settleDwell)
	return time.Now().Add(needed).Before(b.ends)
}

// impact returns the impact of a knob in percent. Rate and duty kernels: the
// share of the peak reached. Footprint kernels without hardware counters: the
// share of the capacity walked, times the share of the refreshes it was meant
// to get.
func (b *calibrationBench) impact(ctx context.Context, knobPercent float64) (float64, error) {
	done, err := b.rig.measure(ctx, knobPercent/100, b.descriptor.Dwell)
	if err != nil {
		return 0, err
	}
	if b.descriptor.Knob != Footprint {
		return min(100, 100*done.opsPerSec(b.rig.load.Threads)/b.peak), nil
	}
	if done.demandOps <= 0 {
		return 0, nil // nothing is walked
	}
	return knobPercent * min(1, done.ops/done.demandOps), nil
}

// findCurve measures the impact of growing knobs, and then how far the inverse
// of that curve is from a straight line. Where it is farther than the knob
// itself was, other work of the machine has bent the curve: the knob stays the
// intensity. impact measures one knob that should have the impact expected.
func (sc *SourceCalibration) findCurve(impact func(knobPercent, expectedPercent float64) (float64, error)) error {
	var knobs, impacts []float64
	straightGap := 0.0
	for knob := 0.0; knob <= 100; knob += curveStepPercent {
		got, err := impact(knob, knob)
		if err != nil {
			return err
		}
		knobs, impacts = append(knobs, knob), append(impacts, got)
		straightGap = max(straightGap, math.Abs(got-knob))
	}
	sc.Curve = FitCurve(knobs, impacts)
	for x := 0.0; x <= 100; x += verifyStepPercent {
		got, err := impact(sc.Curve.Knob(x), x)
		if err != nil {
			return err
		}
		sc.MaxGapPercent = max(sc.MaxGapPercent, math.Abs(got-x))
	}
	if straightGap < sc.MaxGapPercent {
		sc.Curve, sc.MaxGapPercent = Curve{}, straightGap
	}
	return nil
}
