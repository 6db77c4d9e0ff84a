package network

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Curve is the bandwidth of one server over time.
type Curve struct {
	Step   time.Duration
	Values []float64 // bytes per second, by step
}

// Superposition is the temporal model of one server: a sum of known shapes, each on
// its own interval (Delimitrou 2015, §C.3, eq. C.1). It knows no source and no
// destination.
type Superposition struct {
	StepSeconds float64 `json:"step_s"`
	Steps       int     `json:"steps"`
	Terms       []Term  `json:"terms"`
	// Deviation is the mean distance from the curve smoothed over an hour, and
	// DeviationSteps that from the curve itself, in percent of its mean.
	Deviation      Percent `json:"deviation"`
	DeviationSteps Percent `json:"deviation_steps"`
	Noise          *Noise  `json:"noise,omitempty"` // nil: there is none
}

// Term is one shape: Amplitude times its value at every step of [From, To). Eq. C.1
// has densities without amplitudes, which could not have the unit of a bandwidth.
type Term struct {
	Shape     Shape   `json:"shape"`
	From      int     `json:"from"`
	To        int     `json:"to"`
	Amplitude float64 `json:"amplitude"` // bytes per second at the highest point
	// Location and Scale are in steps: of a Gaussian the middle and the standard
	// deviation, of an exponential the time constant is Scale, of a Poisson Location is
	// the step of its peak and Scale its λ, of a Zipf Scale is the exponent.
	Location float64 `json:"location"`
	Scale    float64 `json:"scale"`
}

// Shape is the form of a term.
type Shape string

// The shapes.
const (
	Constant         Shape = "constant"
	Gaussian         Shape = "gaussian"
	ExponentialRise  Shape = "exponential-rise"
	ExponentialDecay Shape = "exponential-decay"
	Poisson          Shape = "poisson"
	Zipf             Shape = "zipf"
)

// fitted are the shapes that are tried, in this order.
var fitted = [...]Shape{Gaussian, ExponentialRise, ExponentialDecay, Poisson, Zipf}

// value is the shape at a step of its interval, 1 at its highest point.
func (t Term) value(step int) float64 {
	u := float64(step - t.From)
	switch t.Shape {
	case Constant:
		return 1
	case Gaussian:
		z := (float64(step) - t.Location) / t.Scale
		return math.Exp(-z * z / 2)
	case ExponentialRise:
		return math.Exp(-float64(t.To-1-step) / t.Scale)
	case ExponentialDecay:
		return math.Exp(-u / t.Scale)
	case Poisson:
		// λ^k e^{−λ}/k! over its value at k = λ, with as many steps for a k as put the
		// peak where it is.
		width := (t.Location - float64(t.From) + 1) / t.Scale
		return math.Exp(logPoisson((u+1)/width, t.Scale) - logPoisson(t.Scale, t.Scale))
	case Zipf:
		return math.Pow(1+u, -t.Scale)
	default:
		return 0
	}
}

func logPoisson(k, lambda float64) float64 {
	g, _ := math.Lgamma(k + 1)
	return k*math.Log(lambda) - lambda - g
}

// Noise is what is left over the terms: a distribution around 0.
type Noise struct {
	Distribution string  `json:"distribution"` // "normal" or "laplace"
	Scale        float64 `json:"scale"`        // standard deviation, or mean absolute value
	// Distance is the largest difference of the distribution functions (Kolmogorov and
	// Smirnov).
	Distance float64 `json:"distance"`
}

// The rules of fitting (chosen by us: the source gives no method).
const (
	floorQuantile   = 0.05 // of the curve: the constant term
	smoothing       = time.Hour
	mostTerms       = 12
	enoughDeviation = 5.0 // percent; the study's is below 4.9
	leastGain       = 0.5 // percent points that a further term must gain
	intervalsTried  = 3   // those in which most is left
	evaluations     = 160 // of one shape on one interval
)

// ErrCurve: a curve cannot be fitted.
var ErrCurve = errors.New("no curve")

