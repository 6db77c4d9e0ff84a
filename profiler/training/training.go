package training

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"sort"

	"github.com/nomad-placer/nomad-placer/profiler/curve"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
)

//go:embed rows paced pairs
var shipped embed.FS

// The folders below this package's own: rows, paced and repeats hold
// <application>.json, pairs PairsFile. Repeats are kept for the repeatability table and
// are not part of the program.
const (
	RowsFolder    = "rows"
	PacedFolder   = "paced"
	RepeatsFolder = "repeats"
	PairsFolder   = "pairs"
	PairsFile     = "pairs.jsonl"
)

// Errors of a row.
var (
	ErrNoProvenance = errors.New("a training row must say what was measured, where and when")
	ErrNotMeasured  = errors.New("a training row holds measured numbers only, of a complete run")
	ErrTwice        = errors.New("two training rows have the same key")
	ErrTooLarge     = errors.New("the training row is too large")
)

// Load reads the shipped rows of programs that do all they can, sorted by key: what
// simulated workloads are made of, and classifiers are compared on.
func Load() ([]profile.Profile, error) { return loadShipped(RowsFolder) }

// LoadAll adds the rows of programs that rest now and then. A live cluster learns from
// all of them: its services mostly wait. Scores that were left unknown although their ramps
// say something are filled in from these (package curve).
func LoadAll() ([]profile.Profile, error) {
	rows, err := loadShipped(RowsFolder)
	if err != nil {
		return nil, err
	}
	paced, err := loadShipped(PacedFolder)
	if err != nil {
		return nil, err
	}
	all := append(rows, paced...)
	for i := range all {
		all[i] = curve.Completed(all[i])
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Key < all[j].Key })
	return all, nil
}

func loadShipped(folder string) ([]profile.Profile, error) {
	rows, err := fs.Sub(shipped, folder)
	if err != nil {
		return nil, fmt.Errorf("training set: %w", err)
	}
	return LoadFrom(rows)
}

// LoadFrom reads the rows of another folder. One bad row is an error: a set is
// taken whole or not at all, so that the same program always learns the same.
func LoadFrom(folder fs.FS) ([]profile.Profile, error) { return loadAll(folder, Check) }

// LoadRepeats reads second measurements, which have no scale-up.
func LoadRepeats(folder fs.FS) ([]profile.Profile, error) { return loadAll(folder, CheckRepeat) }

func loadAll(folder fs.FS, check func(profile.Profile) error) ([]profile.Profile, error) {
	files, err := fs.Glob(folder, "*.json")
	if err != nil {
		return nil, fmt.Errorf("training set: %w", err)
	}
	var rows []profile.Profile
	seen := map[string]string{}
	for _, file := range files {
		row, err := load(folder, file, check)
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

func load(folder fs.FS, file string, check func(profile.Profile) error) (profile.Profile, error) {
	data, err := fs.ReadFile(folder, file)
	if err != nil {
		return profile.Profile{}, err
	}
	if len(data) > MaxRowBytes {
		return profile.Profile{}, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(data), MaxRowBytes)
	}
	row, err := store.DecodeProfile(data)
	if err != nil {
		return profile.Profile{}, err
	}
	return row, check(row)
}

// MaxRowBytes bounds a row: all of them are part of the program.
const MaxRowBytes = 64 << 10

// Check says what a training row lacks.
func Check(row profile.Profile) error {
	if err := CheckRepeat(row); err != nil {
		return err
	}
	if row.Provenance.DataSet != nil {
		return nil // others may not have tried sizes
	}
	return checkScaleUp(row.ScaleUp)
}

// CheckRepeat says what a second measurement lacks.
func CheckRepeat(row profile.Profile) error {
	m := row.Machine
	foreign := row.Provenance != nil && row.Provenance.DataSet != nil
	switch {
	case row.Key == "" || row.Workload == "" || m.Configuration == "":
		return fmt.Errorf("%w: key, workload and the machine's configuration are needed", ErrNoProvenance)
	case !foreign && (row.Taken.IsZero() || m.CPUModel == "" || m.KernelRelease == ""):
		return fmt.Errorf("%w: taken and the machine's cpu_model and kernel_release are needed", ErrNoProvenance)
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
	return checkProvenance(row)
}

// checkProvenance: what was measured here must be repeatable; what others have
// measured names their data set.
func checkProvenance(row profile.Profile) error {
	p := row.Provenance
	if p == nil {
		return fmt.Errorf("%w: provenance is needed", ErrNoProvenance)
	}
	if d := p.DataSet; d != nil {
		if d.Name == "" || d.Repository == "" || d.License == "" {
			return fmt.Errorf("%w: provenance.data_set needs name, repository and license", ErrNoProvenance)
		}
		return nil
	}
	switch {
	case p.Application == "" || p.Command == "" || p.Kernels == "" || p.FileSystem == "":
		return fmt.Errorf("%w: provenance.application, command, kernels and file_system are needed", ErrNoProvenance)
	case len(p.Versions) == 0 || p.Repetitions <= 0:
		return fmt.Errorf("%w: provenance.versions and repetitions are needed", ErrNoProvenance)
	}
	return nil
}

func checkScaleUp(points []profile.ScalePoint) error {
	cores := map[int]bool{}
	for _, s := range points {
		if s.Cores <= 0 || !(s.Speed.Value > 0) {
			return fmt.Errorf("%w: a scale_up point without cores or speed", ErrNotMeasured)
		}
		cores[s.Cores] = true
	}
	if len(cores) < 2 {
		return fmt.Errorf("%w: scale_up needs the speed on at least two numbers of cores", ErrNotMeasured)
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
