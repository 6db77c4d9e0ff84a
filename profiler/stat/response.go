package stat

import (
	"math"
	"slices"
)

// LevelRatio is one measured log ratio at a level of pressure.
type LevelRatio struct {
	Level int     // 1 to the number of levels
	Log   float64 // ln(with pressure / without)
}

// NoiseGuess is what is known of the noise of a log ratio before a fit: sigma
// lies within a factor e^±Spread with 68 %.
type NoiseGuess struct {
	Sigma  float64
	Spread float64
}

// Response is what is known of a performance as pressure rises from level 0 to
// the last: f, the log ratio to the performance without pressure, never rises.
type Response struct {
	lost   []float64   // P(f < bound) by level
	values []float64   // of f, descending: the grid
	width  []float64   // of a value's cell
	at     [][]float64 // P(f = value) by level
	sigma  float64
}

// LevelMean is the mean of several log ratios at one level of pressure, as it is kept of a
// measurement: Error is its standard error, > 0, and Count how many ratios it is of.
type LevelMean struct {
	Level int // 1 to the number of levels
	Log   float64
	Error float64
	Count int
}

// FitResponse gives the posterior of a response that does not rise, from any
// number of ratios on any of its levels.
//
// The model is a hidden Markov chain along the levels. Its state is the value of
// f on a grid, and how steeply it falls: from one level to the next f falls by an
// exponential amount whose mean depends on the steepness (four of them, from all
// but flat to a cliff), and the steepness is kept with probability 0.85. Thus
// knees, lines and steps are all likely, and neighbouring levels inform each
// other. A ratio is f plus Student-t noise with 4 degrees of freedom, which bears
// outliers, and an unknown scale, which is integrated over five values around
// the guess. Sums run forwards and backwards over the chain, so the posterior is
// exact but for the grids (Rabiner 1989, §III; the exponential steps make one
// step O(values) instead of O(values²)).
//
// Ratios of levels outside 1 … levels panic; logBound must be negative.
// O(levels · values · steepnesses · scales), about 0.3 million products.
func FitResponse(ratios []LevelRatio, levels int, logBound float64, n NoiseGuess) Response {
	chain := newResponseChain(levels, logBound)
	var parts []responsePart
	best := math.Inf(-1)
	for _, scale := range noiseScales {
		sigma := n.Sigma * math.Exp(scale*n.Spread)
		p := chain.solve(chain.emit(ratios, sigma))
		p.sigma = sigma
		p.logWeight -= scale * scale / 2
		best = max(best, p.logWeight)
		parts = append(parts, p)
	}
	return chain.mixed(parts, best)
}

// FitMeans is FitResponse for what a measurement left behind: the means of levels. Their
// errors are taken as known. A mean of n ratios has n times the logarithm of the likelihood
// of one, which is as sharp as its error says and bears outliers the less the more
// ratios it is of.
//
// believed is what else is known of where the bound is lost, as factors > 0 to the
// probabilities of Crossings; nil is nothing. The whole response follows it: the weight of a
// response that loses the bound at level j is a product over the levels of what it has
// above the bound there, so the sums over the chain stay exact.
func FitMeans(means []LevelMean, levels int, logBound float64, believed []float64) Response {
	chain := newResponseChain(levels, logBound)
	chain.emitMeans(means, believed)
	return chain.mixed([]responsePart{chain.solve(0)}, 0)
}

// mixed weighs the posteriors for several scales of the noise.
func (c *responseChain) mixed(parts []responsePart, best float64) Response {
	out := Response{values: c.values, width: c.width}
	total := 0.0
	for range c.levels + 1 {
		out.at = append(out.at, make([]float64, len(c.values)))
	}
	for _, p := range parts {
		w := math.Exp(p.logWeight - best)
		total += w
		out.sigma += w * p.sigma
		for j, at := range out.at {
			for k, v := range p.at[j] {
				at[k] += w * v
			}
		}
	}
	out.sigma /= total
	for _, at := range out.at {
		for k := range at {
			at[k] /= total
		}
	}
	out.lost = out.below(c.bound)
	return out
}

