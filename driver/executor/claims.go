package executor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// ErrClaimed means another kernel puts pressure on the same resource already: two
// would add up to a pressure that neither asked for.
var ErrClaimed = errors.New("another kernel already uses this resource")

// claim is one kernel's word that it puts pressure on a resource of this node.
type claim struct {
	Source  interference.Source `json:"source"`
	Domains []string            `json:"domains"` // the parts of the machine it puts pressure on
	Where   string              `json:"where"`   // for people
	AllocID string              `json:"alloc_id"`
	Task    string              `json:"task"`
}

func (c claim) overlaps(d claim) bool {
	return c.Source == d.Source && slices.ContainsFunc(c.Domains, func(s string) bool { return slices.Contains(d.Domains, s) })
}

// conflict is the error of a claim that this one is in the way of.
func (c claim) conflict() error {
	return fmt.Errorf("%w: task %q of allocation %s, %s on %s; allow_pair = true lets both run",
		ErrClaimed, c.Task, c.AllocID, c.Source, c.Where)
}

// claims are those of one task. They lie in its runtime directory, in a file
// that is locked as long as the task's process lives: a claim dies with it,
// however it dies.
type claims struct {
	file *os.File
	held []claim
}

// openClaims makes and locks the file of a task's claims.
func openClaims(dir string) (*claims, error) {
	file, err := os.OpenFile(filepath.Join(dir, ClaimsFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("claims: %w", err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("claims: another process works in %s: %w", dir, err), file.Close())
	}
	return &claims{file: file}, nil
}

// add records a claim unless one of this or another task is in its way; pair
// says that it may.
func (c *claims) add(want claim, pair bool) error {
	unlock, err := c.lockNode()
	if err != nil {
		return err
	}
	defer unlock()
	if !pair {
		if err := c.inTheWay(want); err != nil {
			return err
		}
	}
	c.held = append(c.held, want)
	return c.write()
}

// drop takes a claim back.
func (c *claims) drop(gone claim) error {
	unlock, err := c.lockNode()
	if err != nil {
		return err
	}
	defer unlock()
	if i := slices.IndexFunc(c.held, func(d claim) bool { return d.Source == gone.Source && slices.Equal(d.Domains, gone.Domains) }); i >= 0 {
		c.held = slices.Delete(c.held, i, i+1)
	}
	return c.write()
}

// close gives all claims up; the file goes with the runtime directory.
func (c *claims) close() error { return c.file.Close() }

// lockNode keeps the other tasks of this driver from claiming meanwhile.
func (c *claims) lockNode() (unlock func(), err error) {
	dir, err := os.Open(filepath.Dir(filepath.Dir(c.file.Name())))
	if err != nil {
		return nil, fmt.Errorf("claims: %w", err)
	}
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX); err != nil {
		return nil, errors.Join(fmt.Errorf("claims: %w", err), dir.Close())
	}
	return func() { _ = dir.Close() }, nil // nothing was written to it
}

func (c *claims) inTheWay(want claim) error {
	for _, held := range c.held {
		if held.overlaps(want) {
			return held.conflict()
		}
	}
	mine := c.file.Name()
	files, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(mine)), "*", ClaimsFile))
	if err != nil {
		return fmt.Errorf("claims: %w", err)
	}
	for _, path := range files {
		if path == mine {
			continue
		}
		others, err := readClaims(path)
		if err != nil {
			return err
		}
		for _, held := range others {
			if held.overlaps(want) {
				return held.conflict()
			}
		}
	}
	return nil
}

// childLives reports whether a process works in a task's runtime directory.
func childLives(dir string) bool {
	file, err := os.Open(filepath.Join(dir, ClaimsFile))
	if err != nil {
		return false
	}
	defer file.Close()
	return locked(file)
}

func locked(file *os.File) bool { return unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil }

// readClaims reads another task's claims; one that has ended has none.
func readClaims(path string) ([]claim, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("claims: %w", err)
	}
	defer file.Close()
	if !locked(file) {
		return nil, nil // no process works there
	}
	data, err := io.ReadAll(file)
	if err != nil || len(data) == 0 {
		return nil, err
	}
	var out []claim
	if err := json.Unmarshal(data, &out); err != nil {
		return nil, fmt.Errorf("claims: %s: %w", path, err)
	}
	return out, nil
}

// write replaces the content of the file in place, because the lock is on it.
// Readers hold the node's lock, so none sees half of it.
func (c *claims) write() error {
	data, err := json.Marshal(c.held)
	if err == nil {
		err = c.file.Truncate(0)
	}
	if err == nil {
		_, err = c.file.WriteAt(data, 0)
	}
	if err != nil {
		return fmt.Errorf("claims: %w", err)
	}
	return nil
}

// domains are the parts of the machine a kernel on those CPUs puts pressure on, by
// the reach of its source. What the machine does not tell apart is one part.
func domains(m ibench.Machine, info interference.SourceInfo, cpus cgroup.CPUs, k KernelSpec) []string {
	switch info.Scope {
	case interference.ScopeHost:
		return []string{deviceOf(k)}
	case interference.ScopeNode:
		return each(cpus, func(cpu int) string { return "memory node " + strconv.Itoa(nodeOf(m, cpu)) })
	case interference.ScopeLLC:
		return each(cpus, func(cpu int) string { return "last-level cache of CPU " + strconv.Itoa(firstUnderLLC(m, cpu)) })
	default:
		return each(cpus, func(cpu int) string { return "core of CPU " + strconv.Itoa(firstOfCore(m, cpu)) })
	}
}

func each(cpus cgroup.CPUs, name func(cpu int) string) []string {
	var out []string
	for _, cpu := range cpus {
		out = append(out, name(cpu))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// deviceOf names the disk of a storage kernel's directory, or the way to the
// peer of a network kernel.
func deviceOf(k KernelSpec) string {
	if !k.Storage() {
		return strings.TrimSpace("network " + k.Peer)
	}
	info, err := os.Stat(k.Path)
	if err != nil {
		return "directory " + k.Path // the kernel will say what is wrong with it
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("disk %d:%d", unix.Major(s.Dev), unix.Minor(s.Dev))
	}
	return "directory " + k.Path
}

func nodeOf(m ibench.Machine, cpu int) int {
	c, ok := m.CPU(cpu)
	if !ok {
		return -1
	}
	return c.Node
}

func firstOfCore(m ibench.Machine, cpu int) int {
	c, _ := m.CPU(cpu)
	return slices.Min(append([]int{cpu}, c.Siblings...))
}

func firstUnderLLC(m ibench.Machine, cpu int) int {
	llc, ok := m.LLC()
	if !ok {
		return -1
	}
	for _, c := range m.Caches {
		if c.Level == llc.Level && c.Type != ibench.CacheInstruction && slices.Contains(c.SharedCPUs, cpu) {
			return slices.Min(c.SharedCPUs)
		}
	}
	return -1
}
