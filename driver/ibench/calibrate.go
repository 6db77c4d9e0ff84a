package ibench

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/child"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// The calibration protocol. Times are chosen so that all kernels of a release
// take little more than a minute; they are shorter than the design's for that
// reason.
const (
	levelDwell        = 30 * time.Millisecond // default Dwell of a kernel
	peakRuns          = 5                     // the median counts
	peakGain          = 1.03                  // more threads must gain this much
	peakVain          = 1                     // doublings in a row that may gain less
	curveStepPercent  = 5                     // of what bends
	verifyStepPercent = 10                    // of what is straight but for disturbances, and of checks
	gapMaxPercent     = 5                     // more is nonlinear
	rSquaredMin       = 0.98                  // less is nonlinear
	sourceTimeMax     = 8 * time.Second       // of one share
	calibrateTime     = 80 * time.Second      // for all kernels, on a quiet machine
	calibrateTimeout  = 90 * time.Second      // on any
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
	// Budget is how long it should take on a quiet machine; 0 is 80 s for all
	// kernels. A smaller one repeats less.
	Budget time.Duration
}

// fillCPUs sets the CPUs of a spec that says none to all that may be used.
func (s *CalibrateSpec) fillCPUs() error {
	if len(s.CPUs) > 0 {
		return nil
	}
	var err error
	s.CPUs, err = AllowedCPUs()
	return err
}

// CalibrationProgress tells how far a calibration is.
type CalibrationProgress struct {
	Source interference.Source // about to be calibrated
	Done   int                 // sources
	Total  int
}

// Calibrate measures every kernel of the machine, one after the other, each in
// a process of its own; it takes 80 s, 90 s at most, and loads the CPUs
// meanwhile. A source that fails is unsupported with the reason: only the end of
// ctx is an error. progress may be nil.
func Calibrate(ctx context.Context, spec CalibrateSpec, progress func(CalibrationProgress)) (Calibration, error) {
	if err := spec.fillCPUs(); err != nil {
		return Calibration{}, err
	}
	cpus := spec.CPUs
	sources := spec.Sources
	if len(sources) == 0 {
		for _, info := range interference.Sources() {
			sources = append(sources, info.Source)
		}
	}
	c := Calibration{Format: CalibrationFormat, Key: KeyOf(spec.Machine, cpus), At: time.Now().UTC()}
	budget := spec.Budget
	if budget <= 0 {
		budget = calibrateTime
	}
	soon := time.Now().Add(budget)
	bounded, cancel := context.WithTimeout(ctx, CalibrateBound(budget))
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
		c.Sources = append(c.Sources, calibrateChild(bounded, spec, source, cpus, share(time.Until(soon), shares(source), left)))
		left -= shares(source)
		if ctx.Err() != nil {
			return Calibration{}, fmt.Errorf("calibrate: %w", ctx.Err())
		}
	}
	return c, nil
}

// CalibrateBound is the most that a calibration of a budget takes, on any machine.
func CalibrateBound(budget time.Duration) time.Duration {
	return max(calibrateTimeout, budget*3/2)
}

// share is the time of a source: its part of the time left for all shares left,
// but no more than helps.
func share(left time.Duration, shares, of int) time.Duration {
	return time.Duration(shares) * min(max(left/time.Duration(of), time.Millisecond), sourceTimeMax)
}

// shares is the part of the time that a source needs, in that of most others.
func shares(s interference.Source) int {
	d, err := Describe(s)
	if err != nil {
		return 0
	}
	return max(1, d.Shares)
}

// runnable sums the shares of the sources the machine has a kernel for.
func runnable(m Machine, sources []interference.Source) int {
	n := 0
	for _, s := range sources {
		if Supported(m, s) == nil {
			n += shares(s)
		}
	}
	return n
}

// repairTime is the time for a source that is measured again.
const repairTime = 3 * sourceTimeMax / 2