// below is P(f < bound) by level.
func (r Response) below(bound float64) []float64 {
	out := make([]float64, len(r.at))
	for j, at := range r.at {
		for k, p := range at {
			if r.values[k] < bound {
				out[j] += p
			}
		}
	}
	return out
}

// Sigma is the scale of the noise of one ratio.
func (r Response) Sigma() float64 { return r.sigma }

// HalfWidth is half of the 95 % interval of the mean of n ratios at one level, of
// themselves alone: asymptotically the location of n Student samples varies by
// σ²·(ν+3)/((ν+1)·n) (Lange, Little and Taylor 1989, appendix B).
func (r Response) HalfWidth(n int) float64 {
	return Normal95 * r.sigma * math.Sqrt((freedom+3.0)/(freedom+1)/float64(n))
}

// Normal95 is Φ⁻¹(0.975): so many standard deviations to either side are 95 %.
const Normal95 = 1.959963984540054

// Mean is the expected log ratio at a level.
func (r Response) Mean(level int) float64 {
	mean := 0.0
	for k, p := range r.at[level] {
		mean += p * r.values[k]
	}
	return mean
}

// Deviation is the standard deviation of the log ratio at a level, that of rounding to the
// grid included.
func (r Response) Deviation(level int) float64 {
	mean, square := r.Mean(level), 0.0
	for k, p := range r.at[level] {
		d, width := r.values[k]-mean, r.width[k]
		square += p * (d*d + width*width/12)
	}
	return math.Sqrt(square)
}

// Quantile of the log ratio at a level: evenly within a cell of the grid, which ends half-way
// to the next value.
func (r Response) Quantile(level int, q float64) float64 {
	left, last := 1-q, len(r.values)-1 // values descend
	for k, p := range r.at[level] {
		if left <= p && p > 0 {
			high, low := (r.values[max(0, k-1)]+r.values[k])/2, (r.values[k]+r.values[min(last, k+1)])/2
			return high + (low-high)*left/p
		}
		left -= p
	}
	return r.values[last]
}

// Crossing is the q-quantile of the pressure, in levels, at which f falls below
// the bound; the last level where it does not. Between levels the probability
// rises in a line.
func (r Response) Crossing(q float64) float64 { return crossing(r.lost, q) }

// CrossingOf is Crossing for another bound, which is as exact as the grid is near it: to
// twice the bound of the fit it is.
func (r Response) CrossingOf(logBound, q float64) float64 { return crossing(r.below(logBound), q) }

func crossing(lost []float64, q float64) float64 {
	last := len(lost) - 1
	for j := 1; j <= last; j++ {
		if lost[j] <= q {
			continue
		}
		below := min(q, lost[j-1])
		return float64(j-1) + (q-below)/(lost[j]-below)
	}
	return float64(last)
}

// Crossings are the probabilities that the bound is lost between level j and the next, by
// j; the last is that it never is.
func (r Response) Crossings() []float64 {
	out := make([]float64, len(r.lost))
	for j := range out {
		next := 1.0
		if j+1 < len(r.lost) {
			next = r.lost[j+1]
		}
		out[j] = max(0, next-r.lost[j])
	}
	return out
}

// Kept is the probability that f is above the bound up to the last level.
func (r Response) Kept() float64 { return 1 - r.lost[len(r.lost)-1] }

// noiseScales are the values the logarithm of the scale is summed over, in
// units of the guess's spread.
var noiseScales = [...]float64{-1.8, -0.9, 0, 0.9, 1.8}

// The prior of a response (chosen by us by simulation of the shapes of measured
// applications; the falls are for one level of 20, in units of the bound).
var (
	steepFalls  = [...]float64{0.02, 0.15, 0.6, 3}
	steepStarts = [...]float64{0.55, 0.25, 0.15, 0.05}
)

const (
	steepKept = 0.85
	// gainShare is the prior of a performance that is better under pressure.
	gainShare = 0.1
	// freedom of the noise's Student distribution.
	freedom = 4
	// fineValues lie between no loss and the bound, which is half-way between two
	// values; to twice the bound they stay as dense, and thin out below.
	fineValues = 16
	coarser    = 1.15
	lowestLog  = -4.0 // of the grid: 2 % are left
	// referenceLevels is the number of levels the falls are meant for.
	referenceLevels = 20
)

