package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/sim/dataset"
	"github.com/nomad-placer/nomad-placer/placer/sim/evaluate"
	"github.com/nomad-placer/nomad-placer/profiler/training"
)

// The methods that are compared on every set, in the order of the page. The first is what is
// known without measuring.
var compared = []string{"average", "mean", "knn", "ridge", "cf", "gauss", "local", "stack"}

// mostColumns is the widest set that is evaluated whole: the time grows with the fourth power
// (chosen by us).
const mostColumns = 40

// unit is one evaluation of the study; each is kept when it is done.
type unit struct {
	Part    string // of the page
	Set     dataset.Set
	Options evaluate.Options
	Methods []string // empty: all
}

// The parts of the page that have units.
const (
	partRows     = "rows"     // one workload left out
	partPrograms = "programs" // whole programs left out
	partClusters = "clusters" // another cluster
	partShown    = "shown"    // other numbers of shown cells
)

// study is what the page is made of.
type study struct {
	data, work string
	seeds      []uint64
	trees      *extraTrees
	mark       string // of what the methods predict; another one makes all of it again
	kept       bool   // make nothing: what is not kept is left out, and said
	log        io.Writer
	now        func() time.Time
}

// judged is an outcome of a unit.
type judged struct {
	Part   string
	Report evaluate.Report
}

// outcome of the study.
type outcome struct {
	Rows    []judged
	Pairs   map[string]evaluate.PairReport // by what is shown of each
	Repeats []training.Agreement
	Left    []string // sets that were not evaluated, with the reason
}

func (s *study) run(ctx context.Context) (outcome, error) {
	var out outcome
	sets, err := s.sets(&out)
	if err != nil {
		return out, err
	}
	if s.mark, err = s.fingerprint(ctx); err != nil {
		return out, err
	}
	units, begun := s.units(sets), s.now()
	fmt.Fprintf(s.log, "pairs\n")
	if out.Pairs, err = s.pairs(ctx, &out); err != nil {
		return out, err
	}
	for i, u := range units {
		fmt.Fprintf(s.log, "%d of %d, %s: %s, %s, %d shown, %s left out\n", i+1, len(units), s.now().Sub(begun).Round(time.Second), u.Part, u.Set.Name, u.Options.Entries, u.Options.Leave)
		r, err := s.evaluated(ctx, u)
		switch {
		case errors.Is(err, errNotMade):
			out.Left = append(out.Left, fmt.Sprintf("%s, %s left out, %d shown: %s", u.Set.Name, u.Options.Leave, u.Options.Entries, err))
		case errors.Is(err, evaluate.ErrTooSmall), errors.Is(err, evaluate.ErrTrain):
			out.Left = append(out.Left, err.Error())
		case err != nil:
			return out, err
		default:
			out.Rows = append(out.Rows, judged{u.Part, r})
		}
	}
	out.Repeats, err = repeats()
	return out, err
}

