package chart

import (
	"fmt"
	"math"
	"strconv"
	"testing"
)

// schemes are the colours of chart.css, light and dark, with the page that they
// are on.
func schemes() map[string]map[string]float64 {
	out := map[string]map[string]float64{"light": {}, "dark": {}}
	for _, m := range colourPattern.FindAllStringSubmatch(style, -1) {
		out["light"][m[1]], out["dark"][m[1]] = luminance(m[2]), luminance(m[3])
	}
	return out
}

// heatLevels is the number of steps of the heat scale.
const heatLevels = 5

// The heat scale can be told apart without colour vision: its luminance goes
// one way only, and the numbers on it keep the contrast of WCAG 2.2 level AA.
func TestTheHeatScaleIsOneOfLuminance(t *testing.T) {
	t.Parallel()
	sign := map[string]float64{"light": -1, "dark": 1} // of the way from much room to little
	for name, c := range schemes() {
		ink, last := c["heat-ink"], math.NaN()
		for k := range heatLevels {
			l := c[fmt.Sprintf("heat-%d", k)]
			if ratio := contrast(l, ink); ratio < 4.5 {
				t.Errorf("%s, step %d: contrast %.1f, want at least 4.5", name, k, ratio)
			}
			if k > 0 && (l-last)*sign[name] <= 0 {
				t.Errorf("%s, step %d: luminance %.3f after %.3f", name, k, l, last)
			}
			last = l
		}
	}
}

// What is drawn has the contrast to its page that WCAG 2.2 (1.4.11) asks of
// graphics, and text that of level AA.
func TestContrast(t *testing.T) {
	t.Parallel()
	least := map[string]float64{"ink": 4.5, "soft": 4.5, "predicted": 3, "measured": 3, "tolerated": 3, "caused": 3, "target": 3, "missed": 3, "used": 3}
	for i := range colours {
		least[Colour(i)] = 3
	}
	for scheme, c := range schemes() {
		for name, want := range least {
			l, ok := c[name]
			if got := contrast(l, c["page"]); !ok || got < want {
				t.Errorf("%s, %s: contrast %.2f, want at least %v", scheme, name, got, want)
			}
		}
	}
}

func TestLight(t *testing.T) {
	t.Parallel()
	if got := Light("measured"); got != "#12805c" {
		t.Errorf("measured is %q", got)
	}
}

// luminance is the relative luminance of a colour (WCAG 2.2).
func luminance(colour string) float64 {
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		if err != nil {
			return math.NaN()
		}
		x := float64(v) / 255
		if x <= 0.04045 {
			sum += weight * x / 12.92
		} else {
			sum += weight * math.Pow((x+0.055)/1.055, 2.4)
		}
	}
	return sum
}

func contrast(a, b float64) float64 { return (max(a, b) + 0.05) / (min(a, b) + 0.05) }
