package nomadapi

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

var update = flag.Bool("update", false, "write the golden files again")

// rawTestJob is a job as Nomad answers it, with one field no API version knows.
const rawTestJob = `{
  "ID": "web", "Name": "web", "Namespace": "default", "Type": "service", "NodePool": "placer",
  "Priority": 50, "Version": 3, "JobModifyIndex": 42, "SubmitTime": 1767225600123456789, "Stop": false,
  "FromTheFuture": {"keep": 18446744073709551615},
  "Datacenters": ["dc1"],
  "Constraints": [{"LTarget": "${attr.cpu.arch}", "Operand": "=", "RTarget": "amd64"}],
  "UI": {"Description": "the web\n", "Links": [{"Label": "Placement", "Url": "https://example.org/wiki"}]},
  "TaskGroups": [
    {"Name": "front", "Count": 2, "Meta": {"performance": "best_effort"},
     "EphemeralDisk": {"SizeMB": 300, "Sticky": true, "Migrate": true},
     "Affinities": [{"LTarget": "${node.class}", "Operand": "=", "RTarget": "big", "Weight": 50}],
     "Spreads": [{"Attribute": "${node.datacenter}", "Weight": 100}],
     "Networks": [{"Mode": "bridge", "ReservedPorts": [{"Label": "http", "Value": 8080}], "DynamicPorts": [{"Label": "metrics", "To": 9100}]}],
     "Services": [{"Name": "web", "PortLabel": "http"}],
     "Update": {"Canary": 1},
     "Scaling": {"Min": 1, "Max": 10},
     "Volumes": {"data": {"Type": "host", "Source": "data", "ReadOnly": false}},
     "Tasks": [
       {"Name": "wait", "Driver": "exec", "Lifecycle": {"Hook": "prestart", "Sidecar": false}, "Resources": {"CPU": 500, "MemoryMB": 32}},
       {"Name": "nginx", "Driver": "exec", "Leader": true, "Config": {"command": "nginx"}, "Env": {"A": "1"},
        "Resources": {"CPU": 400, "MemoryMB": 128}, "VolumeMounts": [{"Volume": "data", "Destination": "/data", "ReadOnly": false}],
        "Constraints": [{"LTarget": "${attr.kernel.name}", "RTarget": "linux"}], "KillTimeout": 60000000000},
       {"Name": "logs", "Driver": "raw_exec", "Lifecycle": {"Hook": "poststart", "Sidecar": true}, "Resources": {"CPU": 50, "MemoryMB": 16}}
     ]},
    {"Name": "cron", "Count": 1, "Tasks": [{"Name": "tick", "Driver": "exec", "Resources": {"CPU": 20, "Cores": 2, "MemoryMB": 10}}]}
  ]
}`

