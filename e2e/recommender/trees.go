package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"sync"

	"github.com/nomad-placer/nomad-placer/placer/classify"
)

//go:embed trees.py
var treesProgram string

// extraTrees are extremely randomised trees of scikit-learn (Geurts 2006) as a classifier
// of ours: speeds in logarithms, as ours are; no intervals.
type extraTrees struct {
	cmd *exec.Cmd

	mu   sync.Mutex
	in   io.WriteCloser
	out  *bufio.Reader
	last int // number of the last matrix
}

// startTrees runs the library in a process of its own, until it is closed.
func startTrees(ctx context.Context) (*extraTrees, error) {
	if err := exec.CommandContext(ctx, interpreter, "-c", "import sklearn").Run(); err != nil {
		return nil, errNoLibrary
	}
	t := &extraTrees{cmd: exec.CommandContext(ctx, interpreter, "-c", treesProgram)}
	t.cmd.Stderr = os.Stderr
	var err error
	if t.in, err = t.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := t.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	t.out = bufio.NewReader(out)
	return t, t.cmd.Start()
}

func (t *extraTrees) close() error { return errors.Join(t.in.Close(), t.cmd.Wait()) }

func (t *extraTrees) descriptor() classify.Descriptor {
	return classify.Descriptor{Name: "extra-trees", New: func() classify.Classifier { return t }}
}

// Fit hands the matrix over; a forest is grown for each row that is asked about.
func (t *extraTrees) Fit(m classify.Matrix, _ uint64) (classify.Model, error) {
	if len(m.Rows) == 0 {
		return nil, classify.ErrNoTraining
	}
	rows := make([][]*float64, len(m.Rows))
	for i, row := range m.Rows {
		rows[i] = toLine(row, m.Ratio)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last++
	return grown{t, t.last, m.Ratio}, t.send(map[string]any{"id": t.last, "train": rows})
}

func (t *extraTrees) send(v any) error {
	text, err := json.Marshal(v)
	if err == nil {
		_, err = t.in.Write(append(text, '\n'))
	}
	return err
}

// toLine writes what is not known as null.
func toLine(row []float64, logs bool) []*float64 {
	out := make([]*float64, len(row))
	for j, v := range row {
		if logs {
			v = math.Log(v)
		}
		if !math.IsNaN(v) {
			out[j] = &v
		}
	}
	return out
}

// grown are the forests of one matrix.
type grown struct {
	trees *extraTrees
	id    int
	ratio bool
}

func (g grown) Complete(row, _ []float64) ([]classify.Cell, error) {
	g.trees.mu.Lock()
	defer g.trees.mu.Unlock()
	if err := g.trees.send(map[string]any{"id": g.id, "row": toLine(row, g.ratio)}); err != nil {
		return nil, fmt.Errorf("scikit-learn: %w", err)
	}
	text, err := g.trees.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("scikit-learn: %w", err)
	}
	var answer []*float64
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, fmt.Errorf("scikit-learn: %w", err)
	}
	out := make([]classify.Cell, len(row))
	for j, v := range answer {
		out[j] = classify.Cell{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
		if v != nil {
			out[j].Value, out[j].Known, out[j].Measured = *v, true, !math.IsNaN(row[j])
			if g.ratio {
				out[j].Value = math.Exp(*v)
			}
		}
	}
	return out, nil
}
