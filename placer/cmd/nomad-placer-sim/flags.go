package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/sim/figures"
)

// scenarioFolder is where the scenarios are, seen from the folder of the project: paths of data
// in them are relative to it.
const scenarioFolder = "examples/sim"

// manyRuns are the flags of the commands that make many runs, and keep them.
type manyRuns struct {
	out         command.OutputFlags
	seeds, work string
	parallel    int
	profile     cpuProfile
	nodes       onNomad
}

// add declares the flags; seeds is the help of -seeds, whose default is the command's.
func (m *manyRuns) add(f *flag.FlagSet, seeds string) {
	m.out.Add(f)
	f.StringVar(&m.seeds, "seeds", "", seeds)
	f.StringVar(&m.work, "work", "", "Keep every run in this `folder`, and take what is there.")
	f.IntVar(&m.parallel, "parallel", 0, "How many runs at once; 0 is one per processor. It does not change the result.")
	m.profile.add(f)
	m.nodes.add(f)
}

// options checks the flags.
func (m *manyRuns) options(s *command.Shell) (figures.Options, error) {
	if m.parallel < 0 {
		return figures.Options{}, command.UsageError("-parallel must not be negative")
	}
	seeds, err := seedList(m.seeds)
	if err != nil {
		return figures.Options{}, err
	}
	elsewhere, err := m.nodes.elsewhere(s, m.work)
	return figures.Options{Work: m.work, Seeds: seeds, Parallel: m.parallel, Elsewhere: elsewhere, Now: s.Now}, err
}

// mostSeeds bounds a number of seeds, against slips of the pen.
const mostSeeds = 100

// seedList reads one number as how many, and several, or one with a comma after it, as themselves.
func seedList(list string) ([]uint64, error) {
	if list == "" {
		return nil, nil
	}
	itself, one := strings.CutSuffix(list, ",")
	given, ok := numbers(itself)
	if !ok {
		return nil, command.UsageError("-seeds takes how many, or different whole numbers with commas between, not %q", list)
	}
	if len(given) > 1 || one {
		return given, nil
	}
	count := given[0]
	if count < 1 || count > mostSeeds {
		return nil, command.UsageError("-seeds: 1 to %d seeds, not %d", mostSeeds, count)
	}
	var out []uint64
	for seed := range count {
		out = append(out, seed+1)
	}
	return out, nil
}

// numbers reads different whole numbers with commas between; false where they are not.
func numbers(list string) ([]uint64, bool) {
	var out []uint64
	for _, text := range names(list) {
		v, err := strconv.ParseUint(text, 10, 32)
		if err != nil || slices.Contains(out, v) {
			return nil, false
		}
		out = append(out, v)
	}
	return out, true
}

// names reads a list with commas between; empty where there is none.
func names(list string) []string {
	if list == "" {
		return nil
	}
	var out []string
	for name := range strings.SplitSeq(list, ",") {
		out = append(out, strings.TrimSpace(name))
	}
	return out
}

// writeHTML writes a page to a file; what names the command in an error.
func writeHTML(what, path string, page interface{ HTML(w io.Writer) error }) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if err := page.HTML(f); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}
