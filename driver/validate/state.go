package validate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
)

// StateFormat is the version of the files in the state directory.
const StateFormat = 1

// stateHeader says what the cells of a state directory were measured with:
// cells of another program, machine or pace would not be comparable.
type stateHeader struct {
	Format  int               `json:"format"`
	Program string            `json:"program"`
	Machine ibench.MachineKey `json:"machine"`
	Seed    uint64            `json:"seed"`
	Quick   bool              `json:"quick"`
	Storage string            `json:"storage_dir"`
}

// errOtherState is a state directory of another validation.
var errOtherState = errors.New("it holds another validation (of another program, machine, seed, pace or disk); -fresh discards that")

// state is the directory of what is measured: one file per cell.
type state struct{ dir string }

// The names in a state directory.
const (
	headerFile      = "state.json"
	calibrationFile = "calibration.json"
	cellsDir        = "cells"
)

// savedCell is one cell on disk. Either it has a result, or an error.
type savedCell struct {
	Key      string          `json:"key"`
	Measured time.Time       `json:"measured"`
	Seconds  float64         `json:"seconds"`
	Result   json.RawMessage `json:"result,omitempty"`
	Error    string          `json:"error,omitempty"`
}

// openState makes the directory, or checks that it is of the same validation.
func openState(dir string, header stateHeader, fresh bool) (state, error) {
	s := state{dir}
	if fresh {
		if err := s.discard(); err != nil {
			return state{}, err
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, cellsDir), 0o755); err != nil {
		return state{}, fmt.Errorf("state directory: %w", err)
	}
	path := filepath.Join(dir, headerFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, writeJSON(path, header)
	}
	if err != nil {
		return state{}, fmt.Errorf("state directory: %w", err)
	}
	var old stateHeader
	if err := json.Unmarshal(data, &old); err != nil {
		return state{}, fmt.Errorf("state directory: %s: %w", path, err)
	}
	if !reflect.DeepEqual(old, header) {
		return state{}, fmt.Errorf("state directory %s: %w", dir, errOtherState)
	}
	return s, nil
}

// discard removes what a validation writes, and nothing else: the directory may
// be a person's own.
func (s state) discard() error {
	var errs []error
	for _, name := range []string{headerFile, calibrationFile, cellsDir} {
		errs = append(errs, os.RemoveAll(filepath.Join(s.dir, name)))
	}
	return errors.Join(errs...)
}

func (s state) calibration() string { return filepath.Join(s.dir, calibrationFile) }

func (s state) cellPath(key string) string { return filepath.Join(s.dir, cellsDir, key+".json") }

// load returns a cell; ok is false where it is not measured yet. A file that
// cannot be read is as good as none: the cell is measured again.
func (s state) load(key string) (c savedCell, ok bool) {
	data, err := os.ReadFile(s.cellPath(key))
	if err != nil || json.Unmarshal(data, &c) != nil || c.Key != key {
		return savedCell{}, false
	}
	return c, true
}

// done reports whether a cell has a result. One that failed is tried again.
func (s state) done(key string) bool {
	c, ok := s.load(key)
	return ok && c.Error == ""
}

func (s state) save(c savedCell) error { return writeJSON(s.cellPath(c.Key), c) }

// writeJSON writes a file in one step, so that a run that is cut short leaves
// no half of one.
func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	return writeFile(path, append(data, '\n'))
}

func writeFile(path string, data []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".validate-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Chmod(0o644), file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(file.Name()))
	}
	return nil
}

// programHash names the binary: cells of an older build are not mixed with
// those of a newer one.
func programHash() (string, error) {
	file, err := os.Open("/proc/self/exe")
	if err != nil {
		return "", fmt.Errorf("read this program: %w", err)
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", fmt.Errorf("read this program: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}
