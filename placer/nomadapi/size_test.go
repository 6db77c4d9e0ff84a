package nomadapi

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/nomadtest"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// sizedTestJob is a held job whose group front has one main task, as Nomad stores
// it: with every field of its resources.
func sizedTestJob(t *testing.T, change ...func(front object)) object {
	t.Helper()
	job := rawJob(t)
	front := job.objects("TaskGroups")[0]
	delete(front, "Scaling")
	for _, task := range front.objects("Tasks") {
		r := task.object("Resources")
		r["Cores"], r["MemoryMaxMB"] = json.Number("0"), json.Number("0")
	}
	for _, c := range change {
		c(front)
	}
	return job
}

// sizedPlan gives front three allocations, and its task two cores and 512 MB.
func sizedPlan() cluster.Plan {
	p := testPlan()
	d := &p.Decisions[0]
	d.Count = 3
	d.Sizing = &cluster.Sizing{
		Chosen: true, Task: "nginx", CountWas: 2, OwnWas: cluster.Resources{CPUMHz: 400, MemoryMB: 128},
		Own: cluster.Resources{Cores: 2, MemoryMB: 512},
	}
	return p
}

func nginxOf(job object) object {
	return findTask(job.objects("TaskGroups")[0], "nginx").object("Resources")
}

func TestRewriteSizes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		front func(front object)
		plan  func(p *cluster.Plan)
	}{
		"sized": {func(object) {}, func(*cluster.Plan) {}},
		"sized-mhz": {func(object) {}, func(p *cluster.Plan) {
			p.Decisions[0].Sizing.Own = cluster.Resources{CPUMHz: 5000, MemoryMB: 128}
		}},
		"sized-count-alone": {func(object) {}, func(p *cluster.Plan) { p.Decisions[0].Sizing.Own = p.Decisions[0].Sizing.OwnWas }},
		"sized-memory-max": {func(front object) {
			findTask(front, "nginx").object("Resources")["MemoryMaxMB"] = json.Number("300")
		}, func(*cluster.Plan) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job, p := sizedTestJob(t, c.front), sizedPlan()
			c.plan(&p)
			out, err := Rewrite(job, p, "placer")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name, out)
			stripped := object(Strip(out))
			stripped["NodePool"] = job["NodePool"]
			if !sameContent(job, stripped) {
				t.Errorf("Strip does not give back what the user wrote:\n%s\n%s", canonical(map[string]any(job)), canonical(map[string]any(stripped)))
			}
			// As Nomad answers it, numbers are texts of numbers again.
			var stored object
			if err := decodeNumbers(strings.NewReader(string(canonical(out))), &stored); err != nil {
				t.Fatal(err)
			}
			stored["NodePool"] = "placer" // sent to the gate again as it was inspected
			again, err := Rewrite(stored, p, "placer")
			if err != nil {
				t.Fatal(err)
			}
			if !sameContent(out, again) {
				t.Errorf("rewriting twice differs from rewriting once:\n%s\n%s", canonical(out), canonical(again))
			}
		})
	}
}

// A job that runs keeps the size it has, whoever gave it.
func TestRewriteLeavesARunningSizeAlone(t *testing.T) {
	t.Parallel()
	placed, err := Rewrite(sizedTestJob(t), sizedPlan(), "placer")
	if err != nil {
		t.Fatal(err)
	}
	front := object(placed).objects("TaskGroups")[0]
	front["Count"] = 7 // by nomad job scale
	p := sizedPlan()
	p.Decisions[0].Count, p.Decisions[0].Sizing.Own.Cores = 1, 8
	out, err := Rewrite(placed, p, "placer")
	if err != nil {
		t.Fatal(err)
	}
	after := object(out).objects("TaskGroups")[0]
	if after.number("Count") != 7 || nginxOf(out).number("Cores") != 2 {
		t.Errorf("count %v, %v", after["Count"], nginxOf(out))
	}
	if _, _, marked := sizeMarkOf(after); !marked {
		t.Error("the mark is lost: strip could not give the size back")
	}
	nodes, bound := ShortlistOf(after)
	if !bound || len(nodes) != 3 || nodes[0] != "n1" {
		t.Errorf("shortlist %v", nodes)
	}
}

