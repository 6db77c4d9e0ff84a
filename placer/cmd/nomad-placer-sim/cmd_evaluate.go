package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/schollz/progressbar/v3"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/sim/dataset"
	"github.com/nomad-placer/nomad-placer/placer/sim/evaluate"
	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/training"
)

func evaluateCommand() *command.Command {
	return &command.Command{
		Name: "evaluate", Arguments: "[FOLDER | FILE]", Synopsis: "Measure how well unmeasured scores are predicted",
		About: "Leaves one workload at a time out of a training set, shows the classifiers a few of its cells and compares the rest with what was measured. " +
			"FOLDER holds profiles as JSON files, whole or in part, and FILE is a matrix of your own (CSV; see placer/docs/import.md); without either the shipped training set is used, " +
			"with -data public measurements. With -train, what is learnt from is elsewhere: another cluster's folder, file or set. " +
			"For comparison it also shows what papers published, how well all other cells of a row predict each (others), the error of a predictor that " +
			"knows every cell (floor), and, where workloads were measured on two days, the error of measuring again (repeat). Errors are percent " +
			"of the speed, or points of a score.",
		Example: "nomad-placer-sim evaluate -classifier cf -entries 4\n" +
			"nomad-placer-sim evaluate -train here.csv -leave group there.csv",
		MaxArgs: 1,
		Setup: func(f *flag.FlagSet) command.Runner {
			e := evaluation{options: evaluate.Defaults()}
			e.out.Add(f)
			f.StringVar(&e.classifiers, "classifier", "", "Only these `names`, with commas between. Default: all.")
			f.StringVar(&e.data, "data", "", "Public measurements: a `name`, a folder of that name, or all.")
			f.StringVar(&e.root, "data-root", "../shared/data", "The `folder` that holds data sets by name.")
			f.StringVar(&e.set, "set", "", "Of several sets only this one, by `name`.")
			f.StringVar(&e.train, "train", "", "Learn from this `source` and test on the other: a folder of profiles, a matrix, or another set of -data.")
			f.StringVar(&e.cells, "cells", string(tables.SpeedCells), "What a matrix holds: speed (above 0, only ratios within a row count) or `points` (0 to 100).")
			f.StringVar(&e.entries, "entries", strconv.Itoa(e.options.Entries), "How many cells of a workload are shown: a number, or `numbers` with commas between.")
			f.IntVar(&e.seeds, "seeds", len(e.options.Seeds), "How many draws of the shown cells.")
			f.IntVar(&e.firstSeed, "first-seed", 1, "The seed of the first draw; the others follow.")
			f.StringVar(&e.leave, "leave", string(e.options.Leave), "What is left out, a `part`: row is the workload, group every input of its program.")
			f.StringVar(&e.draw, "draw", string(e.options.Draw), "Which cells are shown, by a `method`: random, fixed (the usually best and random others), or chosen on the training rows: planned (the most informative), and of scores pair or widest.")
			f.BoolVar(&e.pairs, "pairs", false, "Predict the slowdown of both sides of every measured pair from what was measured of the two before they met.")
			f.IntVar(&e.pairSources, "pair-sources", 0, "With -pairs: how many of a workload's own sources are shown. Default: all.")
			return func(ctx context.Context, s *command.Shell, args []string) error { return e.run(ctx, s, args) }
		},
	}
}

type evaluation struct {
	out                                  command.OutputFlags
	classifiers, data, root, leave, draw string
	set, train, cells, entries           string
	seeds, firstSeed, pairSources        int
	shown                                []int // the numbers of entries
	pairs                                bool
	options                              evaluate.Options
}

// evaluated is the JSON output.
type evaluated struct {
	Reports   []evaluate.Report    `json:"reports"`
	Failed    []string             `json:"failed,omitempty"` // sets that could not be evaluated
	Published []evaluate.Published `json:"published"`
}

