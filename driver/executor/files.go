package executor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
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

// Abandoned reports whether a runtime directory belongs to a task whose
// allocation is gone and whose child has ended.
func Abandoned(dir string) bool {
	s, err := readSpec(dir)
	if err != nil {
		return false // not ours to judge
	}
	if _, err := os.Stat(s.AllocDir); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	return !Answers(dir)
}

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

// writeJSON replaces a file in one step: readers see the old or the new one.
func writeJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
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
