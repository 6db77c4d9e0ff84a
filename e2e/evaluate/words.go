package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// oneLine is the first line of what others say, for a table.
func oneLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.ReplaceAll(line, "|", "/")
}

func percent(share float64) string {
	if math.IsNaN(share) {
		return unknown
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

// percent of a share with its interval, where there is one.
func (e estimate) percent() string {
	if math.IsNaN(e.Low) {
		return percent(e.Mean)
	}
	return fmt.Sprintf("%.0f %% (%.0f to %.0f)", 100*e.Mean, 100*e.Low, 100*e.High)
}

// seconds of something that was seen; 0 is not.
func seconds(v float64) string {
	if v <= 0 {
		return "not seen"
	}
	return fmt.Sprintf("%.1f s", v)
}

// rate with three digits.
func rate(v float64) string {
	switch {
	case !(v > 0):
		return unknown
	case v < 10:
		return fmt.Sprintf("%.2f/s", v)
	case v < 100:
		return fmt.Sprintf("%.1f/s", v)
	}
	return fmt.Sprintf("%.0f/s", v)
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	if n := len(values); n%2 == 0 {
		return (values[n/2-1] + values[n/2]) / 2
	}
	return values[len(values)/2]
}