// What others changed since is theirs: strip does not touch it.
func TestStripKeepsWhatOthersChanged(t *testing.T) {
	t.Parallel()
	placed := func() object {
		out, err := Rewrite(sizedTestJob(t), sizedPlan(), "placer")
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	scaled := placed()
	scaled.objects("TaskGroups")[0]["Count"] = 5
	out := object(Strip(scaled))
	if n := out.objects("TaskGroups")[0].number("Count"); n != 5 || nginxOf(out).number("Cores") != 0 || nginxOf(out).number("CPU") != 400 {
		t.Errorf("count %d, %v", n, nginxOf(out))
	}
	resized := placed()
	nginxOf(resized)["MemoryMB"] = 2048
	out = Strip(resized)
	if r := nginxOf(out); r.number("MemoryMB") != 2048 || r.number("Cores") != 2 || out.objects("TaskGroups")[0].number("Count") != 2 {
		t.Errorf("%v, count %v", r, out.objects("TaskGroups")[0]["Count"])
	}
	released := object(Release(placed(), "placer", "prod"))
	if n := released.objects("TaskGroups")[0].number("Count"); n != 2 {
		t.Errorf("released with count %d", n)
	}
}

// A size given here is no other workload: its profile stays its own.
func TestTheProfileKeyIsThatOfTheUsersSize(t *testing.T) {
	t.Parallel()
	job := sizedTestJob(t)
	placed, err := Rewrite(job, sizedPlan(), "placer")
	if err != nil {
		t.Fatal(err)
	}
	key := func(job object) string {
		return KeyRules{}.profileKey("default", asSubmitted(job.objects("TaskGroups")[0]), performance.Rate)
	}
	if a, b := key(job), key(placed); a != b {
		t.Errorf("%s before, %s after", a, b)
	}
}

func TestSizable(t *testing.T) {
	t.Parallel()
	front := sizedTestJob(t).objects("TaskGroups")[0]
	s := sizableOf(front, performance.Spec{})
	if s.Task != "nginx" || s.Own != (cluster.Resources{CPUMHz: 400, MemoryMB: 128}) || s.SizeFixed != "" || s.CountFixed != "" {
		t.Fatalf("%+v", s)
	}
	// The same size gives the same ask; a larger one counts in its own phase only.
	if got, want := s.Group(s.Own), askOf(front); got != want {
		t.Errorf("as it is %+v, want %+v", got, want)
	}
	if got, want := s.Group(cluster.Resources{Cores: 2, MemoryMB: 512}), (cluster.Resources{CPUMHz: 500, Cores: 2, MemoryMB: 528, DiskMB: 300}); got != want {
		t.Errorf("larger %+v, want %+v", got, want)
	}
	for name, c := range map[string]struct {
		change func(front object)
		spec   performance.Spec
		holds  func(s cluster.Sizable) bool
	}{
		"an autoscaler": {func(g object) { g["Scaling"] = map[string]any{"Min": 1, "Max": 9} }, performance.Spec{},
			func(s cluster.Sizable) bool { return s.CountFixed != "" }},
		"a scaling block switched off": {func(g object) { g["Scaling"] = map[string]any{"Min": 1, "Max": 9, "Enabled": false} }, performance.Spec{},
			func(s cluster.Sizable) bool { return s.CountFixed == "" && s.CountMin == 1 && s.CountMax == 9 }},
		"a task's autoscaler": {func(g object) {
			findTask(g, "nginx")["ScalingPolicies"] = []any{map[string]any{"Type": "vertical_cpu"}}
		}, performance.Spec{},
			func(s cluster.Sizable) bool { return s.SizeFixed != "" }},
		"two main tasks": {func(g object) { delete(findTask(g, "logs"), "Lifecycle") }, performance.Spec{},
			func(s cluster.Sizable) bool { return s.Task == "" && strings.Contains(s.SizeFixed, "2 main tasks") }},
		"the probe's of two main tasks": {func(g object) { delete(findTask(g, "logs"), "Lifecycle") }, performance.Spec{Probe: &performance.ProbeSpec{Task: "logs"}},
			func(s cluster.Sizable) bool { return s.Task == "logs" && s.Others.CPUMHz == 400 }},
	} {
		group := sizedTestJob(t, c.change).objects("TaskGroups")[0]
		if s := sizableOf(group, c.spec); !c.holds(s) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// A profiled copy gets the size of its run; what is not set is as the job says.
func TestLabJobSizes(t *testing.T) {
	t.Parallel()
	r := labRequestForTest()
	r.Workload.Sizable.Task, r.Size = "nginx", cluster.Resources{Cores: 3, MemoryMB: 256}
	out, err := labJob(sizedTestJob(t), r, DefaultOwner)
	if err != nil {
		t.Fatal(err)
	}
	if got := nginxOf(out); got.number("Cores") != 3 || got.number("CPU") != 0 || got.number("MemoryMB") != 256 {
		t.Errorf("%v", got)
	}
	r.Size = cluster.Resources{}
	if out, err = labJob(sizedTestJob(t), r, DefaultOwner); err != nil {
		t.Fatal(err)
	}
	if got := nginxOf(out); got.number("Cores") != 0 || got.number("CPU") != 400 || got.number("MemoryMB") != 128 {
		t.Errorf("%v", got)
	}
}

// The most that the sized task was seen to use is kept; others do not count, and
// nobody looks where no memory may be chosen.
func TestMemoryIsWatched(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	usage := func(mb int) nomadtest.Object {
		return nomadtest.Object{"ResourceUsage": nomadtest.Object{"MemoryStats": nomadtest.Object{"RSS": mb << 20}}}
	}
	r := cluster.ProfileRequest{Workload: cluster.Workload{Sizable: cluster.Sizable{Task: "main"}}}
	watch := func(l *labRun, mb int) {
		server.Stats = nomadtest.Object{"Tasks": nomadtest.Object{"main": usage(mb), "other": usage(5000)}}
		l.memoryRead = time.Time{}
		l.watchMemory(ctx, "some-allocation")
	}
	unasked := &labRun{w: w, request: r}
	watch(unasked, 10)
	r.Workload.Spec.Scale.MemoryMB = []int{64, 128}
	asked := &labRun{w: w, request: r}
	for _, mb := range []int{30, 70, 50} {
		watch(asked, mb)
	}
	if asked.memoryPeakMB != 70 || unasked.memoryPeakMB != 0 {
		t.Errorf("%v MB where memory may be chosen, %v where not", asked.memoryPeakMB, unasked.memoryPeakMB)
	}
}

func TestMemoryUsed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		m    taskMemory
		want uint64
	}{
		{taskMemory{RSS: 10, Cache: 100, Usage: 110, Swap: 1}, 11},
		{taskMemory{Cache: 100, Usage: 110}, 10}, // a driver that does not tell RSS
		{taskMemory{Cache: 120, Usage: 110}, 0},
		{taskMemory{}, 0},
	} {
		if got := c.m.used(); got != c.want {
			t.Errorf("%+v uses %d, want %d", c.m, got, c.want)
		}
	}
}
