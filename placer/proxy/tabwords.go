package proxy

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// GroupText is what the tab says of a group and what its charts show, in the words
// and by the rules of the placer's own pages: the browser computes nothing.
type GroupText struct {
	wording.DecisionText
	Measured   string   `json:"measured"`
	MeasuredAt string   `json:"measured_at"`          // or why it is not measured
	Decided    string   `json:"decided"`              // how long ago
	Steps      []string `json:"steps,omitempty"`      // where the time went
	Candidates []string `json:"candidates,omitempty"` // what is predicted on each, in their order
	Actions    []string `json:"actions,omitempty"`    // how long ago each was, in their order

	Unit     string         `json:"unit"`             // of Goal and of the windows
	Goal     *float64       `json:"goal,omitempty"`   // absent for best effort
	Bound    *time.Duration `json:"bound,omitempty"`  // of the tail latency
	Tail     string         `json:"tail,omitempty"`   // "p99"
	Windows  []WindowPoint  `json:"windows"`          // oldest first
	Speeds   []SpeedBar     `json:"speeds,omitempty"` // the best of each node configuration
	Isolated []SpeedBar     `json:"isolated,omitempty"`
}

// WindowPoint is what all allocations did in one window of time.
type WindowPoint struct {
	At    int64          `json:"at"`              // ms since 1970
	Value *float64       `json:"value,omitempty"` // absent where it is not known
	Tail  *time.Duration `json:"tail,omitempty"`  // likewise
}

// SpeedBar is the performance on one node configuration.
type SpeedBar struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Unit  string  `json:"unit"`
	Text  string  `json:"text"`
}

// NodeText is what the tab says of a client.
type NodeText struct {
	Assumed   string   `json:"assumed,omitempty"` // a warning
	CPU       string   `json:"cpu"`
	Memory    string   `json:"memory"`
	Seen      string   `json:"seen"`                // how long ago
	Residents []string `json:"residents,omitempty"` // the resources of each, in their order
}

const otherVersion = "The agent's records cannot be read; is it of another version than this proxy? "

// words fills in the text of a group whose records were read. What an agent of
// another version wrote in a form that is not known here is said to be so.
func (out *GroupRecord) words(now time.Time) {
	if out.Decision == nil {
		return
	}
	var r struct {
		decision     cluster.Decision
		observations []cluster.Observation
		measured     wording.Measured
		profile      profile.Profile
		actions      []cluster.ActionRecord
	}
	for _, part := range []struct {
		text json.RawMessage
		into any
	}{{out.Decision, &r.decision}, {out.Observations, &r.observations}, {out.Measured, &r.measured}, {out.Profile, &r.profile}, {out.Actions, &r.actions}} {
		if part.text == nil {
			continue
		}
		if err := json.Unmarshal(part.text, part.into); err != nil {
			out.Problems = append(out.Problems, otherVersion+err.Error())
			out.Decision = nil
			return
		}
	}
	t := &GroupText{DecisionText: wording.Decision(r.decision), Decided: wording.Ago(now, r.decision.At)}
	t.measure(now, r.measured)
	t.chart(r.decision.Target, r.observations)
	for _, s := range r.decision.Steps {
		t.Steps = append(t.Steps, s.Name+" "+wording.Duration(s.Duration))
	}
	for _, c := range r.decision.Candidates {
		t.Candidates = append(t.Candidates, wording.Expect(c.Predicted, r.decision.Target).String())
	}
	for _, a := range r.actions {
		t.Actions = append(t.Actions, wording.Ago(now, a.At))
	}
	t.Speeds, t.Isolated = predictedBars(r.decision), isolatedBars(r.profile)
	out.Text = t
}

func (t *GroupText) measure(now time.Time, m wording.Measured) {
	t.Measured, t.MeasuredAt = m.String(), "not measured yet"
	switch {
	case m.Known:
		t.MeasuredAt = wording.Ago(now, m.At)
	case m.Why != "":
		t.MeasuredAt = m.Why
	}
}

// chart is what was measured over time, against the target.
func (t *GroupText) chart(target performance.Target, observations []cluster.Observation) {
	goal, unit, ok := target.Value()
	t.Unit = unit
	if ok {
		t.Goal = &goal
	} else {
		t.Unit = target.RateUnit()
	}
	if l := target.Latency; l != nil {
		t.Bound, t.Tail = &l.Max, "p"+wording.Number(l.Percentile)
	}
	for _, w := range wording.Over(target, observations).Windows {
		p := WindowPoint{At: w.At.UnixMilli()}
		if w.Measured.Known {
			p.Value = &w.Value
			if w.Tail > 0 {
				p.Tail = &w.Tail
			}
		}
		t.Windows = append(t.Windows, p)
	}
}

// predictedBars are the best predictions of each node configuration, in the unit of
// the best candidate.
func predictedBars(d cluster.Decision) []SpeedBar {
	var out []SpeedBar
	lessIsBetter := d.Target.Kind == performance.FinishWithin
	for _, c := range d.Candidates {
		e := wording.Expect(c.Predicted, d.Target)
		if !e.Known || len(out) > 0 && e.Unit != out[0].Unit {
			continue
		}
		bar := SpeedBar{configuration(c.Configuration), e.Value, e.Low, e.High, e.Unit, e.String()}
		at := slices.IndexFunc(out, func(b SpeedBar) bool { return b.Name == bar.Name })
		switch {
		case at < 0:
			out = append(out, bar)
		case bar.Value < out[at].Value == lessIsBetter:
			out[at] = bar
		}
	}
	return out
}

// isolatedBars are the measurements in isolation of one unit.
func isolatedBars(p profile.Profile) []SpeedBar {
	var out []SpeedBar
	for name, m := range p.Isolated {
		e := wording.Expectation{Known: true, Value: m.Value, Low: m.Low, High: m.High, Unit: m.Unit}
		out = append(out, SpeedBar{configuration(name), m.Value, m.Low, m.High, m.Unit, e.String()})
	}
	slices.SortFunc(out, func(a, b SpeedBar) int { return strings.Compare(a.Name, b.Name) })
	return slices.DeleteFunc(out, func(b SpeedBar) bool { return b.Unit != out[0].Unit })
}

func configuration(name string) string {
	if name == "" {
		return "unnamed"
	}
	return name
}

// progress says how far the evaluation of a job is; it is empty once that has ended.
func progress(e cluster.Evaluation, now time.Time) string {
	var parts []string
	if e.Fraction != nil {
		parts = append(parts, wording.Number(100**e.Fraction)+" % done")
	}
	for _, s := range []string{wording.Remaining(e), wording.HoldDeadline(e, now)} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return wording.Capital(strings.Join(parts, "; "))
}

func nodeText(n cluster.NodeRecord, now time.Time) NodeText {
	of := func(used, total int, unit string) string {
		return wording.Number(float64(used)) + " of " + wording.Number(float64(total)) + " " + unit
	}
	t := NodeText{
		Assumed: wording.Capital(wording.AssumedNote(n)), Seen: wording.Ago(now, n.At),
		CPU: of(n.Used.CPUMHz, n.Node.Total.CPUMHz, "MHz"), Memory: of(n.Used.MemoryMB, n.Node.Total.MemoryMB, "MiB"),
	}
	for _, r := range n.Residents {
		t.Residents = append(t.Residents, wording.Resources(r.Resources))
	}
	return t
}
