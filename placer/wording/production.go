package wording

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// Learnt is what the running allocations of a workload have taught of it, in words, for
// programs that show it and compute nothing of it.
type Learnt struct {
	Counted     int              `json:"counted"` // experiments that were evaluated
	Summary     string           `json:"summary"`
	Distrust    string           `json:"distrust,omitempty"`  // why its profile is not trusted any more
	Suspicion   string           `json:"suspicion,omitempty"` // what contradicts what is known
	Moved       []MovedScore     `json:"moved"`
	Experiments []ExperimentText `json:"experiments"` // the newest first
}

// MovedScore is a score that production has changed, with its 95 % interval.
type MovedScore struct {
	Source interference.Source `json:"source"`
	Title  string              `json:"title"` // of the source
	Side   string              `json:"side"`  // tolerated or caused
	From   string              `json:"from"`
	To     string              `json:"to"`
}

// ExperimentText is one experiment. Shares are of the performance in isolation.
type ExperimentText struct {
	At        time.Time `json:"at"`    // when it ended
	Ended     string    `json:"ended"` // how long ago
	Node      string    `json:"node"`
	NextTo    string    `json:"next_to"`
	Began     string    `json:"began"` // what made the situation
	Windows   int       `json:"windows"`
	Achieved  string    `json:"achieved"`
	Predicted string    `json:"predicted"`
	Says      string    `json:"says"`
}

// NothingLearnt is said of a workload of which production has taught nothing.
func NothingLearnt() Learnt {
	return Learnt{Summary: "Nothing has been learnt from its running allocations yet", Moved: []MovedScore{}, Experiments: []ExperimentText{}}
}

// Production words what production has taught for the readers of a namespace: workloads of
// others are counted and not named. taken is when the profile was taken, s the scores that
// are in force.
func Production(p profile.Production, taken time.Time, s interference.Sensitivity, namespace string, now time.Time) Learnt {
	out := Learnt{Counted: p.Counted, Summary: Capital(learntSummary(p, now)), Moved: []MovedScore{}, Experiments: []ExperimentText{}}
	if d := p.DistrustOf(taken); d != nil {
		out.Distrust = fmt.Sprintf("Its profile is not trusted any more, and is taken again when the job is submitted next: %s (noticed %s)", DistrustReason(*d, outside(namespace)), Ago(now, d.At))
	}
	if p.Suspicion != nil {
		out.Suspicion = Capital(suspicion(*p.Suspicion, namespace, now))
	}
	for _, info := range interference.Sources() {
		for side, scores := range [...]interference.Scores{s.Tolerated, s.Caused} {
			if m, moved := movedScore(scores[info.Source]); moved {
				m.Source, m.Title, m.Side = info.Source, info.Title, [...]string{"tolerated", "caused"}[side]
				out.Moved = append(out.Moved, m)
			}
		}
	}
	for _, e := range slices.Backward(p.Experiments) {
		out.Experiments = append(out.Experiments, experiment(e, namespace, now))
	}
	return out
}

func learntSummary(p profile.Production, now time.Time) string {
	switch {
	case p.Counted > 0:
		return fmt.Sprintf("evaluated: %s of its running allocations; what counts was learnt since %s, the newest %s",
			Count(p.Counted, "experiment"), p.Since.UTC().Format("2006-01-02 15:04 UTC"), Ago(now, p.Updated))
	case len(p.Caused) > 0:
		return "what its co-runners lost has taught of its caused scores, the newest " + Ago(now, p.Updated) + "; no experiment of its own has counted yet"
	default:
		return "no experiment of its running allocations has counted yet"
	}
}

func suspicion(s profile.Suspicion, namespace string, now time.Time) string {
	text := fmt.Sprintf("%s contradicted what is known, the first %s; another behaviour explains that %s times as well, and at 10,000 times the job is profiled again",
		Count(s.Experiments, "experiment"), Ago(now, s.Since), Number(s.Odds))
	own := slices.DeleteFunc(slices.Clone(s.CoRunners), outside(namespace))
	if s.Less > 0 && len(own) > 0 {
		text += fmt.Sprintf(" (each time next to %s, which may have changed instead)", own[0])
	}
	return text
}

// outside tells the workloads of other namespaces, by their names.
func outside(namespace string) func(workload string) bool {
	return func(workload string) bool { return !strings.HasPrefix(workload, namespace+"/") }
}

// DistrustReason is why a profile is not trusted, without the names that are hidden.
func DistrustReason(d profile.Distrust, hidden func(workload string) bool) string {
	reason := d.Reason
	for _, w := range d.CoRunners {
		if w != "" && hidden(w) {
			reason = strings.ReplaceAll(reason, w, "a workload of another namespace")
		}
	}
	return reason
}

func movedScore(e interference.Estimate) (MovedScore, bool) {
	was := e.WithoutProduction
	if was == (interference.Prior{}) {
		return MovedScore{}, false
	}
	m := MovedScore{From: withInterval(was.Score, was.Range), To: withInterval(e.Score, e.Within())}
	return m, m.From != m.To
}

// withInterval prints "60 (50–70)".
func withInterval(s interference.Score, r interference.Range) string {
	e := interference.Estimate{Score: s, Low: r.Low, High: r.High}
	if interval := Interval(e); interval != "" {
		return Score(e) + " (" + interval + ")"
	}
	return Score(e)
}

func experiment(e profile.Experiment, namespace string, now time.Time) ExperimentText {
	out := ExperimentText{
		At: e.To, Ended: Ago(now, e.To), Node: e.Node, NextTo: nextTo(e, namespace), Began: e.Began, Windows: e.Windows,
		Achieved: Unknown, Predicted: Unknown, Says: e.Says,
	}
	if e.High > 0 {
		out.Achieved, out.Predicted = shareOf(e.Ratio, e.Low, e.High), shareOf(e.Predicted, e.PredictedLow, e.PredictedHigh)
		if e.AtLeast {
			out.Achieved = "at least " + out.Achieved
		}
	}
	return out
}

// shareOf prints "91 % (89–93)".
func shareOf(v, low, high float64) string {
	return fmt.Sprintf("%s %% (%s–%s)", Number(100*v), Number(100*low), Number(100*high))
}

// nextTo names co-runners of the namespace, and counts the others.
func nextTo(e profile.Experiment, namespace string) string {
	own := slices.DeleteFunc(slices.Clone(e.Neighbours), outside(namespace))
	if others := e.Others + len(e.Neighbours) - len(own); others > 0 {
		own = append(own, Count(others, "workload")+" of other namespaces")
	}
	if len(own) == 0 {
		return "nothing"
	}
	return strings.Join(own, ", ")
}
