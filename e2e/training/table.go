package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/nomad-placer/nomad-placer/e2e/training/catalogue"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/training"
)

// printRepeatability prints how well two independent measurements agree.
func printRepeatability(_ context.Context, _ []catalogue.Application, s settings) error {
	rows, err := training.LoadFrom(os.DirFS(filepath.Join(s.folder, training.RowsFolder)))
	if err != nil {
		return err
	}
	repeats, err := training.LoadRepeats(os.DirFS(filepath.Join(s.folder, training.RepeatsFolder)))
	if err != nil {
		return err
	}
	if len(repeats) == 0 {
		return errors.New("there are no repeats; measure some with -kind repeat")
	}
	fmt.Printf("%d rows measured twice. |Δ| in points; covered: scores inside the other run's interval.\n\n", len(repeats))
	fmt.Println("| source | scores | known in both | in one only | median |Δ| | p90 |Δ| | covered |")
	fmt.Println("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, a := range training.Repeatability(rows, repeats) {
		name := "**all**"
		if info, ok := interference.Info(a.Source); ok {
			name = info.Title
		}
		fmt.Printf("| %s | %d | %s | %d | %s | %s | %s |\n", name, a.Scores, share(a.Known, a.Scores), a.KnownOnce,
			points(a.Median), points(a.P90), percent(a.Covered))
	}
	return nil
}

func share(part, whole int) string {
	if whole == 0 {
		return "none"
	}
	return fmt.Sprintf("%d (%.0f %%)", part, 100*float64(part)/float64(whole))
}

func points(v float64) string {
	if math.IsNaN(v) {
		return "unknown"
	}
	return fmt.Sprintf("%.1f", v)
}

func percent(v float64) string {
	if math.IsNaN(v) {
		return "unknown"
	}
	return fmt.Sprintf("%.0f %%", 100*v)
}
