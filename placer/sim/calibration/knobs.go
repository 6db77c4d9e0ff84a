package calibration

import (
	"math"
	"strconv"

	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

// knob is a parameter that the fit moves.
type knob struct {
	name      string
	group     Group
	low, high float64
	step      float64 // the first one; of the logarithm where ratio
	ratio     bool
	get       func(*truth.Parameters) float64
	set       func(*truth.Parameters, float64)
}

// knobs lists what is moved, in the order in which it is. Residuals and spreads are never made
// nothing, so that no matrix is of a low rank exactly, and those of scores no larger than the default
// ones.
func knobs() []knob {
	return []knob{
		{"size_exponent", Pressures, 0, 1.5, 0.25, false, func(p *truth.Parameters) float64 { return p.SizeExponent }, func(p *truth.Parameters, v float64) { p.SizeExponent = v }},
		{"pressure_per_core_percent", Pressures, 5, 300, math.Log(3), true, func(p *truth.Parameters) float64 { return p.PressurePerCore }, func(p *truth.Parameters, v float64) { p.PressurePerCore = v }},

		{"platform_strength_ln", Speeds, 0.1, 1, 0.25, true, func(p *truth.Parameters) float64 { return p.PlatformStrength[0] }, func(p *truth.Parameters, v float64) { p.PlatformStrength[0] = v }},
		{"run_noise_ln", Speeds, 0.005, 0.025, 0.4, true, func(p *truth.Parameters) float64 { return p.RunNoise }, func(p *truth.Parameters, v float64) { p.RunNoise = v }},
		{"platform_residual_ln", Speeds, 0.003, 0.03, 0.5, true, func(p *truth.Parameters) float64 { return p.PlatformResidual }, setPlatformRest},

		{"score_residual", Scores, 0.005, 0.05, 0.5, true, func(p *truth.Parameters) float64 { return p.ScoreResidual }, func(p *truth.Parameters, v float64) { p.ScoreResidual = v }},
		{"kind_spread", Scores, 0.02, 0.10, 0.4, true, func(p *truth.Parameters) float64 { return p.KindSpread }, func(p *truth.Parameters, v float64) { p.KindSpread = v }},
		// The last: programs have no more in common than the others leave to explain.
		{"memory_share", Scores, 0, 0.95, 0.2, false, func(p *truth.Parameters) float64 { return p.MemoryShare }, func(p *truth.Parameters, v float64) { p.MemoryShare = v }},
	}
}

// setPlatformRest moves all that two cells of a row cannot tell, in the proportions of the default
// parameters: no statistic tells these apart.
func setPlatformRest(p *truth.Parameters, v float64) {
	from := truth.DefaultParameters()
	p.PlatformResidual = v
	for f := 1; f < len(p.PlatformStrength); f++ {
		p.PlatformStrength[f] = rounded(v * from.PlatformStrength[f] / from.PlatformResidual)
	}
}

// Start is where the fit begins: the world that no fit has moved, but that every configuration suits
// programs of its own. With tastes of families two entries do not tell what is published (decision
// 0058).
func Start() truth.Parameters {
	p := truth.DefaultParameters()
	p.Platforms, p.Tastes = truth.Published, truth.OwnTastes
	return p
}

// moved is the knob a step further, kept within its bounds.
func (k *knob) moved(p truth.Parameters, step float64) truth.Parameters {
	v := k.get(&p)
	if k.ratio {
		v *= math.Exp(step)
	} else {
		v += step
	}
	k.set(&p, rounded(min(k.high, max(k.low, v))))
	return p
}

// rounded to four digits: more say nothing, and a world file is to be read.
func rounded(v float64) float64 {
	out, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	if err != nil {
		return v
	}
	return out
}
