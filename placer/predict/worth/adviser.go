package worth

import (
	"fmt"
	"slices"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// Adviser says what one profiling run is to measure next. It is used by one goroutine.
type Adviser struct {
	Options  Options
	Columns  []interference.Source
	Able     []interference.Source // that the node can press on
	Slowdown float64               // QoS bound, as a share

	spent map[interference.Source]float64
	last  Step
}

// Review answers what a run has measured so far, by what is believed of the scores with it.
func (a *Adviser) Review(now profile.SoFar, b Beliefs, questions []Question) (profile.Advice, error) {
	if a.spent == nil {
		a.spent = map[interference.Source]float64{}
	}
	a.spent[now.Source] = now.SourceSeconds
	list := make([]Column, len(a.Columns))
	for k, s := range a.Columns {
		t, c := now.Profile.Sensitivity.Tolerated[s], now.Profile.Sensitivity.Caused[s]
		_, begun := now.Profile.Sensitivity.Caused[s]
		list[k] = Column{
			Able: !begun && slices.Contains(a.Able, s), Active: s == now.Source,
			Seconds: a.spent[s], Tolerated: t.Deviation(), Caused: c.Deviation(),
		}
	}
	step, err := Next(b, questions, list, a.Slowdown, a.Options)
	if err != nil {
		return profile.Advice{}, err
	}
	a.last = step
	out := profile.Advice{Sources: []interference.Source{}}
	if step.Leave {
		out.Leave = now.Source
	}
	for _, k := range step.Order {
		out.Sources = append(out.Sources, a.Columns[k])
	}
	return out, nil
}

// Ended says why a run that followed the advice ended before its time; empty where it did not
// end by advice.
func (a *Adviser) Ended() string {
	if !a.last.Finished {
		return ""
	}
	most := Worth{Points: 0}
	for _, w := range a.last.Worths {
		if w.Points > most.Points {
			most = w
		}
	}
	if most.Points <= 0 {
		return "no further measurement was expected to change a decision"
	}
	info, _ := interference.Info(a.Columns[most.Column])
	return fmt.Sprintf("no further measurement was expected to improve decisions by %.2g points or more; the most was %.2g, by pressing on %s",
		a.Options.LeastPoints, most.Points, info.Title)
}
