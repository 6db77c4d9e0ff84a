package ibench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// testBytes bounds the disk and memory that kernels of the tests take.
const testBytes = 16 << 20

// testSpec is a spec that starts fast and ends in any case.
func testSpec(t *testing.T, s interference.Source) Spec {
	t.Helper()
	spec := Spec{
		Source: s, MaxDuration: time.Minute, DieWithParent: true, MaxBytes: testBytes, Seed: 7,
		Socket: filepath.Join(t.TempDir(), "kernel.sock"), Stderr: os.Stderr,
	}
	if s == interference.StorageBandwidth || s == interference.StorageCapacity {
		spec.Path = diskDir(t)
	}
	return spec
}

// diskDir returns a directory on a disk: temporary ones may be in memory.
func diskDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := checkDisk(dir, testBytes); err == nil {
		return dir
	}
	dir, err := os.MkdirTemp(".", "disk-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// start starts a kernel and closes it with the test.
func start(t *testing.T, spec Spec) *Process {
	t.Helper()
	p, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// statsOver returns what the kernel did during the dwell, as two stats.
func statsOver(t *testing.T, p *Process, dwell time.Duration) (a, b profiler.KernelStats) {
	t.Helper()
	a, err := p.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-time.After(dwell):
	case <-p.Done():
		t.Fatal("the kernel ended")
	}
	b, err = p.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return a, b
}

// orderRounds is how often the order of work is looked for: other work of the
// machine may take a kernel's CPU away during one round.
const orderRounds = 10

// Every kernel of the list works more the higher its intensity: only the order
// is asserted. A kernel that walks as fast as it can is held to working at all.
func TestKernelsWorkMoreAtHigherIntensity(t *testing.T) {
	m, err := ReadMachine("/")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range Kernels() {
		t.Run(string(d.Source), func(t *testing.T) {
			if err := d.Supported(m); err != nil {
				t.Skipf("this machine cannot run it: %v", err)
			}
			spec := testSpec(t, d.Source)
			if d.Knob == Footprint && spec.Path == "" {
				spec.MaxBytes = 1 << 20 // refreshed in time even with the race detector
			}
			p := start(t, spec)
			var ops [3]float64
			for range orderRounds {
				ops = opsAt(t, p, d, [3]float64{0, 50, 100})
				if ops[0] == 0 && ops[1] > 0 && ops[2] > ops[1] {
					return
				}
			}
			if d.Knob != Footprint || ops[0] != 0 || !(ops[2] > 0) {
				t.Errorf("ops at 0, 50 and 100 %%: %v", ops)
			}
		})
	}
}

// opsAt returns the operations done in equal times at the intensities.
func opsAt(t *testing.T, p *Process, d Descriptor, intensities [3]float64) (ops [3]float64) {
	t.Helper()
	for i, x := range intensities {
		if err := p.Set(t.Context(), x); err != nil {
			t.Fatal(err)
		}
		a, b := statsOver(t, p, 100*time.Millisecond)
		if b.IntensityPct != x || b.Unit != d.Unit {
			t.Errorf("stats say %v %% of %q, want %v of %q", b.IntensityPct, b.Unit, x, d.Unit)
		}
		if ops[i] = b.Ops - a.Ops; ops[i] > 0 && !(p.Speed(a, b) > 0) {
			t.Errorf("speed at %v %% is %v", x, p.Speed(a, b))
		}
	}
	return ops
}

func TestPauseKeepsTheIntensity(t *testing.T) {
	t.Parallel()
	p := start(t, func() Spec { s := testSpec(t, interference.Integer); s.IntensityPercent = 40; return s }())
	if err := p.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a, b := statsOver(t, p, 50*time.Millisecond); b.Ops != a.Ops || b.WallNanoseconds != a.WallNanoseconds {
		t.Errorf("a paused kernel went from %+v to %+v", a, b)
	}
	if err := p.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	a, b := statsOver(t, p, 100*time.Millisecond)
	if !(b.Ops > a.Ops) || b.IntensityPct != 40 {
		t.Errorf("a resumed kernel went from %+v to %+v", a, b)
	}
}

func TestStartTellsTheKernelsReason(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closed.Addr().String()
	closed.Close()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		source interference.Source
		change func(*Spec)
		want   string
	}{
		"unknown source":   {"mem_bandwidth", func(*Spec) {}, "unknown source"},
		"too high":         {interference.Integer, func(s *Spec) { s.IntensityPercent = 130 }, "outside 0 to 100"},
		"no end":           {interference.Integer, func(s *Spec) { s.MaxDuration = 0 }, "max duration"},
		"no path":          {interference.StorageBandwidth, func(s *Spec) { s.Path = "" }, "needs a path"},
		"path is a file":   {interference.StorageBandwidth, func(s *Spec) { s.Path = file }, "not a directory"},
		"path is missing":  {interference.StorageBandwidth, func(s *Spec) { s.Path = file + "-none" }, "no such file"},
		"path in memory":   {interference.StorageBandwidth, func(s *Spec) { s.Path = "/dev/shm" }, "in memory"},
		"disk too small":   {interference.StorageBandwidth, func(s *Spec) { s.MaxBytes = 1 << 55 }, "reserve"},
		"no such CPU":      {interference.Integer, func(s *Spec) { s.CPUs = []int{1023} }, "run on CPUs 1023"},
		"peer unreachable": {interference.NetworkBandwidth, func(s *Spec) { s.Peer = nobody }, "refused"},
		"join fails":       {interference.Integer, func(s *Spec) { s.Join = func(int) error { return errors.New("no room") } }, "join cgroups: no room"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := testSpec(t, c.source)
			spec.Stderr = nil
			c.change(&spec)
			p, err := Start(t.Context(), spec)
			if err == nil {
				p.Close()
				t.Fatal("it started")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not say %q", err, c.want)
			}
		})
	}
}

