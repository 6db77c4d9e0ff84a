package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestSectionsReplaceTheirLikes(t *testing.T) {
	t.Parallel()
	text := withSection(documentHead, "1000", "one\n")
	text = withSection(text, "5000", "five\n")
	text = withSection(text, "1000", "another\n")
	if strings.Contains(text, "one\n") || !strings.Contains(text, "another\n") || !strings.Contains(text, "five\n") {
		t.Errorf("%s", text)
	}
	if strings.Index(text, "another") > strings.Index(text, "five") {
		t.Errorf("a section moved:\n%s", text)
	}
}

func TestRoundCounts(t *testing.T) {
	t.Parallel()
	at := func(seconds float64) time.Time {
		return time.Unix(1000, 0).Add(time.Duration(seconds * float64(time.Second)))
	}
	r := Round{Side: placed, Jobs: 4}
	r.count(
		map[string]time.Time{"a": at(0), "b": at(0), "c": at(1), "d": at(2)},
		map[string]landing{"a": {"n", at(1)}, "b": {"n", at(2)}, "c": {"n", at(4)}, "d": {"n", at(3)}},
	)
	if r.Seconds != 4 || r.JobsPerSecond != 1 || r.MedianSeconds != 2 || r.P99Seconds != 3 {
		t.Errorf("%+v", r)
	}
	all := Result{Rounds: []Round{r, {Side: placed, Jobs: 6, Seconds: 1}, {Side: stock, Jobs: 1, Seconds: 1}}}
	if got := all.rate(placed); got != 2 {
		t.Errorf("%g jobs/s over two rounds, want 2", got)
	}
}

func TestNodesAreShared(t *testing.T) {
	t.Parallel()
	for _, count := range []int{1, 7, 200, 1000} {
		sum := 0
		for _, template := range nodesOf(count, 1).Templates {
			sum += template.Count
		}
		if sum != count {
			t.Errorf("%d nodes of %d", sum, count)
		}
	}
}

// The agent is measured with the limits that operators get.
func TestMemoryLimitsAreThoseOfTheInstallation(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"nomad-placer.nomad.hcl", "pages.nomad.hcl", "service.nomad.hcl"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "examples", "install", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`GOMEMLIMIT = "` + memoryLimitOf(1000) + `"`, "more than 5,000 nodes: " + memoryLimitOf(10_000)} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s has no %s", name, want)
			}
		}
	}
	if memoryLimitOf(largestInstalled) != installedMemoryLimit || memoryLimitOf(largestInstalled+1) != largeMemoryLimit {
		t.Errorf("the limit changes at another size than %d nodes", largestInstalled)
	}
}
