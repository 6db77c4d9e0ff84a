package wording

import (
	"fmt"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// Outcome prints what became of a request for placement.
func Outcome(o cluster.Outcome) string {
	switch o {
	case cluster.Placed:
		return "placed"
	case cluster.Queued:
		return "waiting for room"
	case cluster.Stock:
		return "left to Nomad"
	default:
		return string(o)
	}
}

// DecisionText is a decision in words, for programs that show it and compute
// nothing of it.
type DecisionText struct {
	Outcome   string `json:"outcome"`
	Target    string `json:"target"`
	Predicted string `json:"predicted"`          // with its interval
	Value     string `json:"value"`              // of the prediction alone
	Interval  string `json:"interval,omitempty"` // of the prediction
	Given     string `json:"given"`
}

// Decision words a decision.
func Decision(d cluster.Decision) DecisionText {
	e := Expect(d.Predicted, d.Target)
	t := DecisionText{
		Outcome: Outcome(d.Outcome), Target: Target(d.Target), Predicted: e.String(), Value: e.Short(),
		Given: fmt.Sprintf("%d × %s", d.Count, Resources(d.Resources)),
	}
	if e.Known && e.Low != e.High {
		t.Interval = Between(e.Low, e.High, e.Unit) + ", 95 % interval"
	}
	return t
}

// Remaining prints how long an evaluation takes from now on; it is empty where that
// is not known.
func Remaining(e cluster.Evaluation) string {
	if e.RemainingSeconds == nil {
		return ""
	}
	return "about " + Duration(time.Duration(*e.RemainingSeconds*float64(time.Second))) + " left"
}

// HoldDeadline prints when a held job runs in any case; it is empty where the job
// is not held.
func HoldDeadline(e cluster.Evaluation, now time.Time) string {
	switch {
	case e.Deadline.IsZero() || e.Stage.Ended():
		return ""
	case now.After(e.Deadline):
		return "hold deadline passed " + Ago(now, e.Deadline)
	default:
		return "runs under stock rules " + Ago(now, e.Deadline) + " at the latest"
	}
}
