package throttle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

const (
	disk = "254:0"
	// The allocations of the tests: their tasks are raw_exec, exec, on reserved cores, in Docker,
	// and one that is promised nothing.
	rawID      = "5f0c9d5e-1b2c-4d3e-8f90-000000000001"
	execID     = "5f0c9d5e-1b2c-4d3e-8f90-000000000002"
	coresID    = "5f0c9d5e-1b2c-4d3e-8f90-000000000003"
	dockerID   = "5f0c9d5e-1b2c-4d3e-8f90-000000000004"
	otherID    = "5f0c9d5e-1b2c-4d3e-8f90-000000000005"
	containerA = "4b1f6c0f2f8e9d3a7c5b1f6c0f2f8e9d3a7c5b1f6c0f2f8e9d3a7c5b1f6c0f2f"
	containerB = "aaaa6c0f2f8e9d3a7c5b1f6c0f2f8e9d3a7c5b1f6c0f2f8e9d3a7c5b1f6c0f2f"
)

// machine is a kernel with a keeper on it, and what that asks.
type machine struct {
	*kernel
	keeper   *Keeper
	promises map[string]*performance.DiskSpec // by job
	down     error                            // Nomad does not answer
	disk     error
	now      time.Time
	reports  map[cluster.NodeID]cluster.DiskLimits
	written  int
	log      bytes.Buffer
	limited  func(performance.DiskSpec) bool
}

func newMachine(k *kernel) *machine {
	m := &machine{kernel: k, promises: map[string]*performance.DiskSpec{}, now: time.Unix(1e9, 0), limited: func(p performance.DiskSpec) bool { return p.Limit }, reports: map[cluster.NodeID]cluster.DiskLimits{}}
	m.restart()
	return m
}

// restart begins with another agent: the one before it was killed.
func (m *machine) restart() {
	m.keeper = New(Config{
		Tree: m.tree, Disk: func() (string, error) { return disk, m.disk }, Limited: m.limited,
		Home: func(_ context.Context, id string) (Home, bool, error) {
			job := map[string]string{rawID: "raw", execID: "exec", coresID: "cores", dockerID: "docker", otherID: "other"}[id]
			return Home{Workload: workload(job), Node: "n1", NodeName: "left"}, job != "", m.down
		},
		Promise: func(_ context.Context, w cluster.WorkloadID) (*performance.DiskSpec, error) {
			return m.promises[w.Job], m.down
		},
		Report: func(_ context.Context, l cluster.DiskLimits) error {
			m.written++
			m.reports[l.Node] = l
			return nil
		},
		Now: func() time.Time { return m.now }, Log: slog.New(slog.NewTextHandler(&m.log, nil)),
	})
	m.keeper.Begin()
}

func workload(job string) cluster.WorkloadID {
	return cluster.WorkloadID{Namespace: "default", Job: job, Group: "main"}
}

func (m *machine) look() {
	m.t.Helper()
	m.now = m.now.Add(Every)
	m.keeper.Look(m.t.Context())
}

func limit(mbPerSec float64) *performance.DiskSpec {
	return &performance.DiskSpec{BandwidthMBPerSec: mbPerSec, MostPercent: 100, Limit: true}
}

// mountinfo is what a container's first process sees.
func mountinfo(allocation string) string {
	return "600 500 0:49 / / rw,relatime master:1 - overlay overlay rw,lowerdir=/a\n" +
		fmt.Sprintf("611 600 254:0 /var/lib/nomad/alloc/%s/alloc /alloc rw,relatime - ext4 /dev/vda rw\n", allocation) +
		fmt.Sprintf("612 600 254:0 /var/lib/nomad/alloc/%s/web/local /local rw,relatime - ext4 /dev/vda rw\n", allocation)
}

