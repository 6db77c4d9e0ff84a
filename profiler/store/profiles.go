package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// profilePrefix is the first segment of every profile's path.
const profilePrefix = "profile"

// ErrFormat: the document was written by a newer version of this program.
var ErrFormat = errors.New("the document has a format this version cannot read")

// Profiles keeps profile.Profile documents by their key.
type Profiles struct{ Store Store }

// Get reads the profile of a workload; index is for Put.
func (p Profiles) Get(ctx context.Context, key string) (found profile.Profile, index uint64, err error) {
	d, err := p.Store.Get(ctx, profilePath(key))
	if err != nil {
		return profile.Profile{}, 0, err
	}
	found, err = DecodeProfile(d.Data)
	if err != nil {
		return profile.Profile{}, 0, fmt.Errorf("%s: %w", d.Path, err)
	}
	return found, d.Index, nil
}

// Put writes a profile whole or not at all; ifIndex as in Store.Put.
func (p Profiles) Put(ctx context.Context, value profile.Profile, ifIndex uint64) (index uint64, err error) {
	if value.Format != profile.Format {
		return 0, fmt.Errorf("profile %s has format %d, this version writes %d: %w", value.Key, value.Format, profile.Format, ErrFormat)
	}
	data, err := json.Marshal(value)
	if err != nil {
		return 0, fmt.Errorf("profile %s: %w", value.Key, err)
	}
	return p.Store.Put(ctx, profilePath(value.Key), data, ifIndex)
}

// mergeAttempts bounds PutMerged against other writers (chosen by us: there is
// one leader, so more than two at once is a fault).
const mergeAttempts = 5

// PutMerged merges value into what is stored under its key and writes that,
// again and again while others write too.
func (p Profiles) PutMerged(ctx context.Context, value profile.Profile) (profile.Profile, error) {
	var err error
	for range mergeAttempts {
		var merged profile.Profile
		if merged, err = p.mergeOnce(ctx, value); !errors.Is(err, ErrConflict) {
			return merged, err
		}
	}
	return profile.Profile{}, err
}

func (p Profiles) mergeOnce(ctx context.Context, value profile.Profile) (profile.Profile, error) {
	merged := value
	old, index, err := p.Get(ctx, value.Key)
	switch {
	case err == nil:
		if merged, err = Merge(old, value); err != nil {
			return profile.Profile{}, err
		}
	case !errors.Is(err, ErrNotFound):
		return profile.Profile{}, err
	}
	if _, err := p.Put(ctx, merged, index); err != nil {
		return profile.Profile{}, err
	}
	return merged, nil
}

// Delete removes the profile of a workload.
func (p Profiles) Delete(ctx context.Context, key string) error {
	return p.Store.Delete(ctx, profilePath(key))
}

// List reads every profile, sorted by key. A profile that cannot be read is
// left out and named in the error, which joins all of them; the readable ones
// are returned all the same.
func (p Profiles) List(ctx context.Context) ([]profile.Profile, error) {
	paths, err := p.Store.List(ctx, profilePrefix)
	if err != nil {
		return nil, err
	}
	var list []profile.Profile
	var unreadable []error
	for _, path := range paths {
		found, _, err := p.Get(ctx, path[len(profilePrefix)+1:])
		switch {
		case err == nil:
			list = append(list, found)
		case ctx.Err() != nil:
			return list, err
		case !errors.Is(err, ErrNotFound): // deleted since it was listed: gone
			unreadable = append(unreadable, err)
		}
	}
	return list, errors.Join(unreadable...)
}

func profilePath(key string) string { return profilePrefix + "/" + key }

// DecodeProfile reads the JSON form and checks its format.
func DecodeProfile(data []byte) (profile.Profile, error) {
	var head struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return profile.Profile{}, fmt.Errorf("profile: %w", err)
	}
	if head.Format != profile.Format {
		return profile.Profile{}, fmt.Errorf("profile format %d, this version reads %d: %w", head.Format, profile.Format, ErrFormat)
	}
	var value profile.Profile
	if err := json.Unmarshal(data, &value); err != nil {
		return profile.Profile{}, fmt.Errorf("profile: %w", err)
	}
	return value, nil
}

