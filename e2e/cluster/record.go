package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// recordFile lies in a run's folder while something of the run may exist.
const recordFile = "run.json"

// keptFile is the record of a run that ended and whose folder was kept.
const keptFile = "kept.json"

// record is what Clean needs to remove a run whose owner is gone.
type record struct {
	RunID       string      `json:"run_id"`
	Hierarchies hierarchies `json:"hierarchies"`
	Owner       int         `json:"owner_pid"`
	// OwnerStart is the owner's start time in clock ticks since boot; it tells
	// the owner from a later process with the same ID.
	OwnerStart uint64 `json:"owner_start_ticks"`
	KeepDir    bool   `json:"keep_dir"`
	// Raised are kernel threads that run before all processes as long as the run lasts.
	Raised []int `json:"raised_pids,omitempty"`
	// Config is the run's, for who adds nodes to it: see Join.
	Config Config `json:"config"`
}

func newRecord(c Config, h hierarchies) (record, error) {
	start, err := startTicks(os.Getpid())
	if err != nil {
		return record{}, err
	}
	r := record{RunID: c.RunID, Hierarchies: h, Owner: os.Getpid(), OwnerStart: start, KeepDir: c.KeepDir, Config: c}
	if c.Preferred {
		r.Raised, err = starvable()
	}
	return r, err
}

func (r record) write(runDir string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("record the run: %w", err)
	}
	if err := os.WriteFile(filepath.Join(runDir, recordFile), text, 0o644); err != nil {
		return fmt.Errorf("record the run: %w", err)
	}
	return nil
}

// readRecord returns an fs.ErrNotExist error where there is no such run.
func readRecord(runDir string) (record, error) {
	text, err := os.ReadFile(filepath.Join(runDir, recordFile))
	if err != nil {
		return record{}, fmt.Errorf("read run record: %w", err)
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return record{}, fmt.Errorf("read run record %s: %w", filepath.Join(runDir, recordFile), err)
	}
	return r, nil
}

// ownerAlive reports whether the process that started the run still runs.
func (r record) ownerAlive() bool {
	start, err := startTicks(r.Owner)
	return err == nil && start == r.OwnerStart
}

// startTicks reads a process's start time, field 22 of /proc/<pid>/stat. The
// second field, the name, may contain blanks and ends with the last ")".
func startTicks(pid int) (uint64, error) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, fmt.Errorf("read process start time: %w", err)
	}
	return parseStartTicks(string(text))
}

func parseStartTicks(stat string) (uint64, error) {
	const startField = 22 - 3 // counted from the first field after the name
	fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:])
	if len(fields) <= startField {
		return 0, fmt.Errorf("read process start time: %q is too short", stat)
	}
	ticks, err := strconv.ParseUint(fields[startField], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read process start time: %w", err)
	}
	return ticks, nil
}

// Clean ends the processes of one run in the default folder, whether its owner
// lives or not, and removes its control groups and folder. A run that does not
// exist is clean.
func Clean(ctx context.Context, runID string) error { return CleanIn(ctx, DefaultDir(), runID) }

// CleanIn is Clean for a run whose Config.Dir was dir.
func CleanIn(_ context.Context, dir, runID string) error {
	runDir := filepath.Join(dir, runID)
	r, err := readRecord(runDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return r.remove(runDir)
}

func (r record) remove(runDir string) error {
	if err := errors.Join(r.Hierarchies.removeGroup(runGroup(r.RunID)), lower(r.Raised)); err != nil {
		return fmt.Errorf("clean run %s: %w", r.RunID, err)
	}
	if err := unmountBelow(runDir); err != nil {
		return fmt.Errorf("clean run %s: %w", r.RunID, err)
	}
	if r.KeepDir {
		return keep(runDir)
	}
	if err := os.RemoveAll(runDir); err != nil {
		return fmt.Errorf("clean run %s: %w", r.RunID, err)
	}
	// The folder of all runs goes with the last one. That others are in it, or
	// have just removed it, is no error.
	err := os.Remove(filepath.Dir(runDir))
	if err == nil || errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("clean run %s: %w", r.RunID, err)
}

// keep marks a folder as that of an ended run.
func keep(runDir string) error {
	err := os.Rename(filepath.Join(runDir, recordFile), filepath.Join(runDir, keptFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keep run folder: %w", err)
	}
	return nil
}

// CleanDead removes every run in the default folder whose owner is gone, and
// returns their IDs.
func CleanDead(ctx context.Context) ([]string, error) { return cleanDeadIn(ctx, DefaultDir()) }

func cleanDeadIn(ctx context.Context, dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	var cleaned []string
	var errs []error
	for _, e := range entries {
		r, err := readRecord(filepath.Join(dir, e.Name()))
		if err != nil || r.ownerAlive() {
			continue // not a run, or somebody else's file
		}
		if err := CleanIn(ctx, dir, r.RunID); err != nil {
			errs = append(errs, err)
			continue
		}
		cleaned = append(cleaned, r.RunID)
	}
	return cleaned, errors.Join(errs...)
}
