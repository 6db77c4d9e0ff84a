package deadline

import "time"

// atd holds the mean of a window against the threshold.
type atd struct {
	window
	threshold float64
}

func newATD(p Parameters) Detector {
	return &atd{window: window{most: p.Window}, threshold: p.Threshold}
}

// Sample implements Detector.
func (a *atd) Sample(z float64) float64 { a.add(z); return a.mean() }

// Skip implements Detector.
func (a *atd) Skip() {}

// Late implements Detector.
func (a *atd) Late(time.Duration, time.Duration) bool { return a.full() && a.mean() > a.threshold }