// ErrOtherWorkload: two profiles of different keys do not merge.
var ErrOtherWorkload = errors.New("the profiles are of different workloads")

// Merge joins two runs of one workload. Per node configuration and per source
// and side the newer run wins where it knows something, and what only the
// older knows is kept. Machine, target and duration are of the newer run; the
// ramp of a source follows the run its scores came from; a speed by size is per
// size, and the most memory seen is that of either. The result is
// complete if the newer run is.
func Merge(older, newer profile.Profile) (profile.Profile, error) {
	if older.Key != newer.Key {
		return profile.Profile{}, fmt.Errorf("merge %s with %s: %w", older.Key, newer.Key, ErrOtherWorkload)
	}
	if newer.Taken.Before(older.Taken) {
		older, newer = newer, older
	}
	merged := newer
	if newer.Machine.Configuration == "" {
		merged.Machine = older.Machine // the newer only varied the size
	}
	merged.Isolated = map[string]profile.Measurement{}
	maps.Copy(merged.Isolated, older.Isolated)
	maps.Copy(merged.Isolated, newer.Isolated)
	merged.CPUShareIsolated = nil
	for _, of := range []profile.Profile{older, newer} {
		for c, part := range of.CPUShareIsolated {
			if merged.CPUShareIsolated == nil {
				merged.CPUShareIsolated = map[string]float64{}
			}
			merged.CPUShareIsolated[c] = part
		}
	}
	merged.ScaleUp = mergeScale(older.ScaleUp, newer.ScaleUp)
	merged.MemoryPeakMB = max(older.MemoryPeakMB, newer.MemoryPeakMB)
	if older.SlowdownMax != newer.SlowdownMax {
		// Scores at another bound are other quantities: they do not mix.
		return merged, nil
	}
	merged.Sensitivity = interference.Sensitivity{
		Tolerated: mergeScores(older.Sensitivity.Tolerated, newer.Sensitivity.Tolerated),
		Caused:    mergeScores(older.Sensitivity.Caused, newer.Sensitivity.Caused),
	}
	merged.Ramp = mergeRamps(older.Ramp, newer.Ramp)
	if len(newer.Ramp) == 0 && len(older.Ramp) > 0 {
		merged.Machine = older.Machine // the machine of the interference run
		merged.CPUsIsolated = older.CPUsIsolated
	}
	return merged, nil
}

// mergeScale keeps, per size, the newer run's speed where it has one.
func mergeScale(older, newer []profile.ScalePoint) []profile.ScalePoint {
	out := append([]profile.ScalePoint(nil), newer...)
	for _, p := range older {
		same := func(q profile.ScalePoint) bool { return q.Cores == p.Cores && q.MemoryMB == p.MemoryMB }
		if !slices.ContainsFunc(newer, same) {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b profile.ScalePoint) int {
		return cmp.Or(cmp.Compare(a.Cores, b.Cores), cmp.Compare(a.MemoryMB, b.MemoryMB))
	})
	return out
}

func mergeScores(older, newer interference.Scores) interference.Scores {
	out := interference.Scores{}
	maps.Copy(out, older)
	for source, estimate := range newer {
		if old, ok := out[source]; ok && old.Score.Known() && !estimate.Score.Known() {
			continue
		}
		out[source] = estimate
	}
	return out
}

// mergeRamps keeps, per source, the newer run's points where it has any.
func mergeRamps(older, newer []profile.RampPoint) []profile.RampPoint {
	fresh := map[interference.Source]bool{}
	for _, p := range newer {
		fresh[p.Source] = true
	}
	out := append([]profile.RampPoint(nil), newer...)
	for _, p := range older {
		if !fresh[p.Source] {
			out = append(out, p)
		}
	}
	return out
}
