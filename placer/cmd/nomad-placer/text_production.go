package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// productionSection is what running allocations taught, and where it comes from.
func productionSection(p *command.Page, said *profile.Production, now time.Time) {
	if said == nil {
		return
	}
	p.Section("In production")
	p.Fact("Since", fmt.Sprintf("%s, newest %s", wording.Ago(now, said.Since), wording.Ago(now, said.Updated)))
	p.Fact("Experiments", wording.Number(float64(said.Counted)))
	if d := said.Distrust; d != nil {
		p.Item(command.Warn, fmt.Sprintf("The profile is not trusted since %s: %s", wording.Ago(now, d.At), d.Reason))
	}
	if s := said.Suspicion; s != nil {
		p.Item(command.Warn, fmt.Sprintf("%s contradicted what is known, the first %s; another behaviour explains that %s times as well, and at 10,000 times the job is profiled again",
			wording.Count(s.Experiments, "experiment"), wording.Ago(now, s.Since), wording.Number(s.Odds)))
	}
	if len(said.Experiments) == 0 {
		return
	}
	p.Line()
	rows := make([][]command.Cell, len(said.Experiments))
	for i, e := range said.Experiments {
		achieved, predicted := wording.Unknown, wording.Unknown
		if e.High > 0 {
			achieved = fmt.Sprintf("%s %% (%s–%s)", wording.Number(100*e.Ratio), wording.Number(100*e.Low), wording.Number(100*e.High))
			predicted = fmt.Sprintf("%s %% (%s–%s)", wording.Number(100*e.Predicted), wording.Number(100*e.PredictedLow), wording.Number(100*e.PredictedHigh))
		}
		if e.AtLeast {
			achieved = "at least " + achieved
		}
		rows[i] = []command.Cell{
			command.Text(wording.Ago(now, e.To)), command.Text(e.Node), command.Text(nextTo(e)), command.Number(fmt.Sprint(e.Windows)),
			command.Number(achieved), command.Number(predicted), command.Text(e.Says),
		}
	}
	p.Table([]string{"Ended", "Node", "Next to", "Windows", "Achieved of isolation", "Predicted", "What it says"}, rows)
}

// nextTo names co-runners of the same namespace, and counts the others.
func nextTo(e profile.Experiment) string {
	all := e.Neighbours
	if e.Others > 0 {
		all = append(all[:len(all):len(all)], wording.Count(e.Others, "workload")+" of other namespaces")
	}
	if len(all) == 0 {
		return "nothing"
	}
	return strings.Join(all, ", ")
}
