package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
)

// slots are control groups of cgroup v1 that share a CPU evenly, whatever runs in
// them, and count CPU time in user and kernel mode.
type slots struct {
	opened bool
	names  []string
}

const slotsFolder = "nomad-placer-slots"

// Controllers of a slot, as they are mounted by every distribution.
var slotControllers = []string{"cpu", "cpuacct", "freezer"}

// joinSlot is a script whose shell joins the slot of its name before it becomes a program.
var joinSlot = `for c in ` + strings.Join(slotControllers, " ") + `; do echo $$ > /sys/fs/cgroup/$c/` + slotsFolder + `/"$0"/cgroup.procs || exit 1; done; exec "$@"`

// slotShares of the CPU, for all slots together, keep the rest of the machine away
// from the CPU when a slot wants it: the most there is.
const slotShares = "262144"

func slotPath(controller string, rest ...string) string {
	return filepath.Join(append([]string{"/sys/fs/cgroup", controller, slotsFolder}, rest...)...)
}

func openSlots() (slots, error) {
	for _, c := range slotControllers {
		if err := os.MkdirAll(slotPath(c), 0o755); err != nil {
			return slots{}, fmt.Errorf("the controller %s of cgroup v1 is needed below /sys/fs/cgroup, and root: %w", c, err)
		}
	}
	return slots{opened: true}, os.WriteFile(slotPath("cpu", "cpu.shares"), []byte(slotShares), 0o644)
}

func (s *slots) open() bool { return s.opened }

func (s *slots) create(name string) error {
	for _, c := range slotControllers {
		if err := os.MkdirAll(slotPath(c, name), 0o755); err != nil {
			return err
		}
	}
	s.names = append(s.names, name)
	return nil
}

// cpuTime is what a slot has used since it was made.
type cpuTime struct{ user, system time.Duration }

func (s *slots) cpuTime(name string) (cpuTime, error) {
	var t cpuTime
	for file, to := range map[string]*time.Duration{"cpuacct.usage_user": &t.user, "cpuacct.usage_sys": &t.system} {
		data, err := os.ReadFile(slotPath("cpuacct", name, file))
		if err != nil {
			return t, err
		}
		n, err := strconv.ParseInt(string(bytes.TrimSpace(data)), 10, 64)
		if err != nil {
			return t, err
		}
		*to = time.Duration(n)
	}
	return t, nil
}

// freezeTries of freezeWithin: one who starts a program cannot be frozen while that is
// frozen before it has begun (driver/cgroup), so it is let go and tried again.
const (
	freezeTries  = 200
	freezeWithin = 20 * time.Millisecond
)

func (s *slots) freeze(ctx context.Context, name string) error {
	path := slotPath("freezer", name, "freezer.state")
	for range freezeTries {
		if err := os.WriteFile(path, []byte("FROZEN"), 0o644); err != nil {
			return err
		}
		for begun := time.Now(); time.Since(begun) < freezeWithin; {
			data, err := os.ReadFile(path)
			if err != nil || string(bytes.TrimSpace(data)) == "FROZEN" {
				return err
			}
			if err := cluster.Sleep(ctx, time.Millisecond); err != nil {
				return errors.Join(err, s.thaw(name))
			}
		}
		if err := s.thaw(name); err != nil {
			return err
		}
		if err := cluster.Sleep(ctx, time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s cannot be frozen", name)
}

func (s *slots) thaw(name string) error {
	return os.WriteFile(slotPath("freezer", name, "freezer.state"), []byte("THAWED"), 0o644)
}

// close removes the slots, once what was in them has ended.
func (s *slots) close() error {
	var problems []error
	for _, c := range slotControllers {
		for _, name := range s.names {
			problems = append(problems, removeGroup(slotPath(c, name)))
		}
		problems = append(problems, removeGroup(slotPath(c)))
	}
	return errors.Join(problems...)
}

// removeGroup waits a moment for the last process to be gone.
func removeGroup(path string) error {
	var err error
	for range 100 {
		if err = os.Remove(path); !errors.Is(err, unix.EBUSY) {
			break
		}
		time.Sleep(checkPoll)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// occupant is an application in a slot.
type occupant struct {
	slot   string
	listen string // of its counters; empty: no loop
	cmd    *exec.Cmd
	ended  chan struct{}
	said   bytes.Buffer // its complaints, once it has ended
}

// startOccupant starts what wraps a loop in a slot, and waits for its first work.
func startOccupant(ctx context.Context, slot, listen string, cmd *exec.Cmd) (*occupant, error) {
	o := &occupant{slot: slot, listen: listen, cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = io.Discard, &o.said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = checkEndAfter
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = cmd.Wait() // how it ended shows in the readings
		close(o.ended)
	}()
	if err := o.await(ctx); err != nil {
		return nil, errors.Join(err, o.end())
	}
	return o, nil
}

// await the first work.
func (o *occupant) await(ctx context.Context) error {
	for begun := time.Now(); time.Since(begun) < checkReady; {
		if s, err := scrape(ctx, o.listen); err == nil && s.ticks > 1 {
			return nil
		}
		select {
		case <-o.ended:
			return fmt.Errorf("it ended before any work: %s", bytes.TrimSpace(o.said.Bytes()))
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(checkPoll):
		}
	}
	return errors.New("no work")
}

// failed is why it has ended by itself; nil while it runs.
func (o *occupant) failed() error {
	select {
	case <-o.ended:
		return fmt.Errorf("%s ended: %s", o.slot, bytes.TrimSpace(o.said.Bytes()))
	default:
		return nil
	}
}

func (o *occupant) end() error {
	_ = o.cmd.Process.Signal(os.Interrupt) // the loop ends its command; gone is fine
	select {
	case <-o.ended:
		return nil
	case <-time.After(occupantEndAfter):
		_ = syscall.Kill(-o.cmd.Process.Pid, syscall.SIGKILL)
		<-o.ended
		return fmt.Errorf("%s did not end when asked to", o.slot)
	}
}

// occupantEndAfter is longer than what was written takes to the disk.
const occupantEndAfter = 20 * time.Second