// RepairCalibration measures the sources again that are not linear in the file at
// path, one at a time and for longer than Calibrate could, and returns its content
// with the better of both. On a machine shared with others a source may only have
// been measured at a bad moment.
func RepairCalibration(ctx context.Context, path string, spec CalibrateSpec, progress func(CalibrationProgress)) (Calibration, error) {
	if err := spec.fillCPUs(); err != nil {
		return Calibration{}, err
	}
	c, err := LoadCalibration(path, KeyOf(spec.Machine, spec.CPUs))
	if err != nil {
		return Calibration{}, fmt.Errorf("nothing to repair: %w", err)
	}
	var bad []int
	for i, s := range c.Sources {
		if s.Status == StatusNonlinear {
			bad = append(bad, i)
		}
	}
	for done, i := range bad {
		source := c.Sources[i].Source
		if progress != nil {
			progress(CalibrationProgress{Source: source, Done: done, Total: len(bad)})
		}
		again := calibrateChild(ctx, spec, source, spec.CPUs, time.Duration(shares(source))*repairTime)
		if ctx.Err() != nil {
			return Calibration{}, fmt.Errorf("calibrate: %w", ctx.Err())
		}
		if again.betterThan(c.Sources[i]) {
			c.Sources[i] = again
		}
	}
	c.At = time.Now().UTC()
	return c, nil
}

// betterThan says whether a second calibration of a source is the straighter one.
func (sc SourceCalibration) betterThan(other SourceCalibration) bool {
	measured := func(sc SourceCalibration) bool { return sc.PeakOpsPerSec > 0 }
	if sc.Status == StatusUnsupported || !measured(sc) {
		return false
	}
	return sc.Status == StatusSupported || !measured(other) || sc.MaxGapPercent < other.MaxGapPercent
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
		MaxDuration: should, Path: spec.Path, MaxBytes: spec.MaxBytes, Seed: spec.Seed,
	}, true)
	if err != nil {
		return unsupported(source, err)
	}
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	ended, err := child.Run(cmd)
	if err != nil {
		return unsupported(source, fmt.Errorf("calibration: %w", err))
	}
	select {
	case <-ended:
		return parseCalibrated(source, exitOf(cmd.ProcessState), out.Bytes(), complaint.String())
	case <-ctx.Done():
		_ = cmd.Process.Kill() // it may have ended just now
		<-ended
		return uncalibrated(source)
	}
}

func parseCalibrated(source interference.Source, exit Exit, out []byte, complaint string) SourceCalibration {
	if exit.Code != ExitStopped {
		return unsupported(source, fmt.Errorf("calibration %s: %s", exit, strings.TrimSpace(complaint)))
	}
	var sc SourceCalibration
	if err := json.Unmarshal(out, &sc); err != nil {
		return unsupported(source, fmt.Errorf("calibration gave no result: %w", err))
	}
	return sc
}

// calibrateMain is the child's side.
func calibrateMain(spec Spec, stdout io.Writer) int {
	ctx, cancel := untilSignalled()
	defer cancel()
	d, err := Describe(spec.Source)
	if err == nil {
		err = prepareProcess(spec)
	}
	ends := time.Now().Add(spec.MaxDuration)
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
// checks the curve in a second sweep. It repeats sweeps and doubtful levels as
// long as it can hope to be done by ends.
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
	scatter := 0.0
	err := withGauge(ctx, d, setup, func(g gauge, notes []string) error {
		sc.Notes = notes
		bench := &calibrationBench{
			measure: func(knob float64) (float64, error) { return g.impact(ctx, knob) },
			unit:    d.Knob == Duty, step: verifyStepPercent, passes: sweepPasses, dwell: d.Dwell + settleDwell, ends: ends,
		}
		if o, ok := g.(*occupancyGauge); ok {
			bench.step, bench.passes, bench.dwell = curveStepPercent, probePasses, o.took
		}
		if r, ok := g.(*rigGauge); ok && d.Knob == Rate {
			bench.correct = func(factor float64) {
				sc.scalePeak(r.rig.load.Threads, len(setup.CPUs), factor)
				r.rig.setPeak(r.rig.peakPerThread() * factor)
			}
		}
		if err := sc.findCurve(bench); err != nil {
			return err
		}
		scatter = bench.scatter()
		return sc.findReach(ctx, g)
	})
	if err != nil {
		return sc, fmt.Errorf("curve: %w", err)
	}
	sc.judge(scatter)
	return sc, nil
}

