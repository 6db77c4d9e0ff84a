package ibench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
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
		Source: s, MaxDuration: time.Minute, MaxBytes: testBytes, Seed: 7,
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
const orderRounds = 30

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
	stopped := func() bool {
		a, b := statsOver(t, p, 50*time.Millisecond)
		return b.Ops == a.Ops && b.WallNanoseconds == a.WallNanoseconds
	}
	eventually(t, "a pause", stopped) // a worker without a CPU hears of it later than the reply comes
	if !stopped() {
		t.Error("a paused kernel went on")
	}
	if err := p.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "work after the pause", func() bool {
		a, b := statsOver(t, p, 100*time.Millisecond)
		return b.Ops > a.Ops && b.IntensityPct == 40
	})
}

func TestStartTellsTheKernelsReason(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	unreachable := closed.Addr().String()
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
		"peer unreachable": {interference.NetworkBandwidth, func(s *Spec) { s.Peer = unreachable }, "refused"},
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
	if _, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid))); !os.IsNotExist(err) {
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

func TestSignalEndsTheKernelInOrder(t *testing.T) {
	t.Parallel()
	p := start(t, testSpec(t, interference.Integer))
	if err := unix.Kill(p.PID(), unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if exit, err := p.Wait(t.Context()); err != nil || exit != (Exit{Known: true, Code: ExitStopped}) {
		t.Errorf("exit %v, %v", exit, err)
	}
	if _, err := os.Stat(p.socket); !os.IsNotExist(err) {
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
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	goleak.VerifyNone(t, before)
	if _, err := os.Stat(filepath.Join("/proc", strconv.Itoa(p.PID()))); !os.IsNotExist(err) {
		t.Errorf("the process is left behind: %v", err)
	}
}

// parentMain is a process that starts a kernel, prints its id and waits to be
// killed.
func parentMain(args []string) int {
	p, err := Start(context.Background(), Spec{Source: interference.Integer, MaxDuration: time.Minute, Socket: args[0]})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(p.PID())
	<-p.Done()
	return 0
}

func TestKernelDiesWithItsParent(t *testing.T) {
	t.Parallel()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(executable, "parent", filepath.Join(t.TempDir(), "kernel.sock"))
	parent.Stderr = os.Stderr
	stdout, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(stdout, &pid); err != nil {
		t.Fatal(errors.Join(err, parent.Process.Kill(), parent.Wait()))
	}
	kernel, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(errors.Join(err, parent.Process.Kill(), parent.Wait()))
	}
	defer unix.Close(kernel)
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // killed: always an error
	// It dies at once, but may wait for a CPU to do so.
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(kernel), Events: unix.POLLIN}}, 30_000)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n != 1 {
			t.Errorf("the kernel outlived its parent: %d, %v", n, err)
		}
		return
	}
}

func TestControlSocketRefusesNonsense(t *testing.T) {
	t.Parallel()
	p := start(t, testSpec(t, interference.Integer))
	conn, err := net.Dial("unix", p.socket)
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

func TestOrdersRefused(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		``,
		`-source=int`,
		`{"source": "int", "socket": "s"}`,
		`{"source": "int", "max_duration": 1000000000}`,
		`{"source": "int", "max_duration": 1000000000, "socket": "s", "intensity_percent": 101}`,
		`{"source": "cpu", "max_duration": 1000000000, "socket": "s"}`,
		`{"what": 1}`,
	} {
		if o, err := readOrder([]string{args}); err == nil {
			t.Errorf("%s is accepted as %+v", args, o)
		}
	}
	if _, err := readOrder([]string{`{"source": "int", "max_duration": 1000000000, "socket": "s", "intensity_percent": 100}`}); err != nil {
		t.Error(err)
	}
	if err := (Spec{Source: interference.Integer, MaxDuration: time.Second, Socket: "s", IntensityPercent: math.NaN()}).check(); err == nil {
		t.Error("an intensity that is not a number is accepted")
	}
}