// FitCurve fits a superposition by least squares: the floor first, then always the
// shape and interval that lower the squared error most, all amplitudes anew after
// each. It ends when the mean deviation is below 5 %, a further term gains less than
// half a point, or there are twelve.
func FitCurve(c Curve) (Superposition, error) {
	n := len(c.Values)
	if n < 2 || c.Step <= 0 {
		return Superposition{}, fmt.Errorf("%w: %d values, %s apart", ErrCurve, n, c.Step)
	}
	for i, v := range c.Values {
		if !amount(v) {
			return Superposition{}, fmt.Errorf("%w: value %d is %g", ErrCurve, i, v)
		}
	}
	smooth := c.smoothed()
	s := Superposition{StepSeconds: c.Step.Seconds(), Steps: n, Deviation: unknownPercent, DeviationSteps: unknownPercent}
	s.Terms = []Term{{Shape: Constant, To: n, Amplitude: quantileOf(smooth, floorQuantile)}}
	if meanOf(smooth) == 0 {
		return s, nil // nothing was sent
	}
	s.Deviation = deviationOf(smooth, s.curve())
	for len(s.Terms) < mostTerms && s.Deviation >= enoughDeviation {
		next, found := s.nextTerm(smooth, int(smoothing/c.Step))
		if !found {
			break
		}
		longer := s
		longer.Terms = append(slices.Clone(s.Terms), next)
		longer.improve(smooth)
		longer.Deviation = deviationOf(smooth, longer.curve())
		if s.Deviation-longer.Deviation < leastGain {
			break
		}
		s = longer
	}
	s.finish(c.Values)
	return s, nil
}

// smoothed is the moving average over an hour; near the ends over what there is.
func (c Curve) smoothed() []float64 {
	half := int(smoothing/c.Step) / 2
	sums := runningSum(c.Values)
	out := make([]float64, len(c.Values))
	for i := range out {
		from, to := max(0, i-half), min(len(out), i+half+1)
		out[i] = (sums[to] - sums[from]) / float64(to-from)
	}
	return out
}

func quantileOf(values []float64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(q*float64(len(sorted)-1))]
}

