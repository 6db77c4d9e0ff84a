// Command training measures the training set: real applications of Debian
// packages (package catalogue) against every source of interference, their
// speed at several sizes, and pairs of them together. It is resumable: what
// exists is not measured again. Run it on a machine that does nothing else.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/disk"
	"github.com/nomad-placer/nomad-placer/e2e/training/catalogue"
	"github.com/nomad-placer/nomad-placer/e2e/training/input"
	"github.com/nomad-placer/nomad-placer/profiler/training/backgrounds"
)

// settings are the flags.
type settings struct {
	bin, workload string
	inputs        string
	folder        string // of package profiler/training
	only          []string
	port          int
	cpu           int // the applications are bound to it
	seconds       int // per source
	seed          uint64
	keep          bool
	environment   string // of backgrounds
	sweeps        int    // of backgrounds
}

// defaultInputs is not the user's own folder: servers that refuse to be root
// read from it too.
const defaultInputs = "/var/tmp/nomad-placer-training"

func main() {
	switch {
	case len(os.Args) == 5 && os.Args[1] == disk.Worker:
		// Interrupted with this program's group, it stays until its orders end.
		cluster.Main("training", func(context.Context) error { return disk.Serve(os.Args[2], os.Args[3], os.Args[4]) })
	case len(os.Args) == 3 && os.Args[1] == generatorWorker:
		cluster.Main("training", func(ctx context.Context) error {
			return generateBackground(ctx, os.Args[2], os.Stdin, os.Stdout)
		})
	default:
		cluster.Main("training", train)
	}
}

func train(ctx context.Context) error {
	var s settings
	var only, kind string
	var list, checks, prepare bool
	flag.StringVar(&s.bin, "bin", "bin", "folder of the product's binaries")
	flag.StringVar(&s.inputs, "inputs", defaultInputs, "folder of the generated inputs")
	flag.StringVar(&s.folder, "training", "profiler/training", "folder the measurements are written to")
	flag.StringVar(&only, "only", "", "only these applications, separated by commas")
	flag.StringVar(&kind, "kind", "rows", "what to measure: rows, refine (what rows could not tell from noise), repeat (rows once more), pairs, backgrounds (next to 125 background workloads); or table, which prints how well repeats agree with rows")
	flag.IntVar(&s.port, "port", 17900, "first of the ports used, all on 127.0.0.1")
	flag.IntVar(&s.cpu, "cpu", 0, "CPU the applications are bound to")
	flag.IntVar(&s.seconds, "seconds-per-source", 10, "time for one application and one source")
	flag.Uint64Var(&s.seed, "seed", 1, "seed of the choice of pairs and of all orders")
	flag.StringVar(&s.environment, "environment", backgrounds.Local, "backgrounds: local, or remote, where the disk is behind a network")
	flag.IntVar(&s.sweeps, "sweeps", 1, "backgrounds: how often the 125 are measured")
	flag.BoolVar(&s.keep, "keep", false, "keep the cluster's folder (logs)")
	flag.BoolVar(&list, "list", false, "print the catalogue and end")
	flag.BoolVar(&prepare, "prepare", false, "install the packages, make the inputs, and end")
	flag.BoolVar(&checks, "check", false, "run each application in isolation for some seconds, without Nomad, and end")
	flag.Parse()
	s.only = strings.FieldsFunc(only, func(r rune) bool { return r == ',' })
	load, what := catalogue.Load, measureOf(kind)
	if kind == "backgrounds" {
		load = catalogue.Colocated
	}
	switch {
	case list:
		what = printCatalogue
	case prepare:
		what = func(context.Context, []catalogue.Application, settings) error { return nil }
	case checks && kind == "backgrounds":
		what = checkColocated
	case checks:
		what = checkAll
	}
	return run(ctx, s, load, list || kind == "table", what)
}

// job is what the command was asked to do.
type job func(ctx context.Context, apps []catalogue.Application, s settings) error

func run(ctx context.Context, s settings, load func() ([]catalogue.Application, error), bare bool, what job) error {
	if what == nil {
		return fmt.Errorf("unknown kind: want rows, refine, repeat, pairs, backgrounds or table")
	}
	all, err := load()
	if err != nil {
		return err
	}
	apps, err := catalogue.Choose(all, s.only)
	if err != nil {
		return err
	}
	if bare { // nothing runs
		return what(ctx, apps, s)
	}
	if s.workload, err = filepath.Abs(filepath.Join(s.bin, "workload")); err != nil {
		return err
	}
	if err := install(ctx, neededPackages(apps)); err != nil {
		return err
	}
	if err := input.Make(ctx, s.inputs, neededInputs(apps), func(name string) { fmt.Println("making input", name) }); err != nil {
		return err
	}
	return what(ctx, apps, s)
}

func neededInputs(apps []catalogue.Application) []string {
	var out []string
	for _, a := range apps {
		out = append(out, a.Inputs...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func printCatalogue(_ context.Context, apps []catalogue.Application, _ settings) error {
	for _, a := range apps {
		sizes := ""
		if len(a.MemorySizesMB) > 0 {
			sizes = fmt.Sprintf("; sizes %v MB", a.MemorySizesMB)
		}
		fmt.Printf("%-20s tier %d  %s (%s; unit: %s; %d MB; %d threads%s)\n", a.ID, a.Tier, a.About,
			strings.Join(a.Stresses, ", "), a.Unit, a.MemoryMB, a.Threads, sizes)
	}
	fmt.Printf("%d applications\n", len(apps))
	return nil
}

// measureOf is the measurement of a kind; nil for an unknown one.
func measureOf(kind string) job {
	switch kind {
	case "rows":
		return measureRows
	case "refine":
		return refineRows
	case "repeat":
		return measureRepeats
	case "pairs":
		return measurePairs
	case "backgrounds":
		return measureBackgrounds
	case "table":
		return printRepeatability
	}
	return nil
}
