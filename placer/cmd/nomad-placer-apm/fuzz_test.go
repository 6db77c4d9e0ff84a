package main

import (
	"testing"
	"time"
)

// FuzzAnswer: whatever an agent, or something in its place, answers is a number of nodes that can
// be rented, of now, or an error.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"at_ms": 1795694400000, "types": [{"name": "burst-4", "wanted": 3}]}`, `{"at_ms": 1795694400000, "types": [{"name": "burst-4"}]}`,
		`{"at_ms": 1795694400000, "types": [{"name": "burst-4", "wanted": -1}]}`, `{"at_ms": 0, "types": null}`, `null`, `[]`, `{"types": [{}]}`, "\x00",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		a, err := parse(body)
		if err != nil {
			return
		}
		nodes, at, err := a.wanted("burst-4", window{}, now)
		if err != nil {
			return
		}
		if nodes < 0 || now.Sub(at).Abs() > time.Minute {
			t.Errorf("%q is taken for %d nodes at %s", body, nodes, at)
		}
	})
}