func (e *evaluation) run(ctx context.Context, s *command.Shell, args []string) error {
	classifiers, err := e.check(args)
	if err != nil {
		return err
	}
	if e.pairs {
		return e.pairsOf(ctx, s)
	}
	if filepath.Base(e.data) == dataset.MovieLens {
		return e.ratings(ctx, s)
	}
	sets, err := e.sets(args)
	if err != nil {
		return err
	}
	result := evaluated{Published: evaluate.PublishedFigures()}
	for _, set := range sets {
		if e.options.Train, err = e.trainingFor(set); err != nil {
			return err
		}
		for _, e.options.Entries = range e.shown {
			e.options.Progress = progressOf(s, set.Name)
			report, err := evaluate.Run(ctx, set, classifiers, e.options)
			switch {
			case errors.Is(err, evaluate.ErrTooSmall), errors.Is(err, evaluate.ErrDraw), errors.Is(err, evaluate.ErrTrain):
				result.Failed = append(result.Failed, err.Error())
			case err != nil:
				return err
			default:
				result.Reports = append(result.Reports, report)
			}
		}
	}
	if err := e.out.Print(s, result, func(p *command.Page) { evaluatedPage(p, result) }); err != nil {
		return err
	}
	if len(result.Reports) == 0 {
		return errNothingEvaluated
	}
	return nil
}

// errNothingEvaluated: why is on the page.
var errNothingEvaluated = errors.New("no set could be evaluated")

// check turns flags into options.
func (e *evaluation) check(args []string) ([]classify.Descriptor, error) {
	e.options.Leave, e.options.Draw = evaluate.Leave(e.leave), evaluate.Draw(e.draw)
	var err error
	if e.shown, err = numbersOf(e.entries); err != nil {
		return nil, command.UsageError("-entries: %s", err)
	}
	switch {
	case e.seeds < 1 || e.firstSeed < 1:
		return nil, command.UsageError("-seeds and -first-seed must be at least 1")
	case e.cells != string(tables.SpeedCells) && e.cells != string(tables.PointCells):
		return nil, command.UsageError("-cells is speed or points, not %q", e.cells)
	case e.options.Leave != evaluate.LeaveRow && e.options.Leave != evaluate.LeaveGroup:
		return nil, command.UsageError("-leave is row or group, not %q", e.leave)
	case !slices.Contains(evaluate.Draws(), e.options.Draw):
		return nil, command.UsageError("-draw is random, fixed, planned, pair or widest, not %q", e.draw)
	case e.pairs && (e.data != "" || e.train != "" || e.set != "" || len(args) > 0):
		return nil, command.UsageError("-pairs are of the shipped training set: neither -data, -train, -set nor a folder")
	case e.pairSources < 0 || e.pairSources > 0 && !e.pairs:
		return nil, command.UsageError("-pair-sources goes with -pairs, and is not below 0")
	case e.data != "" && len(args) > 0:
		return nil, command.UsageError("either -data or a folder of profiles")
	}
	e.options.Seeds = nil
	for i := range e.seeds {
		e.options.Seeds = append(e.options.Seeds, uint64(e.firstSeed+i))
	}
	if e.classifiers == "" {
		return classify.Classifiers(), nil
	}
	var out []classify.Descriptor
	for name := range strings.SplitSeq(e.classifiers, ",") {
		d, err := classify.Lookup(strings.TrimSpace(name))
		if err != nil {
			return nil, command.UsageError("%s", err)
		}
		out = append(out, d)
	}
	return out, nil
}

// numbersOf reads numbers of shown cells, each at least 1.
func numbersOf(list string) ([]int, error) {
	var out []int
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is no number of at least 1", text)
		}
		out = append(out, n)
	}
	return out, nil
}

func (e *evaluation) sets(args []string) ([]dataset.Set, error) {
	var sets []dataset.Set
	var err error
	switch {
	case e.data != "":
		sets, err = publicSets(e.data, e.root)
	case len(args) > 0:
		sets, err = e.setsAt(args[0])
	default:
		var profiles []profile.Profile
		if profiles, err = training.Load(); err == nil {
			sets, err = setsOf(profiles)
		}
	}
	if err != nil || e.set == "" {
		return sets, err
	}
	one, err := setNamed(sets, e.set)
	return []dataset.Set{one}, err
}

