package main

import (
	"fmt"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// productionSection is what running allocations taught, and where it comes from.
func productionSection(p *command.Page, q knownRecord, now time.Time) {
	if q.Production == nil {
		return
	}
	learnt := wording.Production(*q.Production, q.Taken, q.Sensitivity, q.Namespace(), now)
	p.Section("In production")
	p.Item(command.Plain, learnt.Summary)
	for _, warning := range []string{learnt.Distrust, learnt.Suspicion} {
		if warning != "" {
			p.Item(command.Warn, warning)
		}
	}
	if len(learnt.Experiments) == 0 {
		return
	}
	p.Line()
	rows := make([][]command.Cell, len(learnt.Experiments))
	for i, e := range learnt.Experiments {
		rows[i] = []command.Cell{
			command.Text(e.Ended), command.Text(e.Node), command.Text(e.NextTo), command.Number(fmt.Sprint(e.Windows)),
			command.Number(e.Achieved), command.Number(e.Predicted), command.Text(e.Says),
		}
	}
	p.Table([]string{"Ended", "Node", "Next to", "Windows", "Achieved of isolation", "Predicted", "What it says"}, rows)
}