// judge decides whether the kernel is linear enough. scatter is by how many
// points measurements of one level differ, NaN where that is not known.
func (sc *SourceCalibration) judge(scatter float64) {
	cause := "; there was no time to measure a level again"
	switch {
	case scatter > doubtPercent:
		cause = fmt.Sprintf("; the same level measured again differs by %.0f points, so something else uses the resource: other work here, or on the host of a virtual machine", scatter)
	case scatter >= 0:
		cause = fmt.Sprintf("; the same level measured again differs by only %.1f points, so this is how the kernel works on this processor", scatter)
	}
	switch {
	case sc.MaxGapPercent > gapMaxPercent:
		sc.Status = StatusNonlinear
		sc.Reason = fmt.Sprintf("pressure and intensity differ by up to %.0f points", sc.MaxGapPercent) + cause
	case sc.RSquared < rSquaredMin:
		sc.Status = StatusNonlinear
		sc.Reason = fmt.Sprintf("pressure is not linear in intensity: R² is %.3f", sc.RSquared) + cause
	}
}

// findPeak measures the peak on all CPUs, doubling the number of threads, for
// kernels that choose it, until two doublings in a row gain less than 3 %: one may
// have been disturbed. A kernel may run on a part of the CPUs, and its peak is
// that of the part: so it is measured on one, two, four, …, with the number of
// threads found. A kernel that does not choose it is measured on one CPU and on
// all.
func (sc *SourceCalibration) findPeak(ctx context.Context, d Descriptor, setup Setup) error {
	limit, best, vain := 1, 0.0, 0
	if d.MaxThreads != nil {
		limit = d.MaxThreads(len(setup.CPUs))
	}
	for threads := 1; vain <= peakVain; threads = min(2*threads, limit) {
		peak, err := sc.addPeak(ctx, d, setup, threads)
		if err != nil {
			return err
		}
		if vain++; peak.OpsPerSec > peakGain*best {
			best, vain, sc.Threads = peak.OpsPerSec, 0, peak.Threads
		}
		if threads >= limit {
			break
		}
	}
	for _, cpus := range d.partsOf(len(setup.CPUs)) {
		part, threads := setup, sc.Threads
		part.CPUs = setup.CPUs[:cpus]
		if d.MaxThreads != nil {
			threads = min(threads, d.MaxThreads(cpus))
		}
		if _, err := sc.addPeak(ctx, d, part, threads); err != nil {
			return err
		}
	}
	return nil
}

// partsOf are the numbers of CPUs, fewer than all, on which a peak is measured.
func (d Descriptor) partsOf(all int) []int {
	var out []int
	for n := max(1, d.CPUsMin); n < all; n *= 2 {
		out = append(out, n)
		if d.MaxThreads == nil {
			break
		}
	}
	return out
}

