// Package kalman is the scalar Kalman filter of a value that walks at random and
// is read with noise:
//
//	b⁻ = b             P⁻ = P + Q
//	K  = P⁻ / (P⁻ + R)
//	b  = b⁻ + K·(z − b⁻)   P = (1 − K)·P⁻
//
// It is the filter of Kalman 1960 with A = H = 1 and no control input. Q is the
// variance of a step, R that of a reading; both in the square of the value's unit.
package kalman

import (
	"errors"
	"fmt"
	"math"
)

// ErrReading: a filter cannot take a reading that is not a finite number.
var ErrReading = errors.New("kalman: the reading is not a finite number")

// Filter is one estimate. Its zero value knows the value to be 0 for certain.
type Filter struct {
	Value    float64 // b
	Variance float64 // P, of Value
	Step     float64 // Q ≥ 0
	Reading  float64 // R > 0
}

// Predict lets one step pass without a reading: the estimate stays and becomes less
// certain.
func (f *Filter) Predict() { f.Variance += f.Step }

// Update lets one step pass and takes its reading, and returns the gain K in (0, 1).
// A reading that is no number changes nothing.
func (f *Filter) Update(z float64) (gain float64, err error) {
	if math.IsNaN(z) || math.IsInf(z, 0) {
		return 0, fmt.Errorf("%w: %v", ErrReading, z)
	}
	f.Predict()
	gain = f.Variance / (f.Variance + f.Reading)
	f.Value += gain * (z - f.Value)
	f.Variance *= 1 - gain
	return gain, nil
}

// Steady is the variance P⁻ before a reading and the gain that a filter tends to:
// P⁻ = (Q + √(Q² + 4QR)) / 2.
func Steady(step, reading float64) (variance, gain float64) {
	variance = (step + math.Sqrt(step*step+4*step*reading)) / 2
	return variance, variance / (variance + reading)
}
