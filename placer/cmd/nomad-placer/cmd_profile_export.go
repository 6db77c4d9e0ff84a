package main

import (
	"context"
	"flag"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/command"
)

func profileExportCommand() *command.Command {
	return &command.Command{
		Name: "profile export", Arguments: "[KEY]", Synopsis: "Write profiles as JSON, or as a matrix",
		About: "Writes one profile, or all of them, each with what its running allocations taught, as a JSON list. profile import reads it, and nomad-placer-sim evaluate takes its profiles as training rows. KEY may be cut short as long as it names one profile. " +
			"With -csv it writes a line for each measured cell instead, with its 95 % interval: scores in points as they are learnt from, with what production taught, each at the QoS bound of its workload; or the performance in isolation by node configuration. nomad-placer-sim evaluate and import read that as a matrix.",
		Example: "nomad-placer profile export > profiles.json\n" +
			"nomad-placer profile export -csv tolerated > tolerated.csv",
		MaxArgs: 1, Complete: fromRecords(profileKeys),
		Setup: func(f *flag.FlagSet) command.Runner {
			var from recordFlags
			from.add(f)
			var out command.OutputFlags
			out.Add(f)
			var cells string
			f.StringVar(&cells, "csv", "", "Write a matrix (CSV) of cells of this `kind`: "+strings.Join(matrixCells, ", ")+".")
			return func(ctx context.Context, s *command.Shell, args []string) error {
				switch {
				case cells != "" && !slices.Contains(matrixCells, cells):
					return command.UsageError("-csv is one of %s, not %q", strings.Join(matrixCells, ", "), cells)
				case cells != "" && out.ForMachines():
					return command.UsageError("-csv excludes -json and -t")
				}
				all, err := toExport(ctx, s, &from, args)
				if err != nil {
					return err
				}
				if cells != "" {
					return writeMatrix(s.Out, all, cells)
				}
				return exportProfiles(s, &out, all)
			}
		},
	}
}

// toExport is the profile that is named, or all of them.
func toExport(ctx context.Context, s *command.Shell, from *recordFlags, args []string) ([]knownRecord, error) {
	if len(args) == 0 {
		return readAllKnown(ctx, s, from)
	}
	q, err := findKnown(ctx, s, from, args[0])
	return []knownRecord{q}, err
}

func exportProfiles(s *command.Shell, out *command.OutputFlags, all []knownRecord) error {
	out.OnlyData()
	return out.Print(s, all, nil)
}