// gains are the values above no loss, in units of the bound.
var gains = [...]float64{4, 2, 1, 0.5}

// responseChain holds what the sums need and the ratios do not change, and room
// for them.
type responseChain struct {
	levels    int
	values    []float64 // of f, descending
	zero      int       // index of f = 0
	bound     float64
	decay     [len(steepFalls)][]float64 // e^(−fall/mean) from a value to the next
	width     []float64                  // of a value's cell
	perNorm   [len(steepFalls)][]float64 // 1/norm of the falls from a value
	forward   []message                  // by level
	emissions [][]float64                // by level
}

func newResponseChain(levels int, logBound float64) *responseChain {
	c := &responseChain{levels: levels, bound: logBound}
	c.values, c.zero = responseValues(-logBound)
	c.width = cellWidths(c.values)
	n := len(c.values)
	for z, fall := range steepFalls {
		mean := fall * -logBound * referenceLevels / float64(levels)
		c.decay[z] = make([]float64, n)
		c.perNorm[z] = make([]float64, n)
		for k := n - 1; k >= 0; k-- {
			norm := c.width[k]
			if k+1 < n {
				c.decay[z][k] = math.Exp((c.values[k+1] - c.values[k]) / mean)
				norm += c.decay[z][k] / c.perNorm[z][k+1]
			}
			c.perNorm[z][k] = 1 / norm
		}
	}
	for range levels + 1 {
		c.forward = append(c.forward, c.message())
		c.emissions = append(c.emissions, make([]float64, n))
	}
	return c
}

// responseValues are the values of f, descending, and the index of 0.
func responseValues(bound float64) (values []float64, zero int) {
	for _, g := range gains {
		values = append(values, g*bound)
	}
	zero = len(values)
	step := bound / (fineValues + 0.5)
	v := 0.0
	for v > lowestLog {
		values = append(values, v)
		if v < -2*bound {
			step *= coarser
		}
		v -= step
	}
	return append(values, lowestLog), zero
}

func cellWidths(values []float64) []float64 {
	last := len(values) - 1
	out := make([]float64, len(values))
	for k := range values {
		out[k] = (values[max(0, k-1)] - values[min(last, k+1)]) / 2
	}
	return out
}

// message is a function of the state: by steepness and value.
type message [len(steepFalls)][]float64

func (c *responseChain) message() message {
	all := make([]float64, len(steepFalls)*len(c.values))
	var m message
	for z := range m {
		m[z] = all[z*len(c.values):][:len(c.values)]
	}
	return m
}

// mix sets m to scale times the mean of from over the steepness the state goes
// to, or comes from: the table is symmetric.
func (m *message) mix(from message, scale float64) {
	const other = (1 - steepKept) / float64(len(steepFalls)-1)
	for k := range from[0] {
		sum := 0.0
		for z := range from {
			sum += from[z][k]
		}
		for z := range from {
			m[z][k] = scale * (other*sum + (steepKept-other)*from[z][k])
		}
	}
}

// fall moves the probability m along the falls from every value, weighs it with
// the likelihood of where it arrives, and returns what is left of it.
func (c *responseChain) fall(m *message, emission []float64) (left float64) {
	for z := range m {
		sum := 0.0
		for k, a := range m[z] {
			if k > 0 {
				sum *= c.decay[z][k-1]
			}
			sum += a * c.perNorm[z][k]
			v := c.width[k] * sum * emission[k]
			m[z][k] = v
			left += v
		}
	}
	return left
}

// rise is fall for a backward message: the mean of m over the falls from every
// value, weighed with the likelihood of where they arrive. It returns the sum.
func (c *responseChain) rise(m *message, emission []float64) (total float64) {
	for z := range m {
		sum := 0.0
		for k := len(m[z]) - 1; k >= 0; k-- {
			sum = c.width[k]*m[z][k]*emission[k] + c.decay[z][k]*sum
			v := sum * c.perNorm[z][k]
			m[z][k] = v
			total += v
		}
	}
	return total
}

