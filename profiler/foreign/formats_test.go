package foreign_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/foreign"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// synthetic reads the made-up tables of a format.
func synthetic(t *testing.T, format string) foreign.Result {
	t.Helper()
	return read(t, filepath.Join("testdata", format), format)
}

func workload(t *testing.T, r foreign.Result, ending string) profile.Profile {
	t.Helper()
	for _, p := range r.Profiles {
		if strings.HasSuffix(p.Workload, ending) {
			return p
		}
	}
	t.Fatalf("no workload ends in %s", ending)
	return profile.Profile{}
}

func wantSpeed(t *testing.T, p profile.Profile, configuration string, value, low, high float64, unit string, runs int) {
	t.Helper()
	want := profile.Measurement{Value: value, Low: low, High: high, Unit: unit, Windows: runs}
	if got := p.Isolated[configuration]; got != want {
		t.Errorf("%s on %s: %+v, want %+v", p.Workload, configuration, got, want)
	}
}

func ratioAt(t *testing.T, p profile.Profile, source interference.Source, percent float64) profile.RampPoint {
	t.Helper()
	for _, r := range p.Ramp {
		if r.Source == source && r.IntensityPercent == percent {
			return r
		}
	}
	t.Fatalf("%s: no level of %s at %v", p.Workload, source, percent)
	return profile.RampPoint{}
}

func TestETHUnderKernels(t *testing.T) {
	t.Parallel()
	r := synthetic(t, "eth-ibench-parsec-memcached")
	p := workload(t, r, "Bruol/toy-suite/alpha/ibench")
	wantSpeed(t, p, "gcp/e2-standard-2", 0.1, 0.1, 0.1, "runs/s", 3)
	if got := ratioAt(t, p, interference.Integer, 100); *got.WorkloadRatio != 0.5 || got.Pairs != 3 || got.Placement != "same" || got.WorkloadLow != nil {
		t.Errorf("int: %+v", got)
	}
	if got := ratioAt(t, p, interference.LLCCapacity, 100); *got.WorkloadRatio != 0.8 || got.Placement != "beside" {
		t.Errorf("llc: %+v", got)
	}
	for source, want := range map[interference.Source]struct {
		score, low, high interference.Score
		note             string
	}{
		interference.Integer:         {interference.Unknown, interference.Percent(0), interference.Percent(100), "below 100"},
		interference.L1Instruction:   {interference.Percent(100), interference.Percent(100), interference.Percent(100), "never broken"},
		interference.L1Data:          {interference.Unknown, interference.Unknown, interference.Unknown, "KiB for bytes"},
		interference.MemoryBandwidth: {interference.Unknown, interference.Unknown, interference.Unknown, "one thread"},
	} {
		e := p.Sensitivity.Tolerated[source]
		if e.Score != want.score || e.Low != want.low || e.High != want.high || !strings.Contains(e.Note, want.note) {
			t.Errorf("%s: %+v", source, e)
		}
	}
}

// One run each: a gross loss is one, anything else is not told from noise; and a
// machine nobody named is nobody else's.
func TestETHSingleRuns(t *testing.T) {
	t.Parallel()
	p := workload(t, synthetic(t, "eth-ibench-parsec-memcached"), "jenny011/toy-suite/alpha/ibench")
	if e := p.Sensitivity.Tolerated[interference.L2Capacity]; e.Score.Known() || e.High != interference.Percent(100) {
		t.Errorf("half the speed: %+v", e)
	}
	wantSpeed(t, p, "gcp/not-stated/jenny011/part2a", 0.25, 0, 0.5, "runs/s", 1)
}

func TestETHThreads(t *testing.T) {
	t.Parallel()
	p := workload(t, synthetic(t, "eth-ibench-parsec-memcached"), "alpha/threads")
	if len(p.ScaleUp) != 3 || p.ScaleUp[0].Cores != 1 || p.ScaleUp[0].Speed.Value != 0.01 || p.ScaleUp[0].Speed.Windows != 2 || p.ScaleUp[2].Cores != 8 {
		t.Errorf("%+v", p.ScaleUp)
	}
	wantSpeed(t, p, "gcp/e2-standard-8", 0.05, 0, 0.1, "runs/s", 1)
}

func TestETHMemcached(t *testing.T) {
	t.Parallel()
	p := workload(t, synthetic(t, "eth-ibench-parsec-memcached"), "Bruol/memcached")
	wantSpeed(t, p, "gcp/e2-highcpu-2", 25000, 25000, 25000, "requests/s", 2)
	if p.Target.Kind != performance.QPS || p.Target.QPS != 25000 || p.Target.Latency == nil || p.Target.Latency.Percentile != 95 {
		t.Errorf("target %+v", p.Target)
	}
	// 10,000 at 500 µs and 11,000 at 1,500 µs cross 1 ms at 10,500.
	if got := *ratioAt(t, p, interference.LLCCapacity, 100).WorkloadRatio; got < 0.4198 || got > 0.42 {
		t.Errorf("llc: %v", got)
	}
	if e := p.Sensitivity.Tolerated[interference.Integer]; e.Score.Known() || !strings.Contains(e.Note, "at most 20.0 %") || e.High != interference.Percent(100) {
		t.Errorf("capacity below the lowest load: %+v", e)
	}
	if _, ok := p.Sensitivity.Tolerated[interference.MemoryBandwidth]; ok || len(p.Ramp) != 1 {
		t.Errorf("a capacity that is only bounded became a number: %+v", p.Ramp)
	}
}

