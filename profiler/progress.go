package profiler

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// maxProgressText and maxRemaining bound what a run says of itself.
const (
	maxProgressText = 16 << 10
	maxRemaining    = 24 * time.Hour
)

// ReadProgress reads a progress record, and refuses one that no run writes.
func ReadProgress(data []byte) (Progress, error) {
	var p Progress
	if err := json.Unmarshal(data, &p); err != nil {
		return Progress{}, fmt.Errorf("progress: %w", err)
	}
	if p.Source != "" {
		if _, err := interference.ParseSource(string(p.Source)); err != nil {
			return Progress{}, fmt.Errorf("progress: %w", err)
		}
	}
	switch {
	case !(p.Fraction >= 0 && p.Fraction <= 1):
		return Progress{}, fmt.Errorf("progress: a fraction of %v", p.Fraction)
	case !(p.IntensityPercent >= 0 && p.IntensityPercent <= 100):
		return Progress{}, fmt.Errorf("progress: an intensity of %v percent", p.IntensityPercent)
	case !(p.RemainingSeconds >= 0 && p.RemainingSeconds <= maxRemaining.Seconds()):
		return Progress{}, fmt.Errorf("progress: %v seconds remain", p.RemainingSeconds)
	case len(p.Phase) > maxProgressText || len(p.Message) > maxProgressText:
		return Progress{}, fmt.Errorf("progress: a text of more than %d bytes", maxProgressText)
	}
	return p, nil
}
