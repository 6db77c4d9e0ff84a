package hcl

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// What Decode can give, Encode writes so that it is read back the same.
func TestEncodeIsReadBackTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := drawSpec(t)
		text := Encode(want)
		got, _, err := known.Decode(text, "encoded.hcl")
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %+v (probe %+v)\nwant %+v (probe %+v)\n%s", got, got.Probe, want, want.Probe, text)
		}
		if again := Encode(got); !slices.Equal(again, text) {
			t.Fatalf("encoded twice:\n%s\n%s", text, again)
		}
	})
}

func drawSpec(t *rapid.T) performance.Spec {
	target := drawTarget(t)
	return performance.Spec{
		Target: target,
		Probe:  drawProbe(t, target),
		Scale: performance.ScaleSpec{
			Count: drawSizes(t, "count", 1, maxCount), Cores: drawSizes(t, "cores", 1, maxCores),
			MemoryMB: drawSizes(t, "memory", minMemoryMB, maxMemoryMB),
		},
		Disk:               drawDisk(t),
		SlowdownMaxPercent: rapid.Float64Range(1e-6, maxSlowdownPercent).Draw(t, "slowdown"),
		Policy:             rapid.SampledFrom(slices.Concat(known.Policies, []string{""})).Draw(t, "policy"),
		Hold:               drawOptionalSpan(t, "hold", minHoldSeconds*time.Second, maxHoldSeconds*time.Second),
		Profile: performance.ProfileSpec{
			Seconds: rapid.OneOf(rapid.Just(0), rapid.IntRange(minProfileSeconds, maxProfileSeconds)).Draw(t, "seconds"),
			Sources: drawSources(t),
			Skip:    rapid.Bool().Draw(t, "skip"),
			When:    performance.When(rapid.SampledFrom(append(performance.Whens(), "")).Draw(t, "when")),
			Allow:   drawPermissions(t),
		},
		Move: rapid.Bool().Draw(t, "move"),
		Near: drawNear(t),
	}
}

func drawDisk(t *rapid.T) *performance.DiskSpec {
	if !rapid.Bool().Draw(t, "disk") {
		return nil
	}
	return &performance.DiskSpec{
		BandwidthMBPerSec: rapid.Float64Range(1e-9, maxDiskMBPerSecond).Draw(t, "bandwidth"),
		MostPercent:       rapid.Float64Range(1e-6, 100).Draw(t, "use_max"),
		Limit:             rapid.Bool().Draw(t, "limit"),
	}
}

