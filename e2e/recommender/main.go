// Command recommender compares our classifiers with a kept library that fills in
// missing cells of a matrix, scikit-learn, on one task in one run: new rows with two
// known cells against a training matrix.
//
//	go run ./e2e/recommender [-rows 10000] [-columns 32] [-new 200] [-seed 1] [-json]
//
// With -page it judges predictions on what was measured, ours and the library's by the same
// draws, and writes the page of it. Each set is kept in -work when it is done, so that a
// stopped run goes on.
//
//	go run ./e2e/recommender -page placer/docs/predictions.md -work bin/predictions
//
// It needs Debian's python3-sklearn and says so where it is missing.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/classify"
)

//go:embed complete.py
var program string

func main() {
	t := task{}
	flag.IntVar(&t.rows, "rows", 10_000, "rows of the training matrix")
	flag.IntVar(&t.columns, "columns", 32, "columns")
	flag.IntVar(&t.fresh, "new", 200, "new rows to complete, one at a time")
	seed := flag.Uint64("seed", 1, "of the matrix and of what is shown")
	asJSON := flag.Bool("json", false, "print JSON")
	j := judging{}
	flag.StringVar(&j.page, "page", "", "judge predictions and write Markdown to this `file`")
	flag.StringVar(&j.work, "work", "bin/predictions", "with -page: where each evaluation is kept, a `folder`")
	flag.StringVar(&j.data, "data-root", "../shared/data", "with -page: the `folder` of public data by name; what is not there is named on the page")
	flag.IntVar(&j.seeds, "seeds", 3, "with -page: how many draws of shown cells")
	flag.BoolVar(&j.kept, "report", false, "with -page: evaluate nothing, and say what is missing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if j.page != "" {
		err = j.run(ctx)
	} else {
		var results []result
		if results, err = t.run(ctx, rand.New(rand.NewPCG(*seed, 0))); err == nil {
			err = report(os.Stdout, results, *asJSON)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "recommender:", err)
		os.Exit(1)
	}
}

// task is the sizes of the comparison.
type task struct{ rows, columns, fresh int }

// result is what one way of completing rows reached.
type result struct {
	Name       string  `json:"name"`
	FitSeconds float64 `json:"fit_seconds"`
	P50Millis  float64 `json:"p50_ms"` // of completing one row
	P99Millis  float64 `json:"p99_ms"`
	MeanError  float64 `json:"mean_error_points"` // of the cells not shown
}

// The matrix is scores from 0 to 100: three hidden properties and a residual, about
// as much as scores of applications have (placer/docs/classification.md).
const (
	hidden   = 3
	middle   = 50
	strength = 15
	residual = 5
	shown    = 2
)

func (t task) run(ctx context.Context, random *rand.Rand) ([]result, error) {
	loadings := normals(random, t.columns, hidden)
	train, truth := matrix(random, loadings, t.rows), matrix(random, loadings, t.fresh)
	cells := make([][]float64, t.fresh)
	for i := range cells {
		cells[i] = slices.Repeat([]float64{math.NaN()}, t.columns)
		for _, j := range random.Perm(t.columns)[:shown] {
			cells[i][j] = truth[i][j]
		}
	}
	var out []result
	for _, d := range classify.Classifiers() {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		r, err := ours(d, train, cells, truth)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	others, err := theirs(ctx, train, cells, truth)
	return append(out, others...), err
}

func normals(random *rand.Rand, rows, columns int) [][]float64 {
	out := make([][]float64, rows)
	for i := range out {
		for range columns {
			out[i] = append(out[i], random.NormFloat64())
		}
	}
	return out
}

func matrix(random *rand.Rand, loadings [][]float64, rows int) [][]float64 {
	out := normals(random, rows, len(loadings))
	for i, factors := range normals(random, rows, hidden) {
		for j := range out[i] {
			v := middle + residual*out[i][j]
			for k, f := range factors {
				v += strength * f * loadings[j][k]
			}
			out[i][j] = min(100, max(0, v))
		}
	}
	return out
}

func ours(d classify.Descriptor, train, cells, truth [][]float64) (result, error) {
	begun := time.Now()
	names := make([]string, len(train[0]))
	for j := range names {
		names[j] = fmt.Sprint(j)
	}
	model, err := d.New().Fit(classify.Matrix{Columns: names, Rows: train}, 1)
	if err != nil {
		return result{}, fmt.Errorf("%s: %w", d.Name, err)
	}
	r := result{Name: d.Name, FitSeconds: time.Since(begun).Seconds()}
	took, completed := make([]float64, len(cells)), make([][]float64, len(cells))
	for i, row := range cells {
		begun := time.Now()
		full, err := model.Complete(row, nil)
		took[i] = time.Since(begun).Seconds()
		if err != nil {
			return result{}, fmt.Errorf("%s: %w", d.Name, err)
		}
		for _, c := range full {
			completed[i] = append(completed[i], c.Value)
		}
	}
	return r.with(took, completed, cells, truth), nil
}

// with adds the times of the rows, in seconds, and the error of what was not shown.
func (r result) with(took []float64, completed, cells, truth [][]float64) result {
	sorted := slices.Sorted(slices.Values(took))
	r.P50Millis, r.P99Millis = 1000*sorted[len(sorted)/2], 1000*sorted[len(sorted)*99/100]
	sum, n := 0.0, 0
	for i, row := range completed {
		for j, v := range row {
			if math.IsNaN(cells[i][j]) {
				sum += math.Abs(v - truth[i][j])
				n++
			}
		}
	}
	r.MeanError = sum / float64(n)
	return r
}

// exchange is what goes to the other program, and answer what comes back. JSON has
// no NaN: a cell that is not known is null.
type exchange struct {
	Train [][]float64  `json:"train"`
	Rows  [][]*float64 `json:"rows"`
}

type answer struct {
	Name       string      `json:"name"`
	FitSeconds float64     `json:"fit_seconds"`
	Seconds    []float64   `json:"seconds"`
	Rows       [][]float64 `json:"rows"`
}

var errNoLibrary = errors.New("python3 with scikit-learn is needed: apt-get install python3-sklearn")

// interpreter is Debian's own, the one that has Debian's packages.
const interpreter = "/usr/bin/python3"

func theirs(ctx context.Context, train, cells, truth [][]float64) ([]result, error) {
	if err := exec.CommandContext(ctx, interpreter, "-c", "import sklearn").Run(); err != nil {
		return nil, errNoLibrary
	}
	in := exchange{Train: train, Rows: make([][]*float64, len(cells))}
	for i, row := range cells {
		in.Rows[i] = make([]*float64, len(row))
		for j := range row {
			if !math.IsNaN(row[j]) {
				in.Rows[i][j] = &row[j]
			}
		}
	}
	text, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, interpreter, "-c", program)
	var stdout bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), &stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("scikit-learn: %w", err)
	}
	var answers []answer
	if err := json.Unmarshal(stdout.Bytes(), &answers); err != nil {
		return nil, fmt.Errorf("scikit-learn: %w", err)
	}
	var out []result
	for _, a := range answers {
		out = append(out, result{Name: a.Name, FitSeconds: a.FitSeconds}.with(a.Seconds, a.Rows, cells, truth))
	}
	return out, nil
}

func report(w io.Writer, results []result, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(results)
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "completed by\tfit, s\tone row, ms: median\t99 %\tmean error, points\t")
	for _, r := range results {
		fmt.Fprintf(table, "%s\t%.2f\t%.3f\t%.3f\t%.2f\t\n", r.Name, r.FitSeconds, r.P50Millis, r.P99Millis, r.MeanError)
	}
	return table.Flush()
}
