package executor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler"
)

// The files of a task's runtime directory.
const (
	SpecFile     = "task.json" // what to do, written by the driver
	SocketFile   = "control.sock"
	ExitFile     = "exit.json"   // how the child ended, written by it
	PausedFile   = "paused.json" // what is paused at this moment
	TransferFile = "lent.json"   // what is transferred at this moment
	ClaimsFile   = "claims.json" // what the kernels put pressure on; locked while the child lives
)

// Exit is how a child ended.
type Exit struct {
	Code   int    `json:"code"`
	Reason string `json:"reason"`
}

// The exit codes of a child.
const (
	CodeComplete = 0 // stopped, time up, or a complete profile
	CodeFailed   = 1
	CodePartial  = 3 // a profile that lacks something
)

// ReadExit returns how a child of that runtime directory ended.
func ReadExit(dir string) (Exit, error) {
	data, err := os.ReadFile(filepath.Join(dir, ExitFile))
	if err != nil {
		return Exit{}, fmt.Errorf("how the task ended: %w", err)
	}
	var e Exit
	if err := json.Unmarshal(data, &e); err != nil {
		return Exit{}, fmt.Errorf("how the task ended: %w", err)
	}
	return e, nil
}

// endedFile marks the runtime directory of a task that was destroyed, and of which something
// is left that could not be removed yet.
const endedFile = "ended"

// MarkEnded makes a runtime directory count as abandoned.
func MarkEnded(dir string) error {
	return os.WriteFile(filepath.Join(dir, endedFile), nil, 0o600)
}

// withoutSpecFor is how long a runtime directory may be without its spec (chosen by us): it is
// written as soon as there is the directory, and removed right before it.
const withoutSpecFor = time.Minute

// Abandoned reports whether a runtime directory belongs to a task that was destroyed, or
// whose allocation is gone and whose child has ended.
func Abandoned(dir string) bool {
	if _, err := os.Stat(filepath.Join(dir, endedFile)); err == nil {
		return true
	}
	s, err := readSpec(dir)
	if err != nil {
		return false // not ours to judge
	}
	if _, err := os.Stat(s.AllocDir); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return !Answers(dir)
}

// WithoutSpec reports whether a plugin ended when it had made a runtime directory, or had removed
// all that was in it. One with anything else in it is not ours to judge.
func WithoutSpec(dir string, now time.Time) bool {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() || now.Sub(info.ModTime()) < withoutSpecFor {
		return false
	}
	entries, err := os.ReadDir(dir)
	return err == nil && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !strings.HasPrefix(e.Name(), temporary(SpecFile)) })
}

// temporary is what the name of a file begins with before it is whole.
func temporary(file string) string { return "." + file + "-" }

// Answers reports whether a child listens on the socket of that runtime
// directory. The file alone does not say so: it is there before, and after.
func Answers(dir string) bool {
	conn, err := net.Dial("unix", filepath.Join(dir, SocketFile))
	if err != nil {
		return false
	}
	_ = conn.Close() // only whether a process listens counts
	return true
}

// resultDirMode lets nobody but this program's user in; Nomad's agent, which hands files out
// to those who may read them, is root as well.
const resultDirMode = 0o700

// resultDir makes the directory of results in an allocation. Nomad keeps the allocation's
// directory itself to root, so that no task can put another in its place; one that is there
// is of an earlier start of this task, or is refused: a task may have that name.
func resultDir(allocDir string) (string, error) {
	dir := filepath.Join(allocDir, profiler.ResultDir)
	err := os.Mkdir(dir, resultDirMode)
	if err == nil {
		return dir, nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("directory of results: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", fmt.Errorf("directory of results: %w", err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || info.Mode().Perm() != resultDirMode || int(owner.Uid) != os.Geteuid() {
		return "", fmt.Errorf("directory of results: %s belongs to somebody else; a task of the group must not have the name %s", dir, profiler.ResultDir)
	}
	return dir, nil
}

// writeJSON replaces a file in one step: readers see the old or the new one.
func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), temporary(filepath.Base(path))+"*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(append(data, '\n'))
	// Nomad's file API reads as the agent, people as themselves.
	err = errors.Join(err, tmp.Chmod(0o644), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}