// second is a machine of version 2 with a task of every kind.
func second(t *testing.T) (m *machine, dirs map[string]string) {
	k := boot(t, 2)
	dirs = map[string]string{
		"raw":    k.group("nomad.slice/share.slice/"+rawID+".main.scope", 101, 102),
		"exec":   k.group("nomad.slice/share.slice/"+execID+".main.scope", 103),
		"cores":  k.group("nomad.slice/reserve.slice/"+coresID+".main.scope", 104),
		"docker": k.group("nomad.slice/share.slice/docker-"+containerA+".scope", 105),
		"other":  k.group("nomad.slice/share.slice/"+otherID+".main.scope", 106),
	}
	k.group("system.slice/docker-"+containerB+".scope", 107)
	k.group("system.slice/ssh.service", 108)
	k.file("proc/105/mountinfo", mountinfo(dockerID))
	k.file("proc/107/mountinfo", "600 500 254:0 /srv /data rw - ext4 /dev/vda rw\n")
	return newMachine(k), dirs
}

// Under version 2 every task of a workload that asks for it is bounded, in the group that it
// has; others are not; and nothing is left at the end.
func TestVersion2(t *testing.T) {
	t.Parallel()
	m, dirs := second(t)
	before := m.state()
	for _, job := range []string{"raw", "exec", "cores", "docker"} {
		m.promises[job] = limit(40)
	}
	m.promises["other"] = &performance.DiskSpec{BandwidthMBPerSec: 10}
	m.look()
	for job, dir := range dirs {
		want := "254:0 rbps=40000000 wbps=40000000 riops=max wiops=max\n"
		if job == "other" {
			want = ""
		}
		if got := m.read(dir + "/io.max"); got != want {
			t.Errorf("%s: %q", job, got)
		}
	}
	limits := m.reports["n1"].Limits
	if len(limits) != 4 || limits[0] != (cluster.DiskLimit{Workload: workload("raw"), Allocation: rawID, Node: "left", MBPerSec: 40, Tasks: 1}) {
		t.Errorf("%+v", limits)
	}
	m.keeper.End(t.Context())
	m.same(before)
	if len(m.reports["n1"].Limits) != 0 {
		t.Errorf("at the end it says %+v", m.reports["n1"])
	}
}

// first is a machine of version 1: raw_exec has its processes in the client's group of disks,
// exec and Docker in groups of their own.
func first(t *testing.T) (m *machine, own, docker, adopted string) {
	k := boot(t, 1)
	k.group("blkio/clients/left", 1, 101, 102, 106)
	for _, pid := range []int{1, 101, 102, 106} {
		k.process(pid, "/clients/left")
	}
	k.group("freezer/clients/left/nomad/"+rawID+".main", 101, 102)
	k.group("freezer/clients/left/nomad/"+otherID+".main", 106)
	k.group("freezer/clients/left/nomad/"+execID+".main", 103)
	own = k.group("blkio/clients/left/nomad/"+execID+".main", 103)
	docker = k.group("blkio/docker/"+containerA, 105)
	k.group("freezer/docker/"+containerA, 105)
	k.file("proc/105/mountinfo", mountinfo(dockerID))
	return newMachine(k), own, docker, "cgroup/blkio/clients/left/" + ownPrefix + rawID + ".main"
}

// Under version 1 a task without a group of its own gets one; what it starts later is brought
// there; and its processes are where they were in the end.
func TestVersion1(t *testing.T) {
	t.Parallel()
	m, own, docker, adopted := first(t)
	before := m.state()
	for _, job := range []string{"raw", "exec", "docker"} {
		m.promises[job] = limit(25.5)
	}
	m.look()
	for _, dir := range []string{own, docker, adopted} {
		for _, s := range sides[1] {
			if got := m.read(dir + "/" + s.file); got != "254:0 25500000\n" {
				t.Errorf("%s/%s: %q", dir, s.file, got)
			}
		}
	}
	if got := strings.Fields(m.read(adopted + "/cgroup.procs")); len(got) != 2 || got[0] != "101" || got[1] != "102" {
		t.Errorf("in the group of ours are %v", got)
	}
	if got := strings.Fields(m.read("cgroup/blkio/clients/left/cgroup.procs")); len(got) != 2 {
		t.Errorf("in the client's group are left %v", got)
	}
	// One that moved away is brought back.
	if err := m.write(m.path("cgroup/blkio/clients/left/cgroup.procs"), "102"); err != nil {
		t.Fatal(err)
	}
	m.look()
	if got := strings.Fields(m.read(adopted + "/cgroup.procs")); len(got) != 2 {
		t.Errorf("in the group of ours are %v", got)
	}
	if l := m.reports["n1"].Limits; len(l) != 3 || !l[0].OnlyDirect {
		t.Errorf("%+v", l)
	}
	m.keeper.End(t.Context())
	m.same(before)
}

