package interference_test

import (
	"maps"
	"reflect"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

func TestInterner(t *testing.T) {
	t.Parallel()
	score := func(percent float64) interference.Estimate {
		return interference.Estimate{Score: interference.Percent(percent), Origin: interference.Measured}
	}
	same := func(a, b interference.Scores) bool {
		return reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer()
	}
	var i interference.Interner
	first := interference.Scores{interference.LLCBandwidth: score(10), interference.LLCCapacity: score(20)}
	if got := i.Of(first); !same(got, first) {
		t.Error("the first is not kept")
	}
	if got := i.Of(maps.Clone(first)); !same(got, first) {
		t.Error("equal scores have another map")
	}
	for name, other := range map[string]interference.Scores{
		"another score":   {interference.LLCBandwidth: score(11), interference.LLCCapacity: score(20)},
		"exchanged":       {interference.LLCBandwidth: score(20), interference.LLCCapacity: score(10)},
		"one less":        {interference.LLCBandwidth: score(10)},
		"another origin":  {interference.LLCBandwidth: score(10), interference.LLCCapacity: {Score: interference.Percent(20), Origin: interference.Assumed}},
		"nothing is said": {},
	} {
		if got := i.Of(other); same(got, first) || !maps.Equal(got, other) {
			t.Errorf("%s: got %v of %v", name, got, other)
		}
	}
	if i.Of(nil) != nil {
		t.Error("no scores have become some")
	}
	for n := range 10_000 {
		want := interference.Scores{interference.LLCBandwidth: score(float64(n) / 100)}
		if got := i.Of(maps.Clone(want)); !maps.Equal(got, want) {
			t.Fatalf("got %v of %v", got, want)
		}
	}
}