// setsAt are those of a folder of profiles, or of a matrix.
func (e *evaluation) setsAt(path string) ([]dataset.Set, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		set, err := dataset.ReadMatrix(path, tables.Cells(e.cells))
		return []dataset.Set{set}, err
	}
	profiles, err := dataset.ReadProfiles(os.DirFS(path))
	if err != nil {
		return nil, err
	}
	return setsOf(profiles)
}

func setsOf(profiles []profile.Profile) ([]dataset.Set, error) {
	sets := dataset.FromProfiles(profiles)
	if len(sets) == 0 {
		return nil, fmt.Errorf("%d profiles: too few to leave one out; two must be known in three cells of one kind", len(profiles))
	}
	return sets, nil
}

func setNamed(sets []dataset.Set, name string) (dataset.Set, error) {
	var known []string
	for _, s := range sets {
		if s.Name == name {
			return s, nil
		}
		known = append(known, strconv.Quote(s.Name))
	}
	return dataset.Set{}, command.UsageError("no set %q; there are %s", name, strings.Join(known, ", "))
}

// trainingFor is what is learnt from where that is elsewhere: a set of the same data by its
// name, the only one of a folder or file, or the one that is called as the tested one.
func (e *evaluation) trainingFor(set dataset.Set) (*dataset.Set, error) {
	if e.train == "" {
		return nil, nil
	}
	var sets []dataset.Set
	var err error
	name := set.Name
	if e.data != "" {
		sets, err = publicSets(e.data, e.root)
		name = e.train
	} else {
		sets, err = e.setsAt(e.train)
	}
	if err != nil {
		return nil, err
	}
	if len(sets) == 1 && e.data == "" {
		return &sets[0], nil
	}
	one, err := setNamed(sets, name)
	return &one, err
}

// publicSets reads one data set, by name below root or by path, or all.
func publicSets(name, root string) ([]dataset.Set, error) {
	if name == "all" {
		var sets []dataset.Set
		for _, r := range dataset.Readers() {
			own, err := readSets(r, filepath.Join(root, r.Name))
			if err != nil {
				return nil, err
			}
			sets = append(sets, own...)
		}
		return sets, nil
	}
	r, err := dataset.Lookup(filepath.Base(name))
	if err != nil {
		return nil, command.UsageError("%s", err)
	}
	return readSets(r, pathOf(name, root))
}

// pathOf looks a bare name up below root.
func pathOf(name, root string) string {
	if filepath.Base(name) == name {
		return filepath.Join(root, name)
	}
	return name
}

// ratings checks the factorisation itself on film ratings.
func (e *evaluation) ratings(ctx context.Context, s *command.Shell) error {
	rows, columns, all, err := dataset.ReadMovieLens(os.DirFS(pathOf(e.data, e.root)))
	if err != nil {
		return err
	}
	r, err := evaluate.Ratings(ctx, rows, columns, all, dataset.LeastStars, dataset.MostStars, e.options.Seeds, progressOf(s, e.data))
	if err != nil {
		return err
	}
	return e.out.Print(s, r, func(p *command.Page) { ratingsPage(p, r) })
}

func ratingsPage(p *command.Page, r evaluate.RatingsReport) {
	p.Line(command.Text(fmt.Sprintf("%d ratings of %d users and %d films, a fifth held out, %d seeds", r.Ratings, r.Rows, r.Columns, r.Seeds)))
	figures := map[string]evaluate.Figure{"mean": r.Mean, "offsets": r.Offsets, "factors": r.Factors}
	table := [][]command.Cell{}
	for _, name := range []string{"mean", "offsets", "factors"} {
		f := figures[name]
		value := strconv.FormatFloat(f.Mean, 'f', 4, 64)
		if f.Low != nil {
			value += " ±" + strconv.FormatFloat(f.Mean-*f.Low, 'f', 4, 64)
		}
		table = append(table, []command.Cell{{Text: name, Hue: command.Bold}, command.Number(value)})
	}
	table = append(table, []command.Cell{{Text: "published", Hue: command.Faint}, command.Number(strconv.FormatFloat(r.Published.Figures[evaluate.RMSE], 'f', 2, 64)), command.Text(r.Published.Source)})
	p.Table([]string{"Predictor", "RMSE"}, table)
}