func meanOf(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// deviationOf is the mean of |y − x| over the mean of x, in percent.
func deviationOf(x, y []float64) Percent {
	away := 0.0
	for i := range x {
		away += math.Abs(y[i] - x[i])
	}
	return PercentOf(away/float64(len(x)), meanOf(x))
}

// curve is the sum of the terms, by step.
func (s Superposition) curve() []float64 {
	out := make([]float64, s.Steps)
	for _, t := range s.Terms {
		for i := t.From; i < t.To; i++ {
			out[i] += t.Amplitude * t.value(i)
		}
	}
	return out
}

// nextTerm finds the shape that lowers the squared error most.
func (s Superposition) nextTerm(x []float64, hour int) (Term, bool) {
	left := s.curve()
	for i := range left {
		left[i] = x[i] - left[i]
	}
	var best Term
	gained := 0.0
	for _, in := range intervalsOf(left, max(1, hour)) {
		for _, shape := range fitted {
			if t, gain := fitShape(shape, left, in[0], in[1]); gain > gained {
				best, gained = t, gain
			}
		}
	}
	return best, gained > 0
}

// intervalsOf splits what is left at its minima (the lowest of an hour on both
// sides) and returns the parts in which most is left, and the whole.
func intervalsOf(left []float64, hour int) [][2]int {
	cuts := []int{0}
	for i := 1; i < len(left)-1; i++ {
		around := left[max(0, i-hour):min(len(left), i+hour+1)]
		if left[i] == slices.Min(around) && i-cuts[len(cuts)-1] > hour {
			cuts = append(cuts, i)
		}
	}
	cuts = append(cuts, len(left))
	var parts [][2]int
	for i := 1; i < len(cuts); i++ {
		if cuts[i]-cuts[i-1] > 2 {
			parts = append(parts, [2]int{cuts[i-1], cuts[i]})
		}
	}
	energy := func(p [2]int) float64 {
		sum := 0.0
		for _, v := range left[p[0]:p[1]] {
			if v > 0 {
				sum += v * v
			}
		}
		return sum
	}
	slices.SortStableFunc(parts, func(a, b [2]int) int { return cmp.Compare(energy(b), energy(a)) })
	parts = parts[:min(intervalsTried, len(parts))]
	return append(parts, [2]int{0, len(left)})
}

// fitShape fits one shape to what is left on an interval, and returns by how much it
// lowers the squared error. The amplitude follows from the shape:
// a = Σ r φ / Σ φ², which lowers the error by (Σ r φ)² / Σ φ².
func fitShape(shape Shape, left []float64, from, to int) (Term, float64) {
	t := Term{Shape: shape, From: from, To: to}
	length := float64(to - from)
	peak := from
	for i := from; i < to; i++ {
		if left[i] > left[peak] {
			peak = i
		}
	}
	// Parameters are searched as logarithms (scales) and as they are (places).
	var start []float64
	set := func(t *Term, p []float64) {}
	bounded := func(logarithm, low, high float64) float64 { return min(high, max(low, math.Exp(logarithm))) }
	switch shape {
	case Gaussian:
		start = []float64{float64(peak), math.Log(length / 6)}
		set = func(t *Term, p []float64) {
			t.Location, t.Scale = min(float64(to), max(float64(from)-1, p[0])), bounded(p[1], 0.5, 4*length)
		}
	case Poisson:
		start = []float64{float64(peak), math.Log(4)}
		set = func(t *Term, p []float64) {
			t.Location, t.Scale = min(float64(to), max(float64(from), p[0])), bounded(p[1], 0.2, 200)
		}
	case Zipf:
		start = []float64{0}
		set = func(t *Term, p []float64) { t.Location, t.Scale = float64(from), bounded(p[0], 0.01, 20) }
	default:
		start = []float64{math.Log(length / 3)}
		set = func(t *Term, p []float64) { t.Location, t.Scale = float64(from), bounded(p[0], 0.5, 10*length) }
	}
	gain := func(p []float64) float64 {
		q := t
		set(&q, p)
		along, square := q.project(left)
		if along <= 0 || square == 0 {
			return 0 // only what adds to the curve is a shape of it
		}
		return along * along / square
	}
	best := maximum(gain, start)
	set(&t, best)
	along, square := t.project(left)
	if along <= 0 || square == 0 {
		return t, 0
	}
	t.Amplitude = along / square
	return t, along * along / square
}

// project returns Σ r φ and Σ φ² over the interval.
func (t Term) project(left []float64) (along, square float64) {
	for i := t.From; i < t.To; i++ {
		v := t.value(i)
		along += v * left[i]
		square += v * v
	}
	return along, square
}

// sweeps is how often the terms are fitted again after a new one (chosen by us:
// further sweeps change the deviation by less than a term must gain).
const sweeps = 3

// improve fits every term again to what the others leave, on its interval and on the
// whole, as each was found while those after it were missing; then all amplitudes.
func (s *Superposition) improve(x []float64) {
	s.refit(x)
	for range sweeps {
		for j := 1; j < len(s.Terms); j++ {
			left := s.curve()
			term := s.Terms[j]
			for i := range left {
				left[i] = x[i] - left[i]
				if i >= term.From && i < term.To {
					left[i] += term.Amplitude * term.value(i)
				}
			}
			gained := 0.0
			if along, square := term.project(left); along > 0 && square > 0 {
				gained = along * along / square
			}
			for _, in := range [][2]int{{term.From, term.To}, {0, s.Steps}} {
				if t, gain := fitShape(term.Shape, left, in[0], in[1]); gain > gained {
					s.Terms[j], gained = t, gain
				}
			}
		}
		s.refit(x)
	}
}

// refit fits all amplitudes together by least squares. Where one would be negative,
// or they cannot be told apart, they stay.
func (s *Superposition) refit(x []float64) {
	columns := mat.NewDense(s.Steps, len(s.Terms), nil)
	for j, t := range s.Terms {
		for i := t.From; i < t.To; i++ {
			columns.Set(i, j, t.value(i))
		}
	}
	var amplitudes mat.VecDense
	if err := amplitudes.SolveVec(columns, mat.NewVecDense(len(x), x)); err != nil {
		return
	}
	for j := range s.Terms {
		if !amount(amplitudes.AtVec(j)) {
			return
		}
	}
	terms := slices.Clone(s.Terms)
	for j := range terms {
		terms[j].Amplitude = amplitudes.AtVec(j)
	}
	if refitted := (Superposition{Steps: s.Steps, Terms: terms}); squaredError(x, refitted.curve()) <= squaredError(x, s.curve()) {
		s.Terms = terms
	}
}

func squaredError(x, y []float64) float64 {
	sum := 0.0
	for i := range x {
		sum += (y[i] - x[i]) * (y[i] - x[i])
	}
	return sum
}

// finish measures how far the terms are from the curve itself, and fits the noise.
func (s *Superposition) finish(values []float64) {
	curve := s.curve()
	s.DeviationSteps = deviationOf(values, curve)
	left := make([]float64, len(values))
	square, absolute := 0.0, 0.0
	for i := range left {
		left[i] = values[i] - curve[i]
		square += left[i] * left[i]
		absolute += math.Abs(left[i])
	}
	if square == 0 {
		return
	}
	slices.Sort(left)
	n := float64(len(left))
	normal, laplace := math.Sqrt(square/n), absolute/n
	s.Noise = &Noise{"normal", normal, distanceTo(left, distuv.Normal{Sigma: normal}.CDF)}
	if d := distanceTo(left, distuv.Laplace{Scale: laplace}.CDF); d < s.Noise.Distance {
		s.Noise = &Noise{"laplace", laplace, d}
	}
}

// distanceTo is Kolmogorov and Smirnov's distance of sorted values from a
// distribution.
func distanceTo(sorted []float64, cdf func(float64) float64) float64 {
	d, n := 0.0, float64(len(sorted))
	for i, v := range sorted {
		p := cdf(v)
		d = max(d, p-float64(i)/n, float64(i+1)/n-p)
	}
	return d
}

// Generate draws a curve: the terms and noise around them, never below 0.
func (s Superposition) Generate(random *rand.Rand) Curve {
	out := Curve{Step: spanOf(s.StepSeconds), Values: s.curve()}
	if s.Noise == nil {
		return out
	}
	var draw func() float64
	switch s.Noise.Distribution {
	case "laplace":
		draw = distuv.Laplace{Scale: s.Noise.Scale, Src: random}.Rand
	default:
		draw = distuv.Normal{Sigma: s.Noise.Scale, Src: random}.Rand
	}
	for i := range out.Values {
		out.Values[i] = max(0, out.Values[i]+draw())
	}
	return out
}

// check refuses a superposition that cannot be drawn, as a file may hold one.
func (s Superposition) check() error {
	if !(s.StepSeconds > 0) || s.Steps < 0 || s.Steps > maxBins {
		return fmt.Errorf("%w: %d steps of %g s", ErrCurve, s.Steps, s.StepSeconds)
	}
	for _, t := range s.Terms {
		known := t.Shape == Constant || slices.Contains(fitted[:], t.Shape)
		if !known || t.From < 0 || t.To > s.Steps || t.From > t.To || !amount(t.Amplitude) || !amount(math.Abs(t.Location)) || !amount(t.Scale) || (t.Scale == 0 && t.Shape != Constant) {
			return fmt.Errorf("%w: a term %+v", ErrCurve, t)
		}
	}
	if n := s.Noise; n != nil && (!amount(n.Scale) || (n.Distribution != "normal" && n.Distribution != "laplace")) {
		return fmt.Errorf("%w: noise %+v", ErrCurve, *n)
	}
	return nil
}

// FitServers fits the temporal model of every server, in parallel.
func FitServers(ctx context.Context, a *Activity, workers int, progress func(share float64)) ([]Superposition, error) {
	out := make([]Superposition, a.Topology.Servers())
	var next, done atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for worker := range max(1, workers) {
		group.Go(func() error {
			for {
				i := int(next.Add(1) - 1)
				if i >= len(out) || ctx.Err() != nil {
					return ctx.Err()
				}
				var err error
				if out[i], err = FitCurve(a.Curve(i)); err != nil {
					return fmt.Errorf("server %d: %w", i, err)
				}
				if n := done.Add(1); worker == 0 {
					tell(progress, float64(n)/float64(len(out)))
				}
			}
		})
	}
	return out, group.Wait()
}
