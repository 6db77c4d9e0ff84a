package deadline

import "time"

// std counts the samples of a window beyond the threshold. What it estimates is the
// mean of the window: the text gives it no estimate of its own.
type std struct {
	window
	threshold float64
	exceeding int
}

func newSTD(p Parameters) Detector {
	return &std{window: window{most: p.Window}, threshold: p.Threshold, exceeding: p.Exceeding}
}

// Sample implements Detector.
func (s *std) Sample(z float64) float64 { s.add(z); return s.mean() }

// Skip implements Detector.
func (s *std) Skip() {}

// Late implements Detector.
func (s *std) Late(time.Duration, time.Duration) bool {
	n := 0
	for _, z := range s.samples {
		if z > s.threshold {
			n++
		}
	}
	return s.full() && n >= s.exceeding
}
