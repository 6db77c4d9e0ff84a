package profiler_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// advised runs with an adviser who is asked about every look.
func advised(t *testing.T, r profiler.Request, review func(profile.SoFar) profile.Advice) profile.Profile {
	t.Helper()
	m := newMachine(1)
	m.workload, m.kernel = curve(40, 0.3), curve(60, 0.5)
	o := options(m)
	o.Review = review
	p, err := profiler.Measure(t.Context(), r, m, m, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func measuredSources(p profile.Profile) []interference.Source {
	var out []interference.Source
	for _, r := range p.Ramp {
		if !slices.Contains(out, r.Source) {
			out = append(out, r.Source)
		}
	}
	return out
}

// A source is left at once, the next is one that was not planned, and the run ends where
// nothing is to follow; what it has is a complete profile.
func TestAdviceIsFollowed(t *testing.T) {
	t.Parallel()
	r := request(bandwidth, cache)
	r.Further = []interference.Source{interference.NetworkBandwidth}
	looks := 0
	p := advised(t, r, func(now profile.SoFar) profile.Advice {
		looks++
		if !slices.Contains([]interference.Source{bandwidth, interference.NetworkBandwidth}, now.Source) {
			t.Errorf("measures %s", now.Source)
		}
		if now.Profile.Complete || len(now.Profile.Ramp) == 0 || now.SourceSeconds <= 0 || now.SourceSeconds > now.Seconds {
			t.Errorf("so far: %+v", now)
		}
		if now.Source == bandwidth {
			return profile.Advice{Leave: bandwidth, Sources: []interference.Source{interference.NetworkBandwidth}}
		}
		return profile.Advice{Leave: interference.NetworkBandwidth, Sources: []interference.Source{}}
	})
	if got := measuredSources(p); !slices.Equal(got, []interference.Source{bandwidth, interference.NetworkBandwidth}) || looks != 2 {
		t.Errorf("measured %v after %d looks", got, looks)
	}
	if !p.Complete || p.Duration.Seconds() > 20 {
		t.Errorf("complete %t after %s, %q", p.Complete, p.Duration, p.Warnings)
	}
	for _, e := range []interference.Estimate{p.Sensitivity.Tolerated[cache], p.Sensitivity.Caused[cache]} {
		if e.Score.Known() || !strings.Contains(e.Note, "not expected to change the decision") {
			t.Errorf("left out: %+v", e)
		}
	}
}

// Advice that is late, or speaks of what the run was not asked for or has measured, does no
// harm: the same bytes as without.
func TestUselessAdvice(t *testing.T) {
	t.Parallel()
	r := request(bandwidth, cache)
	plain := advised(t, r, nil)
	for name, advice := range map[string]profile.Advice{
		"none":          {},
		"late":          {Leave: interference.TLB},
		"as it is":      {Sources: []interference.Source{cache}},
		"not asked for": {Sources: []interference.Source{interference.TLB, bandwidth, cache, cache}},
	} {
		p := advised(t, r, func(now profile.SoFar) profile.Advice {
			if now.Source == cache {
				return profile.Advice{Leave: advice.Leave}
			}
			return advice
		})
		if !slices.EqualFunc(p.Ramp, plain.Ramp, func(a, b profile.RampPoint) bool {
			return a.Source == b.Source && a.IntensityPercent == b.IntensityPercent && a.Pairs == b.Pairs
		}) {
			t.Errorf("%s: the run was another one", name)
		}
	}
}

func TestAdviceAsSignal(t *testing.T) {
	t.Parallel()
	for _, a := range []profile.Advice{
		{Leave: bandwidth, Sources: []interference.Source{cache, interference.TLB}},
		{Leave: bandwidth, Sources: []interference.Source{}},
		{Sources: []interference.Source{cache}},
		{Sources: []interference.Source{}},
	} {
		got, ok, err := profiler.ParseAdvice(profiler.AdviceSignal(a))
		if !ok || err != nil || got.Leave != a.Leave || got.Sources == nil || !slices.Equal(got.Sources, a.Sources) {
			t.Errorf("%+v came back as %+v, %t, %v", a, got, ok, err)
		}
	}
	if _, ok, _ := profiler.ParseAdvice("mem_bw=40"); ok {
		t.Error("a level was taken for advice")
	}
	for _, text := range []string{"ADVICE=", "ADVICE=disk:", "ADVICE=:disk", "ADVICE=:llc_cap,", "ADVICE=:" + strings.Repeat("llc_cap,", 70) + "tlb"} {
		if _, ok, err := profiler.ParseAdvice(text); !ok || err == nil {
			t.Errorf("%q: %t, %v", text, ok, err)
		}
	}
}

// What lies in the file of a run is the node's word: nothing of it gets further that no run
// says.
func FuzzSoFar(f *testing.F) {
	f.Add([]byte(`{"profile":{"format":1},"source":"mem_bw","source_seconds":2,"seconds":5,"left":["llc_cap"]}`))
	f.Add([]byte(`{"source":"mem_bw","source_seconds":7,"seconds":5}`))
	f.Add([]byte(`{"source":"disk","source_seconds":-1e308,"seconds":1e308}`))
	f.Add([]byte(`{"source":"mem_bw","left":["",null]}`))
	f.Add([]byte("[["))
	f.Fuzz(func(t *testing.T, data []byte) {
		now, err := profiler.ReadSoFar(data)
		if err != nil {
			return
		}
		if !(now.SourceSeconds >= 0 && now.SourceSeconds <= now.Seconds) {
			t.Errorf("%+v", now)
		}
		for _, s := range append(now.Left, now.Source) {
			if _, err := interference.ParseSource(string(s)); err != nil {
				t.Error(err)
			}
		}
	})
}
