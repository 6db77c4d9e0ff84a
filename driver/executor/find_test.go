package executor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// fakeProcess is one process of a fake procfs.
type fakeProcess struct {
	pid, parent int
	start       int
	state       string
	env         []string
	cgroup      string
	root        string
	exe         string
	mounts      string
	namespace   string // mnt
	cpus        string
	ticks       [4]int // utime, stime, cutime, cstime
}

// fakeProc writes a procfs. Process 1 is the machine's init, 100 is "self".
func fakeProc(t *testing.T, processes ...fakeProcess) Proc {
	t.Helper()
	root := t.TempDir()
	base := []fakeProcess{{pid: 1, start: 1}, {pid: 100, parent: 1, start: 50}}
	for _, p := range append(base, processes...) {
		dir := filepath.Join(root, strconv.Itoa(p.pid))
		if err := os.MkdirAll(filepath.Join(dir, "ns"), 0o755); err != nil {
			t.Fatal(err)
		}
		state := p.state
		if state == "" {
			state = "S"
		}
		namespace := p.namespace
		if namespace == "" {
			namespace = "mnt:[1]"
		}
		// The command name holds what must not confuse the reader.
		stat := fmt.Sprintf("%d (a) b ) %s %d 0 0 0 0 0 0 0 0 0 %d %d %d %d 0 0 0 0 %d 0 0\n",
			p.pid, state, p.parent, p.ticks[0], p.ticks[1], p.ticks[2], p.ticks[3], p.start)
		write(t, filepath.Join(dir, "stat"), stat)
		write(t, filepath.Join(dir, "environ"), strings.Join(p.env, "\x00"))
		write(t, filepath.Join(dir, "cgroup"), p.cgroup)
		write(t, filepath.Join(dir, "mountinfo"), p.mounts)
		write(t, filepath.Join(dir, "status"), "Name:\tx\nUid:\t0\t1000\t0\t0\nGid:\t0\t100\t0\t0\nGroups:\t7 8 \nCpus_allowed_list:\t"+p.cpus+"\n")
		link(t, p.root, filepath.Join(dir, "root"))
		link(t, namespace, filepath.Join(dir, "ns/mnt"))
		if p.exe != "" {
			link(t, p.exe, filepath.Join(dir, "exe"))
		}
	}
	link(t, "100", filepath.Join(root, "self"))
	return Proc{Root: root, Self: 100}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, file string) {
	t.Helper()
	if target == "" {
		target = "/"
	}
	if err := os.Symlink(target, file); err != nil {
		t.Fatal(err)
	}
}

const otherAlloc = "0f0f0f0f-12c6-6968-5ea3-106cc4df0542"

const alloc = "2aa1d8be-12c6-6968-5ea3-106cc4df0542"

func ofTask(task string) []string {
	return []string{"PATH=/bin", "NOMAD_ALLOC_ID=" + alloc, "NOMAD_TASK_NAME=" + task}
}

