package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

func profileShowCommand() *command.Command {
	return &command.Command{
		Name: "profile show", Arguments: "KEY", Synopsis: "Show what is known of one workload",
		About:   "Prints a profile: performance in isolation, the interference scores, and every level of the ramp; and what its running allocations taught: when, where, next to what, and what was achieved and predicted. KEY may be cut short as long as it names one profile.",
		Example: "nomad-placer profile show 3f2a",
		MinArgs: 1, MaxArgs: 1, Complete: fromRecords(profileKeys),
		Setup: func(f *flag.FlagSet) command.Runner {
			var from recordFlags
			var out command.OutputFlags
			from.add(f)
			out.Add(f)
			return func(ctx context.Context, s *command.Shell, args []string) error {
				q, err := findKnown(ctx, s, &from, args[0])
				if err != nil {
					return err
				}
				return out.Print(s, q, func(p *command.Page) { profilePage(p, q, s.Now()) })
			}
		},
	}
}

func profilePage(p *command.Page, q knownRecord, now time.Time) {
	p.Line(command.Heading(q.Workload), command.Cell{Text: q.Key, Hue: command.Faint})
	p.Line()
	if !q.profiled() {
		p.Fact("Taken", "never: it was not profiled")
	} else {
		p.Fact("Target", wording.Target(q.Target))
		p.Fact("Taken", fmt.Sprintf("%s, in %s", wording.Ago(now, q.Taken), wording.Duration(q.Duration)))
		p.Fact("Machine", machineText(q.Machine))
	}
	if q.CPUsIsolated > 0 {
		p.Fact("CPU time in isolation", cpuTimeText(q.Profile))
	}
	p.Fact("Bound", wording.Number(q.SlowdownMax)+" % slowdown")
	if q.Ended != "" {
		p.Fact("Ended early", q.Ended)
	}
	if !q.Complete && q.profiled() {
		p.Fact("State", "cut short: partial results")
	}
	if len(q.Warnings) > 0 {
		p.Section("Warnings")
	}
	for _, w := range q.Warnings {
		p.Item(command.Warn, w)
	}
	if len(q.Isolated) > 0 {
		p.Section("Performance in isolation")
		var rows [][]command.Cell
		for _, configuration := range slices.Sorted(maps.Keys(q.Isolated)) {
			m := q.Isolated[configuration]
			rows = append(rows, []command.Cell{command.Text(configuration), command.Number(wording.Quantity(m.Value, m.Unit)),
				command.Text(wording.Number(m.Low) + " to " + wording.Number(m.High)), command.Number(fmt.Sprint(m.Windows))})
		}
		p.Table([]string{"Configuration", "Performance", "95 % interval", "Windows"}, rows)
	}
	explainSensitivity(p, q.Sensitivity, nil)
	rampTable(p, q.Profile)
	productionSection(p, q, now)
}

func cpuTimeText(p profile.Profile) string {
	text := wording.Number(p.CPUsIsolated) + " CPUs"
	if p.RunIsolatedMS > 0 {
		text += ", " + wording.Number(p.RunIsolatedMS) + " ms at a time"
	}
	return text
}

func machineText(m profile.Machine) string {
	text := m.NodeName + " (" + m.Configuration + ")"
	if m.CPUModel != "" {
		text += ", " + m.CPUModel
	}
	if m.Virtual {
		text += ", virtual machine"
	}
	return text
}

func rampTable(p *command.Page, q profile.Profile) {
	if len(q.Ramp) == 0 {
		return
	}
	p.Section("Ramp: share of the performance in isolation, with 95 % intervals")
	rows := make([][]command.Cell, len(q.Ramp))
	for i, r := range q.Ramp {
		rows[i] = []command.Cell{
			command.Text(string(r.Source)), command.Number(wording.Number(r.IntensityPercent) + " %"), command.Text(r.Placement),
			command.Number(share(r.WorkloadRatio)), command.Text(shares(r.WorkloadLow, r.WorkloadHigh)),
			command.Number(share(r.KernelRatio)), command.Text(shares(r.KernelLow, r.KernelHigh)), command.Number(fmt.Sprint(r.Pairs)),
		}
	}
	p.Table([]string{"Source", "Intensity", "CPUs", "Workload", "", "Kernel", "", "Pairs"}, rows)
}

func share(v *float64) string {
	if v == nil {
		return wording.Unknown
	}
	return wording.Number(*v*100) + " %"
}

func shares(low, high *float64) string {
	if low == nil || high == nil {
		return ""
	}
	return wording.Number(*low*100) + "–" + wording.Number(*high*100)
}
