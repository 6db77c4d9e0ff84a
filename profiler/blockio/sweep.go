package blockio

import "time"

// behindShare is how much longer than planned a load may take before it counts as behind:
// the device cannot keep up, and latencies from the submission on say too little (chosen
// by us).
const behindShare = 0.05

// beginSeconds is what the player may take to begin, in a load of seconds (chosen by us).
const beginSeconds = 1

// Step is load of one intensity on a device.
type Step struct {
	// Intensity is what gaps are scaled by: less is more load.
	Intensity      float64 `json:"intensity"`
	PlannedIOs     int64   `json:"planned_ios"`
	PlannedSeconds float64 `json:"planned_seconds"`
	Played
}

// Behind says whether the device could not keep up.
func (s Step) Behind() bool {
	return s.Seconds-s.PlannedSeconds > max(behindShare*s.PlannedSeconds, beginSeconds)
}

// PlayerBehind says that it was the player that could not keep up, not the device: few I/Os
// were outstanding (by Little's law), so that the device waited for load. A machine that is
// busy with other work may do that.
func (s Step) PlayerBehind() bool {
	return s.Behind() && s.IOPS*s.MeanMilliseconds/1e3 < queueDepth/2
}

// Within says whether the mean latency kept a limit.
func (s Step) Within(limit time.Duration) bool {
	return !s.Behind() && s.MeanMilliseconds <= float64(limit)/float64(time.Millisecond)
}

// MostUse is MB, the highest use of a device's bandwidth at which a workload keeps its
// limit (Delimitrou 2015, §B.4.1).
type MostUse struct {
	BytesPerSec float64 `json:"bytes_per_second"`
	// Share is the part of what the device is rated at (0..1).
	Share float64 `json:"share"`
	// Bounded says that a heavier load was above the limit; else the most is not known, and
	// this is what was tried.
	Bounded bool `json:"bounded"`
}

// MostWithin takes the last step before the first that is above the limit; steps come with
// the lightest load first. It is nil where the first is above it.
func MostWithin(steps []Step, limit time.Duration, ratedBytesPerSec float64) *MostUse {
	var most *MostUse
	for _, s := range steps {
		if !s.Within(limit) {
			if most != nil {
				most.Bounded = !s.PlayerBehind()
			}
			return most
		}
		most = &MostUse{BytesPerSec: s.BytesPerSec, Share: s.BytesPerSec / ratedBytesPerSec}
	}
	return most
}

// Loss is the part of its performance that load loses next to other load: deg_{i|j}
// (Delimitrou 2015, §B.3.1). Performance is one over the mean latency, and for load that is
// not bound to times the throughput (0..1; below 0 it gained).
type Loss struct {
	ByLatency    float64 `json:"by_latency"`
	ByThroughput float64 `json:"by_throughput"`
}

// LossOf compares load in isolation with the same load next to other load.
func LossOf(isolated, together Played) Loss {
	return Loss{
		ByLatency:    1 - isolated.MeanMilliseconds/together.MeanMilliseconds,
		ByThroughput: 1 - together.IOPS/isolated.IOPS,
	}
}
