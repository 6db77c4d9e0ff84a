package foreign

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// undated is the warning of every foreign profile.
const undated = "measured by others at a time the data do not state; see provenance.data_set"

// maxNameBytes bounds the readable part of a key, so that a store can keep it.
const maxNameBytes = 64

// key is the identity of a foreign workload: a readable name and the beginning
// of the hash of the whole name, which keeps keys apart that read alike.
func key(workload string) string {
	sum := sha256.Sum256([]byte(workload))
	var name strings.Builder
	for _, c := range strings.ToLower(workload) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			name.WriteRune(c)
		case !strings.HasSuffix(name.String(), "-"):
			name.WriteByte('-')
		}
	}
	readable := strings.Trim(name.String(), "-")
	if len(readable) > maxNameBytes {
		readable = strings.Trim(readable[:maxNameBytes], "-")
	}
	return readable + "-" + hex.EncodeToString(sum[:4])
}

// newProfile begins a foreign profile. parts say which workload of the data set
// it is; they make its key.
func newProfile(set profile.DataSet, application string, parts ...string) profile.Profile {
	workload := set.Name + "/" + strings.Join(parts, "/")
	return profile.Profile{
		Format: profile.Format, Key: key(workload), Workload: workload,
		SlowdownMax: performance.DefaultSlowdownMaxPercent,
		Target:      performance.Target{Kind: performance.BestEffort},
		Isolated:    map[string]profile.Measurement{},
		Sensitivity: interference.Sensitivity{Tolerated: interference.Scores{}, Caused: interference.Scores{}},
		Provenance:  &profile.Provenance{Application: application, DataSet: &set},
		Warnings:    []string{undated},
		Complete:    true,
	}
}

// fewRuns is the warning of a speed in isolation that has no 95 % interval.
func fewRuns(p *profile.Profile) {
	few := 0
	for _, m := range p.Isolated {
		if m.Windows < minIntervalRuns {
			few++
		}
	}
	if few > 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf(
			"%d of %d speeds in isolation rest on fewer than %d runs: their interval is the range of the runs, which has less than 95 %%, or for a single run none (0 to twice the value)",
			few, len(p.Isolated), minIntervalRuns))
	}
}

// point is a level of a ramp.
func point(source interference.Source, intensityPercent float64, c comparison, placement string) profile.RampPoint {
	ratio := c.ratio
	return profile.RampPoint{
		Source: source, IntensityPercent: round(intensityPercent), Pairs: c.pairs, Placement: placement,
		WorkloadRatio: &ratio, WorkloadLow: c.low, WorkloadHigh: c.high,
	}
}

// Where a kernel ran; empty where the data do not say.
const (
	onSameCPUs   = "same"
	onOtherCPUs  = "beside"
	notStatedCPU = ""
)
