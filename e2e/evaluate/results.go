package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"
)

// results is the folder of a run: one file of text for each thing measured. A file
// that is there is not measured again.
type results string

// begun is what a run was started with.
type begun struct {
	At      time.Time `json:"at"`
	Run     string    `json:"run"` // names its profiles
	Machine string    `json:"machine"`
	Quick   bool      `json:"quick"`
	Plan    plan      `json:"plan"`
	Jobs    string    `json:"jobs"` // a hash of the applications and their jobspecs
}

// Names of the files.
const (
	fileBegun = "begun.json"
	fileAlone = "alone.json"
	fileAdapt = "adaptation.json"
	// filePrograms says by file which program measured it.
	filePrograms = "programs.json"
)

func fileRepetition(n int) string      { return fmt.Sprintf("repetition-%d.json", n) }
func fileProfiles(n int) string        { return fmt.Sprintf("profiles-%d.json", n) }
func fileSweep(job string) string      { return "sizes-" + job + ".json" }
func (r results) path(n string) string { return filepath.Join(string(r), n) }

// read returns false where there is no such file.
func (r results) read(name string, into any) (bool, error) {
	text, err := os.ReadFile(r.path(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return false, fmt.Errorf("%s: %w; remove it to measure it again", r.path(name), err)
	}
	return true, nil
}

// measured stores what was measured, with the program that did.
func (r results) measured(name string, v any) error {
	programs := map[string]string{}
	if _, err := r.read(filePrograms, &programs); err != nil {
		return err
	}
	programs[name] = thisProgram()
	if err := r.write(filePrograms, programs); err != nil {
		return err
	}
	return r.write(name, v)
}

// thisProgram is the commit that this program was built from.
func thisProgram() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return unknown
	}
	revision, changed := unknown, ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(8, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = " with changes"
		}
	}
	return revision + changed
}

// write stores a file whole or not at all.
func (r results) write(name string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	temporary := r.path(name) + ".new"
	if err := os.WriteFile(temporary, append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, r.path(name))
}

// errOther: the folder holds another run.
var errOther = errors.New("holds results of another plan or other jobs; give another -dir, or -fresh to remove them")

// open begins a run in the folder, or goes on with the one there.
func (r results) open(now begun, fresh bool) (begun, error) {
	if fresh {
		if err := r.clear(); err != nil {
			return begun{}, err
		}
	}
	if err := os.MkdirAll(string(r), 0o755); err != nil {
		return begun{}, err
	}
	var was begun
	found, err := r.read(fileBegun, &was)
	switch {
	case err != nil:
		return begun{}, err
	case !found:
		return now, r.write(fileBegun, now)
	case was.Quick != now.Quick || !was.Plan.comparable(now.Plan) || was.Jobs != now.Jobs:
		return begun{}, fmt.Errorf("%s %w", r, errOther)
	}
	return was, nil
}

// clear removes the files of a run, and nothing else.
func (r results) clear() error {
	var errs []error
	for _, pattern := range []string{fileBegun, fileAlone, fileAdapt, filePrograms, "profiles-*.json", "repetition-*.json", fileSweep("*")} {
		found, err := filepath.Glob(r.path(pattern))
		errs = append(errs, err)
		for _, f := range found {
			errs = append(errs, os.Remove(f))
		}
	}
	return errors.Join(errs...)
}
