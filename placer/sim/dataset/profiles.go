package dataset

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
)

// leastScores is how many cells of a profile must be known: two are shown, one
// is predicted.
const leastScores = 3

// FromProfiles makes a matrix of each kind of what was measured: tolerated and
// caused scores, speed by node configuration, speed by size. Unknown scores stay
// missing cells. Kinds that fewer than two profiles were measured in are left
// out.
func FromProfiles(profiles []profile.Profile) []Set {
	tolerated := newTable(Set{Name: "tolerated scores", Kind: Interference})
	caused := newTable(Set{Name: "caused scores", Kind: Interference})
	speed := newTable(Set{Name: "speed by configuration", Kind: Heterogeneity, Ratio: true})
	size := newTable(Set{Name: "speed by size", Kind: ScaleUp, Ratio: true})
	for _, p := range profiles {
		addScores(tolerated, p, p.Sensitivity.Tolerated)
		addScores(caused, p, p.Sensitivity.Caused)
		for configuration, m := range p.Isolated {
			if m.Value > 0 {
				speed.add(p.Key, p.Application(), configuration, m.Value)
			}
		}
		for _, point := range p.ScaleUp {
			if point.Speed.Value > 0 {
				size.add(p.Key, p.Application(), sizeColumn(point), point.Speed.Value)
			}
		}
	}
	var sets []Set
	for _, t := range []*table{tolerated, caused, speed, size} {
		if set := t.finish(leastScores, &skips{}); len(set.Rows) >= 2 {
			sets = append(sets, set)
		}
	}
	return sets
}

func addScores(t *table, p profile.Profile, scores interference.Scores) {
	for _, info := range interference.Sources() {
		e := scores[info.Source]
		if v, _ := e.Score.Percent(); e.IsMeasured() {
			t.add(p.Key, p.Application(), string(info.Source), v)
			t.deviate(p.Key, string(info.Source), deviationOf(e))
		}
	}
}

// normalHalfWidth is half a 95 % interval in standard deviations.
const normalHalfWidth = 1.96

// deviationOf a score by its 95 % interval; NaN where it has none.
func deviationOf(e interference.Estimate) float64 {
	return (e.High.Or(math.NaN()) - e.Low.Or(math.NaN())) / (2 * normalHalfWidth)
}

func sizeColumn(p profile.ScalePoint) string {
	if p.MemoryMB == 0 {
		return fmt.Sprintf("%d cores", p.Cores)
	}
	return fmt.Sprintf("%d cores, %d MB", p.Cores, p.MemoryMB)
}

// ReadProfiles reads the files *.json of a folder, each one profile or a list of
// them. They need not be training rows: what is not known of one is missing
// cells. One bad file is an error, and so is a key given twice.
func ReadProfiles(folder fs.FS) ([]profile.Profile, error) {
	names, err := fs.Glob(folder, "*.json")
	if err != nil {
		return nil, fmt.Errorf("profiles: %w", err)
	}
	var all []profile.Profile
	seen := map[string]string{}
	for _, name := range names {
		own, err := readProfiles(folder, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, p := range own {
			if first, ok := seen[p.Key]; ok {
				return nil, fmt.Errorf("%s: %w: key %q is also in %s", name, ErrFormat, p.Key, first)
			}
			seen[p.Key] = name
		}
		all = append(all, own...)
	}
	return all, nil
}

func readProfiles(folder fs.FS, name string) ([]profile.Profile, error) {
	data, err := fs.ReadFile(folder, name)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		p, err := store.DecodeProfile(data)
		return []profile.Profile{p}, err
	}
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	out := make([]profile.Profile, len(list))
	for i, raw := range list {
		if out[i], err = store.DecodeProfile(raw); err != nil {
			return nil, fmt.Errorf("profile %d: %w", i+1, err)
		}
	}
	return out, nil
}
