package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/sim/evaluate"
	"github.com/nomad-placer/nomad-placer/profiler/training"
)

// pairs judges predictions of pairs before they met, on the shipped table.
func (e *evaluation) pairsOf(ctx context.Context, s *command.Shell) error {
	measured, err := training.LoadPairs()
	if err != nil {
		return err
	}
	profiles, err := evaluate.PairProfiles()
	if err != nil {
		return err
	}
	local, err := classify.Lookup(evaluate.PairClassifier)
	if err != nil {
		return err
	}
	report, err := evaluate.Pairs(ctx, measured, profiles, evaluate.PairOptions{
		Sources: e.pairSources, Classifier: local, Seed: e.options.Seeds[0], Progress: progressOf(s, "pairs"),
	})
	if err != nil {
		return err
	}
	return e.out.Print(s, report, func(p *command.Page) { pairsPage(p, report) })
}

func pairsPage(p *command.Page, r evaluate.PairReport) {
	sources := "all their sources"
	if r.Sources > 0 {
		sources = fmt.Sprintf("%d of their sources, the others predicted", r.Sources)
	}
	p.Line(command.Text(fmt.Sprintf("%d measured pairs of %d applications, of %d pairs both were measured before; %s; no pair and no row of either in what is learnt from",
		r.Pairs, r.Applications, r.Known, sources)))
	for _, part := range evaluate.PairParts() {
		p.Section(evaluate.PairPartSummary(part))
		var table [][]command.Cell
		for _, l := range r.Lines {
			f := l.Figures[part]
			name := command.Cell{Text: l.Predictor}
			if l.Predictor == r.Chosen {
				name.Hue = command.Bold
			}
			row := []command.Cell{name, command.Number(strconv.FormatFloat(f.MeanError, 'f', 1, 64)), command.Number(strconv.FormatFloat(f.Within5, 'f', 0, 64))}
			for _, level := range []string{"50", "80", "95"} {
				held := "–"
				if v, ok := f.Holds[level]; ok {
					held = strconv.FormatFloat(v, 'f', 0, 64)
				}
				row = append(row, command.Number(held))
			}
			table = append(table, append(row, command.Text(l.Summary)))
		}
		p.Line(command.Text(fmt.Sprintf("%d sides", r.Lines[0].Figures[part].Sides)))
		p.Table([]string{"Predictor", "Mean error, points", "Within 5, %", "50 % hold", "80 %", "95 %", ""}, table)
	}
}
