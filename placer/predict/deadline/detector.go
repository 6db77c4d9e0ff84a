package deadline

import "time"

// Detector is how one task's samples become an estimate and an alarm. It is for one
// goroutine.
type Detector interface {
	// Sample takes a finite sample, and returns the slowdown that it now estimates.
	Sample(z float64) float64
	// Skip lets a sampling period pass without a sample.
	Skip()
	// Late reports that the task needs help, given when it is predicted to end.
	Late(finish, deadline time.Duration) bool
}

// Parameters of the detectors; Defaults has the stated ones.
type Parameters struct {
	StepVariance    float64 // Q of the filter
	ReadingVariance float64 // R
	FirstVariance   float64 // P of the first estimate, which is 0
	Points          int     // v: of the regression
	Window          int     // samples of STD, ATD and ETD
	Exceeding       int     // of a window, STD
	Windows         int     // that ETD averages
	Threshold       float64 // slowdown beyond which a sample is bad
	Silence         time.Duration
}

// Defaults are those of the text, with R read as 0.2². Silence is chosen by us: ten
// samples.
func Defaults() Parameters {
	return Parameters{
		StepVariance: 5e-4, ReadingVariance: 0.04, FirstVariance: 1, Points: 2,
		Window: 5, Exceeding: 3, Windows: 3, Threshold: 0.10, Silence: 2 * time.Minute,
	}
}

// Descriptor is one line of the table of detectors.
type Descriptor struct {
	Name    string
	Summary string
	New     func(p Parameters) Detector
}

// window keeps the last samples, oldest first.
type window struct {
	samples []float64
	most    int
}

func (w *window) add(z float64) {
	if len(w.samples) == w.most {
		copy(w.samples, w.samples[1:])
		w.samples = w.samples[:w.most-1]
	}
	w.samples = append(w.samples, z)
}

func (w *window) full() bool { return len(w.samples) == w.most }

// mean of what is there; 0 of nothing.
func (w *window) mean() float64 { return mean(w.samples) }

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(max(1, len(v)))
}
