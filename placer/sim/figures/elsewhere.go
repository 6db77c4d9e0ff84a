package figures

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
)

// Elsewhere makes runs on other machines: it calls done with what Play gave for each unit, once
// for each and one call at a time.
type Elsewhere func(ctx context.Context, units [][]byte, done func(unit int, result []byte) error) error

// unit is a run as another machine makes it: everything that it depends on but the program, and
// the files that a scenario names.
type unit struct {
	File     string             `json:"file"`
	Texts    string             `json:"texts"`  // a txtar archive of the scenario and those it is based on
	Folder   string             `json:"folder"` // what paths in them are relative to
	World    string             `json:"world,omitempty"`
	Entrants []scenario.Entrant `json:"entrants,omitempty"`
	Run      kept               `json:"run"` // what it is called
	Tolerant bool               `json:"tolerant,omitempty"`
}

// ErrUnit: what was handed to Play is not a run.
var ErrUnit = errors.New("figures: not a run that was handed out")

// Player makes runs that were handed out, one after the other. Those of the same scenario and seed
// that follow one another share what they can.
type Player struct {
	now    func() time.Time
	of     string // what the last run was of
	input  *input
	shared func() (*scenario.Shared, error)
}

// NewPlayer has made no run.
func NewPlayer(now func() time.Time) *Player { return &Player{now: now} }

// Play makes a run.
func (p *Player) Play(ctx context.Context, handed []byte) ([]byte, error) {
	var u unit
	if err := json.Unmarshal(handed, &u); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnit, err)
	}
	if err := p.open(u); err != nil {
		return nil, err
	}
	k, err := p.input.play(ctx, p.shared, u.Run, p.now)
	if err != nil {
		return nil, err
	}
	return json.Marshal(k)
}

// open has the next run be of the scenario and seed of a unit.
func (p *Player) open(u unit) error {
	u.Run = kept{Seed: u.Run.Seed}
	of, err := json.Marshal(u)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnit, err)
	}
	if string(of) == p.of {
		return nil
	}
	s, err := u.scenario()
	if err != nil {
		return err
	}
	p.of, p.input = string(of), &input{scenario: s, tolerant: u.Tolerant}
	p.shared = p.input.sharing(u.Run.Seed, nil)
	return nil
}

// scenario that the unit is of.
func (u *unit) scenario() (*scenario.Scenario, error) {
	files, err := txtar.FS(txtar.Parse([]byte(u.Texts)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnit, err)
	}
	s, err := scenario.Open(files, u.File, u.Folder)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnit, err)
	}
	if path := s.Absent(); path != "" {
		return nil, errors.New(absentData(path))
	}
	if u.World != "" {
		if s, err = s.InWorld(u.World); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnit, err)
		}
	}
	if len(u.Entrants) > 0 {
		if s, err = s.WithEntrants(u.Entrants); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrUnit, err)
		}
	}
	return s, nil
}

// hand has the runs made elsewhere.
func (r *runner) hand(ctx context.Context, missing []int) error {
	units := make([][]byte, len(missing))
	for n, i := range missing {
		u, err := r.unit(i)
		if err != nil {
			return err
		}
		if units[n], err = json.Marshal(u); err != nil {
			return fmt.Errorf("figures: %w", err)
		}
	}
	return r.options.Elsewhere(ctx, units, func(n int, result []byte) error {
		i := missing[n]
		j, k := r.jobs[i], kept{}
		if err := json.Unmarshal(result, &k); err != nil {
			return fmt.Errorf("%w: %w", ErrUnit, err)
		}
		if k.Scenario != j.scenario || k.Policy != j.policy || k.Seed != j.seed || !r.files[j.scenario].whole(&k) {
			return fmt.Errorf("%w: of %s, %s, seed %d", ErrUnit, j.scenario, j.policy, j.seed)
		}
		return r.made(i, &k)
	})
}

func (r *runner) unit(i int) (unit, error) {
	j := r.jobs[i]
	in := r.files[j.scenario]
	u := unit{File: in.file, Folder: in.folder, World: in.world, Entrants: in.entrants, Run: kept{Scenario: j.scenario, Policy: j.policy, Seed: j.seed}, Tolerant: in.tolerant}
	seen := recorded{files: r.options.Scenarios}
	if _, err := scenario.Open(&seen, in.file, in.folder); err != nil {
		return u, err
	}
	u.Texts = string(txtar.Format(&seen.archive))
	return u, nil
}

// recorded is a file system that keeps what was read of it.
type recorded struct {
	files   fs.FS
	archive txtar.Archive
}

// Open implements fs.FS.
func (r *recorded) Open(name string) (fs.File, error) {
	data, err := fs.ReadFile(r.files, name)
	if err != nil {
		return nil, err
	}
	read := txtar.Archive{Files: []txtar.File{{Name: name, Data: data}}}
	r.archive.Files = append(r.archive.Files, read.Files...)
	files, err := txtar.FS(&read)
	if err != nil {
		return nil, err
	}
	return files.Open(name)
}
