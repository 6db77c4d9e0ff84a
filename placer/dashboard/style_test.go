package dashboard

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// The heat scale can be told apart without colour vision: its luminance goes
// one way only, and the numbers on it keep the contrast of WCAG 2.2 level AA.
func TestTheHeatScaleIsOneOfLuminance(t *testing.T) {
	t.Parallel()
	css, err := assetFiles.ReadFile("assets/style.css")
	if err != nil {
		t.Fatal(err)
	}
	light, dark, found := strings.Cut(string(css), "prefers-color-scheme: dark")
	if !found {
		t.Fatal("the style has no dark scheme")
	}
	for name, c := range map[string]struct {
		css  string
		sign float64 // of the way from much room to little
	}{"light": {light, -1}, "dark": {dark, 1}} {
		ink := luminance(t, c.css, "--heat-ink")
		last := math.NaN()
		for k := range heatLevels {
			l := luminance(t, c.css, fmt.Sprintf("--heat-%d", k))
			if ratio := contrast(l, ink); ratio < 4.5 {
				t.Errorf("%s, step %d: contrast %.1f, want at least 4.5", name, k, ratio)
			}
			if k > 0 && (l-last)*c.sign <= 0 {
				t.Errorf("%s, step %d: luminance %.3f after %.3f", name, k, l, last)
			}
			last = l
		}
	}
}

// luminance is the relative luminance of a colour variable (WCAG 2.2).
func luminance(t *testing.T, css, variable string) float64 {
	t.Helper()
	match := regexp.MustCompile(regexp.QuoteMeta(variable) + `: #([0-9a-f]{6});`).FindStringSubmatch(css)
	if match == nil {
		t.Fatalf("%s is not set", variable)
	}
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v, err := strconv.ParseUint(match[1][2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
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
