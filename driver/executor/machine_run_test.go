package executor

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// paced is a kernel with a speed.
type paced struct{ *fakeKernel }

func (paced) Speed(profiler.KernelStats, profiler.KernelStats) float64 { return 42 }

// machineRun is a run without a workload, of fake kernels.
func machineRun(t *testing.T, seconds int, sources ...interference.Source) (*profileRun, *[]*fakeKernel) {
	t.Helper()
	machine, err := ibench.ReadMachine("/")
	if err != nil {
		t.Fatal(err)
	}
	var started []*fakeKernel
	request := profiler.Request{Format: profiler.RequestFormat, Machine: true, NodeID: "n", Sources: sources, Seconds: seconds}
	r := &room{
		spec: Spec{Name: "x", AllocID: "machine-" + t.Name(), Profile: &request, Allowed: []int{0, 1}}, dir: t.TempDir(), machine: machine,
		procs: liveProc, now: time.Now, journal: newJournal(io.Discard, time.Now), stderr: io.Discard,
		start: func(_ context.Context, spec ibench.Spec) (unit, error) {
			k := &fakeKernel{spec: spec, levels: []float64{spec.IntensityPercent}, done: make(chan struct{})}
			started = append(started, k)
			return paced{k}, nil
		},
	}
	return &profileRun{journal: r.journal, room: r, out: t.TempDir()}, &started
}

func speedsLeft(t *testing.T, s *profileRun) profiler.Speeds {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.out, profiler.SpeedsFile))
	if err != nil {
		t.Fatal(err)
	}
	var out profiler.Speeds
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestMachineRun(t *testing.T) {
	t.Parallel()
	s, started := machineRun(t, 1, interference.Integer, "gpu")
	if exit := exitOf(s.runMachine(t.Context())); exit.Code != CodeComplete {
		t.Errorf("%+v", exit)
	}
	got := speedsLeft(t, s)
	if len(got.Kernels) != 2 || got.NodeID != "n" || got.Kernels[0].OpsPerSec != 42 || got.Kernels[1].Unknown == "" {
		t.Errorf("%+v", got)
	}
	for _, k := range *started {
		if !k.closed || len(k.spec.CPUs) != 2 || k.levels[len(k.levels)-1] != 100 {
			t.Errorf("closed %v, on %v, at %v", k.closed, k.spec.CPUs, k.levels)
		}
	}
}

// A run that is stopped leaves what it has, and says that it is not all.
func TestMachineRunStopped(t *testing.T) {
	t.Parallel()
	s, _ := machineRun(t, 1, interference.Integer)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errTimeUp)
	if exit := exitOf(s.runMachine(ctx)); exit.Code != CodePartial || !strings.Contains(exit.Reason, errTimeUp.Error()) {
		t.Errorf("%+v", exit)
	}
	if got := speedsLeft(t, s); len(got.Kernels) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestMachineRunIsBounded(t *testing.T) {
	t.Parallel()
	if got := ProfileDuration(profiler.Request{Machine: true, Seconds: 5}); got >= ProfileDuration(profiler.Request{Seconds: 5}) || got <= 5*time.Second {
		t.Errorf("%s", got)
	}
}
