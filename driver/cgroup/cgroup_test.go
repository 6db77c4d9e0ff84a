package cgroup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// fakeV1 makes a v1 machine in the hybrid layout: control files below the
// mount points, and a v2 mount without controllers.
func fakeV1(t *testing.T) (Tree, string) {
	t.Helper()
	root := t.TempDir()
	var mounts strings.Builder
	for _, c := range wanted {
		dir := filepath.Join(root, c)
		mustMkdir(t, dir)
		mounts.WriteString("30 25 0:26 / " + dir + " rw,relatime shared:9 - cgroup cgroup rw," + c + "\n")
	}
	mounts.WriteString("31 25 0:27 / " + filepath.Join(root, "unified") + " rw - cgroup2 cgroup2 rw\n")
	mustWrite(t, filepath.Join(root, "cpuset", "cpuset.cpus"), "0-3\n")
	mustWrite(t, filepath.Join(root, "cpuset", "cpuset.mems"), "0\n")
	return detect(t, mounts.String()), root
}

// fakeV2 makes a v2 machine.
func fakeV2(t *testing.T) (Tree, string) {
	t.Helper()
	root := t.TempDir()
	mustWrite(t, filepath.Join(root, "cgroup.subtree_control"), "")
	return detect(t, "31 25 0:27 / "+root+" rw - cgroup2 cgroup2 rw,nsdelegate\n"), root
}

