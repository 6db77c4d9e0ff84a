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

// Errors of a document that is there.
var (
	// ErrFormat: it was written by a newer version of this program.
	ErrFormat = errors.New("the document has a format this version cannot read")
	// ErrRefused: it is no profile that this program has measured. What is measured anew
	// takes its place.
	ErrRefused = errors.New("the stored profile is not used")
)

// Profiles keeps profile.Profile documents by their key.
type Profiles struct{ Store Store }

// Get reads the profile of a workload; index is for Put, also with ErrRefused.
func (p Profiles) Get(ctx context.Context, key string) (found profile.Profile, index uint64, err error) {
	d, err := p.Store.Get(ctx, profilePath(key))
	if errors.Is(err, ErrDamaged) {
		return profile.Profile{}, d.Index, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	if err != nil {
		return profile.Profile{}, 0, err
	}
	found, err = trusted(d.Data, key)
	if err != nil {
		return profile.Profile{}, d.Index, fmt.Errorf("%s: %w", d.Path, err)
	}
	return found, d.Index, nil
}

// trusted reads a document that anybody with the right to write Variables may have
// written.
func trusted(data []byte, key string) (profile.Profile, error) {
	found, err := DecodeProfile(data)
	switch {
	case errors.Is(err, ErrFormat):
		return profile.Profile{}, err
	case err != nil:
		return profile.Profile{}, fmt.Errorf("%w: %w", ErrRefused, err)
	case found.Key != key:
		return profile.Profile{}, fmt.Errorf("%w: it is of another key", ErrRefused)
	}
	if err := found.Check(); err != nil {
		return profile.Profile{}, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return found, nil
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
// again and again while others write too. What is stored and is not merged with, as
// ErrRefused or by the caller's word, is replaced.
func (p Profiles) PutMerged(ctx context.Context, value profile.Profile, with func(old profile.Profile) bool) (profile.Profile, error) {
	var err error
	for range mergeAttempts {
		var merged profile.Profile
		if merged, err = p.mergeOnce(ctx, value, with); !errors.Is(err, ErrConflict) {
			return merged, err
		}
	}
	return profile.Profile{}, err
}

func (p Profiles) mergeOnce(ctx context.Context, value profile.Profile, with func(old profile.Profile) bool) (profile.Profile, error) {
	merged := value
	old, index, err := p.Get(ctx, value.Key)
	switch {
	case err == nil && with(old):
		if merged, err = Merge(old, value); err != nil {
			return profile.Profile{}, err
		}
	case err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrRefused):
		return profile.Profile{}, err
	}
	if _, err := p.Put(ctx, merged, index); err != nil {
		return profile.Profile{}, err
	}
	return merged, nil
}

// DeleteIf removes the profile of a workload as it was read at ifIndex, otherwise
// ErrConflict.
func (p Profiles) DeleteIf(ctx context.Context, key string, ifIndex uint64) error {
	return p.Store.DeleteIf(ctx, profilePath(key), ifIndex)
}

// Delete forgets a profile, whatever is stored.
func (p Profiles) Delete(ctx context.Context, key string) error {
	return p.Store.Delete(ctx, profilePath(key))
}

// Keys are those of all that is stored, sorted, whether it can be used or not.
func (p Profiles) Keys(ctx context.Context) ([]string, error) {
	paths, err := p.Store.List(ctx, profilePrefix)
	if err != nil {
		return nil, err
	}
	for i, path := range paths {
		paths[i] = path[len(profilePrefix)+1:]
	}
	return paths, nil
}

// Each calls f with every profile and its index, sorted by key, one at a time: all of them
// together may be more than the memory of an agent. Those that cannot be used are left out
// and named in refused.
func (p Profiles) Each(ctx context.Context, f func(found profile.Profile, index uint64) error) (refused []error, err error) {
	return each(ctx, p.Keys, p.Get, f)
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
	if older.Used.After(newer.Used) {
		merged.Used = older.Used
	}
	merged.Ended = cmp.Or(newer.Ended, older.Ended)
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
		merged.CPUsIsolated, merged.RunIsolatedMS = older.CPUsIsolated, older.RunIsolatedMS
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
