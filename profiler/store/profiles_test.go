package store_test

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func measured(percent float64) interference.Estimate {
	return interference.Estimate{Score: interference.Percent(percent), Origin: interference.Measured}
}

func sample(key, configuration string, hour int) profile.Profile {
	return profile.Profile{
		Format: profile.Format, Key: key, Taken: epoch.Add(time.Duration(hour) * time.Hour), SlowdownMax: 5,
		Machine:  profile.Machine{Configuration: configuration},
		Isolated: map[string]profile.Measurement{configuration: {Value: float64(hour), Unit: "rows/s"}},
		Sensitivity: interference.Sensitivity{
			Tolerated: interference.Scores{}, Caused: interference.Scores{},
		},
		Complete: true,
	}
}

func TestProfilesRoundTrip(t *testing.T) {
	t.Parallel()
	profiles := store.Profiles{Store: mem.New()}
	want := sample("k1", "large", 1)
	want.Sensitivity.Tolerated[interference.LLCCapacity] = measured(35)
	want.Sensitivity.Caused[interference.LLCCapacity] = interference.Estimate{Note: "not told from noise"}
	index, err := profiles.Put(t.Context(), want, 0)
	if err != nil {
		t.Fatal(err)
	}
	got, at, err := profiles.Get(t.Context(), "k1")
	if err != nil || at != index || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v at %d, %v", got, at, err)
	}
	if got.Sensitivity.Caused[interference.LLCCapacity].Score.Known() {
		t.Error("an unknown score became known")
	}
	if _, err := profiles.Put(t.Context(), want, 0); !errors.Is(err, store.ErrConflict) {
		t.Errorf("second create: %v", err)
	}
	if err := profiles.DeleteIf(t.Context(), "k1", index); err != nil {
		t.Error(err)
	}
}

func TestProfilesOfOtherFormats(t *testing.T) {
	t.Parallel()
	s := mem.New()
	profiles := store.Profiles{Store: s}
	newer := sample("k", "large", 1)
	newer.Format++
	if _, err := profiles.Put(t.Context(), newer, 0); !errors.Is(err, store.ErrFormat) {
		t.Errorf("put: %v", err)
	}
	if _, err := profiles.Put(t.Context(), sample("good", "large", 1), 0); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{"profile/newer": `{"format":2,"key":"newer","taken":7}`, "profile/torn": `{"format":1,"ke`} {
		if _, err := s.Put(t.Context(), path, []byte(text), 0); err != nil {
			t.Fatal(err)
		}
	}
	var keys []string
	refused, err := profiles.Each(t.Context(), func(p profile.Profile, _ uint64) error {
		keys = append(keys, p.Key)
		return nil
	})
	if err != nil || !slices.Equal(keys, []string{"good"}) || len(refused) != 2 ||
		!errors.Is(refused[0], store.ErrFormat) || !errors.Is(refused[1], store.ErrRefused) {
		t.Errorf("profiles %v, refused %v, %v", keys, refused, err)
	}
	if all, err := profiles.Keys(t.Context()); err != nil || !slices.Equal(all, []string{"good", "newer", "torn"}) {
		t.Errorf("keys %v, %v", all, err)
	}
	always := func(profile.Profile) bool { return true }
	if _, err := profiles.PutMerged(t.Context(), sample("newer", "large", 1), always); !errors.Is(err, store.ErrFormat) {
		t.Errorf("the document of a newer version was overwritten: %v", err)
	}
}

