package nomadapi

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/pairs"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

func measuringForTest() Measuring {
	return Measuring{
		ID: "fleet/dispatch-x", Namespace: "default", Deadline: time.Unix(1_800_000_000, 0),
		Node: cluster.Node{ID: "n1", Name: "alpha", Pool: "prod", Configuration: "fast", CoreMHz: 1000, Attributes: cluster.NewAttributes(map[string]string{DriverCPUs: "0-1"})},
		Free: cluster.Resources{CPUMHz: 4000, Cores: 4, MemoryMB: 2048},
	}
}

// alone checks that a job takes all that its node has left, and nobody's place.
func alone(t *testing.T, job object, m Measuring) (group, leader object) {
	t.Helper()
	groups := job.objects("TaskGroups")
	if len(groups) != 1 {
		t.Fatalf("%d groups", len(groups))
	}
	group = groups[0]
	ask := askOf(group)
	if got := ask.CPUMHz + ask.Cores*m.Node.CoreMHz; got != m.Free.CPUMHz || ask.MemoryMB != m.Free.MemoryMB {
		t.Errorf("it asks for %d MHz and %d MB of %d and %d", got, ask.MemoryMB, m.Free.CPUMHz, m.Free.MemoryMB)
	}
	if job.number("Priority") != labPriority || job.text("NodePool") != "prod" || job.text("Type") != "batch" || job.text("ID") != m.ID || job.text("Namespace") != m.Namespace {
		t.Errorf("job %v", job)
	}
	constraints := job.objects("Constraints")
	if last := constraints[len(constraints)-1]; last.text("LTarget") != nodeIDTarget || last.text("RTarget") != "n1" {
		t.Errorf("constraints %v", constraints)
	}
	leader = findTask(group, labTask)
	if !leader.boolean("Leader") || leader.text("Driver") != KernelDriver {
		t.Errorf("leader %v", leader)
	}
	return group, leader
}

func TestCalibrationJob(t *testing.T) {
	t.Parallel()
	w, _, _ := testWorld(t)
	m := measuringForTest()
	job, err := w.CalibrationJob(m, 20)
	if err != nil {
		t.Fatal(err)
	}
	_, leader := alone(t, job, m)
	if got := leader.object("Config").objects("calibrate"); len(got) != 1 || got[0].number("seconds") != 20 {
		t.Errorf("%v", leader)
	}
	m.Free.MemoryMB = 10
	if _, err := w.CalibrationJob(m, 0); !errors.Is(err, ErrNoFit) {
		t.Errorf("a full node: %v", err)
	}
}

func TestProfilingJob(t *testing.T) {
	t.Parallel()
	w, _, _ := testWorld(t)
	signer := withKey(t, w)
	m, r := measuringForTest(), labRequestForTest()
	r.Node, r.Sweep = m.Node, true
	job, err := w.ProfilingJob(m, rawJob(t), r)
	if err != nil {
		t.Fatal(err)
	}
	_, leader := alone(t, job, m)
	block := leader.object("Config").objects("profile")[0]
	var request profiler.Request
	if err := json.Unmarshal([]byte(block.text("request")), &request); err != nil {
		t.Fatal(err)
	}
	if request.Method != profiler.MethodSweep || request.NodeID != "n1" || request.Key != "key" {
		t.Errorf("%+v", request)
	}
	if n := verify(t, job, "n1", signer, w.serverTime.Now()); n != 1 {
		t.Errorf("%d requests are signed", n)
	}
}

// pairSide is a side of one task, with a port and a volume.
func pairSide(t *testing.T, name, task, port, volume string) PairSide {
	t.Helper()
	return PairSide{
		Job: objectOf(t, `{"ID": "`+name+`", "Namespace": "default", "Constraints": [{"LTarget": "${node.class}", "Operand": "=", "RTarget": "`+name+`"}], "TaskGroups": [{
			"Name": "g", "Count": 3, "EphemeralDisk": {"SizeMB": 100}, "Meta": {"performance": "x"},
			"Networks": [{"Mode": "host", "DynamicPorts": [{"Label": "`+port+`"}]}],
			"Volumes": {"`+volume+`": {"Type": "host", "ReadOnly": true}},
			"Tasks": [{"Name": "`+task+`", "Driver": "exec", "Resources": {"CPU": 500, "MemoryMB": 256}}]}]}`),
		Workload: cluster.Workload{
			ID: cluster.WorkloadID{Namespace: "default", Job: name, Group: "g"}, ProfileKey: "key-" + name,
			Spec: performance.Spec{Probe: &performance.ProbeSpec{Type: "log", Pattern: `$(\d+)`}, Profile: performance.ProfileSpec{Allow: performance.Permissions()}},
		},
	}
}

