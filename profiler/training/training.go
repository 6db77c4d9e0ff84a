package training

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"sort"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
)

//go:embed rows
var shipped embed.FS

// Errors of a row.
var (
	ErrNoProvenance = errors.New("a training row must say what was measured, where and when")
	ErrNotMeasured  = errors.New("a training row holds measured numbers only, of a complete run")
	ErrTwice        = errors.New("two training rows have the same key")
)

// Load reads the shipped rows, sorted by key.
func Load() ([]profile.Profile, error) {
	rows, err := fs.Sub(shipped, "rows")
	if err != nil {
		return nil, fmt.Errorf("training set: %w", err)
	}
	return LoadFrom(rows)
}

// LoadFrom reads the rows of another folder. One bad row is an error: a set is
// taken whole or not at all, so that the same program always learns the same.
func LoadFrom(folder fs.FS) ([]profile.Profile, error) {
	files, err := fs.Glob(folder, "*.json")
	if err != nil {
		return nil, fmt.Errorf("training set: %w", err)
	}
	var rows []profile.Profile
	seen := map[string]string{}
	for _, file := range files {
		row, err := load(folder, file)
		if err != nil {
			return nil, fmt.Errorf("training row %s: %w", file, err)
		}
		if other, ok := seen[row.Key]; ok {
			return nil, fmt.Errorf("training row %s: %w as %s", file, ErrTwice, other)
		}
		seen[row.Key] = file
		rows = append(rows, row)
	}
	sort.Slice(rows, func(i, j int) bool { return rows[i].Key < rows[j].Key })
	return rows, nil
}

func load(folder fs.FS, file string) (profile.Profile, error) {
	data, err := fs.ReadFile(folder, file)
	if err != nil {
		return profile.Profile{}, err
	}
	row, err := store.DecodeProfile(data)
	if err != nil {
		return profile.Profile{}, err
	}
	return row, check(row)
}

func check(row profile.Profile) error {
	m := row.Machine
	switch {
	case row.Key == "" || row.Workload == "" || row.Taken.IsZero():
		return fmt.Errorf("%w: key, workload and taken are needed", ErrNoProvenance)
	case m.Configuration == "" || m.CPUModel == "" || m.KernelRelease == "":
		return fmt.Errorf("%w: the machine's configuration, cpu_model and kernel_release are needed", ErrNoProvenance)
	case !(row.SlowdownMax > 0):
		return fmt.Errorf("%w: slowdown_max_percent is needed", ErrNoProvenance)
	case !row.Complete:
		return fmt.Errorf("%w: complete is false", ErrNotMeasured)
	}
	for _, scores := range []interference.Scores{row.Sensitivity.Tolerated, row.Sensitivity.Caused} {
		if err := checkScores(scores); err != nil {
			return err
		}
	}
	return nil
}

func checkScores(scores interference.Scores) error {
	for source, e := range scores {
		if _, err := interference.ParseSource(string(source)); err != nil {
			return err
		}
		if e.Score.Known() && e.Origin != interference.Measured {
			return fmt.Errorf("%w: %s is %s", ErrNotMeasured, source, e.Origin)
		}
	}
	return nil
}
