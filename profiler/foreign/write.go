package foreign

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
)

// PairsFile is the file of a written folder that holds the pairs, one per line.
const PairsFile = "pairs.jsonl"

// document is the JSON of one profile or pair, on one line.
func document(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return append(data, '\n'), nil
}

func profileDocument(p profile.Profile) ([]byte, error) {
	data, err := document(p)
	if err != nil {
		return nil, fmt.Errorf("profile %s: %w", p.Key, err)
	}
	if len(data) > store.MaxDocumentBytes {
		return nil, fmt.Errorf("profile %s has %d bytes, at most %d: %w", p.Key, len(data), store.MaxDocumentBytes, store.ErrTooLarge)
	}
	return data, nil
}

// WriteTo writes every profile and then every pair, one JSON document a line.
func (r Result) WriteTo(w io.Writer) (int64, error) {
	all, err := r.lines()
	if err != nil {
		return 0, err
	}
	n, err := w.Write(all)
	return int64(n), err
}

func (r Result) lines() ([]byte, error) {
	var out bytes.Buffer
	for _, p := range r.Profiles {
		data, err := profileDocument(p)
		if err != nil {
			return nil, err
		}
		out.Write(data)
	}
	pairs, err := r.pairLines()
	if err != nil {
		return nil, err
	}
	out.Write(pairs)
	return out.Bytes(), nil
}

func (r Result) pairLines() ([]byte, error) {
	var out bytes.Buffer
	for _, p := range r.Pairs {
		data, err := document(p)
		if err != nil {
			return nil, fmt.Errorf("pair of %s and %s: %w", p.A.Key, p.B.Key, err)
		}
		out.Write(data)
	}
	return out.Bytes(), nil
}

// WriteDir writes a folder that training.LoadFrom reads: <key>.json for every
// profile, and PairsFile where there are pairs. The folder appears whole or not
// at all: it is written next to its place and renamed. It must not exist, or be
// empty.
func (r Result) WriteDir(ctx context.Context, dir string) (err error) {
	if len(r.Profiles)+len(r.Pairs) == 0 {
		return ErrNothingTaken
	}
	if err := CheckDir(dir); err != nil {
		return err
	}
	dir = filepath.Clean(dir)
	temporary, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", dir, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(temporary))
		}
	}()
	if err := r.fill(ctx, temporary); err != nil {
		return fmt.Errorf("write %s: %w", dir, err)
	}
	if err := os.Chmod(temporary, 0o755); err != nil { // MkdirTemp's folders are private
		return fmt.Errorf("write %s: %w", dir, err)
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) { // empty, or it fails
		return fmt.Errorf("write %s: %w", dir, err)
	}
	if err := os.Rename(temporary, dir); err != nil {
		return fmt.Errorf("write %s: %w", dir, err)
	}
	return nil
}

// CheckDir says whether WriteDir may write there: it never writes over anything.
func CheckDir(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("write %s: %w", dir, err)
	case len(entries) > 0:
		return fmt.Errorf("write %s: %w: give a new name, or remove it first", dir, ErrExists)
	}
	return nil
}

func (r Result) fill(ctx context.Context, dir string) error {
	for _, p := range r.Profiles {
		if err := ctx.Err(); err != nil {
			return err
		}
		data, err := profileDocument(p)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, p.Key+".json"), data, 0o644); err != nil {
			return err
		}
	}
	if len(r.Pairs) == 0 {
		return nil
	}
	data, err := r.pairLines()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, PairsFile), data, 0o644)
}