func TestPairJob(t *testing.T) {
	t.Parallel()
	w, _, _ := testWorld(t)
	m := measuringForTest()
	request := pairs.Request{Format: pairs.RequestFormat, CPUs: []int{0}, Pairs: []pairs.Choice{{Placement: pairs.Same}}}
	a, b := pairSide(t, "one", "a", "pa", "va"), pairSide(t, "two", "b", "pb", "vb")
	job, err := w.PairJob(m, [2]PairSide{a, b}, request)
	if err != nil {
		t.Fatal(err)
	}
	group, leader := alone(t, job, m)
	if len(group.objects("Tasks")) != 3 || len(group.object("Volumes")) != 2 || len(group.objects("Networks")) != 1 || len(group.objects("Networks")[0].objects("DynamicPorts")) != 2 {
		t.Errorf("%v", group)
	}
	if got := len(object(job).objects("Constraints")); got != 3 {
		t.Errorf("%d constraints", got)
	}
	text := leader.object("Config").objects("pairs")[0].text("request")
	var got pairs.Request
	if err := json.Unmarshal([]byte(text), &got); err != nil || strings.Contains(text, "$") {
		t.Fatalf("%s, %v", text, err)
	}
	if got, err = got.WithDefaults(); err != nil || got.Applications[0].Key != "key-one" || got.Applications[1].Task != "b" || got.Pairs[0].A != got.Applications[0].Application {
		t.Errorf("%+v, %v", got, err)
	}
}

// What both call the same cannot be told apart in one group.
func TestPairsThatDoNotJoin(t *testing.T) {
	t.Parallel()
	w, _, _ := testWorld(t)
	bridged := pairSide(t, "two", "b", "pb", "vb")
	object(bridged.Job).objects("TaskGroups")[0].objects("Networks")[0]["Mode"] = "bridge"
	silent := pairSide(t, "two", "b", "pb", "vb")
	silent.Workload.Spec.Probe = nil
	for want, b := range map[string]PairSide{
		`both have a task "a"`:         pairSide(t, "two", "a", "pb", "vb"),
		`both have a port "pa"`:        pairSide(t, "two", "b", "pa", "vb"),
		`both have a volume "va"`:      pairSide(t, "two", "b", "pb", "va"),
		"have different networks":      bridged,
		"can be measured, or no probe": silent,
	} {
		if _, err := w.PairJob(measuringForTest(), [2]PairSide{pairSide(t, "one", "a", "pa", "va"), b}, pairs.Request{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestMeasuringRefused(t *testing.T) {
	t.Parallel()
	w, _, _ := testWorld(t)
	node := func(more map[string]string) *cluster.Node {
		attributes := map[string]string{"driver.ibench.version": "0.1.0", DriverBuild: "b", driverAllow: "profile,calibrate"}
		for name, value := range more {
			attributes[name] = value
		}
		return &cluster.Node{Name: "alpha", Attributes: cluster.NewAttributes(attributes)}
	}
	for name, c := range map[string]struct {
		node *cluster.Node
		work string
		want string // empty: it does
	}{
		"allowed":     {node(nil), DriverCalibrate, ""},
		"not allowed": {node(nil), DriverPairs, `add "pairs" to allow`},
		"no driver":   {&cluster.Node{}, DriverCalibrate, "it has no driver ibench"},
		"old driver":  {node(map[string]string{DriverBuild: ""}), DriverCalibrate, "earlier release"},
		"signed only": {node(map[string]string{driverSigners: "s1"}), DriverProfile, "takes signed requests only"},
		"not signed":  {node(map[string]string{driverSigners: "s1"}), DriverCalibrate, ""},
	} {
		if got := w.MeasuringRefused(c.node, c.work); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