func TestGavel(t *testing.T) {
	t.Parallel()
	r := synthetic(t, "gavel-gpu-colocation")
	p := workload(t, r, "Toy (batch size 16)/gpus-1")
	wantSpeed(t, p, "gpu/k80", 4, 0, 8, "steps/s", 1)
	wantSpeed(t, p, "gpu/v100/spread", 10, 0, 20, "steps/s", 1)
	if len(r.Pairs) != 2 {
		t.Fatalf("%d pairs", len(r.Pairs))
	}
	if a, b := r.Pairs[0].A, r.Pairs[0].B; a.Application != "Game x1" || a.Ratio != 0.75 || b.Ratio != 0.75 {
		t.Errorf("with itself: %+v", r.Pairs[0])
	}
	if a, b := r.Pairs[1].A, r.Pairs[1].B; a.Application != "Game x1" || a.Ratio != 0.5 || b.Ratio != 0.75 || b.Key != p.Key {
		t.Errorf("two: %+v", r.Pairs[1])
	}
}

func TestIaaS(t *testing.T) {
	t.Parallel()
	r := synthetic(t, "iaas-vm-contention")
	p := workload(t, r, "/iperf")
	wantSpeed(t, p, "aws/m5d", 1e9, 1e9, 1e9, "bytes/s", 3)
	first := ratioAt(t, p, interference.NetworkBandwidth, 2.12766) // 1 of 47 neighbours
	if *first.WorkloadRatio != 0.5 || first.Pairs != 3 {
		t.Errorf("%+v", first)
	}
	// All machines of a repetition are one run, not 48.
	if last := ratioAt(t, p, interference.NetworkBandwidth, 100); *last.WorkloadRatio != 0.1 || last.Pairs != 1 {
		t.Errorf("%+v", last)
	}
	if p.Sensitivity.Tolerated[interference.NetworkBandwidth].Score.Known() {
		t.Error("neighbours became percent")
	}
	p = workload(t, r, "/pgbench")
	wantSpeed(t, p, "aws/c3", 1050, 1000, 1100, "transactions/s", 2)
	wantSpeed(t, p, "aws/m5d", 2000, 2000, 2000, "transactions/s", 3)
	if len(p.Ramp) > 0 || len(workload(t, r, "/ycruncher").Ramp) > 0 {
		t.Error("neighbours on several resources became levels of one source")
	}
}

func TestLumos(t *testing.T) {
	t.Parallel()
	p := workload(t, synthetic(t, "lumos-cloud-perf"), "spark/toysort/small")
	// Six runs of 10 to 60 s: the median of their speeds, with a true interval.
	wantSpeed(t, p, "alibaba/c6.large", 0.0291667, 0.0166667, 0.1, "runs/s", 6)
	wantSpeed(t, p, "huawei/s6.large.2", 0.025, 0, 0.05, "runs/s", 1)
	if p.Machine.Configuration != "alibaba/c6.large" {
		t.Errorf("machine %+v", p.Machine)
	}
}

func TestNTUA(t *testing.T) {
	t.Parallel()
	r := synthetic(t, "ntua-nginx-ibench-pcm")
	p := workload(t, r, "Toy/nginx/replicas-1")
	one := ratioAt(t, p, interference.Integer, 25)
	if *one.WorkloadRatio != 0.5 || one.Pairs != 6 || one.WorkloadLow == nil {
		t.Errorf("%+v", one)
	}
	if four := ratioAt(t, p, interference.LLCCapacity, 100); *four.WorkloadRatio != 0.25 {
		t.Errorf("%+v", four)
	}
	if len(r.Profiles) != 1 || len(p.Isolated) != 0 {
		t.Errorf("%d profiles, alone %v", len(r.Profiles), p.Isolated)
	}
}

func TestSPEC(t *testing.T) {
	t.Parallel()
	r := synthetic(t, "spec-llc-sensitivity")
	p := workload(t, r, "900.toy/prefetch-on")
	wantSpeed(t, p, "skylake-sp/llc-20-MB/prefetch-on", 1, 0, 2, "instructions/cycle", 1)
	// Half the cache costs nothing, three quarters cost 20 %: 95 % is kept a
	// quarter of the way from 50 to 75.
	if e := p.Sensitivity.Tolerated[interference.LLCCapacity]; e.Score != interference.Percent(56.25) || e.Low != interference.Percent(50) || e.High != interference.Percent(75) {
		t.Errorf("%+v", e)
	}
	off := workload(t, r, "900.toy/prefetch-off").Sensitivity.Tolerated[interference.LLCCapacity]
	if off.Score != interference.Percent(75) || off.High != interference.Percent(100) || !strings.HasPrefix(off.Note, "at least") {
		t.Errorf("never crossed: %+v", off)
	}
}
