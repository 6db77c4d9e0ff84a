package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/dashboard/wording"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

func profileShowCommand() *command {
	return &command{
		name: "profile show", arguments: "KEY", synopsis: "Show one profile with its ramp",
		about:   "Prints a profile: performance in isolation, the interference scores, and every level of the ramp. KEY may be cut short as long as it names one profile.",
		example: "nomad-placer profile show 3f2a",
		minArgs: 1, maxArgs: 1, complete: fromRecords(profileKeys),
		setup: func(f *flag.FlagSet) runner {
			var from recordFlags
			var out outputFlags
			from.add(f)
			out.add(f)
			return func(ctx context.Context, s *shell, args []string) error {
				q, err := findProfile(ctx, s, &from, args[0])
				if err != nil {
					return err
				}
				return out.print(s, q, func(p *page) { profilePage(p, q, s.now()) })
			}
		},
	}
}

// findProfile accepts the beginning of a key.
func findProfile(ctx context.Context, s *shell, from *recordFlags, prefix string) (profile.Profile, error) {
	r, err := from.open(s)
	if err != nil {
		return profile.Profile{}, err
	}
	keys, err := r.Profiles(ctx)
	if err != nil {
		return profile.Profile{}, err
	}
	var found []string
	for _, k := range keys {
		if strings.HasPrefix(k, strings.TrimSuffix(prefix, "…")) {
			found = append(found, k)
		}
	}
	switch len(found) {
	case 0:
		return profile.Profile{}, withHint(fmt.Errorf("profile %s: %w", prefix, cluster.ErrNoRecord), "nomad-placer profile list shows all keys")
	case 1:
		return r.Profile(ctx, found[0])
	default:
		return profile.Profile{}, fmt.Errorf("profile %s: %d profiles begin with it: %s", prefix, len(found), strings.Join(found, ", "))
	}
}

func profilePage(p *page, q profile.Profile, now time.Time) {
	p.line(heading(q.Workload), cell{text: q.Key, hue: faint})
	p.line()
	p.fact("Target", wording.Target(q.Target))
	p.fact("Taken", fmt.Sprintf("%s, in %s", wording.Ago(now, q.Taken), wording.Duration(q.Duration)))
	p.fact("Machine", machineText(q.Machine))
	p.fact("Bound", wording.Number(q.SlowdownMax)+" % slowdown")
	if !q.Complete {
		p.fact("State", "cut short: partial results")
	}
	if len(q.Warnings) > 0 {
		p.section("Warnings")
	}
	for _, w := range q.Warnings {
		p.item(warn, w)
	}
	if len(q.Alone) > 0 {
		p.section("Performance in isolation")
		var rows [][]cell
		for _, configuration := range slices.Sorted(maps.Keys(q.Alone)) {
			m := q.Alone[configuration]
			rows = append(rows, []cell{text(configuration), number(wording.Quantity(m.Value, m.Unit)),
				text(wording.Number(m.Low) + " to " + wording.Number(m.High)), number(fmt.Sprint(m.Windows))})
		}
		p.table([]string{"Configuration", "Performance", "95 % interval", "Windows"}, rows)
	}
	explainSensitivity(p, q.Sensitivity, nil)
	rampTable(p, q)
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

func rampTable(p *page, q profile.Profile) {
	if len(q.Ramp) == 0 {
		return
	}
	p.section("Ramp: share of the performance in isolation, with 95 % intervals")
	rows := make([][]cell, len(q.Ramp))
	for i, r := range q.Ramp {
		rows[i] = []cell{
			text(string(r.Source)), number(wording.Number(r.IntensityPercent) + " %"), text(r.Placement),
			number(share(r.WorkloadRatio)), text(shares(r.WorkloadLow, r.WorkloadHigh)),
			number(share(r.KernelRatio)), text(shares(r.KernelLow, r.KernelHigh)), number(fmt.Sprint(r.Pairs)),
		}
	}
	p.table([]string{"Source", "Intensity", "CPUs", "Workload", "", "Kernel", "", "Pairs"}, rows)
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
