package figures

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/sim/dataset"
	"github.com/nomad-placer/nomad-placer/placer/sim/evaluate"
	"github.com/nomad-placer/nomad-placer/placer/sim/report"
	"github.com/nomad-placer/nomad-placer/profiler/training"
)

// Computation makes a table that is not one of the simulated world.
type Computation struct {
	Name   string // of the computation: two experiments may share one
	Source string // of its data
	// Metrics are the names of the columns it makes; nil: those of package evaluate.
	Metrics []string
	run     func(ctx context.Context, env environment) (*Table, error)
}

// environment is what a computation works with.
type environment struct {
	data      string // folder of public data sets by name
	scenarios fs.FS  // holds NAME.hcl
	store     *store
	tell      func(what string) // how far it is
}

// Table is the outcome of a computation.
type Table struct {
	Seeds int
	Notes []string
	Rows  []TableRow

	pictures map[string]template.HTML // by title
}

// TableRow is a row with its figures by metric.
type TableRow struct {
	Name    string
	Figures map[string]report.Figure
}

// thePaper is the row that holds what was published.
const thePaper = "the paper"

func (t *Table) rows() []At {
	out := []At{of(thePaper)}
	for _, r := range t.Rows {
		out = append(out, of(r.Name))
	}
	return out
}

func (t *Table) figure(row, metric string) (report.Figure, bool) {
	for _, r := range t.Rows {
		if r.Name == row {
			f, ok := r.Figures[metric]
			return f, ok
		}
	}
	return report.Figure{}, false
}

// classified shows some entries of every row of data sets to classifiers, and
// says how well the rest is filled in.
type classified struct {
	sets        func(data string) ([]dataset.Set, error)
	kinds       []dataset.Kind
	entries     []int
	classifiers []string
}

func (c *classified) run(ctx context.Context, env environment) (*Table, error) {
	sets, err := c.sets(env.data)
	if err != nil {
		return nil, err
	}
	var chosen []classify.Descriptor
	for _, name := range c.classifiers {
		d, err := classify.Lookup(name)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, d)
	}
	o := evaluate.Defaults()
	t := &Table{Seeds: len(o.Seeds)}
	for _, set := range sets {
		if !slices.Contains(c.kinds, set.Kind) {
			continue
		}
		for _, entries := range c.entries {
			if entries >= len(set.Columns) {
				continue
			}
			o.Entries = entries
			r, err := evaluated(ctx, set, chosen, o, env)
			switch {
			case errors.Is(err, evaluate.ErrTooSmall):
				t.Notes = append(t.Notes, err.Error())
			case err != nil:
				return nil, err
			default:
				t.add(r, c.label(set.Name, entries))
			}
		}
	}
	return t, nil
}

// few rows say whether the classifiers still predict what they did: they take
// little, and are part of the key of the whole set.
const few = 8

// evaluated takes a kept evaluation, or makes it.
func evaluated(ctx context.Context, set dataset.Set, chosen []classify.Descriptor, o evaluate.Options, env environment) (*evaluate.Report, error) {
	part := set
	part.Rows = set.Rows[:min(few, len(set.Rows))]
	sample, err := evaluate.Run(ctx, part, chosen, o)
	if err != nil {
		return nil, err
	}
	mark, err := json.Marshal(sample)
	if err != nil {
		return nil, fmt.Errorf("figures: %s: %w", set.Name, err)
	}
	key := keyOf("evaluation", string(mark), fmt.Sprint(set), fmt.Sprint(o.Entries, o.Seeds, o.Leave, o.Draw))
	r := &evaluate.Report{}
	if env.store.get(key, r) && len(r.Lines) == len(chosen) {
		return r, nil
	}
	o.Progress = func(done, total int) {
		env.tell(fmt.Sprintf("%s, %d shown: %d of %d workloads", set.Name, o.Entries, done, total))
	}
	if *r, err = evaluate.Run(ctx, set, chosen, o); err != nil {
		return nil, err
	}
	return r, env.store.put(key, r)
}

// label tells the entries where there are several numbers of them.
func (c *classified) label(set string, entries int) string {
	if len(c.entries) == 1 {
		return set
	}
	return fmt.Sprintf("%s, %d shown", set, entries)
}

func (t *Table) add(r *evaluate.Report, label string) {
	t.Notes = append(t.Notes, fmt.Sprintf("%s: %d workloads, %d columns, %d shown", label, r.Rows, r.Columns, r.Entries))
	for _, l := range r.Lines {
		t.Rows = append(t.Rows, rowOf(label+": "+l.Classifier, l.Figures))
	}
	for _, bound := range []*evaluate.Line{r.Repeat, r.Floor} {
		if bound != nil {
			t.Rows = append(t.Rows, rowOf(label+": "+bound.Classifier, bound.Figures))
		}
	}
}

func rowOf(name string, figures map[string]evaluate.Figure) TableRow {
	row := TableRow{Name: name, Figures: map[string]report.Figure{}}
	for metric, f := range figures {
		row.Figures[metric] = report.Figure{Mean: f.Mean, Low: f.Low, High: f.High}
	}
	return row
}

// public reads data sets by name below the folder of public data.
func public(names ...string) func(data string) ([]dataset.Set, error) {
	return func(data string) ([]dataset.Set, error) {
		if data == "" {
			return nil, fmt.Errorf("figures: public data: %w", fs.ErrNotExist)
		}
		var out []dataset.Set
		for _, name := range names {
			reader, err := dataset.Lookup(name)
			if err != nil {
				return nil, err
			}
			sets, err := reader.Read(os.DirFS(filepath.Join(data, name)))
			if err != nil {
				return nil, fmt.Errorf("figures: %s: %w", name, err)
			}
			out = append(out, sets...)
		}
		return out, nil
	}
}

// shipped is the training set of this repository.
func shipped(string) ([]dataset.Set, error) {
	profiles, err := training.Load()
	if err != nil {
		return nil, fmt.Errorf("figures: training set: %w", err)
	}
	sets := dataset.FromProfiles(profiles)
	if len(sets) == 0 {
		return nil, fmt.Errorf("figures: the training set has too few rows: %w", fs.ErrNotExist)
	}
	return sets, nil
}