func rawJob(t *testing.T) object {
	t.Helper()
	var o object
	if err := decodeNumbers(strings.NewReader(rawTestJob), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func testPlan() cluster.Plan {
	return cluster.Plan{
		Job: cluster.Job{ID: cluster.JobID{Namespace: "default", ID: "web"}, RunPool: "prod", ModifyIndex: 42},
		Decisions: []cluster.Decision{{
			Workload: cluster.WorkloadID{Namespace: "default", Job: "web", Group: "front"}, Outcome: cluster.Placed, Count: 2,
			Candidates: []cluster.Candidate{{Node: "n1", Score: 1}, {Node: "n2", Score: 0.95}, {Node: "n3", Score: 0.5}},
		}},
		Page: "**target** 100 requests/s", Link: "http://placer.example/jobs/web", Message: "placed",
	}
}

func golden(t *testing.T, name string, got map[string]any) {
	t.Helper()
	b, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name+".golden.json")
	if *update {
		if err := os.WriteFile(path, append(b, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != string(b)+"\n" {
		t.Errorf("%s differs; run with -update and look at the difference. Got:\n%s", path, b)
	}
}

func TestRewriteGoldens(t *testing.T) {
	edit := func(change func(job object, p *cluster.Plan)) func(*testing.T) (object, cluster.Plan) {
		return func(t *testing.T) (object, cluster.Plan) {
			job, p := rawJob(t), testPlan()
			change(job, &p)
			return job, p
		}
	}
	front := func(job object) object { return job.objects("TaskGroups")[0] }
	for name, make := range map[string]func(*testing.T) (object, cluster.Plan){
		"placed":           edit(func(object, *cluster.Plan) {}),
		"system":           edit(func(job object, _ *cluster.Plan) { job["Type"] = "system" }),
		"large-count":      edit(func(job object, _ *cluster.Plan) { front(job)["Count"] = json.Number("101") }),
		"single-candidate": edit(func(_ object, p *cluster.Plan) { p.Decisions[0].Candidates = p.Decisions[0].Candidates[:1] }),
		"stock":            edit(func(_ object, p *cluster.Plan) { p.Decisions[0].Outcome = cluster.Stock }),
		"no-decision":      edit(func(_ object, p *cluster.Plan) { p.Decisions = nil; p.Link = "" }),
		"bypassed-pool":    edit(func(job object, _ *cluster.Plan) { job["NodePool"] = "theirs" }),
		"every-group":      edit(func(_ object, p *cluster.Plan) { bindCron(p) }),
		"stock-near-peers": edit(func(_ object, p *cluster.Plan) {
			p.Decisions[0].Outcome, p.Decisions[0].Candidates = cluster.Stock, nil
			p.Decisions[0].Near = &cluster.Nearness{Attribute: "${meta.rack}", Racks: []cluster.RackWeight{{Rack: "r1", WeightPercent: 100}, {Rack: "r2", WeightPercent: 33}}}
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job, p := make(t)
			before := canonical(map[string]any(job))
			out, err := Rewrite(job, p, "placer")
			if err != nil {
				t.Fatal(err)
			}
			if string(before) != string(canonical(map[string]any(job))) {
				t.Error("the input was changed")
			}
			golden(t, name, out)
			again, err := Rewrite(out, p, "placer")
			if err != nil {
				t.Fatal(err)
			}
			if !sameContent(out, again) {
				t.Error("rewriting twice differs from rewriting once")
			}
			stripped := object(Strip(out))
			stripped["NodePool"] = job["NodePool"]
			if !sameContent(job, stripped) {
				t.Errorf("Strip does not undo the rewrite:\n%s\n%s", canonical(map[string]any(job)), canonical(map[string]any(stripped)))
			}
		})
	}
}

// bindCron places the test job's second group as well.
func bindCron(p *cluster.Plan) {
	p.Decisions = append(p.Decisions, cluster.Decision{
		Workload: cluster.WorkloadID{Namespace: "default", Job: "web", Group: "cron"}, Outcome: cluster.Placed, Count: 1,
		Candidates: []cluster.Candidate{{Node: "n9", Score: 1}},
	})
}

// A node that a shortlist allows must pass the prefilter, and hardly any other does.
func TestThePrefilterLetsTheShortlistsPass(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	nodes := make([]cluster.NodeID, 2000)
	for i := range nodes {
		nodes[i] = cluster.NodeID(fmt.Sprintf("%08x-%04x-4000-8000-%012x", rng.Uint32(), rng.Uint32()&0xffff, rng.Uint64()&0xffff_ffff_ffff))
	}
	job, p := rawJob(t), testPlan()
	bindCron(&p)
	for i := range p.Decisions {
		p.Decisions[i].Candidates = nil
		for _, n := range nodes[i*15 : i*15+20] { // five are on both lists
			p.Decisions[i].Candidates = append(p.Decisions[i].Candidates, cluster.Candidate{Node: n, Score: 1})
		}
	}
	out, err := Rewrite(job, p, "placer")
	if err != nil {
		t.Fatal(err)
	}
	constraints := object(out).objects("Constraints")
	last := constraints[len(constraints)-1]
	if len(constraints) != 2 || last.text("Operand") != "regexp" {
		t.Fatalf("constraints %v", constraints)
	}
	pattern := regexp.MustCompile(last.text("RTarget"))
	for i, n := range nodes {
		if got := pattern.MatchString(string(n)); got != (i < 35) {
			t.Errorf("node %d of 35 listed, %s: passes %v", i, n, got)
		}
	}
}

func TestRewriteRefusesQueued(t *testing.T) {
	t.Parallel()
	p := testPlan()
	p.Decisions[0].Outcome = cluster.Queued
	if _, err := Rewrite(rawJob(t), p, "placer"); err == nil {
		t.Error("a queued workload was released")
	}
}

func TestRelease(t *testing.T) {
	t.Parallel()
	out, err := Rewrite(rawJob(t), testPlan(), "placer")
	if err != nil {
		t.Fatal(err)
	}
	out["NodePool"] = "placer"
	released := object(Release(out, "placer", "prod"))
	want := rawJob(t)
	want["NodePool"] = "prod"
	if !sameContent(want, released) {
		t.Errorf("released as %s", canonical(map[string]any(released)))
	}
}

func TestShortlistOf(t *testing.T) {
	t.Parallel()
	out, err := Rewrite(rawJob(t), testPlan(), "placer")
	if err != nil {
		t.Fatal(err)
	}
	groups := object(out).objects("TaskGroups")
	if nodes, bound := ShortlistOf(groups[0]); !bound || len(nodes) != 3 || nodes[0] != "n1" {
		t.Errorf("front: %v, %v", nodes, bound)
	}
	if nodes, bound := ShortlistOf(groups[1]); bound {
		t.Errorf("cron is bound to %v", nodes)
	}
}

// Nomad's affinity score is the matched weight over the total weight; with the
// buckets it must be in the order of the scores, 1 for the best.
func TestBucketsGiveTheOrder(t *testing.T) {
	t.Parallel()
	var candidates []cluster.Candidate
	for i := range 50 {
		candidates = append(candidates, cluster.Candidate{Node: cluster.NodeID(rune('A' + i)), Score: 0.9 - float64(i)/100})
	}
	list := buckets(candidates, 0)
	if len(list) > maxBuckets {
		t.Fatalf("%d affinities", len(list))
	}
	last := 1.0
	for i, c := range candidates {
		got := affinityScore(list, c.Node)
		if i == 0 && got != 1 || got > last {
			t.Errorf("candidate %d scores %v after %v", i, got, last)
		}
		last = got
	}
	if last != 0 {
		t.Errorf("the worst candidate scores %v", last)
	}
	if equal := buckets([]cluster.Candidate{{Node: "a", Score: 0.5}, {Node: "b", Score: 0.5}}, 0); equal != nil {
		t.Errorf("equal scores are ordered: %v", equal)
	}
}

// affinityScore is what Nomad makes of a list for one node.
func affinityScore(list []object, node cluster.NodeID) float64 {
	matched, total := 0.0, 0.0
	for _, a := range list {
		w := float64(a["Weight"].(int))
		total += w
		if regexp.MustCompile(a.text("RTarget")).MatchString(string(node)) {
			matched += w
		}
	}
	return matched / total
}

// TestTheDecidedNodeComesFirst: what Nomad's packing prefers among candidates of nearly
// the same score does not replace the decision, unless packing differs by more than
// firstWeight; replicas have no node of their own.
func TestTheDecidedNodeComesFirst(t *testing.T) {
	t.Parallel()
	near := []cluster.Candidate{{Node: "A", Score: 1}, {Node: "B", Score: 1}, {Node: "C", Score: 0.99}, {Node: "D", Score: 0}}
	for count, want := range map[int64]float64{1: float64(firstWeight) / 100, 2: 0} {
		group := object{"Name": "web", "Count": count}
		prefer(group, near, "service")
		list := group.objects("Affinities")
		first, second := affinityScore(list, "A"), affinityScore(list, "B")
		if first != 1 || math.Abs(first-second-want) > 1e-9 {
			t.Errorf("count %d: the first scores %v, the second %v, want %v apart", count, first, second, want)
		}
		if c, d := affinityScore(list, "C"), affinityScore(list, "D"); c > second || d != 0 {
			t.Errorf("count %d: the others score %v, %v and %v", count, second, c, d)
		}
	}
}

func TestJoinPage(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("€", 500)
	for name, c := range map[string]struct {
		user, page string
		want       func(string) bool
	}{
		"alone":        {"", "page", func(s string) bool { return s == pageMark+"\n\npage" }},
		"after user":   {"mine\n", "page", func(s string) bool { return s == "mine\n\n\n"+pageMark+"\n\npage" }},
		"no page":      {"mine", "", func(s string) bool { return s == "mine" }},
		"shortened":    {"mine", long, func(s string) bool { return strings.HasPrefix(s, "mine") && strings.HasSuffix(s, "€…") }},
		"no room":      {strings.Repeat("x", 950), long, func(s string) bool { return s == strings.Repeat("x", 950) }},
		"full user":    {strings.Repeat("x", 1000), "p", func(s string) bool { return s == strings.Repeat("x", 1000) }},
		"end of lines": {"", strings.Repeat(strings.Repeat("y", 99)+"\n", 20), func(s string) bool { return strings.HasSuffix(s, "\n…") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := joinPage(c.user, c.page)
			if len(got) > maxDescriptionBytes || !c.want(got) || strings.ContainsRune(got, '\uFFFD') {
				t.Errorf("%d bytes: %q", len(got), got)
			}
			job := object{"UI": map[string]any{"Description": got}}
			stripPage(job)
			if back := job.object("UI").text("Description"); back != c.user {
				t.Errorf("stripped to %q, the user wrote %q", back, c.user)
			}
		})
	}
}

func TestProfileKey(t *testing.T) {
	t.Parallel()
	key := func(change func(group object)) string {
		group := rawJob(t).objects("TaskGroups")[0]
		change(group)
		return KeyRules{}.profileKey("default", group, "qps")
	}
	tasks := func(g object) object { return g.objects("Tasks")[1] }
	base := key(func(object) {})
	for name, change := range map[string]func(object){
		"name":        func(g object) { g["Name"] = "other"; tasks(g)["Name"] = "other" },
		"count":       func(g object) { g["Count"] = 9 },
		"constraints": func(g object) { tasks(g)["Constraints"] = nil },
		"zeros":       func(g object) { tasks(g)["User"] = ""; tasks(g).object("Resources")["Cores"] = json.Number("0") },
		"build": func(g object) {
			tasks(g).object("Env")["GIT_COMMIT"] = "5ad1"
			tasks(g).object("Env")["BUILD_ID"] = "77"
		},
		"nulls": func(g object) { tasks(g)["Templates"] = nil; tasks(g)["Artifacts"] = []any{} },
	} {
		if key(change) != base {
			t.Errorf("%s changes the key", name)
		}
	}
	for name, change := range map[string]func(object){
		"command": func(g object) { tasks(g).object("Config")["command"] = "apache" },
		"env":     func(g object) { tasks(g).object("Env")["A"] = "2" },
		"size":    func(g object) { tasks(g).object("Resources")["CPU"] = json.Number("401") },
		"driver":  func(g object) { tasks(g)["Driver"] = "raw_exec" },
		"volume":  func(g object) { g.object("Volumes").object("data")["Source"] = "other" },
	} {
		if key(change) == base {
			t.Errorf("%s does not change the key", name)
		}
	}
	if (KeyRules{}).profileKey("default", rawJob(t).objects("TaskGroups")[0], "rate") == base {
		t.Error("the kind of target does not change the key")
	}
}

// Which namespaces have one key for the same content: by default each its own.
func TestProfileKeyNamesTheNamespace(t *testing.T) {
	t.Parallel()
	key := func(rules KeyRules, namespace string) string {
		group := rawJob(t).objects("TaskGroups")[1]
		group.objects("Tasks")[0]["Env"] = map[string]any{"BUILD": "7"}
		return rules.profileKey(namespace, group, "qps")
	}
	none := KeyRules{}
	if key(none, "a") == key(none, "b") || key(none, "a") == key(none, "default") {
		t.Error("namespaces share a key")
	}
	all := KeyRules{Sharing: profile.Sharing{All: true}}
	if key(all, "a") != key(all, "b") || key(all, "a") != key(none, "default") {
		t.Error("namespaces do not share a key where all do")
	}
	some := KeyRules{Sharing: profile.Sharing{Between: []string{"a", "b"}}}
	if key(some, "a") != key(some, "b") || key(some, "a") == key(some, "c") {
		t.Error("those that share have two keys, or others have theirs")
	}
	// As it was before keys named a namespace: what is stored is found.
	const before = "da450847e0a4c7fd880852255242d4f66ae7929601753f2b8a41b7613998472d"
	if got := key(none, "default"); got != before {
		t.Errorf("key %s, before it was %s", got, before)
	}
	ignoring := KeyRules{IgnoreEnv: []string{"BUILD"}}
	group := rawJob(t).objects("TaskGroups")[1]
	if key(ignoring, "default") != ignoring.profileKey("default", group, "qps") {
		t.Error("an ignored variable changes the key")
	}
}

func TestAsk(t *testing.T) {
	t.Parallel()
	groups := rawJob(t).objects("TaskGroups")
	// prestart alone asks 500 MHz, main and sidecar together 450: the larger
	// counts; memory likewise.
	if got, want := askOf(groups[0]), (cluster.Resources{CPUMHz: 500, MemoryMB: 144, DiskMB: 300}); got != want {
		t.Errorf("front asks %+v, want %+v", got, want)
	}
	if got, want := askOf(groups[1]), (cluster.Resources{Cores: 2, MemoryMB: 10}); got != want {
		t.Errorf("cron asks %+v, want %+v", got, want)
	}
}

func TestLabJobGolden(t *testing.T) {
	t.Parallel()
	user := rawJob(t)
	user["Meta"] = map[string]any{"team": "web", metaOwner: "the user's"}
	rewritten, err := Rewrite(user, testPlan(), "placer")
	if err != nil {
		t.Fatal(err)
	}
	before := canonical(rewritten)
	out, err := labJob(rewritten, labRequestForTest(), DefaultOwner)
	if err != nil {
		t.Fatal(err)
	}
	if string(before) != string(canonical(rewritten)) {
		t.Error("the user's job was changed")
	}
	golden(t, "profiling-run", out)
	config := out.objects("TaskGroups")[0].objects("Tasks")[3].object("Config").objects("profile")[0].text("request")
	if strings.Contains(config, "$") {
		t.Errorf("Nomad would interpolate %s", config)
	}
	var request profiler.Request
	if err := json.Unmarshal([]byte(config), &request); err != nil {
		t.Fatal(err)
	}
	if request.Probe.Pattern != `work=(\d+)$` || strings.Join(request.Tasks, " ") != "nginx logs" || request.Task != "nginx" {
		t.Errorf("request %+v", request)
	}
}

func labRequestForTest() cluster.ProfileRequest {
	return cluster.ProfileRequest{
		ID: "default/web/front", Seconds: 30, Deadline: time.Unix(1_800_000_000, 0), Sources: []interference.Source{interference.LLCCapacity},
		Job:  cluster.Job{ID: cluster.JobID{Namespace: "default", ID: "web"}},
		Node: cluster.Node{ID: "n1", Name: "alpha", Pool: "prod", Configuration: "fast", Kernels: true},
		Workload: cluster.Workload{
			ID: cluster.WorkloadID{Namespace: "default", Job: "web", Group: "front"}, ProfileKey: "key",
			Spec: performance.Spec{
				SlowdownMaxPercent: 5, Probe: &performance.ProbeSpec{Type: "log", Pattern: `work=(\d+)$`},
				Profile: performance.ProfileSpec{Allow: []performance.Permission{performance.AllowPrestart}},
			},
		},
	}
}

func TestLabJobID(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 200)
	for id, want := range map[string]string{"abc-1": labJobPrefix + "abc-1"} {
		if got := labJobID(id); got != want {
			t.Errorf("%q gives %q, want %q", id, got, want)
		}
	}
	if a, b := labJobID("a/b"), labJobID("a b"); a == b || strings.ContainsAny(a+b, "/ ") {
		t.Errorf("%q and %q", a, b)
	}
	if got := labJobID(long); len(got) > 100 {
		t.Errorf("%d characters", len(got))
	}
}