// sets are the shipped rows and all public ones that are there.
func (s *study) sets(out *outcome) ([]dataset.Set, error) {
	profiles, err := training.Load()
	if err != nil {
		return nil, err
	}
	all := dataset.FromProfiles(profiles)
	for _, r := range dataset.Readers() {
		own, err := r.Read(os.DirFS(filepath.Join(s.data, r.Name)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			out.Left = append(out.Left, fmt.Sprintf("%s: it is not in %s (%s publishes it)", r.Name, filepath.Base(s.data), r.Source))
		case err != nil:
			return nil, err
		}
		all = append(all, own...)
	}
	var kept []dataset.Set
	for _, set := range all {
		switch {
		case len(set.Columns) > mostColumns:
			out.Left = append(out.Left, fmt.Sprintf("%s: %d columns, more than %d take days", set.Name, len(set.Columns), mostColumns))
		case len(set.Rows) < leastRows:
			out.Left = append(out.Left, fmt.Sprintf("%s: %d rows, fewer than %d say nothing of averages", set.Name, len(set.Rows), leastRows))
		default:
			kept = append(kept, set)
		}
	}
	return kept, nil
}

const leastRows = 8

// curves are the sets that other numbers of cells are shown of.
var curves = []string{"tolerated scores", "caused scores", "parsec beside kernels", "lumos alibaba, 1 s"}

func (s *study) units(sets []dataset.Set) []unit {
	o := evaluate.Defaults()
	o.Seeds = s.seeds
	var out []unit
	add := func(part string, set dataset.Set, leave evaluate.Leave, entries int, train *dataset.Set, methods ...string) {
		own := o
		own.Leave, own.Entries, own.Train = leave, entries, train
		out = append(out, unit{part, set, own, methods})
	}
	named := map[string]*dataset.Set{}
	for i, set := range sets {
		named[set.Name] = &sets[i]
		add(partRows, set, evaluate.LeaveRow, shown, nil)
	}
	for _, set := range sets {
		if programs(set) < len(set.Rows) {
			add(partPrograms, set, evaluate.LeaveGroup, shown, nil)
		}
	}
	for _, c := range [][2]string{
		{"gavel beside each other on k80", "gavel beside each other on v100"},
		{"gavel beside each other on v100", "gavel beside each other on p100"},
		{"lumos alibaba, 1 s", "lumos alibaba, 5 s"},
		{"lumos huawei, 5 s", "lumos huawei, 1 s"},
	} {
		if from, to := named[c[0]], named[c[1]]; from != nil && to != nil {
			add(partClusters, *to, evaluate.LeaveRow, shown, from)
		}
	}
	if parsec := named["parsec beside kernels"]; parsec != nil {
		add(partClusters, byCluster(*parsec), evaluate.LeaveGroup, shown, nil)
	}
	for _, name := range curves {
		for _, entries := range []int{1, 4, 8} {
			if set := named[name]; set != nil && entries < len(set.Columns) {
				add(partShown, *set, evaluate.LeaveRow, entries, nil, "average", "ridge", "local", "stack")
			}
		}
	}
	return out
}

func programs(set dataset.Set) int {
	groups := map[string]bool{}
	for _, row := range set.Rows {
		groups[row.Group] = true
	}
	return len(groups)
}

// byCluster groups the rows of the course by who measured them, each on machines of their
// own: the first word of a row's name.
func byCluster(set dataset.Set) dataset.Set {
	out := set
	out.Name += ", cluster by cluster"
	out.Rows = append([]dataset.Row{}, set.Rows...)
	for i := range out.Rows {
		out.Rows[i].Group, _, _ = strings.Cut(out.Rows[i].Name, " ")
	}
	return out
}

// methods are the classifiers of a unit, the library's last.
func (s *study) methods(u unit) ([]classify.Descriptor, error) {
	names := u.Methods
	if len(names) == 0 {
		names = compared
	}
	var out []classify.Descriptor
	for _, name := range names {
		d, err := classify.Lookup(name)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	if len(u.Methods) == 0 {
		out = append(out, s.trees.descriptor())
	}
	return out, nil
}

// evaluated takes a kept report, or makes it.
func (s *study) evaluated(ctx context.Context, u unit) (evaluate.Report, error) {
	var r evaluate.Report
	methods, err := s.methods(u)
	if err != nil {
		return r, err
	}
	train := ""
	if u.Options.Train != nil {
		train = fmt.Sprint(*u.Options.Train)
	}
	key := keyOf(s.mark, fmt.Sprint(u.Set), train, fmt.Sprint(u.Options.Entries, u.Options.Seeds, u.Options.Leave, u.Options.Draw), strings.Join(u.Methods, ","))
	if s.get(key, &r) {
		return r, nil
	}
	if s.kept {
		return r, errNotMade
	}
	if r, err = evaluate.Run(ctx, u.Set, methods, u.Options); err != nil {
		return r, err
	}
	return r, s.put(key, r)
}

// pairs are predicted with all sources of each application shown, and with two.
func (s *study) pairs(ctx context.Context, o *outcome) (map[string]evaluate.PairReport, error) {
	measured, err := training.LoadPairs()
	if err != nil {
		return nil, err
	}
	profiles, err := evaluate.PairProfiles()
	if err != nil {
		return nil, err
	}
	d, err := classify.Lookup(evaluate.PairClassifier)
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	out := map[string]evaluate.PairReport{}
	for name, sources := range map[string]int{allSources: 0, twoSources: 2} {
		var r evaluate.PairReport
		key := keyOf("pairs", string(text), name) // what they depend on is more than a fingerprint says
		if !s.get(key, &r) {
			if s.kept {
				o.Left = append(o.Left, fmt.Sprintf("pairs, %s sources shown: %s", name, errNotMade))
				continue
			}
			if r, err = evaluate.Pairs(ctx, measured, profiles, evaluate.PairOptions{Sources: sources, Classifier: d, Seed: 1}); err != nil {
				return nil, err
			}
			if err := s.put(key, r); err != nil {
				return nil, err
			}
		}
		out[name] = r
	}
	return out, nil
}

var errNotMade = errors.New("it was not evaluated yet")

const allSources, twoSources = "all", "two"

func repeats() ([]training.Agreement, error) {
	rows, err := training.Load()
	if err != nil {
		return nil, err
	}
	again, err := training.LoadRepeats(os.DirFS(filepath.Join("profiler", "training", training.RepeatsFolder)))
	return training.Repeatability(rows, again), err
}

// fingerprint is what the methods predict of two small sets: another program that predicts
// the same takes what was kept.
func (s *study) fingerprint(ctx context.Context) (string, error) {
	var all []evaluate.Report
	for _, ratio := range []bool{false, true} {
		random := rand.New(rand.NewPCG(1, 1))
		set := dataset.Set{Name: "fingerprint", Kind: dataset.Interference, Ratio: ratio, Columns: []string{"a", "b", "c", "d", "e"}}
		for i := range 12 {
			row := dataset.Row{Name: fmt.Sprint(i), Group: fmt.Sprint(i / 2)}
			level := 20 + 30*random.Float64()
			for j := range set.Columns {
				cell := []float64{math.Abs(level+float64(j)*5*random.Float64()) + 1}
				if random.IntN(8) == 0 {
					cell = nil
				}
				row.Cells = append(row.Cells, cell)
			}
			set.Rows = append(set.Rows, row)
		}
		methods, err := s.methods(unit{})
		if err != nil {
			return "", err
		}
		o := evaluate.Defaults()
		o.Seeds, o.Leave = []uint64{1}, evaluate.LeaveGroup
		r, err := evaluate.Run(ctx, set, methods, o)
		if err != nil {
			return "", err
		}
		all = append(all, r)
	}
	text, err := json.Marshal(all)
	return keyOf(string(text)), err
}

func keyOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:12])
}

func (s *study) get(key string, v any) bool {
	text, err := os.ReadFile(filepath.Join(s.work, key+".json"))
	return err == nil && json.Unmarshal(text, v) == nil
}

// put writes a file whole or not at all.
func (s *study) put(key string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	path := filepath.Join(s.work, key+".json")
	if err := os.WriteFile(path+".part", text, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}