// addPeak measures a peak and keeps it.
func (sc *SourceCalibration) addPeak(ctx context.Context, d Descriptor, setup Setup, threads int) (ThreadPeak, error) {
	if d.MaxThreads != nil {
		setup.Threads = threads
	}
	used, opsPerSec, err := peakOf(ctx, d, setup)
	if err != nil {
		return ThreadPeak{}, err
	}
	peak := ThreadPeak{CPUs: len(setup.CPUs), Threads: used, OpsPerSec: opsPerSec}
	sc.Peaks = append(sc.Peaks, peak)
	sc.PeakOpsPerSec = max(sc.PeakOpsPerSec, opsPerSec)
	return peak, nil
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

// refineRounds is how often a curve that misses is refined by its own check.
const refineRounds = 4

// findCurve sweeps the knob, and then checks how far the inverse of the curve
// found is from a straight line. What the check measured makes the curve finer
// where it misses, as long as there is time. Where every curve is farther off
// than the knob itself was, other work of the machine has bent them: the knob
// stays the intensity.
func (sc *SourceCalibration) findCurve(bench *calibrationBench) error {
	knobs, checks := steps(bench.step), steps(verifyStepPercent)
	bench.reserve = bench.passes * len(checks)
	impacts, err := bench.topped(knobs)
	if err != nil {
		return err
	}
	bench.reserve = 0
	sc.MaxGapPercent, sc.RSquared = maxGap(knobs, impacts), rSquared(knobs, impacts)
	for range refineRounds {
		curve := FitCurve(knobs, impacts)
		tried := make([]float64, len(checks))
		for i, x := range checks {
			tried[i] = curve.Knob(x)
		}
		checked, err := bench.sweep(tried, checks)
		if err != nil {
			return err
		}
		if gap := maxGap(checks, checked); gap <= sc.MaxGapPercent {
			sc.Curve, sc.MaxGapPercent, sc.RSquared = curve, gap, rSquared(checks, checked)
		}
		if bench.corrected() && bench.timeFor(len(checks)) {
			continue // with the same curve, now that the peak is right
		}
		if sc.MaxGapPercent <= doubtPercent || !bench.timeFor(len(checks)) {
			break
		}
		knobs, impacts = merge(knobs, impacts, tried, checked)
	}
	return nil
}

// merge adds points to those of a curve, in the order of the knobs.
func merge(knobs, impacts, moreKnobs, moreImpacts []float64) ([]float64, []float64) {
	type point struct{ knob, impact float64 }
	var all []point
	for i := range knobs {
		all = append(all, point{knobs[i], impacts[i]})
	}
	for i := range moreKnobs {
		all = append(all, point{moreKnobs[i], moreImpacts[i]})
	}
	slices.SortStableFunc(all, func(a, b point) int { return cmp.Compare(a.knob, b.knob) })
	outKnobs, outImpacts := make([]float64, len(all)), make([]float64, len(all))
	for i, p := range all {
		outKnobs[i], outImpacts[i] = p.knob, p.impact
	}
	return outKnobs, outImpacts
}

// findReach records how much of the whole capacity the kernel displaces at
// intensity 100, where that can be measured.
func (sc *SourceCalibration) findReach(ctx context.Context, g gauge) error {
	o, ok := g.(*occupancyGauge)
	if !ok {
		return nil
	}
	reach, err := o.reach(ctx)
	if err != nil {
		return err
	}
	sc.ReachPercent = reach
	return nil
}

// steps returns 0 to 100 percent in steps of that size.
func steps(percent float64) []float64 {
	var out []float64
	for x := 0.0; x <= 100; x += percent {
		out = append(out, x)
	}
	return out
}

// maxGap is the largest difference between intensities and impacts, in points.
func maxGap(intensities, impacts []float64) float64 {
	gap := 0.0
	for i, x := range intensities {
		gap = max(gap, math.Abs(impacts[i]-x))
	}
	return gap
}

// rSquared is the share of the impacts' variance that the line impact =
// intensity explains: 1 less the squared distance from that line over the one
// from the mean. Stricter than that of a fitted line, which forgives a wrong
// slope; not a number where all impacts are equal.
func rSquared(intensities, impacts []float64) float64 {
	mean := 0.0
	for _, y := range impacts {
		mean += y / float64(len(impacts))
	}
	residual, total := 0.0, 0.0
	for i, y := range impacts {
		residual += (y - intensities[i]) * (y - intensities[i])
		total += (y - mean) * (y - mean)
	}
	return 1 - residual/total
}
