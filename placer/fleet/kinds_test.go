package fleet

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/pairs"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func calibrationOf(id string, intPeak, vectorPeak float64) profiler.Calibrated {
	return profiler.Calibrated{Format: profiler.RequestFormat, ID: id, Taken: time.Unix(1, 0), Kernels: []profiler.CalibratedKernel{
		{Source: interference.Integer, Status: "supported", PeakOpsPerSec: intPeak, Unit: "operations"},
		{Source: interference.Vector, Status: "supported", PeakOpsPerSec: vectorPeak, Unit: "operations"},
		{Source: interference.LLCCapacity, Status: "unsupported", Reason: "no cache"},
	}}
}

// Nodes are compared within their configuration, the widest apart first; what was not measured is not.
func TestCompare(t *testing.T) {
	t.Parallel()
	report := &Report{}
	for _, n := range []struct {
		node, configuration string
		of                  *profiler.Calibrated
	}{
		{"alpha", "fast", new(profiler.Calibrated)}, {"beta", "fast", new(profiler.Calibrated)}, {"gamma", "fast", new(profiler.Calibrated)},
		{"delta", "slow", new(profiler.Calibrated)}, {"lost", "fast", nil},
	} {
		o := Outcome{Unit: n.node, Node: n.node, Configuration: n.configuration, State: LeftOut}
		if n.of != nil {
			*n.of = calibrationOf("x", map[string]float64{"alpha": 100, "beta": 104, "gamma": 102, "delta": 1}[n.node], map[string]float64{"alpha": 50, "beta": 40, "gamma": 0, "delta": 1}[n.node])
			o.State, o.Kept = Measured, &Kept{Result: asJSON(t, n.of)}
		}
		report.Outcomes = append(report.Outcomes, o)
	}
	nodes, apart, err := Compare(report)
	if err != nil || len(nodes) != 4 || len(apart) != 2 {
		t.Fatalf("%+v, %+v, %v", nodes, apart, err)
	}
	if s := apart[0]; s.Source != interference.Vector || s.Nodes != 2 || s.LowNode != "beta" || s.HighNode != "alpha" || math.Abs(s.ApartPercent-22.2) > 1e-9 {
		t.Errorf("%+v", s)
	}
	if s := apart[1]; s.Source != interference.Integer || s.Nodes != 3 || s.ApartPercent != 3.9 {
		t.Errorf("%+v", s)
	}
	report.Outcomes[0].Kept.Result = []byte("{}")
	if _, _, err := Compare(report); err == nil {
		t.Error("no calibration is compared")
	}
}

func TestCalibrationUnits(t *testing.T) {
	t.Parallel()
	n := &cluster.Node{ID: "n1", Name: "alpha", Attributes: cluster.NewAttributes(map[string]string{nomadapi.DriverCalibration: "c1"})}
	u := Calibrations(nil, []*cluster.Node{n}, 0)[0]
	if u.Node != "n1" || u.Seconds != calibrateSeconds {
		t.Errorf("%+v", u)
	}
	good := asJSON(t, calibrationOf("c1", 1, 1))
	if u.Check(n, good) != nil || u.Check(n, []byte("{}")) == nil || u.Check(n, []byte("{")) == nil {
		t.Error("the check")
	}
	if u.Outdated(n, good) || !u.Outdated(n, asJSON(t, calibrationOf("c2", 1, 1))) {
		t.Error("a node that was set up anew has lost its calibration")
	}
	again := Calibrations(nil, []*cluster.Node{n}, 30)[0]
	a, _, errA := u.key(Choice{})
	b, _, errB := again.key(Choice{})
	if a == b || !strings.HasPrefix(a, "calibrate-") || errA != nil || errB != nil {
		t.Errorf("keys %s and %s", a, b)
	}
}

func workload(job string) Workload {
	return Workload{
		Job: map[string]any{"ID": job, "TaskGroups": []any{map[string]any{"Name": "g", "Count": 1}, map[string]any{"Name": "other"}}},
		Workload: cluster.Workload{
			ID: cluster.WorkloadID{Namespace: "default", Job: job, Group: "g"}, ProfileKey: "key-" + job,
			Spec: performance.Spec{SlowdownMaxPercent: 5, Target: performance.Target{Kind: performance.Rate, Rate: 1}},
		},
	}
}

