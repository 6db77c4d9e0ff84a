package training

import (
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// Open lists the sources of a row with a score that could not be told from
// noise, except those that were measured a second time already; in the sources'
// order.
func Open(row profile.Profile) []interference.Source {
	var out []interference.Source
	for _, info := range interference.Sources() {
		if row.Provenance != nil && slices.Contains(row.Provenance.Refined, info.Source) {
			continue
		}
		tolerated, measured := row.Sensitivity.Tolerated[info.Source]
		caused, measuredToo := row.Sensitivity.Caused[info.Source]
		if measured && !tolerated.Score.Known() || measuredToo && !caused.Score.Known() {
			out = append(out, info.Source)
		}
	}
	return out
}

// Refine takes into a row what a later, longer run measured of some of its
// sources: the scores it knows and its curves. A score that was known before and
// is not now is kept: the choice of what to measure again must not cost anything.
// Scores are chosen by whether they are known, never by their value.
func Refine(row *profile.Profile, again profile.Profile, sources []interference.Source) {
	for _, s := range sources {
		refineScore(row.Sensitivity.Tolerated, again.Sensitivity.Tolerated, s)
		refineScore(row.Sensitivity.Caused, again.Sensitivity.Caused, s)
		ofSource := func(r profile.RampPoint) bool { return r.Source == s }
		if slices.ContainsFunc(again.Ramp, ofSource) {
			row.Ramp = slices.DeleteFunc(row.Ramp, ofSource)
			for _, point := range again.Ramp {
				if point.Source == s {
					row.Ramp = append(row.Ramp, point)
				}
			}
		}
	}
	slices.SortStableFunc(row.Ramp, func(a, b profile.RampPoint) int { return strings.Compare(string(a.Source), string(b.Source)) })
	row.Warnings = append(row.Warnings, again.Warnings...)
	row.Duration += again.Duration
	if row.Provenance != nil {
		row.Provenance.Refined = append(row.Provenance.Refined, sources...)
	}
}

func refineScore(scores, again interference.Scores, s interference.Source) {
	e, ok := again[s]
	if ok && (e.Score.Known() || !scores[s].Score.Known()) {
		scores[s] = e
	}
}
