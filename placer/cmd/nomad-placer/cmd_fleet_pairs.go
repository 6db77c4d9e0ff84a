package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/fleet"
	"github.com/nomad-placer/nomad-placer/profiler/pairs"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/training"
)

// measuredPairs is what `fleet pairs -json` prints.
type measuredPairs struct {
	*fleet.Report
	File  string         `json:"file"`
	Pairs []profile.Pair `json:"pairs"`
}

// mostRounds of a pair, as the driver takes them.
const mostRounds = 60

func fleetPairsCommand() *command.Command {
	return &command.Command{
		Name: "fleet pairs", Synopsis: "Measure what workloads do to each other when they run together",
		About: "Runs copies of each two of the given workloads on an idle node, in isolation and together in turns, and says what each loses. A pair is a batch job that asks for all that its node has left; any node of the choice will do. " +
			"The pairs are written to pairs.jsonl in the folder of -work, a line each, as the pairs of the training set are.\n\n" +
			"The operator of a node allows this by \"pairs\" in the driver's option allow. The two are measured in one group: their tasks, ports and volumes need different names.\n\n" +
			"An interrupted campaign removes its jobs, and the same command goes on where it was. The exit code is 1 if a pair was left out.",
		Example: "nomad-placer fleet pairs -workload cache.nomad.hcl -workload batch.nomad.hcl",
		Setup: func(f *flag.FlagSet) command.Runner {
			var c fleetFlags
			var files listFlag
			var vars variableFlags
			c.add(f)
			c.addWorkloads(f, &files, &vars)
			placements := f.String("placement", pairs.Same+","+pairs.Beside, "`Placements`, with commas between: same (both on one CPU), beside (on a CPU each).")
			rounds := f.Int("rounds", 0, "`Rounds` of three windows; 0 is 6.")
			return func(ctx context.Context, s *command.Shell, _ []string) error {
				chosen := strings.Split(*placements, ",")
				if slices.ContainsFunc(chosen, func(p string) bool { return p != pairs.Same && p != pairs.Beside }) || len(chosen) != len(slices.Compact(slices.Sorted(slices.Values(chosen)))) {
					return command.UsageError("-placement is %s, %s or both", pairs.Same, pairs.Beside)
				}
				if *rounds < 0 || *rounds > mostRounds {
					return command.UsageError("-rounds is from 0 to %d", mostRounds)
				}
				if len(files) == 0 {
					return command.UsageError("give job files with -workload")
				}
				m, err := c.begin(ctx, s)
				if err != nil {
					return err
				}
				workloads, err := m.workloads(ctx, files, &vars)
				if err != nil {
					return err
				}
				if len(workloads) < 2 {
					return command.UsageError("a pair needs two groups with a performance block")
				}
				return m.pairs(ctx, fleet.Pairings(m.world, workloads, chosen, *rounds))
			}
		},
	}
}

// pairs measures them, and writes all that are known also where the campaign was ended.
func (m *campaign) pairs(ctx context.Context, units []fleet.Unit) error {
	report, failed := m.run(ctx, units)
	if report == nil {
		return failed
	}
	out := measuredPairs{Report: report, File: filepath.Join(m.flags.folder, training.PairsFile)}
	var err error
	if out.Pairs, err = fleet.Pairs(report); err != nil {
		return err
	}
	err = writeWhole(out.File, func(w io.Writer) error {
		for _, p := range out.Pairs {
			if err := json.NewEncoder(w).Encode(p); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || failed != nil {
		return cmp.Or(failed, err)
	}
	return m.print(report, out, func(p *command.Page) { pairsPage(p, &out) })
}

func pairsPage(p *command.Page, m *measuredPairs) {
	if len(m.Pairs) == 0 {
		return
	}
	var rows [][]command.Cell
	for _, pair := range m.Pairs {
		rows = append(rows, []command.Cell{command.Text(pair.A.Application), ratioCell(pair.A), command.Text(pair.B.Application), ratioCell(pair.B), command.Text(pair.Placement)})
	}
	p.Line(command.Text("\nThe speed together, of that in isolation, with its interval of 95 %:"))
	p.Table([]string{"A", "Speed of A", "B", "Speed of B", "Placement"}, rows)
	p.Line(command.Text("\nWritten to " + m.File + "."))
}

func ratioCell(s profile.PairSide) command.Cell {
	return command.Number(fmt.Sprintf("%.0f %% (%.0f to %.0f)", 100*s.Ratio, 100*s.Low, 100*s.High))
}
