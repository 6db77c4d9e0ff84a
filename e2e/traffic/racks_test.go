//go:build e2e

package traffic

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/rig"
	placer "github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	captured "github.com/nomad-placer/nomad-placer/placer/traffic"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/store/nomadvars"
	"github.com/nomad-placer/nomad-placer/profiler/workload/network"
	"github.com/nomad-placer/nomad-placer/profiler/workload/network/capture/capturetest"
)

const (
	basePort  = 21200
	binDir    = "../../bin"
	port      = 8080 // in every network namespace
	jobMHz    = 1500 // so that a node has room for one job
	startsIn  = 2 * time.Minute
	spanShort = 20 * time.Second // of a model
	measured  = 6 * time.Second  // of each arm with the placer: sixty answers to each web server; a bin is a second
	generator = "generator"      // whose namespaces play a model
)

// span is what a model is fitted to, and what it then generates.
var span = flag.Duration("span", spanShort, "how long what stock Nomad's placement exchanges is captured, and then generated; an hour is 1h")

// nodes are two racks. The caches run on n1 and n3; of the others, for the first job that comes,
// stock Nomad prefers n4, which is the smaller one, and the least loaded is n2. The second job has
// the other one.
var nodes = []struct {
	name, rack string
	mhz        int
}{{"n1", "r1", 2000}, {"n2", "r1", 2900}, {"n3", "r2", 2300}, {"n4", "r2", 2600}}

// pairs are groups that exchange much: which web server asks which cache, and on which node
// the cache is.
var pairs = []struct{ web, cache, node string }{{"web-a", "cache-a", "n1"}, {"web-b", "cache-b", "n3"}}

func rackOf(node string) string {
	for _, n := range nodes {
		if n.name == node {
			return n.rack
		}
	}
	return ""
}

// site is a cluster with a network namespace for every job on every node.
type site struct {
	*rig.Rig
	t         *testing.T
	spaces    *capturetest.Cluster
	self      string // the test's executable
	nsenter   string
	addresses string // file that says whose the namespaces are
	tables    string // folder that the agents read
}