// What was forged is not used, is said to be so, and is replaced by what is measured.
func TestForgedProfiles(t *testing.T) {
	t.Parallel()
	s := mem.New()
	profiles := store.Profiles{Store: s}
	for name, text := range map[string]string{
		"another key":   `{"format":1,"key":"other","workload":"default/web/web"}`,
		"a score":       `{"format":1,"key":"KEY","sensitivity":{"caused":{"int":{"score":900}}}}`,
		"a speed":       `{"format":1,"key":"KEY","alone":{"large":{"value":-5}}}`,
		"an endless":    `{"format":1,"key":"KEY","alone":{"large":{"value":1e308}}}`,
		"the year 9999": `{"format":1,"key":"KEY","taken":"9999-01-01T00:00:00Z"}`,
		"torn":          `{"format":1,"key":"KEY"`,
		"empty":         ``,
		"no format":     `[]`,
	} {
		key := strings.ReplaceAll(name, " ", "-")
		if _, err := s.Put(t.Context(), "profile/"+key, []byte(strings.ReplaceAll(text, "KEY", key)), 0); err != nil {
			t.Fatal(err)
		}
		if p, _, err := profiles.Get(t.Context(), key); !errors.Is(err, store.ErrRefused) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
		measured := sample(key, "large", 1)
		if _, err := profiles.PutMerged(t.Context(), measured, func(profile.Profile) bool { return true }); err != nil {
			t.Errorf("%s is in the way of what was measured: %v", name, err)
		}
		if p, _, err := profiles.Get(t.Context(), key); err != nil || !p.Taken.Equal(measured.Taken) {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

func TestProfileTooLargeIsRefusedWhole(t *testing.T) {
	t.Parallel()
	profiles := store.Profiles{Store: mem.New()}
	large := sample("k", "large", 1)
	large.Ramp = make([]profile.RampPoint, 2000)
	if _, err := profiles.Put(t.Context(), large, 0); !errors.Is(err, store.ErrTooLarge) {
		t.Errorf("put: %v", err)
	}
	if _, _, err := profiles.Get(t.Context(), "k"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("something was kept: %v", err)
	}
	broken := sample("k", "large", 1)
	broken.Isolated["large"] = profile.Measurement{Value: math.NaN()}
	var unsupported *json.UnsupportedValueError
	if _, err := profiles.Put(t.Context(), broken, 0); !errors.As(err, &unsupported) {
		t.Errorf("NaN: %v", err)
	}
}

// A full profile, all sources and a dense ramp, must fit a store.
func TestFullProfileFits(t *testing.T) {
	t.Parallel()
	p := sample("k", "large", 1)
	ratio := 0.123456789012345
	for _, info := range interference.Sources() {
		e := measured(35)
		e.Low, e.High = e.Score, e.Score
		p.Sensitivity.Tolerated[info.Source], p.Sensitivity.Caused[info.Source] = e, e
		for level := range 8 {
			p.Ramp = append(p.Ramp, profile.RampPoint{
				Source: info.Source, IntensityPercent: float64(5 * level), Pairs: 15, Placement: "beside", AchievedPercent: ratio,
				WorkloadRatio: &ratio, WorkloadLow: &ratio, WorkloadHigh: &ratio, KernelRatio: &ratio, KernelLow: &ratio, KernelHigh: &ratio,
			})
		}
	}
	if _, err := (store.Profiles{Store: mem.New()}).Put(t.Context(), p, 0); err != nil {
		t.Error(err)
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	llc, bandwidth, integer := interference.LLCCapacity, interference.MemoryBandwidth, interference.Integer
	older, newer := sample("k", "large", 1), sample("k", "small", 2)
	older.Sensitivity.Tolerated[llc], older.Sensitivity.Tolerated[bandwidth] = measured(10), measured(20)
	newer.Sensitivity.Tolerated[bandwidth] = interference.Estimate{Note: "noise"}
	newer.Sensitivity.Tolerated[integer] = measured(30)
	older.Ramp = []profile.RampPoint{{Source: llc, IntensityPercent: 5}, {Source: integer, IntensityPercent: 5}}
	newer.Ramp = []profile.RampPoint{{Source: integer, IntensityPercent: 10}}
	older.CPUShareIsolated, newer.CPUShareIsolated = map[string]float64{"large": 0.2, "small": 0.1}, map[string]float64{"small": 0.5}
	for name, order := range map[string][2]profile.Profile{"in order": {older, newer}, "reversed": {newer, older}} {
		got, err := store.Merge(order[0], order[1])
		if err != nil {
			t.Fatal(err)
		}
		for source, want := range map[interference.Source]float64{llc: 10, bandwidth: 20, integer: 30} {
			if v := got.Sensitivity.Tolerated[source].Score.Or(-1); v != want {
				t.Errorf("%s: tolerated %s = %v, want %v", name, source, v, want)
			}
		}
		if len(got.Isolated) != 2 || got.Machine.Configuration != "small" || !got.Taken.Equal(newer.Taken) {
			t.Errorf("%s: %+v", name, got)
		}
		if !maps.Equal(got.CPUShareIsolated, map[string]float64{"large": 0.2, "small": 0.5}) {
			t.Errorf("%s: CPU shares %v", name, got.CPUShareIsolated)
		}
		if len(got.Ramp) != 2 || got.Ramp[0].IntensityPercent != 10 || got.Ramp[1].Source != llc {
			t.Errorf("%s: ramp %+v", name, got.Ramp)
		}
	}
	other := newer
	other.SlowdownMax = 10
	if got, _ := store.Merge(older, other); len(got.Isolated) != 2 || got.Sensitivity.Tolerated[llc].Score.Known() {
		t.Errorf("scores at different bounds were mixed: %+v", got.Sensitivity.Tolerated)
	}
	if _, err := store.Merge(older, sample("other", "large", 3)); !errors.Is(err, store.ErrOtherWorkload) {
		t.Error(err)
	}
}

// A run at another size adds its point and the memory it saw, and is not what the
// profile was measured on.
func TestMergeSizes(t *testing.T) {
	t.Parallel()
	speed := func(v float64) profile.Measurement { return profile.Measurement{Value: v} }
	older, newer := sample("k", "large", 1), sample("k", "", 2)
	older.ScaleUp, older.MemoryPeakMB = []profile.ScalePoint{{Cores: 1, Speed: speed(10)}, {Cores: 4, Speed: speed(30)}}, 90
	newer.Isolated, newer.Machine = nil, profile.Machine{}
	newer.ScaleUp, newer.MemoryPeakMB = []profile.ScalePoint{{Cores: 4, Speed: speed(35)}, {Cores: 2, Speed: speed(19)}}, 80
	got, err := store.Merge(older, newer)
	if err != nil {
		t.Fatal(err)
	}
	want := []profile.ScalePoint{{Cores: 1, Speed: speed(10)}, {Cores: 2, Speed: speed(19)}, {Cores: 4, Speed: speed(35)}}
	if !slices.Equal(got.ScaleUp, want) || got.MemoryPeakMB != 90 {
		t.Errorf("%+v, %v MB", got.ScaleUp, got.MemoryPeakMB)
	}
	if got.Machine.Configuration != "large" || len(got.Isolated) != 1 {
		t.Errorf("machine %+v, alone %v", got.Machine, got.Isolated)
	}
}

func TestPutMerged(t *testing.T) {
	t.Parallel()
	profiles := store.Profiles{Store: mem.New()}
	for hour, configuration := range []string{"large", "small"} {
		if _, err := profiles.PutMerged(t.Context(), sample("k", configuration, hour), func(profile.Profile) bool { return true }); err != nil {
			t.Fatal(err)
		}
	}
	got, _, err := profiles.Get(t.Context(), "k")
	if err != nil || len(got.Isolated) != 2 {
		t.Errorf("%+v, %v", got.Isolated, err)
	}
}