// A start that is given up leaves no process behind: Start returns after it
// was reaped.
func TestStartGivenUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	spec := testSpec(t, interference.Integer)
	var pid int
	spec.Join = func(p int) error { pid = p; cancel(); return nil }
	if _, err := Start(ctx, spec); !errors.Is(err, context.Canceled) {
		t.Errorf("start: %v", err)
	}
	if _, err := startTicks("/", pid); !errors.Is(err, ErrGone) {
		t.Errorf("process %d: %v", pid, err)
	}
}

func TestJoinComesBeforeWork(t *testing.T) {
	t.Parallel()
	spec := testSpec(t, interference.StorageBandwidth)
	joined := 0
	spec.Join = func(pid int) error {
		joined = pid
		left, err := os.ReadDir(spec.Path)
		if len(left) > 0 {
			t.Errorf("the kernel made %v before it was in its cgroup", left)
		}
		return err
	}
	p := start(t, spec)
	if joined != p.PID() {
		t.Errorf("joined %d, runs as %d", joined, p.PID())
	}
	left, err := os.ReadDir(spec.Path)
	if err != nil || len(left) > 0 {
		t.Errorf("the scratch file has a name, so it could outlive the kernel: %v, %v", left, err)
	}
}

func TestSocketDeeperThanAnAddressHolds(t *testing.T) {
	t.Parallel()
	spec := testSpec(t, interference.Integer)
	dir := filepath.Join(t.TempDir(), strings.Repeat("deep/", 30))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	spec.Socket = filepath.Join(dir, "kernel.sock")
	p := start(t, spec)
	if err := p.Set(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(spec.Socket); !os.IsNotExist(err) {
		t.Errorf("the socket is left behind: %v", err)
	}
}

func TestStaleSocketIsReplacedAndALiveOneIsNot(t *testing.T) {
	t.Parallel()
	spec := testSpec(t, interference.Integer)
	spec.Stderr = nil
	first := start(t, spec)
	if p, err := Start(t.Context(), spec); err == nil {
		p.Close()
		t.Error("a second kernel took over the socket of a living one")
	}
	if err := first.Kill(); err != nil {
		t.Fatal(err)
	}
	if exit, err := first.Wait(t.Context()); err != nil || exit.Signal != int(unix.SIGKILL) {
		t.Errorf("exit %v, %v", exit, err)
	}
	start(t, spec)
}

func TestMaxDurationEndsTheKernel(t *testing.T) {
	t.Parallel()
	spec := testSpec(t, interference.Integer)
	spec.MaxDuration = 200 * time.Millisecond
	p := start(t, spec)
	exit, err := p.Wait(t.Context())
	if err != nil || exit != (Exit{Known: true, Code: ExitStopped}) {
		t.Errorf("exit %v, %v", exit, err)
	}
	if err := p.Set(t.Context(), 1); !errors.Is(err, ErrGone) {
		t.Errorf("set on an ended kernel: %v", err)
	}
}

func TestLeaseEndsAForgottenKernel(t *testing.T) {
	t.Parallel()
	spec := testSpec(t, interference.Integer)
	spec.Lease, spec.Stderr = 300*time.Millisecond, nil
	p := start(t, spec)
	exit, err := p.Wait(t.Context())
	if err != nil || exit.Code != ExitLease {
		t.Errorf("exit %v, %v", exit, err)
	}
}

func TestSignalEndsTheKernelInOrder(t *testing.T) {
	t.Parallel()
	p := start(t, testSpec(t, interference.Integer))
	if err := unix.Kill(p.PID(), unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if exit, err := p.Wait(t.Context()); err != nil || exit != (Exit{Known: true, Code: ExitStopped}) {
		t.Errorf("exit %v, %v", exit, err)
	}
	if _, err := os.Stat(p.State().Socket); !os.IsNotExist(err) {
		t.Errorf("the socket is left behind: %v", err)
	}
}

// Not parallel: it looks at every goroutine of the process.
func TestCloseLeavesNothing(t *testing.T) {
	before := goleak.IgnoreCurrent()
	p, err := Start(t.Context(), testSpec(t, interference.Integer))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Attach(t.Context(), p.State())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(again.Close(), p.Close()); err != nil {
		t.Fatal(err)
	}
	goleak.VerifyNone(t, before)
	if _, err := os.Stat(filepath.Join("/proc", strconv.Itoa(p.PID()))); !os.IsNotExist(err) {
		t.Errorf("the process is left behind: %v", err)
	}
}

func TestAttach(t *testing.T) {
	t.Parallel()
	p := start(t, testSpec(t, interference.Integer))
	encoded, err := json.Marshal(p.State())
	if err != nil {
		t.Fatal(err)
	}
	var state State
	if err := json.Unmarshal(encoded, &state); err != nil {
		t.Fatal(err)
	}
	again, err := Attach(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Set(t.Context(), 30); err != nil {
		t.Error(err)
	}
	if s, err := p.Stats(t.Context()); err != nil || s.IntensityPct != 30 {
		t.Errorf("the first parent sees %+v, %v", s, err)
	}
	for name, c := range map[string]struct {
		change func(*State)
		want   error
	}{
		"recycled pid":  {func(s *State) { s.StartTicks-- }, ErrRecycled},
		"other boot":    {func(s *State) { s.BootID = "another" }, ErrGone},
		"no such pid":   {func(s *State) { s.PID = 1 << 22 }, ErrGone},
		"another's pid": {func(s *State) { s.PID = os.Getpid() }, ErrRecycled},
	} {
		changed := state
		c.change(&changed)
		if _, err := Attach(t.Context(), changed); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if exit, err := again.Wait(t.Context()); err != nil || exit.Known {
		t.Errorf("an attached process knows its exit: %v, %v", exit, err)
	}
	if exit, err := p.Wait(t.Context()); err != nil || exit.Code != ExitStopped {
		t.Errorf("exit %v, %v", exit, err)
	}
	if _, err := Attach(t.Context(), state); !errors.Is(err, ErrGone) {
		t.Errorf("attach to an ended kernel: %v", err)
	}
}

// parentMain is a process that starts a kernel, prints its state and waits to
// be killed.
func parentMain(args []string) int {
	spec := Spec{
		Source: interference.Integer, MaxDuration: time.Minute, Socket: args[0], DieWithParent: args[1] == "dies",
	}
	p, err := Start(context.Background(), spec)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := json.NewEncoder(os.Stdout).Encode(p.State()); err != nil {
		return 1
	}
	<-p.Done()
	return 0
}

func TestParentKilled(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"dies", "lives"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			state := orphan(t, mode)
			p, err := Attach(t.Context(), state)
			if mode == "lives" {
				if err != nil {
					t.Fatal(err)
				}
				if err := p.Close(); err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil { // it has not died yet
				if _, err = p.Wait(t.Context()); err == nil {
					err = ErrGone
				}
			}
			if !errors.Is(err, ErrGone) {
				t.Errorf("the kernel outlived its parent: %v", err)
			}
		})
	}
}

// orphan returns the kernel of a parent that was killed.
func orphan(t *testing.T, mode string) State {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(executable, "parent", filepath.Join(t.TempDir(), "kernel.sock"), mode)
	parent.Stderr = os.Stderr
	stdout, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var state State
	if err := json.NewDecoder(stdout).Decode(&state); err != nil {
		t.Error(err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // killed: always an error
	return state
}

func TestControlSocketRefusesNonsense(t *testing.T) {
	t.Parallel()
	p := start(t, testSpec(t, interference.Integer))
	conn, err := net.Dial("unix", p.State().Socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	in := json.NewDecoder(conn)
	for line, want := range map[string]string{
		"hello":                        "not one line of JSON",
		`{"op":"dance"}`:               "unknown request",
		`{"op":"set"}`:                 "0 to 100",
		`{"op":"set","percent":100.5}`: "0 to 100",
		`{"op":"set","percent":-1}`:    "0 to 100",
	} {
		if _, err := fmt.Fprintln(conn, line); err != nil {
			t.Fatal(err)
		}
		var r reply
		if err := in.Decode(&r); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(r.Error, want) {
			t.Errorf("%s: %+v", line, r)
		}
	}
	if s, err := p.Stats(t.Context()); err != nil || s.IntensityPct != 0 {
		t.Errorf("nonsense changed the kernel: %+v, %v", s, err)
	}
}

func TestOptionsRefused(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{},
		{"-source=int"},
		{"-source=int", "-max-duration=1s", "-cpus=3-1"},
		{"-source=int", "-max-duration=1s", "-intensity=101"},
		{"-source=int", "-max-duration=1s", "-intensity=NaN"},
		{"-source=cpu", "-max-duration=1s"},
		{"-what"},
	} {
		var out bytes.Buffer
		if o, err := parseOptions(args, &out); err == nil {
			t.Errorf("%v is accepted as %+v", args, o)
		}
	}
}
