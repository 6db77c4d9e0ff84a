package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// whole is a run with all its parts.
func whole() Result {
	r := result(map[side][]float64{stock: {80, 50}, placed: {76, 45}})
	stolen := 1.25
	r.Rounds[0].StolenPercent = &stolen
	r.Nodes, r.Allocations, r.JobsPerRound, r.Writers, r.Seed, r.Began = 10_000, 50_000, 300, 16, 1, time.Unix(0, 0)
	r.Machine, r.LoadBefore, r.LoadAfter, r.MemoryLimit = "2 CPUs (x), 8 GiB", "0.1 0.2 0.3", "2 1 1", largeMemoryLimit
	r.Profiles = &Profiles{ServerStock: CPUTime{Jobs: 300, Millis: map[string]float64{"scheduler": 3000}}}
	r.Trouble = &Trouble{Jobs: 1800, Allocations: 51_000, EndedWithADrain: 3, LeaderSeconds: 30, Faults: map[string]string{"a": "it is in the hold pool"}}
	return r
}

func TestSectionSaysAll(t *testing.T) {
	t.Parallel()
	r := whole()
	var terminal bytes.Buffer
	r.print(&terminal)
	for _, want := range []string{
		"## 10000 nodes, 50000 allocations\n",
		"`make scale NODES=10000 ALLOCATIONS=50000 JOBS=300 ROUNDS=2 SCALE='-profile -trouble'`\n",
		"load averages 0.1 0.2 0.3 before anything was started and 2 1 1 after the last round",
		"The agents' `GOMEMLIMIT` is 190MiB, that for more than 5000 nodes; the installed job has 115MiB.",
		"| of stock's rate in the same round, median |  | 92 % | ≥ 85 % |\n",
		"| – mean, with its 95 % interval over the rounds |  | 92 % (61 to 124) |  |\n",
		"| – slowest round |  | 90 % | ≥ 75 % |\n",
		"| – change from the first half of the rounds to the second |  | -5 points | none |\n",
		"| agent memory, peak | 0 MiB | 0 MiB | ≤ 220 MiB |\n",
		"| agent CPU per job | 0.0 ms | 0.0 ms | ≤ 3 ms |\n",
		"| 2 | stock | 50.0 jobs/s | 45.0 jobs/s | 90 % |",
		"| scheduler | 10.00 ms, 100 % |  |  |\n",
		"| batch jobs that Nomad ended with a drain and does not place again | 3 |  |\n",
		"\n- a: it is in the hold pool\n",
	} {
		if !strings.Contains(r.section(), want) {
			t.Errorf("no %q in:\n%s", want, r.section())
		}
	}
	for _, want := range []string{"10000 nodes, 50000 allocations, 2 rounds", "≥ 85 %", "load averages", "scheduler", "hold pool"} {
		if !strings.Contains(terminal.String(), want) {
			t.Errorf("no %q on the terminal:\n%s", want, terminal.String())
		}
	}
}