func detect(t *testing.T, mountinfo string) Tree {
	t.Helper()
	file := filepath.Join(t.TempDir(), "mountinfo")
	mustWrite(t, file, mountinfo)
	tree, err := Detect(file)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// control makes the control files the kernel would make in a new group.
func control(t *testing.T, files ...string) {
	t.Helper()
	for _, f := range files {
		mustMkdir(t, filepath.Dir(f))
		mustWrite(t, f, "")
	}
}

func mustMkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

func mustWrite(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

func TestDetect(t *testing.T) {
	t.Parallel()
	v1, _ := fakeV1(t)
	if v1.Version() != V1 {
		t.Errorf("hybrid layout: version %d, want 1: its v2 mount has no controllers", v1.Version())
	}
	v2, _ := fakeV2(t)
	if v2.Version() != V2 {
		t.Errorf("v2 layout: version %d", v2.Version())
	}
	none := filepath.Join(t.TempDir(), "mountinfo")
	mustWrite(t, none, "20 1 8:1 / / rw - ext4 /dev/sda1 rw\nnonsense\n")
	if _, err := Detect(none); !errors.Is(err, ErrNoCgroups) {
		t.Errorf("no cgroups: %v", err)
	}
	joined := detect(t, `30 25 0:26 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
31 25 0:26 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset
32 25 0:26 / /with\040space rw - cgroup cgroup rw,memory
`)
	want := []string{"/sys/fs/cgroup/cpuset/x", "/sys/fs/cgroup/cpu,cpuacct/x", "/with space/x"}
	if got := joined.dirs("/x"); !slices.Equal(got, want) {
		t.Errorf("controllers mounted together: %q, want %q", got, want)
	}
}

func TestCreateV1(t *testing.T) {
	t.Parallel()
	tree, root := fakeV1(t)
	control(t, filepath.Join(root, "cpuset/k/cpuset.cpus"), filepath.Join(root, "cpuset/k/cpuset.mems"),
		filepath.Join(root, "cpu/k/cpu.shares"), filepath.Join(root, "memory/k/memory.limit_in_bytes"))
	for _, c := range wanted {
		control(t, filepath.Join(root, c, "k/cgroup.procs"))
	}
	g, err := tree.Create("k", Limits{CPUs: CPUs{1, 2, 3}, Weight: MaxWeight, MemoryBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Join(42); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"cpuset/k/cpuset.cpus":           "1-3",
		"cpuset/k/cpuset.mems":           "0",
		"cpu/k/cpu.shares":               "102400", // 100 times the default of 1024
		"memory/k/memory.limit_in_bytes": "1048576",
		"freezer/k/cgroup.procs":         "42",
		"cpuacct/k/cgroup.procs":         "42",
		"cpuset/k/cgroup.procs":          "42",
	} {
		if got := content(t, filepath.Join(root, file)); got != want {
			t.Errorf("%s holds %q, want %q", file, got, want)
		}
	}
	groups, err := tree.Named("k")
	if err != nil || len(groups) != 1 || groups[0].Path() != "/k" {
		t.Errorf("Named: %v, %v", groups, err)
	}
}

func TestCreateV2(t *testing.T) {
	t.Parallel()
	tree, root := fakeV2(t)
	control(t, filepath.Join(root, "k/cpuset.cpus"), filepath.Join(root, "k/cpu.weight"),
		filepath.Join(root, "k/memory.max"), filepath.Join(root, "k/cgroup.procs"))
	g, err := tree.Create("k", Limits{CPUs: CPUs{0}, Weight: DefaultWeight, MemoryBytes: 4096})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Join(42); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"k/cpuset.cpus": "0", "k/cpu.weight": "100", "k/memory.max": "4096", "k/cgroup.procs": "42",
	} {
		if got := content(t, filepath.Join(root, file)); got != want {
			t.Errorf("%s holds %q, want %q", file, got, want)
		}
	}
	if _, err := tree.Create("../out", Limits{}); err == nil {
		t.Error("a name with a slash was accepted")
	}
	if _, err := tree.Create("w", Limits{Weight: 10001}); err == nil {
		t.Error("a weight above the scale was accepted")
	}
}

// A controller that the root does not hand out is an error that names it, and
// nothing is left behind.
func TestCreateV2MissingController(t *testing.T) {
	t.Parallel()
	tree, root := fakeV2(t)
	if err := os.Remove(filepath.Join(root, "cgroup.subtree_control")); err != nil {
		t.Fatal(err)
	}
	if _, err := tree.Create("k", Limits{}); err == nil || !strings.Contains(err.Error(), "cpuset") {
		t.Errorf("error %v does not name the controller", err)
	}
	if _, err := os.Stat(filepath.Join(root, "k")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the group was left behind: %v", err)
	}
}

func TestReserved(t *testing.T) {
	t.Parallel()
	v1, root1 := fakeV1(t)
	v2, root2 := fakeV2(t)
	for _, c := range []struct {
		name   string
		tree   Tree
		prefix string
		suffix string
	}{
		{"v1", v1, filepath.Join(root1, "cpuset/nomad/reserve"), ""},
		{"v2", v2, filepath.Join(root2, "nomad.slice/reserve.slice"), ".scope"},
	} {
		for group, cpus := range map[string]string{"aaa.web": "0", "bbb.db": "2-3", "ccc.empty": ""} {
			dir := filepath.Join(c.prefix, group+c.suffix)
			mustMkdir(t, dir)
			mustWrite(t, filepath.Join(dir, "cpuset.cpus"), cpus)
		}
		got, err := c.tree.Reserved("aaa")
		if err != nil || got.String() != "2-3" {
			t.Errorf("%s: reserved for others %q, %v; want 2-3", c.name, got, err)
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	v1, root1 := fakeV1(t)
	mustMkdir(t, filepath.Join(root1, "cpuacct/g"))
	mustMkdir(t, filepath.Join(root1, "memory/g"))
	mustWrite(t, filepath.Join(root1, "cpuacct/g/cpuacct.usage"), "1500000000\n")
	mustWrite(t, filepath.Join(root1, "memory/g/memory.usage_in_bytes"), "4096\n")
	v2, root2 := fakeV2(t)
	mustMkdir(t, filepath.Join(root2, "g"))
	mustWrite(t, filepath.Join(root2, "g/cpu.stat"), "usage_usec 1500000\nuser_usec 1\n")
	mustWrite(t, filepath.Join(root2, "g/memory.current"), "4096\n")
	for _, tree := range []Tree{v1, v2} {
		got, err := tree.Open("/g").Usage()
		if err != nil || got != (Usage{1500 * time.Millisecond, 4096}) {
			t.Errorf("v%d: usage %+v, %v", tree.Version(), got, err)
		}
		if _, err := tree.Open("/gone").Usage(); err == nil {
			t.Errorf("v%d: a group that is gone has a usage", tree.Version())
		}
	}
}

func TestFreeze(t *testing.T) {
	t.Parallel()
	v1, root1 := fakeV1(t)
	control(t, filepath.Join(root1, "freezer/nomad/a.web/freezer.state"))
	v2, root2 := fakeV2(t)
	dir2 := filepath.Join(root2, "nomad.slice/a.web.scope")
	control(t, filepath.Join(dir2, "cgroup.freeze"))
	mustWrite(t, filepath.Join(dir2, "cgroup.events"), "populated 1\nfrozen 1\n")
	for _, c := range []struct {
		tree           Tree
		cgroup         string // of /proc/PID/cgroup
		file           string
		frozen, thawed string
	}{
		{v1, "6:freezer:/nomad/a.web\n4:memory:/elsewhere\n0::/\n", filepath.Join(root1, "freezer/nomad/a.web/freezer.state"), "FROZEN", "THAWED"},
		{v2, "0::/nomad.slice/a.web.scope\n", filepath.Join(dir2, "cgroup.freeze"), "1", "0"},
	} {
		proc := t.TempDir()
		mustWrite(t, filepath.Join(proc, "cgroup"), c.cgroup)
		g, err := c.tree.FreezableOf(proc)
		if err != nil {
			t.Fatalf("v%d: %v", c.tree.Version(), err)
		}
		if err := g.Freeze(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := content(t, c.file); got != c.frozen {
			t.Errorf("v%d: frozen state %q", c.tree.Version(), got)
		}
		if err := g.Thaw(); err != nil {
			t.Fatal(err)
		}
		if got := content(t, c.file); got != c.thawed {
			t.Errorf("v%d: thawed state %q", c.tree.Version(), got)
		}
	}
}

// A process in the root group shares it with the whole machine: freezing that
// must not even be possible.
func TestFreezableOfShared(t *testing.T) {
	t.Parallel()
	v1, _ := fakeV1(t)
	v2, _ := fakeV2(t)
	for _, c := range []struct {
		tree Tree
		text string
	}{
		{v1, "6:freezer:/\n"}, {v1, "6:freezer:/../outside\n"}, {v1, "4:memory:/x\n"}, {v1, "6:freezer:/not/there\n"},
		{v2, "0::/\n"}, {v2, "0::/../outside\n"}, {v2, "6:freezer:/x\n"},
	} {
		proc := t.TempDir()
		mustWrite(t, filepath.Join(proc, "cgroup"), c.text)
		if _, err := c.tree.FreezableOf(proc); !errors.Is(err, ErrShared) {
			t.Errorf("v%d %q: %v, want ErrShared", c.tree.Version(), c.text, err)
		}
	}
}

// A group that cannot be frozen is let go.
func TestFreezeLetsGo(t *testing.T) {
	t.Parallel()
	tree, root := fakeV2(t)
	dir := filepath.Join(root, "g")
	control(t, filepath.Join(dir, "cgroup.freeze"))
	mustWrite(t, filepath.Join(dir, "cgroup.events"), "populated 1\nfrozen 0\n")
	if err := tree.Open("/g").Freeze(t.Context()); !errors.Is(err, ErrNotFrozen) {
		t.Errorf("a group that never freezes: %v", err)
	}
	if state, err := os.ReadFile(filepath.Join(dir, "cgroup.freeze")); err != nil || string(state) != "0" {
		t.Errorf("it is left in state %q, %v", state, err)
	}
}

// A process that starts programs all the time is often between vfork and exec,
// where it does not freeze: on this machine's own control groups it does in the end.
func TestFreezeOfWhatStartsPrograms(t *testing.T) {
	t.Parallel()
	tree, err := Detect("/proc/self/mountinfo")
	if err != nil {
		t.Skipf("no control groups here: %v", err)
	}
	path := fmt.Sprintf("/nomad-placer-freeze-%d", os.Getpid())
	dir := tree.dir(controllerFreezer, path)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skipf("control groups cannot be made here: %v", err)
	}
	starter := exec.Command("sh", "-c", "while :; do /bin/true; done")
	if err := starter.Start(); err != nil {
		t.Fatal(err)
	}
	group := tree.Open(path)
	t.Cleanup(func() {
		_ = group.Thaw()
		_ = starter.Process.Kill()
		_ = starter.Wait() // it was killed: that is its end
		if err := group.Remove(context.Background()); err != nil {
			t.Error(err)
		}
	})
	mustWrite(t, filepath.Join(dir, "cgroup.procs"), strconv.Itoa(starter.Process.Pid))
	for range 200 {
		if err := group.Freeze(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := group.Thaw(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestFreezeGivesUp(t *testing.T) {
	t.Parallel()
	tree, root := fakeV2(t)
	dir := filepath.Join(root, "g")
	control(t, filepath.Join(dir, "cgroup.freeze"))
	mustWrite(t, filepath.Join(dir, "cgroup.events"), "populated 1\nfrozen 0\n")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := tree.Open("/g").Freeze(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a group that never freezes: %v", err)
	}
}

func TestPids(t *testing.T) {
	t.Parallel()
	tree, root := fakeV1(t)
	mustMkdir(t, filepath.Join(root, "freezer/g/child"))
	mustWrite(t, filepath.Join(root, "freezer/g/cgroup.procs"), "1\n2\n")
	mustWrite(t, filepath.Join(root, "freezer/g/child/cgroup.procs"), "3\n")
	got, err := tree.Open("/g").Pids()
	if err != nil || !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("pids %v, %v", got, err)
	}
	if got, err := tree.Open("/gone").Pids(); err != nil || len(got) != 0 {
		t.Errorf("a group that is gone: %v, %v", got, err)
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	tree, root := fakeV1(t)
	for _, c := range wanted {
		mustMkdir(t, filepath.Join(root, c, "g"))
	}
	g := tree.Open("/g")
	if err := g.Remove(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := g.Remove(context.Background()); err != nil {
		t.Errorf("removing a group that is gone: %v", err)
	}
	if groups, err := tree.Named("g"); err != nil || len(groups) != 0 {
		t.Errorf("left: %v, %v", groups, err)
	}
}

// A group of which one directory was busy is found again, whichever that is.
func TestWhatIsLeftOfAGroupIsFound(t *testing.T) {
	t.Parallel()
	for _, busy := range wanted {
		tree, root := fakeV1(t)
		for _, c := range wanted {
			mustMkdir(t, filepath.Join(root, c))
		}
		mustMkdir(t, filepath.Join(root, busy, "g"))
		groups, err := tree.Named("g")
		if err != nil || len(groups) != 1 || groups[0].Path() != "/g" {
			t.Errorf("left in %s: %v, %v", busy, groups, err)
		}
	}
}

func TestCPUs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "0": "0", "3,1,2": "1-3", "0-1,4,6-7\n": "0-1,4,6-7", "2-2,2": "2"} {
		got, err := ParseCPUs(text)
		if err != nil || got.String() != want {
			t.Errorf("ParseCPUs(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"x", "3-1", "-1", "0-99999999", "1,,2"} {
		if _, err := ParseCPUs(text); err == nil {
			t.Errorf("ParseCPUs(%q) gave no error", text)
		}
	}
	a, b := CPUs{0, 1, 2}, CPUs{1, 5}
	if got := a.And(b).String(); got != "1" {
		t.Errorf("And: %q", got)
	}
	if got := a.Without(b).String(); got != "0,2" {
		t.Errorf("Without: %q", got)
	}
}

// Where Nomad's tasks have a CPU quota, groups are made inside it; they are found
// wherever they are.
func TestInsideQuota(t *testing.T) {
	t.Parallel()
	for version, c := range map[Version]struct {
		make        func(*testing.T) (Tree, string)
		file        string
		free, limit string
		nomad       string
	}{
		V1: {fakeV1, "cpu/nomad/cpu.cfs_quota_us", "-1", "40000", "/nomad"},
		V2: {fakeV2, "nomad.slice/cpu.max", "max 100000", "40000 100000", "/nomad.slice"},
	} {
		tree, root := c.make(t)
		if got := tree.Child("ibench.a").Path(); got != "/ibench.a" {
			t.Errorf("v%d without Nomad: %s", version, got)
		}
		mustMkdir(t, filepath.Dir(filepath.Join(root, c.file)))
		if version == V1 {
			mustWrite(t, filepath.Join(root, "cpu/nomad/cpu.cfs_period_us"), "100000\n")
		}
		for value, want := range map[string]string{c.free: "/ibench.a", c.limit: c.nomad + "/ibench.a"} {
			mustWrite(t, filepath.Join(root, c.file), value+"\n")
			if cpus, limited := tree.QuotaCPUs(); limited != (value == c.limit) || limited && cpus != 0.4 {
				t.Errorf("v%d, quota %s: %g CPUs, limited %v", version, value, cpus, limited)
			}
			g := tree.Child("ibench.a")
			if g.Path() != want {
				t.Errorf("v%d, quota %s: %s, want %s", version, value, g.Path(), want)
			}
			for _, dir := range g.Dirs() {
				mustMkdir(t, dir)
			}
		}
		groups, err := tree.Named("ibench.")
		if err != nil || len(groups) != 2 {
			t.Errorf("v%d: %v, %v; want both", version, groups, err)
		}
	}
}