// A group of ours goes with its task.
func TestTheGroupOfATaskThatEnded(t *testing.T) {
	t.Parallel()
	m, _, _, adopted := first(t)
	m.promises["raw"] = limit(10)
	m.look()
	for _, name := range []string{adopted + "/cgroup.procs"} {
		m.file(name, "")
	}
	if err := os.RemoveAll(m.path("cgroup/freezer/clients/left/nomad/" + rawID + ".main")); err != nil {
		t.Fatal(err)
	}
	m.look()
	if isDir(m.path(adopted)) {
		t.Error("it is left")
	}
	if l := m.reports["n1"].Limits; len(l) != 0 {
		t.Errorf("it says %+v", l)
	}
}

// A limit follows the promise; it is written again into the group of a task that was started
// again; and it ends with the promise.
func TestPromisesChange(t *testing.T) {
	t.Parallel()
	for version, machineOf := range map[int]func() (*machine, string){
		2: func() (*machine, string) { m, dirs := second(t); return m, dirs["exec"] },
		1: func() (*machine, string) { m, own, _, _ := first(t); return m, own },
	} {
		m, dir := machineOf()
		before := m.state()
		file := dir + "/" + sides[version][1].file
		m.promises["exec"] = limit(10)
		m.look()
		if !strings.Contains(m.read(file), "10000000") {
			t.Errorf("%d: %q", version, m.read(file))
		}
		m.promises["exec"] = limit(30)
		m.look()
		if !strings.Contains(m.read(file), "30000000") || strings.Contains(m.read(file), "10000000") {
			t.Errorf("%d: a new promise: %q", version, m.read(file))
		}
		// The task is started again, in a new group of the same name.
		clear(m.marked)
		m.group(strings.TrimPrefix(dir, "cgroup/"), 103)
		m.look()
		if !strings.Contains(m.read(file), "30000000") {
			t.Errorf("%d: started again: %q", version, m.read(file))
		}
		m.promises["exec"] = &performance.DiskSpec{BandwidthMBPerSec: 30}
		m.look()
		m.same(before)
		if len(m.reports["n1"].Limits) != 0 {
			t.Errorf("%d: %+v", version, m.reports)
		}
	}
}

// An agent that is killed leaves limits; the next one takes back what was ours, also of a job
// that asks for nothing any more, and nothing else.
func TestAKilledAgentsLimits(t *testing.T) {
	t.Parallel()
	m, dirs := second(t)
	before := m.state()
	m.promises["raw"], m.promises["docker"] = limit(40), limit(40)
	m.look()
	clear(m.promises)
	m.restart()
	m.look()
	m.same(before)

	v1, _, _, _ := first(t)
	before = v1.state()
	v1.promises["raw"], v1.promises["exec"] = limit(40), limit(40)
	v1.look()
	clear(v1.promises)
	v1.restart()
	v1.look()
	v1.same(before)

	// It was killed after the mark and before the value: the old one is still known.
	m.promises["raw"] = limit(40)
	m.look()
	dir := m.path(dirs["raw"])
	m.marked[dir] = mark{disk, []int64{50e6, 40e6}}.String()
	clear(m.promises)
	m.restart()
	m.look()
	if got := m.read(dirs["raw"] + "/io.max"); got != "" {
		t.Errorf("%q", got)
	}
}

// An agent that is told to limit nothing takes back what was left, and looks no more; while
// Nomad does not answer, it looks again.
func TestNothingIsToBeLimited(t *testing.T) {
	t.Parallel()
	m, _ := second(t)
	before := m.state()
	m.promises["raw"] = limit(40)
	m.look()
	m.limited, m.down = nil, errors.New("no leader")
	m.restart()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	waits := 0
	err := m.keeper.Run(ctx, func(time.Duration) <-chan time.Time {
		if waits++; waits == 2 {
			m.down = nil
			time.AfterFunc(50*time.Millisecond, cancel)
		}
		c := make(chan time.Time, 1)
		c <- m.now
		return c
	})
	if !errors.Is(err, context.Canceled) || waits != 2 {
		t.Errorf("%d waits, %v", waits, err)
	}
	m.same(before)
}