func TestFind(t *testing.T) {
	t.Parallel()
	web := TaskID{AllocID: alloc, Task: "web"}
	for _, c := range []struct {
		name      string
		processes []fakeProcess
		want      []int
	}{
		{"by environment", []fakeProcess{{pid: 200, parent: 1, start: 60, env: ofTask("web")}}, []int{200}},
		{"not another task", []fakeProcess{{pid: 200, parent: 1, start: 60, env: ofTask("db")}}, nil},
		{"not another allocation", []fakeProcess{{pid: 200, parent: 1, start: 60, env: []string{"NOMAD_ALLOC_ID=other", "NOMAD_TASK_NAME=web"}}}, nil},
		{"not a longer name", []fakeProcess{{pid: 200, parent: 1, start: 60, cgroup: "6:freezer:/nomad/" + alloc + ".web2\n"}}, nil},
		{"oldest first, with its children", []fakeProcess{
			{pid: 200, parent: 300, start: 70}, {pid: 300, parent: 1, start: 60, env: ofTask("web")}, {pid: 201, parent: 200, start: 80},
		}, []int{300, 200, 201}},
		{"environment overwritten, by v1 group", []fakeProcess{{pid: 200, parent: 1, start: 60, cgroup: "6:freezer:/nomad/" + alloc + ".web\n"}}, []int{200}},
		{"environment overwritten, by v2 group", []fakeProcess{{pid: 200, parent: 1, start: 60, cgroup: "0::/nomad.slice/share.slice/" + alloc + ".web.scope\n"}}, []int{200}},
		{"by root directory", []fakeProcess{{pid: 200, parent: 1, start: 60, root: "/data/alloc/" + alloc + "/web"}}, []int{200}},
		{"container, by a mount of its own", []fakeProcess{{
			pid: 200, parent: 1, start: 60, namespace: "mnt:[2]",
			mounts: "40 30 8:1 /data/alloc/" + alloc + "/web/local /local rw - ext4 /dev/sda1 rw\n",
		}}, []int{200}},
		{"the host's own mounts are no sign", []fakeProcess{{
			pid: 200, parent: 1, start: 60,
			mounts: "40 30 8:1 /data/alloc/" + alloc + "/web/local /local rw - ext4 /dev/sda1 rw\n",
		}}, nil},
		{"not a process of another task that says it is this one", []fakeProcess{{
			pid: 200, parent: 1, start: 60, env: ofTask("web"), cgroup: "6:freezer:/nomad/" + otherAlloc + ".db\n",
		}}, nil},
		{"not one that made a group of that name below its own", []fakeProcess{{
			pid: 200, parent: 1, start: 60, cgroup: "0::/nomad.slice/share.slice/" + otherAlloc + ".db.scope/" + alloc + ".web.scope\n",
		}}, nil},
		{"not a container of another allocation that says it is this one", []fakeProcess{{
			pid: 200, parent: 1, start: 60, env: ofTask("web"), namespace: "mnt:[2]", cgroup: "0::/docker/4f8a\n",
			mounts: "40 30 8:1 /data/alloc/" + otherAlloc + "/db/local /local rw - ext4 /dev/sda1 rw\n",
		}}, nil},
		{"not what will be the task, and is root until then", []fakeProcess{{
			pid: 200, parent: 1, start: 60, cgroup: "6:freezer:/nomad/" + alloc + ".web\n", env: []string{"A=b", "_LIBCONTAINER_INITTYPE=standard"},
		}}, nil},
		{"not Nomad's executor, on its way through the task's group", []fakeProcess{
			{pid: 200, parent: 1, start: 60, cgroup: "6:freezer:/nomad/" + alloc + ".web\n", env: []string{"NOMAD_PLUGIN_MAGIC_COOKIE=e4327c2e"}},
			{pid: 300, parent: 200, start: 70, cgroup: "6:freezer:/nomad/" + alloc + ".web\n", env: ofTask("web")},
		}, []int{300}},
		{"not a container runtime", []fakeProcess{
			{pid: 200, parent: 1, start: 60, cgroup: "6:freezer:/nomad/" + alloc + ".web\n", exe: "/usr/bin/crun"},
			{pid: 201, parent: 1, start: 61, cgroup: "6:freezer:/nomad/" + alloc + ".web\n", exe: "/memfd:runc_cloned:/proc/self/exe (deleted)"},
		}, nil},
		{"zombies do not count", []fakeProcess{{pid: 200, parent: 1, start: 60, state: "Z", env: ofTask("web")}}, nil},
		{"commands run by this process do not count", []fakeProcess{{pid: 101, parent: 100, start: 60, env: ofTask("web")}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := fakeProc(t, c.processes...).Find(web)
			if c.want == nil {
				if !errors.Is(err, ErrNoProcess) {
					t.Fatalf("found %v, %v; want ErrNoProcess", got, err)
				}
				return
			}
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("found %v, %v; want %v", got, err, c.want)
			}
		})
	}
}

