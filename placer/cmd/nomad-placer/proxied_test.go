package main

import (
	"errors"
	"strings"
	"testing"

	jobhcl "github.com/nomad-placer/nomad-placer/hcl"
	"github.com/nomad-placer/nomad-placer/placer/proxy"
)

// Meta is the user's: a word under the name of the block is no block, and no error.
func TestStockMetaIsNoBlock(t *testing.T) {
	t.Parallel()
	job := func(texts ...string) map[string]any {
		var groups []any
		for i, text := range texts {
			groups = append(groups, map[string]any{"Name": string(rune('a' + i)), "Meta": map[string]any{"performance": text}})
		}
		return map[string]any{"ID": "web", "TaskGroups": groups}
	}
	const block = "target {\n  best_effort = true\n}"
	for _, c := range []struct {
		job               map[string]any
		targets, note, ok bool
	}{
		{job("high"), false, true, true},
		{job(""), false, true, true},
		{job(block), true, false, true},
		{job("high", block), true, true, true},
		{job("target { rat = 5 }"), true, false, false},
		{job(), false, false, true},
	} {
		targets, note, err := proxiedPlacer{}.Check(c.job)
		if targets != c.targets || (note != "") != c.note || (err == nil) != c.ok {
			t.Errorf("%v: %v, %q, %v", c.job, targets, note, err)
		}
	}
}

// What is wrong with a jobspec Nomad says, unless it is wrong with a block.
func TestJobspecsThatAreNomadsToRefuse(t *testing.T) {
	t.Parallel()
	if rest, attach, err := (proxiedPlacer{}).Extract("job \"x\" { # performance\n"); rest != "job \"x\" { # performance\n" || attach != nil || err != nil {
		t.Errorf("%q, %v", rest, err)
	}
	long := "# performance\n#" + strings.Repeat("x", jobhcl.MaxJobspecBytes) + "\njob \"x\" {}\n"
	if _, _, err := (proxiedPlacer{}).Extract(long); !errors.Is(err, proxy.ErrUnread) {
		t.Error(err)
	}
	if _, _, err := (proxiedPlacer{}).Extract("job \"x\" {\n  performance {}\n}\n"); err == nil || errors.Is(err, proxy.ErrUnread) {
		t.Error(err)
	}
}