// responsePart is the posterior for one scale of the noise.
type responsePart struct {
	sigma, logWeight float64
	at               [][]float64 // P(f = value) by level
}

// solve sums over the chain; logWeight is what the emissions left out.
func (c *responseChain) solve(logWeight float64) responsePart {
	p := responsePart{logWeight: logWeight, at: make([][]float64, c.levels+1)}
	c.initial(&c.forward[0])
	left := 1.0
	for j := 1; j <= c.levels; j++ {
		c.forward[j].mix(c.forward[j-1], 1/left)
		left = c.fall(&c.forward[j], c.emissions[j])
		p.logWeight += math.Log(left)
	}
	backward := c.message()
	for z := range backward {
		for k := range backward[z] {
			backward[z][k] = 1
		}
	}
	for j := c.levels; j >= 0; j-- {
		p.at[j] = c.marginal(c.forward[j], backward)
		if j > 0 {
			total := c.rise(&backward, c.emissions[j])
			backward.mix(backward, 1/total)
		}
	}
	return p
}

func (c *responseChain) marginal(forward, backward message) []float64 {
	out, total := make([]float64, len(c.values)), 0.0
	for z := range forward {
		for k, v := range forward[z] {
			w := v * backward[z][k]
			total += w
			out[k] += w
		}
	}
	for k := range out {
		out[k] /= total
	}
	return out
}

// initial is the state at no pressure: no loss, or a gain that sets in at once.
func (c *responseChain) initial(m *message) {
	for z, start := range steepStarts {
		clear(m[z])
		m[z][c.zero] = start * (1 - gainShare)
		for k := range c.zero {
			m[z][k] = start * gainShare / float64(c.zero)
		}
	}
}

// emit computes the likelihoods by level and value, each level scaled to a
// largest value of 1; logScale is what that and the noise's scale took away.
func (c *responseChain) emit(ratios []LevelRatio, sigma float64) (logScale float64) {
	for _, level := range c.emissions {
		clear(level) // the logarithm of 1: a level without ratios says nothing
	}
	for _, r := range ratios {
		at := min(c.values[0], max(r.Log, c.values[len(c.values)-1]))
		level := c.emissions[r.Level]
		for k, v := range c.values {
			d := (at - v) / sigma
			level[k] -= (freedom + 1) / 2.0 * math.Log1p(d*d/freedom)
		}
		logScale -= math.Log(sigma)
	}
	return logScale + c.exponentiate()
}

// emitMeans is emit for means of levels, and for what is believed of the crossing: who is
// above the bound at level j will lose it later.
func (c *responseChain) emitMeans(means []LevelMean, believed []float64) {
	for _, m := range means {
		at := min(c.values[0], max(m.Log, c.values[len(c.values)-1]))
		level, count := c.emissions[m.Level], float64(m.Count)
		// As sharp at its middle as a normal with this error.
		scale := m.Error * math.Sqrt(count*(freedom+1)/freedom)
		for k, v := range c.values {
			d := (at - v) / scale
			level[k] -= count * (freedom + 1) / 2.0 * math.Log1p(d*d/freedom)
		}
	}
	for j := 1; j < len(believed); j++ {
		later := math.Log(believed[j]) - math.Log(believed[j-1])
		for k, v := range c.values {
			if v >= c.bound {
				c.emissions[j][k] += later
			}
		}
	}
	c.exponentiate()
}

// leastLikelihood of a value, relative to the likeliest: levels that contradict each other,
// as hostile ones may, must leave something that is possible.
const leastLikelihood = 1e-30

// exponentiate turns the logarithms of likelihoods into likelihoods, and returns what the
// scaling took away.
func (c *responseChain) exponentiate() (logScale float64) {
	for _, level := range c.emissions {
		largest := slices.Max(level)
		logScale += largest
		for k := range level {
			level[k] = max(leastLikelihood, math.Exp(level[k]-largest))
		}
	}
	return logScale
}
