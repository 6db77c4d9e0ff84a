package ibench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

func psi(fullAvg10 string) string {
	return "some avg10=90.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=" + fullAvg10 + " avg60=99.00 avg300=99.00 total=1\n"
}

func TestGuardWatchesMemory(t *testing.T) {
	t.Parallel()
	const enough, short = meminfo, "MemTotal: 8388608 kB\nMemAvailable: 524287 kB\n"
	for name, c := range map[string]struct {
		meminfo, pressure string
		looks             int // until it ends; 0 is never
		want              string
	}{
		"all well":               {enough, psi("0.00"), 0, ""},
		"some wait":              {enough, psi("20.00"), 0, ""},
		"no pressure accounting": {enough, "", 0, ""},
		"all wait":               {enough, psi("20.50"), 1, "waited for it 20 % of the last 10 s"},
		"less than the reserve":  {short, psi("0.00"), shortChecksMax, "511 MiB are available, the reserve is 512 MiB"},
		"damaged pressure":       {enough, psi("x"), 1, "memory pressure"},
	} {
		files := map[string]string{"proc/meminfo": c.meminfo, "proc/pressure/memory": c.pressure}
		if c.pressure == "" {
			delete(files, "proc/pressure/memory")
		}
		g := newGuard(writeTree(t, files), nil, nil, nil)
		looks, err := 0, error(nil)
		for looks < 2*shortChecksMax && err == nil {
			err = g.check()
			looks++
		}
		if (err != nil) != (c.looks > 0) || err != nil && (looks != c.looks || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: ended at look %d with %v, want %d with %q", name, looks, err, c.looks, c.want)
		}
		if strings.Contains(name, "damaged") == errors.Is(err, errMemory) && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if (g.ready() == nil) != (c.looks == 0) {
			t.Errorf("%s: ready says %v", name, g.ready())
		}
	}
}

// A dip that is over does not count with the next.
func TestGuardForgetsADip(t *testing.T) {
	t.Parallel()
	root := writeTree(t, map[string]string{"proc/meminfo": meminfo})
	g := newGuard(root, nil, nil, nil)
	for range shortChecksMax {
		for _, available := range []int{400 << 10, 400 << 10, 4 << 20} {
			text := fmt.Sprintf("MemTotal: 8388608 kB\nMemAvailable: %d kB\n", available)
			if err := os.WriteFile(filepath.Join(root, "proc/meminfo"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := g.check(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// fakeThread is a thread whose cpuset allows some CPUs.
type fakeThread struct {
	cpuset, now []int
	gone        bool
	sets        int
}

func (f *fakeThread) affinity() affinity {
	return affinity{
		get: func(int) ([]int, error) {
			if f.gone {
				return nil, unix.ESRCH
			}
			return f.now, nil
		},
		set: func(_ int, cpus []int) error {
			f.sets++
			var allowed []int
			for _, cpu := range cpus {
				if slices.Contains(f.cpuset, cpu) {
					allowed = append(allowed, cpu)
				}
			}
			if len(allowed) == 0 {
				return unix.EINVAL
			}
			f.now = allowed
			return nil
		},
		setAll: func() error { return nil },
	}
}

func TestGuardKeepsThreadsOnTheirCPUs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		thread fakeThread
		wanted []int
		sets   int
		want   error
	}{
		"in place":            {fakeThread{cpuset: []int{0, 1}, now: []int{1}}, []int{1}, 0, nil},
		"moved, may go back":  {fakeThread{cpuset: []int{0, 1}, now: []int{0, 1}}, []int{1}, 1, nil},
		"cpuset taken away":   {fakeThread{cpuset: []int{0}, now: []int{0}}, []int{1}, 1, errCPUs},
		"cpuset partly taken": {fakeThread{cpuset: []int{0}, now: []int{0}}, []int{0, 1}, 1, errCPUs},
		"thread ended":        {fakeThread{gone: true}, []int{1}, 0, nil},
		"never pinned":        {fakeThread{now: []int{0}}, nil, 0, nil},
	} {
		a := c.thread.affinity()
		err := a.keep([]pinnedThread{{tid: 1, cpus: c.wanted}})
		if !errors.Is(err, c.want) || c.thread.sets != c.sets {
			t.Errorf("%s: %v after %d moves, want %v after %d", name, err, c.thread.sets, c.want, c.sets)
		}
	}
}

// A running kernel goes back to its CPUs when something moves its threads.
func TestKernelGoesBackToItsCPUs(t *testing.T) {
	t.Parallel()
	cpus, err := AllowedCPUs()
	if err != nil {
		t.Fatal(err)
	}
	if len(cpus) < 2 {
		t.Skip("the test may use one CPU only")
	}
	spec := testSpec(t, interference.Integer)
	spec.CPUs = cpus[:1]
	p := start(t, spec)
	tasks, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(p.PID()), "task"))
	if err != nil {
		t.Fatal(err)
	}
	var tids []int
	for _, task := range tasks {
		tid, err := strconv.Atoi(task.Name())
		if err != nil {
			t.Fatal(err)
		}
		if err := pinThread(tid, cpus[1:2]); err != nil && !errors.Is(err, unix.ESRCH) {
			t.Fatal(err)
		}
		tids = append(tids, tid)
	}
	for _, tid := range tids {
		eventually(t, "back on its CPU", func() bool {
			now, err := allowedCPUs(tid)
			return err != nil || slices.Equal(now, spec.CPUs)
		})
	}
}

func TestOfflineCPUs(t *testing.T) {
	t.Parallel()
	root := writeTree(t, map[string]string{"sys/devices/system/cpu/online": "0-1,4\n"})
	if err := checkOnline(root, []int{0, 4}); err != nil {
		t.Error(err)
	}
	err := checkOnline(root, []int{1, 3})
	if err == nil || err.Error() != "run on CPUs 1,3: CPU 3 is not online; online are 0-1,4" {
		t.Errorf("an offline CPU: %v", err)
	}
}

func TestGuardStopsTheKernel(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancelCause(t.Context())
	g := newGuard(writeTree(t, map[string]string{"proc/meminfo": meminfo, "proc/pressure/memory": psi("99.00")}), nil, nil, nil)
	g.watch(ctx, stop)
	if err := context.Cause(ctx); !errors.Is(err, errMemory) {
		t.Errorf("stopped for %v", err)
	}
	unhealthy := errors.New("cannot go on")
	g = newGuard(writeTree(t, map[string]string{"proc/meminfo": meminfo}), nil, nil, func() error { return unhealthy })
	if err := g.check(); !errors.Is(err, unhealthy) {
		t.Errorf("an unhealthy load: %v", err)
	}
}

// The parent learns from the exit code why a kernel gave way.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	for code, err := range map[int]error{
		ExitStopped: errMaxDuration, ExitFailed: errors.New("broken"),
		ExitParent: errParent, ExitMemory: errMemory, ExitCPUs: errCPUs,
	} {
		if got := exitCode(fmt.Errorf("source x: %w", err)); got != code {
			t.Errorf("%v: code %d, want %d", err, got, code)
		}
	}
	texts := map[string]bool{}
	for code := ExitStopped; code <= ExitCPUs; code++ {
		texts[exitText(code)] = true
	}
	if len(texts) != ExitCPUs+1 {
		t.Errorf("two codes read the same: %v", texts)
	}
}