func drawNear(t *rapid.T) []string {
	out := rapid.SliceOfNDistinct(rapid.StringOfN(rapid.SampledFrom([]rune("ab0${\"é")), 1, 8, -1), 0, 3, rapid.ID[string]).Draw(t, "near")
	for i := range out {
		if rapid.Bool().Draw(t, "of a group") {
			out[i] += "/web"
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func drawTarget(t *rapid.T) performance.Target {
	out := performance.Target{Kind: rapid.SampledFrom([]performance.Kind{
		performance.QPS, performance.FinishWithin, performance.Rate, performance.BestEffort,
	}).Draw(t, "kind")}
	positive := rapid.Float64Range(1e-300, maxRatePerSecond)
	switch out.Kind {
	case performance.QPS:
		out.QPS = positive.Draw(t, "qps")
		if rapid.Bool().Draw(t, "latency") {
			out.Latency = &performance.Latency{
				Percentile: rapid.Float64Range(1e-9, 99.999).Draw(t, "percentile"),
				Max:        time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "max")),
			}
		}
	case performance.FinishWithin:
		out.FinishWithin = time.Duration(rapid.Int64Range(int64(time.Second), int64(maxJobSeconds*time.Second)).Draw(t, "finish"))
	case performance.Rate:
		out.Rate = positive.Draw(t, "rate")
		out.Unit = rapid.SampledFrom([]string{"", "frames", "µ-ops"}).Draw(t, "unit")
	}
	return out
}

// drawnText reaches every escape of quoted.
func drawnText() *rapid.Generator[string] {
	return rapid.StringOfN(rapid.SampledFrom([]rune("ab0 $%{}\"\\\t~é\u200b\U0001f600/")), 1, 12, -1).
		Filter(func(s string) bool {
			return len(slices.DeleteFunc([]rune(s), func(r rune) bool { return r == ' ' || r == '\t' })) > 0
		})
}

func drawProbe(t *rapid.T, target performance.Target) *performance.ProbeSpec {
	if target.Kind == performance.BestEffort && rapid.Bool().Draw(t, "no probe") {
		return nil
	}
	types := []string{"prometheus"}
	if target.Latency == nil {
		types = append(types, "log", "exec")
	}
	if target.Kind == performance.BestEffort {
		types = append(types, "instructions")
	}
	if target.Kind == performance.FinishWithin || target.Kind == performance.Rate {
		types = append(types, "completion")
	}
	p := &performance.ProbeSpec{
		Type:    rapid.SampledFrom(types).Draw(t, "type"),
		Timeout: time.Duration(rapid.Int64Range(int64(10*time.Millisecond), int64(time.Minute)).Draw(t, "timeout")),
	}
	if target.Kind == performance.FinishWithin || p.Type == "completion" {
		p.Work = rapid.Float64Range(1e-9, maxWork).Draw(t, "work")
	}
	switch p.Type {
	case "prometheus":
		p.Port, p.Rate, p.Latency = drawnText().Draw(t, "port"), drawnText().Draw(t, "rate"), drawnText().Draw(t, "latency")
		p.Path = rapid.SampledFrom([]string{"", "/m", "/a b"}).Draw(t, "path")
	case "log":
		p.Pattern = drawnText().Draw(t, "pattern")
		p.Stream = rapid.SampledFrom([]string{"", "stdout", "stderr"}).Draw(t, "stream")
		p.Mode = drawMode(t)
	case "exec":
		p.Command = append([]string{"/bin/x"}, rapid.SliceOfN(rapid.OneOf(drawnText(), rapid.Just(""), rapid.Just("a\nb\r\n")), 0, 3).Draw(t, "args")...)
		p.Mode = drawMode(t)
	}
	if p.Type != "prometheus" {
		p.Task = rapid.SampledFrom([]string{"", "t"}).Draw(t, "task")
	}
	return p
}

func drawMode(t *rapid.T) performance.ProbeMode {
	return rapid.SampledFrom([]performance.ProbeMode{"", performance.ModeTotal, performance.ModeRate}).Draw(t, "mode")
}

func drawSizes(t *rapid.T, name string, low, high int) []int {
	sizes := rapid.SliceOfNDistinct(rapid.IntRange(low, high), 0, 5, rapid.ID[int]).Draw(t, name)
	return slices.Sorted(slices.Values(sizes)) // nil where empty
}

func drawSources(t *rapid.T) []interference.Source {
	var all []interference.Source
	for _, s := range interference.Sources() {
		all = append(all, s.Source)
	}
	out := rapid.SliceOfNDistinct(rapid.SampledFrom(all), 0, 4, rapid.ID[interference.Source]).Draw(t, "sources")
	if len(out) == 0 {
		return nil
	}
	return out
}

func drawPermissions(t *rapid.T) []performance.Permission {
	out := rapid.SliceOfNDistinct(rapid.SampledFrom(performance.Permissions()), 0, 3, rapid.ID[performance.Permission]).Draw(t, "allow")
	if len(out) == 0 {
		return nil
	}
	return out
}

func drawOptionalSpan(t *rapid.T, name string, low, high time.Duration) time.Duration {
	if !rapid.Bool().Draw(t, name+" given") {
		return 0
	}
	return time.Duration(rapid.Int64Range(int64(low), int64(high)).Draw(t, name))
}
