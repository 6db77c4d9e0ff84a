package deadline

import "time"

// etd holds the mean of the means of some windows, one sample apart, against the
// threshold: with windows of 5 and 3 of them, seven samples of weights
// 1, 2, 3, 3, 3, 2, 1 over 15.
type etd struct {
	window    // of all samples
	width     int
	threshold float64
}

func newETD(p Parameters) Detector {
	return &etd{window: window{most: p.Window + p.Windows - 1}, width: p.Window, threshold: p.Threshold}
}

// extended is the mean of the means of the windows that are there.
func (e *etd) extended() float64 {
	if len(e.samples) < e.width {
		return e.mean()
	}
	var means []float64
	for at := 0; at+e.width <= len(e.samples); at++ {
		means = append(means, mean(e.samples[at:at+e.width]))
	}
	return mean(means)
}

// Sample implements Detector.
func (e *etd) Sample(z float64) float64 { e.add(z); return e.extended() }

// Skip implements Detector.
func (e *etd) Skip() {}

// Late implements Detector.
func (e *etd) Late(time.Duration, time.Duration) bool { return e.full() && e.extended() > e.threshold }
