package deadline

import (
	"time"

	"github.com/nomad-placer/nomad-placer/placer/numeric/kalman"
)

// kflr is the Kalman filter in front of the linear regression.
type kflr struct{ filter kalman.Filter }

func newKFLR(p Parameters) Detector {
	return &kflr{kalman.Filter{Variance: p.FirstVariance, Step: p.StepVariance, Reading: p.ReadingVariance}}
}

// Sample implements Detector.
func (k *kflr) Sample(z float64) float64 {
	if _, err := k.filter.Update(z); err != nil {
		k.filter.Predict() // as a period without a sample
	}
	return k.filter.Value
}

// Skip implements Detector.
func (k *kflr) Skip() { k.filter.Predict() }

// Late implements Detector.
func (k *kflr) Late(finish, deadline time.Duration) bool { return finish > deadline }
