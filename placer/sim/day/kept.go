package day

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ResultFormat is part of the name of every kept day. It is raised when a change of the
// world, of the model or of the classifier changes results.
const ResultFormat = 1

// Kept is Run, and keeps the day in a folder: one that is there is not run again. "" keeps
// nothing.
func Kept(ctx context.Context, folder string, hours int, seed uint64, trial Trial) (Result, error) {
	if folder == "" {
		return Run(ctx, hours, seed, trial)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %d %s", ResultFormat, hours, seed, trial))
	path := filepath.Join(folder, "day-"+hex.EncodeToString(sum[:8])+".json")
	data, err := os.ReadFile(path)
	if err == nil {
		var r Result
		if err := json.Unmarshal(data, &r); err != nil {
			return r, fmt.Errorf("%s is damaged; remove it, and the day is run again: %w", path, err)
		}
		return r, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return Result{}, err
	}
	r, err := Run(ctx, hours, seed, trial)
	if err != nil {
		return r, err
	}
	if data, err = json.Marshal(r); err != nil {
		return r, err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return r, err
	}
	whole := path + ".new" // never half a day under its name
	if err := os.WriteFile(whole, data, 0o644); err != nil {
		return r, err
	}
	return r, os.Rename(whole, path)
}
