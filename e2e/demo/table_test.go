package main

import (
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

func TestTableSaysWhatThePlacerDidMeanwhile(t *testing.T) {
	t.Parallel()
	rows := []row{
		{Job: "cache", Placer: outcome{RatePerSec: 2000, Tail: "9ms", Nodes: []string{"beta"}}, Actions: []cluster.ActionRecord{
			{Kind: "resize", From: "500 MHz", To: "600 MHz", Reason: "at 80 % of its target", Result: "done"},
			{Kind: "evict", From: "node beta", Reason: "best effort gives way", Result: "done"},
		}},
		{Job: "web", Placer: outcome{RatePerSec: 1000, Nodes: []string{"alpha"}, Met: true}},
	}
	var out strings.Builder
	if err := printTable(&out, rows, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"2000/s, tail 9ms on beta (missed)",
		"1000/s on alpha  ",
		"meanwhile, cache: resize, 500 MHz → 600 MHz, at 80 % of its target: done\n",
		"meanwhile, cache: evict, node beta, best effort gives way: done\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "meanwhile, web") {
		t.Errorf("web had no action:\n%s", out.String())
	}
}