func TestProfileUnits(t *testing.T) {
	t.Parallel()
	sources := []interference.Source{interference.Integer, interference.LLCCapacity}
	u := Profiles(nil, []Workload{workload("web")}, sources, 10)[0]
	n := &cluster.Node{ID: "n1", Name: "alpha", Configuration: "fast", Attributes: cluster.NewAttributes(map[string]string{"driver.ibench.soi.int": "supported", "driver.ibench.soi.llc_cap": "unsupported"})}
	if got := offered(n, sources); len(got) != 1 || got[0] != interference.Integer {
		t.Errorf("offered %v", got)
	}
	good := func() profile.Profile {
		return profile.Profile{
			Format: profile.Format, Key: "key-web", Workload: "default/web/g", Taken: time.Unix(1_800_000_000, 0), SlowdownMax: 5, Complete: true,
			Machine: profile.Machine{NodeID: "n1", NodeName: "alpha", Configuration: "fast"},
		}
	}
	if err := u.Check(n, asJSON(t, good())); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		change func(*profile.Profile)
		want   string
	}{
		"of another workload": {func(p *profile.Profile) { p.Key = "x" }, "another workload"},
		"of another node":     {func(p *profile.Profile) { p.Machine.NodeID = "n2" }, `node "n2"`},
		"of another release":  {func(p *profile.Profile) { p.Format = 99 }, "one release"},
		"cut short":           {func(p *profile.Profile) { p.Complete, p.Warnings = false, []string{"the workload ended"} }, "not complete: the workload ended"},
	} {
		bad := good()
		c.change(&bad)
		if err := u.Check(n, asJSON(t, bad)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	rows, err := Rows(&Report{Outcomes: []Outcome{{Unit: "web/g", Kept: &Kept{Result: asJSON(t, good()), Calibration: "c1", Receipt: profiler.Receipt{Build: "b1"}}}, {}}})
	if err != nil || len(rows) != 1 || rows[0].Machine.NodeID != "" || rows[0].Provenance.Calibration != "c1" {
		t.Errorf("%+v, %v", rows, err)
	}
}

// What a unit says is what its result depends on, and no more.
func TestKeysOfWorkloads(t *testing.T) {
	t.Parallel()
	key := func(w Workload, seconds int) string {
		k, _, err := Profiles(nil, []Workload{w}, nil, seconds)[0].key(Choice{})
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	same, changed, other := workload("web"), workload("web"), workload("web")
	changed.Job["TaskGroups"] = []any{map[string]any{"Name": "g", "Count": 2}}
	other.Job["Priority"] = 70
	if key(same, 10) != key(workload("web"), 10) || key(other, 10) != key(same, 10) {
		t.Error("the same is another")
	}
	for name, k := range map[string]string{"its group": key(changed, 10), "the time": key(same, 20), "the job": key(workload("db"), 10)} {
		if k == key(same, 10) {
			t.Errorf("%s does not count", name)
		}
	}
}

func TestPairUnits(t *testing.T) {
	t.Parallel()
	placements := []string{pairs.Same, pairs.Beside}
	units := Pairings(nil, []Workload{workload("a"), workload("b"), workload("c")}, placements, 6)
	if len(units) != 3 || units[2].Name != "b/g + c/g" {
		t.Fatalf("%d units", len(units))
	}
	u := units[0]
	n := &cluster.Node{Name: "alpha", Configuration: "fast", Attributes: cluster.NewAttributes(map[string]string{nomadapi.DriverCPUs: "3"})}
	for list, want := range map[string]string{"3": "needs two", "": "not a list", "3-x": "not a list", "5-3": "not a list"} {
		n.Attributes = n.Attributes.With(nomadapi.DriverCPUs, list)
		if _, err := u.Job(nomadapi.Measuring{Node: *n}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("CPUs %q: %v", list, err)
		}
	}
	if cpus, err := firstCPUs("3-4,8"); err != nil || len(cpus) != 2 || cpus[0] != 3 || cpus[1] != 4 {
		t.Errorf("%v, %v", cpus, err)
	}
	line := func(placement, keyB, configuration string) string {
		side := func(key string) profile.PairSide {
			speed := profile.Measurement{Value: 1, Low: 1, High: 1, Unit: "lines"}
			return profile.PairSide{Key: key, Application: "default/" + key + "/g", CPUs: []int{0}, Isolated: speed, Together: speed, Ratio: 0.5, Low: 0.4, High: 0.6}
		}
		return string(asJSON(t, profile.Pair{
			Format: profile.PairFormat, Placement: placement, Taken: time.Unix(1, 0), Pairs: 6,
			Machine: profile.Machine{CPUModel: "m", Configuration: configuration}, A: side("key-a"), B: side(keyB),
		})) + "\n"
	}
	good := line(pairs.Same, "key-b", "fast") + line(pairs.Beside, "key-b", "fast")
	if err := u.Check(n, []byte(good)); err != nil {
		t.Error(err)
	}
	for want, result := range map[string]string{
		"1 placements":      line(pairs.Same, "key-b", "fast"),
		"another pair":      line(pairs.Same, "key-x", "fast") + line(pairs.Beside, "key-b", "fast"),
		`configuration "s"`: line(pairs.Same, "key-b", "s") + line(pairs.Beside, "key-b", "fast"),
		"line 1":            "{\n",
	} {
		if err := u.Check(n, []byte(result)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	all, err := Pairs(&Report{Outcomes: []Outcome{{Kept: &Kept{Result: []byte(good)}}, {}}})
	if err != nil || len(all) != 2 {
		t.Errorf("%d pairs, %v", len(all), err)
	}
}