func startSite(t *testing.T) *site {
	t.Helper()
	var names []string
	for _, n := range nodes {
		for _, job := range jobNames() {
			names = append(names, space(n.name, job))
		}
	}
	s := &site{t: t, spaces: capturetest.New(t, names...), tables: t.TempDir()} // before the nodes: these have mounts of their own
	var err error
	if s.self, err = os.Executable(); err != nil {
		t.Fatal(err)
	}
	if s.nsenter, err = exec.LookPath("nsenter"); err != nil {
		t.Fatal(err)
	}
	s.writeAddresses()
	var clients []cluster.Client
	for _, n := range nodes {
		clients = append(clients, cluster.Client{Name: n.name, Meta: map[string]string{placer.DefaultRackMeta: n.rack}, CPUMHz: n.mhz, MemoryMB: 2048})
	}
	config := fmt.Sprintf("exec_probes = true\nnode_metadata = true\npools {\n  hold = %q\n  run = \"default\"\n}\ntraffic {\n  tables = %q\n  near = true\n  link_mbit_per_sec = 1000\n}\n", rig.HoldPool, s.tables)
	if s.Rig, err = rig.Start(t.Context(), rig.Options{Bin: binDir, BasePort: basePort, RunID: "traffic", Clients: clients, AgentConfig: config}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func jobNames() []string {
	out := []string{generator}
	for _, p := range pairs {
		out = append(out, p.web, p.cache)
	}
	return out
}

// space is the namespace of a job on a node.
func space(node, job string) string { return node + "-" + job }

func (s *site) address(node, job string) string {
	return netip.AddrPortFrom(s.spaces.Address(space(node, job)), port).String()
}

func (s *site) writeAddresses() {
	s.t.Helper()
	text := "address,node,group\n"
	for _, n := range nodes {
		for _, job := range jobNames() {
			text += fmt.Sprintf("%s,%s/%s,default/%s/main\n", s.spaces.Address(space(n.name, job)), n.rack, n.name, job)
		}
	}
	s.addresses = filepath.Join(s.t.TempDir(), "addresses.csv")
	if err := os.WriteFile(s.addresses, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// job does something in its namespace of the node that Nomad puts it on.
func (s *site) job(id, do, argument string) *api.Job {
	mhz, megabytes := jobMHz, 32
	task := api.NewTask("main", "raw_exec").
		SetConfig("command", s.nsenter).
		SetConfig("args", []string{"--net=" + filepath.Join(s.spaces.Folder, space("${node.unique.name}", id)), s.self, do, argument}).
		Require(&api.Resources{CPU: &mhz, MemoryMB: &megabytes})
	return api.NewServiceJob(id, id, "global", 50).AddTaskGroup(api.NewTaskGroup("main", 1).AddTask(task))
}

// run registers a job and waits until it runs; it returns the node.
func (s *site) run(job *api.Job) string {
	s.t.Helper()
	if _, _, err := s.API().Jobs().Register(job, nil); err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), startsIn)
	defer cancel()
	if err := s.WaitRunning(ctx, *job.ID); err != nil {
		s.t.Fatal(err)
	}
	on, err := s.Nodes(*job.ID)
	if err != nil || len(on) != 1 {
		s.t.Fatalf("%s runs on %v (%v)", *job.ID, on, err)
	}
	return on[0]
}

// arm is one way to place the web servers, and what all exchange then.
type arm struct {
	name            string
	measured        time.Duration
	on              []string // by pair, the node of the web server
	within, between float64  // bytes per second, inside of racks and between them
	table           *network.Reading
}

// place runs the web servers as they are submitted, that of pair first before the other, and
// measures.
func (s *site) place(name, folder string, measured time.Duration, first int, submitted func(job *api.Job, cache string)) arm {
	s.t.Helper()
	a := arm{name: name, measured: measured, on: make([]string, len(pairs))}
	for _, i := range []int{first, 1 - first} {
		p := pairs[i]
		job := s.job(p.web, asks, s.address(p.node, p.cache))
		submitted(job, p.cache)
		a.on[i] = s.run(job)
	}
	a.table = s.capture(filepath.Join(folder, "arm.csv"), a.measured)
	for pair, rate := range ratesOf(a.table) {
		if rackOf(pair[0]) == rackOf(pair[1]) {
			a.within += rate
		} else {
			a.between += rate
		}
	}
	return a
}

// remove removes the web servers, and with them the records of where they were placed.
func (s *site) remove() {
	s.t.Helper()
	for _, p := range pairs {
		if err := s.Purge(s.t.Context(), p.web); err != nil {
			s.t.Fatal(err)
		}
	}
}

// capture writes a table of what the namespaces exchange from now on, for some time.
func (s *site) capture(file string, length time.Duration) *network.Reading {
	s.t.Helper()
	var out bytes.Buffer
	err := s.Placer(s.t.Context(), &out, "traffic", "capture", "-addresses", s.addresses, "-node", "rig/host", "-namespaces", s.spaces.Folder,
		"-bin", "1s", "-poll", "200ms", "-for", length.String(), "-o", file)
	if err != nil {
		s.t.Fatalf("%v: %s", err, &out)
	}
	r, err := network.ReadTraffic(s.t.Context(), file, network.ReadOptions{Bin: time.Second})
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

// ratesOf is what the nodes send each other, in bytes per second; the machine's own connections
// are no part of the cluster.
func ratesOf(r *network.Reading) map[[2]string]float64 {
	name := func(node int32) string {
		if int(node) >= len(r.Names) {
			return ""
		}
		_, last, _ := strings.Cut(r.Names[node], "/")
		return last
	}
	out := map[[2]string]float64{}
	for _, record := range r.Table.Records() {
		pair := [2]string{name(record.Source), name(record.Destination)}
		if rackOf(pair[0]) != "" && rackOf(pair[1]) != "" {
			out[pair] += float64(record.Bytes) / r.Table.Span().Captured().Seconds()
		}
	}
	return out
}

// held has a job wait for the placer, with a block of these lines.
func held(job *api.Job, lines string) {
	pool := rig.HoldPool
	job.NodePool = &pool
	job.TaskGroups[0].Meta = map[string]string{"performance": lines + "target {\n  best_effort = true\n}\nprofile {\n  skip = true\n}\n"}
}

// TestGroupsThatExchangeMuchShareARack: stock Nomad puts each web server into the rack where its
// cache is not; the placer next to it, whether the job says so or captured traffic does, whether
// a policy chooses the node or Nomad. What then crosses racks is measured.
func TestGroupsThatExchangeMuchShareARack(t *testing.T) {
	s := startSite(t)
	for _, p := range pairs {
		cache := s.job(p.cache, answers, s.address(p.node, p.cache))
		cache.Constrain(api.NewConstraint("${node.unique.name}", "=", p.node))
		s.run(cache)
	}
	stock := s.place("stock Nomad", s.tables, *span, 0, func(*api.Job, string) {})
	if stock.between < 1e6 || stock.within > 0.01*stock.between {
		t.Fatalf("stock Nomad puts the web servers on %v: %.3g bytes/s between racks, %.3g within: the test is of no use", stock.on, stock.between, stock.within)
	}
	s.remove()
	if err := s.InstallPlacer(t.Context()); err != nil {
		t.Fatal(err)
	}
	arms := []arm{stock}
	arms = append(arms, s.placed("named by the job, a policy chooses", 1, "it is placed near its peers: rack ", func(job *api.Job, cache string) {
		held(job, fmt.Sprintf("policy = \"least-loaded\"\nnear = [%q]\n", cache))
	}))
	arms = append(arms, s.placed("by captured traffic, Nomad chooses", 0, "an affinity leads it to its peers: rack ", func(job *api.Job, _ string) {
		held(job, "policy = \"nomad\"\n")
	}))
	t.Log(armTable(arms))
	s.checkMap()
	t.Run("generated", func(t *testing.T) { s.generated(t, stock.table) })
}

// placed is an arm with the placer: each web server must be in the rack of its cache, and its
// record must say why.
func (s *site) placed(name string, first int, says string, submitted func(job *api.Job, cache string)) arm {
	s.t.Helper()
	a := s.place(name, s.t.TempDir(), measured, first, submitted)
	if a.between > 0.01*a.within || a.within < 1e6 {
		s.t.Errorf("%s: %.3g bytes/s between racks, %.3g within", name, a.between, a.within)
	}
	defer s.remove()
	st, err := nomadvars.New(s.API(), nomadvars.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	for i, p := range pairs {
		d, err := journal.Book{Store: st}.Decision(s.t.Context(), placer.WorkloadID{Namespace: "default", Job: p.web, Group: "main"})
		if err != nil {
			s.t.Fatal(err)
		}
		rack, says := rackOf(p.node), says
		if i != first {
			says = "its peers: rack " // where else it has no room
		}
		if rackOf(a.on[i]) != rack || d.Near == nil || len(d.Near.Racks) != 1 || d.Near.Racks[0].Rack != rack || !strings.Contains(d.Reason, says+rack) {
			s.t.Errorf("%s: %s runs on %s, its cache in rack %s; near %+v, reason %q", name, p.web, a.on[i], rack, d.Near, d.Reason)
		}
		// What it was captured to move with stock Nomad is what it causes on the network.
		caused := d.Sensitivity.Caused[interference.NetworkBandwidth]
		if points, known := caused.Score.Percent(); !known || points <= 0 || points > 5 || caused.Origin != interference.Captured || !strings.Contains(caused.Note, "of a link of 1,000 Mbit/s") {
			s.t.Errorf("%s: on the network %s causes %+v; want some percent of the link, captured", name, p.web, caused)
		}
	}
	return a
}

func armTable(arms []arm) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\nplacement\tnodes\twithin racks, MB/s\tbetween racks, MB/s\tbetween racks, %%\n")
	for _, a := range arms {
		fmt.Fprintf(w, "%s\t%s\t%.3g\t%.3g\t%.1f\n", a.name, strings.Join(a.on, ", "), a.within/1e6, a.between/1e6, 100*a.between/(a.within+a.between))
	}
	_ = w.Flush() // into memory
	return out.String()
}

// checkMap asks the agent which jobs exchange most.
func (s *site) checkMap() {
	s.t.Helper()
	leader, err := s.World.Leader(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	var out bytes.Buffer
	if err := s.Placer(s.t.Context(), &out, "traffic", "map", "-json", "-placer-address", leader.Address); err != nil {
		s.t.Fatalf("%v: %s", err, &out)
	}
	var r captured.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		s.t.Fatalf("%v: %s", err, &out)
	}
	for _, p := range pairs {
		if !slices.ContainsFunc(r.Jobs, func(f captured.Flow) bool {
			return f.From == "default/"+p.cache && f.To == "default/"+p.web && f.Bytes > 0
		}) {
			s.t.Errorf("the map has nothing of %s to %s: %+v", p.cache, p.web, r.Jobs)
		}
	}
}
