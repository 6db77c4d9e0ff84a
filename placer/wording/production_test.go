package wording

import (
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

func TestProduction(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 14, 15, 0, 0, 0, time.UTC)
	at := func(low, score, high float64) interference.Estimate {
		return interference.Estimate{Score: interference.Percent(score), Low: interference.Percent(low), High: interference.Percent(high)}
	}
	moved, same := at(40, 48, 55), at(20, 30, 40)
	moved.WithoutProduction = interference.Prior{Score: interference.Percent(72), Range: at(60, 72, 85).Within()}
	same.WithoutProduction = interference.Prior{Score: same.Score, Range: same.Within()}
	s := interference.Sensitivity{
		Tolerated: interference.Scores{interference.MemoryBandwidth: same, interference.LLCCapacity: at(1, 2, 3)},
		Caused:    interference.Scores{interference.MemoryBandwidth: moved},
	}
	p := profile.Production{
		Counted: 2, Since: now.Add(-time.Hour), Updated: now.Add(-time.Minute),
		Suspicion: &profile.Suspicion{Odds: 40, Since: now.Add(-2 * time.Minute), Experiments: 2, Less: 2, CoRunners: []string{"other/x/y", "team/b/c"}},
		Distrust:  &profile.Distrust{At: now.Add(-3 * time.Minute), Reason: "it did less next to other/x/y", CoRunners: []string{"other/x/y"}},
		Experiments: []profile.Experiment{
			{To: now.Add(-2 * time.Hour), Neighbours: []string{"team/b/c", "other/x/y"}, Others: 1, Ratio: 0.5, Low: 0.4, High: 0.6, Predicted: 0.9, PredictedLow: 0.8, PredictedHigh: 1, AtLeast: true, Says: "first"},
			{To: now.Add(-time.Minute), Says: "nothing: newest"},
		},
	}
	got := Production(p, now.Add(-time.Hour), s, "team", now)
	if len(got.Moved) != 1 || got.Moved[0] != (MovedScore{interference.MemoryBandwidth, "memory bandwidth", "caused", "72 (60–85)", "48 (40–55)"}) {
		t.Errorf("moved %+v", got.Moved)
	}
	for what, c := range map[string][2]string{
		"summary":   {got.Summary, "Evaluated: 2 experiments of its running allocations; what counts was learnt since 2026-03-14 14:00 UTC, the newest 1 min ago"},
		"distrust":  {got.Distrust, "Its profile is not trusted any more, and is taken again when the job is submitted next: it did less next to a workload of another namespace (noticed 3 min ago)"},
		"suspicion": {got.Suspicion, "2 experiments contradicted what is known, the first 2 min ago; another behaviour explains that 40 times as well, and at 10,000 times the job is profiled again (each time next to team/b/c, which may have changed instead)"},
		"newest":    {got.Experiments[0].Says + ", " + got.Experiments[0].NextTo + ", " + got.Experiments[0].Achieved + ", " + got.Experiments[0].Predicted, "nothing: newest, nothing, unknown, unknown"},
		"next to":   {got.Experiments[1].NextTo, "team/b/c, 2 workloads of other namespaces"},
		"achieved":  {got.Experiments[1].Achieved, "at least 50 % (40–60)"},
		"predicted": {got.Experiments[1].Predicted, "90 % (80–100)"},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %q, want %q", what, c[0], c[1])
		}
	}
	if after := Production(p, now, s, "team", now); after.Distrust != "" {
		t.Errorf("a profile that was taken since is not trusted: %s", after.Distrust)
	}
	p.Counted = 0
	if text := Production(p, now, s, "team", now).Summary; !strings.HasPrefix(text, "No experiment of its running") {
		t.Error(text)
	}
	p.Caused = profile.Likelihoods{interference.MemoryBandwidth: {}}
	if text := Production(p, now, s, "team", now).Summary; !strings.HasPrefix(text, "What its co-runners lost") {
		t.Error(text)
	}
}
