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
	"github.com/nomad-placer/nomad-placer/e2e/training/catalogue"
)

// slots are control groups of cgroup v1 that share a CPU evenly, whatever runs in
// them, and count the requests that reach the disk and the CPU time in user and kernel
// mode.
type slots struct {
	device string // major:minor
	names  []string
}

const slotsFolder = "nomad-placer-slots"

// Controllers of a slot, as they are mounted by every distribution.
var slotControllers = []string{"blkio", "cpu", "cpuacct", "freezer"}

// slotShares of the CPU, for all slots together, keep the rest of the machine away
// from the CPU when a slot wants it: the most there is.
const slotShares = "262144"

func slotPath(controller string, rest ...string) string {
	return filepath.Join(append([]string{"/sys/fs/cgroup", controller, slotsFolder}, rest...)...)
}

// openSlots counts requests to the disk below a folder.
func openSlots(folder string) (slots, error) {
	for _, c := range slotControllers {
		if err := os.MkdirAll(slotPath(c), 0o755); err != nil {
			return slots{}, fmt.Errorf("the controller %s of cgroup v1 is needed below /sys/fs/cgroup, and root: %w", c, err)
		}
	}
	if err := os.WriteFile(slotPath("cpu", "cpu.shares"), []byte(slotShares), 0o644); err != nil {
		return slots{}, err
	}
	var s unix.Stat_t
	if err := unix.Stat(folder, &s); err != nil {
		return slots{}, err
	}
	return slots{device: fmt.Sprintf("%d:%d", unix.Major(s.Dev), unix.Minor(s.Dev))}, nil
}

func (s *slots) open() bool { return s.device != "" }

func (s *slots) create(name string) error {
	for _, c := range slotControllers {
		if err := os.MkdirAll(slotPath(c, name), 0o755); err != nil {
			return err
		}
	}
	s.names = append(s.names, name)
	return nil
}

// limit bounds the requests per second of a slot.
func (s *slots) limit(name string, reads, writes int) error {
	for file, n := range map[string]int{"blkio.throttle.read_iops_device": reads, "blkio.throttle.write_iops_device": writes} {
		if err := os.WriteFile(slotPath("blkio", name, file), fmt.Appendf(nil, "%s %d", s.device, n), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// join puts a process into a slot; what it starts follows.
func (s *slots) join(name string, pid int) error {
	for _, c := range slotControllers {
		if err := os.WriteFile(slotPath(c, name, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// usage is what a slot has used since it was made.
type usage struct {
	reads, writes         uint64
	readBytes, writeBytes uint64
	user, system          uint64 // ns
}

func (s *slots) usage(name string) (usage, error) {
	var u usage
	if err := s.counts(name, "blkio.throttle.io_serviced", &u.reads, &u.writes); err != nil {
		return u, err
	}
	if err := s.counts(name, "blkio.throttle.io_service_bytes", &u.readBytes, &u.writeBytes); err != nil {
		return u, err
	}
	for file, to := range map[string]*uint64{"cpuacct.usage_user": &u.user, "cpuacct.usage_sys": &u.system} {
		data, err := os.ReadFile(slotPath("cpuacct", name, file))
		if err != nil {
			return u, err
		}
		if *to, err = strconv.ParseUint(string(bytes.TrimSpace(data)), 10, 64); err != nil {
			return u, err
		}
	}
	return u, nil
}

// counts reads the two counters of the disk in a file of blkio.
func (s *slots) counts(name, file string, reads, writes *uint64) error {
	data, err := os.ReadFile(slotPath("blkio", name, file))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(data)) {
		words := strings.Fields(line)
		if len(words) != 3 || words[0] != s.device {
			continue
		}
		n, err := strconv.ParseUint(words[2], 10, 64)
		if err != nil {
			return err
		}
		switch words[1] {
		case "Read":
			*reads = n
		case "Write":
			*writes = n
		}
	}
	return nil
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
	folder string
}

// occupy starts an application in a slot of its own and waits for its first work.
func (b *bench) occupy(ctx context.Context, a catalogue.Application, name string) (o *occupant, err error) {
	if err := b.slot(name); err != nil {
		return nil, err
	}
	o = &occupant{slot: name, ended: make(chan struct{}), folder: filepath.Join(b.scratch, name)}
	if err := os.MkdirAll(o.folder, 0o755); err != nil {
		return nil, err
	}
	ports, err := freePorts(2)
	if err != nil {
		return nil, err
	}
	place := catalogue.Place{
		Workload: b.workload, Inputs: b.inputs, CPUs: []int{b.cpu}, Cores: 1, Listen: "127.0.0.1:" + ports[0], AppPort: ports[1],
	}
	argv := a.Argv(place)
	// The shell joins the slot before it becomes the application.
	script := `for c in ` + strings.Join(slotControllers, " ") + `; do echo $$ > /sys/fs/cgroup/$c/` + slotsFolder + `/"$0"/cgroup.procs || exit 1; done; exec "$@"`
	o.cmd = exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", script, name}, argv...)...)
	o.cmd.Dir, o.cmd.Env = o.folder, os.Environ()
	for key, value := range a.Environment(place) {
		o.cmd.Env = append(o.cmd.Env, key+"="+value)
	}
	var said bytes.Buffer
	o.cmd.Stdout, o.cmd.Stderr = io.Discard, &said
	o.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	o.cmd.Cancel = func() error { return o.cmd.Process.Signal(os.Interrupt) }
	o.cmd.WaitDelay = checkEndAfter
	if err := o.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = o.cmd.Wait() // how it ended shows in the readings
		close(o.ended)
	}()
	if err := o.await(ctx, place.Listen); err != nil {
		err = errors.Join(err, o.end())
		if said.Len() > 0 {
			err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(said.Bytes()))
		}
		return nil, err
	}
	o.listen = place.Listen
	return o, nil
}

// await the first work.
func (o *occupant) await(ctx context.Context, listen string) error {
	for begun := time.Now(); time.Since(begun) < checkReady; {
		if s, err := scrape(ctx, listen); err == nil && s.ticks > 1 {
			return cluster.Sleep(ctx, checkWarm)
		}
		select {
		case <-o.ended:
			return errors.New("it ended before any work")
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(checkPoll):
		}
	}
	return errors.New("no work")
}

func (o *occupant) end() error {
	_ = o.cmd.Process.Signal(os.Interrupt) // the loop ends its command; gone is fine
	select {
	case <-o.ended:
		return nil
	case <-time.After(checkEndAfter):
		_ = syscall.Kill(-o.cmd.Process.Pid, syscall.SIGKILL)
		<-o.ended
		return fmt.Errorf("%s did not end when asked to", o.slot)
	}
}