// What is of allocations that our Nomad does not know is another cluster's on this machine.
func TestGroupsOfAnotherCluster(t *testing.T) {
	t.Parallel()
	m, _ := second(t)
	theirs := "5f0c9d5e-1b2c-4d3e-8f90-00000000000f"
	dir := m.group("nomad.slice/share.slice/"+theirs+".main.scope", 130)
	if _, err := m.tree.limit(m.path(dir), disk, 7e6); err != nil {
		t.Fatal(err)
	}
	before := m.read(dir + "/io.max")
	m.look()
	m.keeper.End(t.Context())
	if got := m.read(dir + "/io.max"); got != before || !strings.Contains(got, "7000000") {
		t.Errorf("%q", got)
	}
}

// What somebody else has set is neither changed nor removed, and said once.
func TestLimitsOfOthers(t *testing.T) {
	t.Parallel()
	m, dirs := second(t)
	theirs := "254:0 rbps=max wbps=1000000 riops=max wiops=max\n8:0 rbps=5 wbps=max riops=max wiops=7\n"
	m.file(dirs["raw"]+"/io.max", theirs)
	m.promises["raw"], m.promises["exec"] = limit(40), limit(40)
	m.look()
	m.look()
	if got := m.read(dirs["raw"] + "/io.max"); got != theirs {
		t.Errorf("theirs is %q", got)
	}
	if n := strings.Count(m.log.String(), "the placer did not set"); n != 1 {
		t.Errorf("it is said %d times:\n%s", n, m.log.String())
	}
	if l := m.reports["n1"].Limits; len(l) != 2 || !strings.Contains(l[0].Problem, ErrForeign.Error()) || l[1].Problem != "" {
		t.Errorf("%+v", l)
	}
	// Of another disk, and of other numbers of this one, nothing is touched.
	m.file(dirs["cores"]+"/io.max", "8:0 rbps=5 wbps=max riops=max wiops=7\n254:0 rbps=max wbps=max riops=100 wiops=max\n")
	m.promises["cores"] = limit(40)
	m.look()
	want := "254:0 rbps=40000000 wbps=40000000 riops=100 wiops=max\n8:0 rbps=5 wbps=max riops=max wiops=7\n"
	for range 60 {
		m.look() // it has been said that this one is promised nothing
	}
	if got := m.read(dirs["cores"] + "/io.max"); got != want {
		t.Errorf("%q", got)
	}
	// What we set, and somebody changed since, is theirs.
	m.file(dirs["exec"]+"/io.max", theirs)
	m.keeper.End(t.Context())
	if got := m.read(dirs["exec"] + "/io.max"); got != theirs {
		t.Errorf("changed since: %q", got)
	}
	if got := m.read(dirs["cores"] + "/io.max"); got != "254:0 rbps=max wbps=max riops=100 wiops=max\n8:0 rbps=5 wbps=max riops=max wiops=7\n" {
		t.Errorf("at the end: %q", got)
	}
}

// Where nothing can be bounded that is said once, and is in the report; nothing fails.
func TestWhereNothingCanBeBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(m *machine)
		says  error
	}{
		"no controller": {func(m *machine) { m.file("cgroup/cgroup.controllers", "cpuset cpu memory pids\n") }, ErrNoController},
		"not switched on": {func(m *machine) {
			if err := os.Remove(m.path("cgroup/nomad.slice/share.slice/" + rawID + ".main.scope/io.max")); err != nil {
				t.Error(err)
			}
		}, ErrNoController},
		"no disk":   {func(m *machine) { m.disk = errors.New("/var/lib/nomad is on no block device") }, errors.New("is on no block device")},
		"no right":  {func(m *machine) { m.refuse["io.max"] = unix.EACCES }, ErrNoRight},
		"read only": {func(m *machine) { m.refuse["io.max"] = unix.EROFS }, ErrNoRight},
	} {
		m, _ := second(t)
		c.spoil(m)
		m.restart()
		before := m.state()
		m.look()
		if m.log.Len() > 0 {
			t.Errorf("%s: nobody asked, and it says\n%s", name, m.log.String())
		}
		m.now = m.now.Add(askAgain)
		m.promises["raw"] = limit(40)
		m.look()
		m.look()
		if l := m.reports["n1"].Limits; len(l) != 1 || l[0].Tasks != 0 || !strings.Contains(l[0].Problem, c.says.Error()) {
			t.Errorf("%s: %+v", name, m.reports)
		}
		if n := strings.Count(m.log.String(), "is not limited to its promise"); n != 1 {
			t.Errorf("%s: it is said %d times:\n%s", name, n, m.log.String())
		}
		m.keeper.End(t.Context())
		m.same(before)
	}
}

