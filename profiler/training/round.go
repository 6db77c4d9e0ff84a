package training

import (
	"math"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// Digits that are kept. They are beyond what can be measured; more would only
// make the files larger.
const (
	ratioDecimals   = 4
	percentDecimals = 2
	speedDigits     = 6
)

// Round shortens the numbers of a row to digits that mean something.
func Round(row *profile.Profile) {
	for i := range row.Ramp {
		p := &row.Ramp[i]
		p.AchievedPercent = decimals(p.AchievedPercent, percentDecimals)
		for _, r := range []**float64{&p.WorkloadRatio, &p.WorkloadLow, &p.WorkloadHigh, &p.KernelRatio, &p.KernelLow, &p.KernelHigh} {
			if *r != nil {
				v := decimals(**r, ratioDecimals)
				*r = &v
			}
		}
	}
	for _, scores := range []interference.Scores{row.Sensitivity.Tolerated, row.Sensitivity.Caused} {
		for source, e := range scores {
			e.Score, e.Low, e.High = roundScore(e.Score), roundScore(e.Low), roundScore(e.High)
			scores[source] = e
		}
	}
	for configuration, m := range row.Isolated {
		row.Isolated[configuration] = roundSpeed(m)
	}
	for i := range row.ScaleUp {
		row.ScaleUp[i].Speed = roundSpeed(row.ScaleUp[i].Speed)
	}
}

// RoundPair shortens the numbers of a pair.
func RoundPair(p *profile.Pair) {
	for _, s := range []*profile.PairSide{&p.A, &p.B} {
		s.Isolated, s.Together = roundSpeed(s.Isolated), roundSpeed(s.Together)
		s.Ratio, s.Low, s.High = decimals(s.Ratio, ratioDecimals), decimals(s.Low, ratioDecimals), decimals(s.High, ratioDecimals)
	}
}

func roundScore(s interference.Score) interference.Score {
	v, known := s.Percent()
	if !known {
		return s
	}
	return interference.Percent(decimals(v, percentDecimals))
}

func roundSpeed(m profile.Measurement) profile.Measurement {
	m.Value, m.Low, m.High = digits(m.Value), digits(m.Low), digits(m.High)
	return m
}

func decimals(v float64, n int) float64 {
	scale := math.Pow10(n)
	return math.Round(v*scale) / scale
}

// digits keeps speedDigits significant digits.
func digits(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	return decimals(v, speedDigits-1-int(math.Floor(math.Log10(math.Abs(v)))))
}
