package whatif

import (
	"fmt"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// notes say what is assumed, so that no number is read for more than it is.
func (r *replay) notes(q provision.Question, recorded Recorded, asked time.Time, denied int) []string {
	owned := "as many nodes as the least load needs, one at least"
	if n := q.Prices.Owned.Nodes; n != nil {
		owned = wording.Count(*n, "node")
	}
	out := []string{
		fmt.Sprintf("Costs of weeks are as if every hour were like the %s that were replayed. Owned nodes are paid in advance for terms of %s, rented ones by the second.",
			lengthOf(q.To.Sub(q.From)), wording.Count(q.Prices.Owned.TermWeeks, "week")),
		fmt.Sprintf("SR owns nodes for the highest load and 15 %% more, HF and HM %s.", owned),
		"Each allocation is replayed by itself, at the size that it had, and is taken to last as long alone as it lasted. Nothing is adapted while it runs, and profiling takes no time.",
		fmt.Sprintf("Other customers keep %s %% of the cores of the provider's machines busy that are not rented; whoever rents a whole machine has it alone. This is assumed, not measured.", wording.Number(100*q.Outside)),
	}
	if q.From.After(asked) {
		out = append(out, fmt.Sprintf("Runs are on record from %s on, not from %s on.", q.From.UTC().Format(time.RFC3339), asked.UTC().Format(time.RFC3339)))
	}
	if r.unknown > 0 {
		out = append(out, fmt.Sprintf("Of %s nothing is known: they are placed as if they tolerated and caused %d points of each source.", wording.Count(r.unknown, "run"), assumedPercent))
	}
	if r.running > 0 {
		out = append(out, fmt.Sprintf("%s had not ended, and counts until %s.", wording.Count(r.running, "run"), q.To.UTC().Format(time.RFC3339)))
	}
	if recorded.Unreadable > 0 {
		out = append(out, fmt.Sprintf("%s of runs could not be read.", wording.Count(recorded.Unreadable, "document")))
	}
	if denied > 0 {
		out = append(out, fmt.Sprintf("A provider of %d nodes per type had no more %s.", min(len(r.jobs), nodesPerAllocation*r.load.most), wording.Count(denied, "time")))
	}
	return out
}

// lengthOf a time in whole hours, and a short one exactly.
func lengthOf(d time.Duration) string {
	if d < 2*time.Hour {
		return wording.Duration(d)
	}
	return wording.Count(int(d.Hours()+0.5), "hour")
}