// While Nomad does not answer, limits stay as they are, and so does what is known of them.
func TestWithoutNomad(t *testing.T) {
	t.Parallel()
	m, dirs := second(t)
	m.promises["raw"] = limit(40)
	m.look()
	m.down = errors.New("no leader")
	m.promises["raw"] = nil
	for range 5 {
		m.look()
	}
	if !strings.Contains(m.read(dirs["raw"]+"/io.max"), "40000000") || len(m.reports["n1"].Limits) != 1 || m.written != 1 {
		t.Errorf("%q, %+v, written %d times", m.read(dirs["raw"]+"/io.max"), m.reports, m.written)
	}
	m.down = nil
	m.look()
	if m.read(dirs["raw"]+"/io.max") != "" {
		t.Error("it is left when Nomad answers")
	}
}

// A report is written when it changed, and from time to time.
func TestReportsAreWrittenSeldom(t *testing.T) {
	t.Parallel()
	m, _ := second(t)
	m.promises["raw"] = limit(40)
	for at := time.Duration(0); at < cluster.DiskLimitsStale; at += Every {
		m.look()
	}
	if m.written < 2 || m.written > 4 {
		t.Errorf("written %d times in %s", m.written, cluster.DiskLimitsStale)
	}
}

// With all, a promise is a limit whatever its author says.
func TestAllPromises(t *testing.T) {
	t.Parallel()
	m, dirs := second(t)
	m.limited = func(performance.DiskSpec) bool { return true }
	m.restart()
	m.promises["other"] = &performance.DiskSpec{BandwidthMBPerSec: 12}
	m.look()
	if got := m.read(dirs["other"] + "/io.max"); !strings.Contains(got, "wbps=12000000") {
		t.Errorf("%q", got)
	}
	if got := m.read(dirs["raw"] + "/io.max"); got != "" {
		t.Errorf("nothing is promised: %q", got)
	}
}

// A task cannot pass as another allocation's by what it mounts or makes inside of its own.
func TestContainersSayNothing(t *testing.T) {
	t.Parallel()
	m, dirs := second(t)
	m.group("nomad.slice/share.slice/docker-"+containerA+".scope/"+rawID+".main.scope", 120)
	m.file("proc/105/mountinfo", fmt.Sprintf("611 600 254:0 /var/lib/nomad/alloc/%s/web/local/%s/alloc /data rw - ext4 /dev/vda rw\n", dockerID, rawID)+mountinfo(dockerID))
	m.promises["raw"] = limit(40)
	m.look()
	if got := m.read(dirs["docker"] + "/io.max"); got != "" {
		t.Errorf("the container has %q", got)
	}
	if l := m.reports["n1"].Limits; len(l) != 1 || l[0].Tasks != 1 {
		t.Errorf("%+v", l)
	}
}

// Run begins with what was left, and ends with nothing.
func TestRun(t *testing.T) {
	t.Parallel()
	m, dirs := second(t)
	before := m.state()
	m.promises["raw"] = limit(40)
	ctx, cancel := context.WithCancel(t.Context())
	looks := 0
	err := m.keeper.Run(ctx, func(time.Duration) <-chan time.Time {
		if looks++; looks == 3 {
			if !strings.Contains(m.read(dirs["raw"]+"/io.max"), "40000000") {
				t.Error("it is not limited while it runs")
			}
			cancel()
			return nil
		}
		c := make(chan time.Time, 1)
		c <- m.now
		return c
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	m.same(before)
}
