package worker

import (
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestMain lets the test binary be the process of a worker.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		os.Exit(Main(os.Args[2:], os.Stderr))
	}
	os.Exit(m.Run())
}

// small is a spec that every kind can open in a moment.
func small(t *testing.T) Spec {
	return Spec{Bytes: 256 << 10, Stride: 64, Idle: time.Millisecond, Dir: diskDir(t), Seed: 1}
}

// diskDir is a directory for files that are read past the page cache; some file
// systems of temporary directories cannot.
func diskDir(t *testing.T) string {
	t.Helper()
	for _, dir := range []string{t.TempDir(), "."} {
		file, err := os.CreateTemp(dir, ".validate-*")
		if err != nil {
			continue
		}
		_ = file.Close()
		direct, err := os.OpenFile(file.Name(), os.O_RDONLY|unix.O_DIRECT, 0)
		_ = os.Remove(file.Name())
		if err == nil {
			_ = direct.Close()
			return dir
		}
	}
	return t.TempDir()
}

func TestKindsAreSortedAndDescribed(t *testing.T) {
	t.Parallel()
	var names []string
	for _, k := range Kinds() {
		names = append(names, k.Name)
		if k.Unit == "" || k.Does == "" || k.open == nil {
			t.Errorf("worker %q is incomplete", k.Name)
		}
	}
	if slices.Sort(names); len(slices.Compact(names)) != len(Kinds()) {
		t.Error("a name is listed twice")
	}
}

// TestEveryKindCounts runs each worker for 50 ms in this process.
func TestEveryKindCounts(t *testing.T) {
	t.Parallel()
	// The two sides of ping need each other: TestProcess runs them.
	single := slices.DeleteFunc(Kinds(), func(k Kind) bool { return k.Name == pingKind.Name })
	for _, k := range single {
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			l, err := k.open(small(t), 0, &commons{})
			if (k.Name == vectorKind.Name && !haveVectors) || (k.Unit == "lines" && err != nil && !haveCode) {
				if err == nil {
					t.Error("runs without an implementation")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var sum count
			for end := time.Now().Add(50 * time.Millisecond); time.Now().Before(end); {
				done, err := l.step()
				if err != nil {
					t.Fatal(err)
				}
				sum.ops += done.ops
				sum.nanoseconds += done.nanoseconds
			}
			if sum.ops == 0 {
				t.Error("did nothing")
			}
			if probes := k.Name == probeKind.Name || k.Name == codeProbeKind.Name; probes != (sum.nanoseconds > 0) {
				t.Errorf("timed itself: %d ns", sum.nanoseconds)
			}
			if err := l.close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Somebody else's turn in the middle of one walk is not the price of misses.
func TestProbesCountByTheirMedian(t *testing.T) {
	t.Parallel()
	s := newStillness(Spec{})
	fills, walks := 0, 0
	got, err := s.probed(100, func() { fills++ }, func() {
		if walks++; walks == 2 {
			time.Sleep(50 * time.Millisecond)
		}
	})
	if err != nil || got.ops != 100 || got.nanoseconds >= uint64(50*time.Millisecond) {
		t.Errorf("%+v, %v", got, err)
	}
	if fills != probesPerStep || walks != probesPerStep {
		t.Errorf("%d fills and %d walks for %d probes", fills, walks, probesPerStep)
	}
}

func TestProcess(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"ping", "chase"} {
		p, err := Start(t.Context(), Spec{Arguments: []string{"worker"}, Kind: kind, CPUs: firstCPUs(t), Bytes: 64 << 10, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		if r, err := p.Read(); err != nil || r.Ops != 0 {
			t.Errorf("%s works before it may: %v, %v", kind, r, err)
		}
		p.Run()
		awaitOps(t, p)
		p.Pause()
		p.Run()
		awaitOps(t, p)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// awaitOps waits until the worker has done more than now.
func awaitOps(t *testing.T, p *Process) {
	t.Helper()
	first, err := p.Read()
	if err != nil {
		t.Fatal(err)
	}
	for t.Context().Err() == nil {
		r, err := p.Read()
		if err != nil {
			t.Fatal(err)
		}
		if r.Ops > first.Ops {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func firstCPUs(t *testing.T) []int {
	t.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	var cpus []int
	for i := 0; i < 1024 && len(cpus) < 2; i++ {
		if set.IsSet(i) {
			cpus = append(cpus, i)
		}
	}
	return cpus
}

func TestStartSaysWhyNot(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]Spec{
		"unknown kind": {Kind: "nothing", CPUs: firstCPUs(t)},
		"no CPU":       {Kind: "chase", Bytes: 4096},
		"no directory": {Kind: "disk-random", CPUs: firstCPUs(t)},
		"no bytes":     {Kind: "chase", CPUs: firstCPUs(t)},
	} {
		spec.Arguments = []string{"worker"}
		if p, err := Start(t.Context(), spec); err == nil {
			t.Errorf("%s: started", name)
			_ = p.Close()
		} else {
			t.Log(err)
		}
	}
}