func readSets(r dataset.Reader, folder string) ([]dataset.Set, error) {
	sets, err := r.Read(os.DirFS(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not here (%s publishes it): %w", r.Name, r.Source, err)
	}
	return sets, err
}

// progressOf shows a bar with the remaining time on a terminal, on standard
// error.
func progressOf(s *command.Shell, name string) func(done, total int) {
	if !s.Terminal {
		return nil
	}
	var bar *progressbar.ProgressBar
	return func(done, total int) {
		if bar == nil {
			bar = progressbar.NewOptions(total, progressbar.OptionSetWriter(s.Err), progressbar.OptionSetDescription(name), progressbar.OptionClearOnFinish())
		}
		_ = bar.Set(done) // a bar that cannot be drawn is no reason to stop
	}
}

func evaluatedPage(p *command.Page, result evaluated) {
	for _, r := range result.Reports {
		p.Section(fmt.Sprintf("%s (%s)", r.Set, r.Kind))
		p.Line(command.Text(fmt.Sprintf("%d workloads, %d columns, %d shown (%s), %s left out, %d seeds", r.Rows, r.Columns, r.Entries, r.Draw, r.Leave, r.Seeds)))
		if r.Train != "" {
			p.Line(command.Text("learnt from " + r.Train))
		}
		for _, skipped := range r.Skipped {
			p.Item(command.Plain, "not used: "+skipped.String())
		}
		papers := published(result.Published, r.Kind)
		for _, share := range []bool{true, false} {
			p.Line()
			p.Table(evaluationTable(r, papers, share))
		}
		for i, paper := range papers {
			p.Line(command.Text(mark(i)), command.Text(paper.Source))
		}
	}
	for _, failed := range result.Failed {
		p.Item(command.Warn, failed)
	}
	if len(result.Reports) > 0 {
		p.Section("Columns")
		for _, m := range evaluate.Metrics() {
			p.Fact(m.Name, m.Summary)
		}
		p.Line(command.Text("± is half the 95 % interval over seeds, which draw what is shown."))
	}
}

// published are the tables about one kind of columns.
func published(all []evaluate.Published, kind dataset.Kind) []evaluate.Published {
	return slices.DeleteFunc(slices.Clone(all), func(p evaluate.Published) bool { return p.Kind != kind })
}

// mark is how a published table is called in the one of ours.
func mark(i int) string { return fmt.Sprintf("paper %d", i+1) }

// evaluationTable has a row per classifier and bound, and a column per metric
// that is a share or is not.
func evaluationTable(r evaluate.Report, papers []evaluate.Published, share bool) ([]string, [][]command.Cell) {
	header := []string{"Errors"}
	if share {
		header = []string{"Shares, %"}
	}
	var metrics []string
	for _, m := range evaluate.Metrics() {
		if _, ok := r.Lines[0].Figures[m.Name]; ok && m.Percent == share {
			metrics, header = append(metrics, m.Name), append(header, m.Name)
		}
	}
	row := func(name string, h command.Hue, figures map[string]evaluate.Figure) []command.Cell {
		out := []command.Cell{{Text: name, Hue: h}}
		for _, metric := range metrics {
			out = append(out, command.Number(figureText(figures, metric)))
		}
		return out
	}
	var rows [][]command.Cell
	for _, line := range r.Lines {
		rows = append(rows, row(line.Classifier, command.Bold, line.Figures))
	}
	for _, extra := range []*evaluate.Line{r.Others, r.Repeat, r.Floor} {
		if extra != nil {
			rows = append(rows, row(extra.Classifier, command.Faint, extra.Figures))
		}
	}
	for i, paper := range papers {
		figures := map[string]evaluate.Figure{}
		for name, v := range paper.Figures {
			figures[name] = evaluate.Figure{Mean: v}
		}
		rows = append(rows, row(mark(i), command.Faint, figures))
	}
	return header, rows
}

func figureText(figures map[string]evaluate.Figure, name string) string {
	f, ok := figures[name]
	if !ok {
		return "–"
	}
	value := strconv.FormatFloat(f.Mean, 'f', 1, 64)
	if f.Low != nil {
		value += " ±" + strconv.FormatFloat(f.Mean-*f.Low, 'f', 1, 64)
	}
	return value
}