func TestProcStatus(t *testing.T) {
	t.Parallel()
	p := fakeProc(t, fakeProcess{pid: 200, parent: 1, start: 4200, cpus: "0-1,3"})
	write(t, filepath.Join(p.Root, "uptime"), "142.75 80.00\n")
	if cpus, err := p.CPUs(200); err != nil || cpus.String() != "0-1,3" {
		t.Errorf("CPUs %v, %v", cpus, err)
	}
	cred, err := p.credential(200)
	if err != nil || cred.Uid != 1000 || cred.Gid != 100 || !slices.Equal(cred.Groups, []uint32{7, 8}) {
		t.Errorf("credential %+v, %v: want the effective ids", cred, err)
	}
	if at, err := p.Started(200, time.UnixMilli(1_142_950)); err != nil || at.UnixMilli() != 1_042_200 {
		t.Errorf("started %v, %v; want 42 s after boot, which was at 1000.2", at, err)
	}
	if _, err := p.StartTicks(999); err == nil {
		t.Error("a process that is not there has a start time")
	}
}

// The CPU time of a target is that of all its processes, with the children that have
// ended, and of no other process.
func TestTargetCPUTime(t *testing.T) {
	t.Parallel()
	procs := fakeProc(t,
		fakeProcess{pid: 200, parent: 1, start: 10, env: ofTask("web"), ticks: [4]int{100, 20, 30, 4}},
		fakeProcess{pid: 201, parent: 200, start: 11, ticks: [4]int{5, 0, 0, 0}},
		fakeProcess{pid: 300, parent: 1, start: 12, env: ofTask("other"), ticks: [4]int{900, 0, 0, 0}},
	)
	target := &Target{Procs: procs, Tasks: []TaskID{{AllocID: alloc, Task: "web"}}}
	if got, err := target.CPUTime(); err != nil || got != 1590*time.Millisecond {
		t.Errorf("%s, %v; want 1.59 s", got, err)
	}
	write(t, filepath.Join(procs.Root, "stat"), "cpu 1 2 3 4 5 6 7 900 0 0\ncpu0 1 2 3 4 5 6 7 100 0 0\ncpu1 1 2 3 4 5 6 7 300 0 0\nbtime 1000\n")
	if got, err := procs.Stolen([]int{1}); err != nil || got != 3*time.Second {
		t.Errorf("stolen from CPU 1: %s, %v; want 3 s", got, err)
	}
	if got, err := procs.Stolen([]int{0, 1}); err != nil || got != 2*time.Second {
		t.Errorf("stolen from both: %s, %v; want 2 s each", got, err)
	}
	if got, err := procs.Stolen([]int{7}); err == nil {
		t.Errorf("stolen from a CPU that the kernel does not list: %s", got)
	}
	if got, err := procs.CPUTime([]int{200, 999}); err != nil || got != 1540*time.Millisecond {
		t.Errorf("with one that is gone: %s, %v", got, err)
	}
	write(t, filepath.Join(procs.Root, "300", "stat"), "300 (x) S 1")
	if _, err := procs.CPUTime([]int{300}); err == nil {
		t.Error("half a line was read")
	}
	target.Tasks = []TaskID{{AllocID: alloc, Task: "gone"}}
	if got, err := target.CPUTime(); !errors.Is(err, ErrNoProcess) {
		t.Errorf("of no process: %s, %v", got, err)
	}
}

// The name of a command may hold brackets and spaces; a line that is too short is
// refused.
func TestStartTicks(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir := filepath.Join(root, "42")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for stat, want := range map[string]uint64{
		"42 (a) b) (c) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 777 20 21": 777,
		"42 (short) S 1 2": 0,
	} {
		if err := os.WriteFile(filepath.Join(dir, "stat"), []byte(stat), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Proc{Root: root}.StartTicks(42)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d, %v", stat, got, err)
		}
	}
}
