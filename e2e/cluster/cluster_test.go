package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2/hclparse"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The mount tables of three kinds of machine, as in /proc/self/mountinfo.
const (
	hybridMounts = `25 1 0:23 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
26 25 0:24 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw
27 25 0:25 / /sys/fs/cgroup/systemd rw,relatime shared:10 - cgroup cgroup rw,xattr,name=systemd
28 25 0:26 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:11 - cgroup cgroup rw,cpu,cpuacct
29 25 0:27 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset,clone_children
30 25 0:26 / /elsewhere rw,relatime - cgroup cgroup rw,cpu,cpuacct
`
	unifiedMounts = `25 1 0:23 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate
`
	noMounts = `22 1 254:1 / / rw,relatime - ext4 /dev/vda1 rw
garbage
`
)

func TestHierarchies(t *testing.T) {
	t.Parallel()
	h, err := parseHierarchies(strings.NewReader(hybridMounts))
	if err != nil {
		t.Fatal(err)
	}
	if h.Version != 1 || len(h.List) != 2 {
		t.Fatalf("%+v, want version 1 with two hierarchies", h)
	}
	if got, want := h.path("cpuacct", "g"), "/sys/fs/cgroup/cpu,cpuacct/g"; got != want {
		t.Errorf("path of cpuacct %s, want %s", got, want)
	}
	if got := h.paths("g"); !slices.Equal(got, []string{"/sys/fs/cgroup/cpu,cpuacct/g", "/sys/fs/cgroup/cpuset/g"}) {
		t.Errorf("paths %v", got)
	}
	h, err = parseHierarchies(strings.NewReader(unifiedMounts))
	if err != nil || h.Version != 2 || h.path("cpu", "g") != "/sys/fs/cgroup/g" {
		t.Errorf("unified: %+v, %v", h, err)
	}
	if _, err := parseHierarchies(strings.NewReader(noMounts)); err == nil {
		t.Error("a machine without control groups was accepted")
	}
}

// fakeUnified is a cgroup v2 tree made of plain files.
func fakeUnified(t *testing.T, controllers string, groups ...string) (hierarchies, string) {
	t.Helper()
	root := t.TempDir()
	for _, g := range append([]string{""}, groups...) {
		dir := filepath.Join(root, g)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{"cgroup.subtree_control", "cpuset.cpus", "cpu.max", "cpu.weight", "cgroup.procs"} {
			writeFile(t, filepath.Join(dir, file), "")
		}
		writeFile(t, filepath.Join(dir, "cgroup.controllers"), controllers+"\n")
	}
	return hierarchies{Version: 2, List: []hierarchy{{Mount: root}}}, root
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestUnifiedQuota(t *testing.T) {
	t.Parallel()
	h, root := fakeUnified(t, "cpuset cpu io memory pids", "placer-r/n/nomad.slice", "placer-r/n/agent")
	writeFile(t, filepath.Join(root, "placer-r/n/cgroup.controllers"), "cpuset cpu memory")
	writeFile(t, filepath.Join(root, "placer-r/n/cgroup.subtree_control"), "")
	if err := h.limitTasks("placer-r/n", Client{CPUs: []int{1, 2}, CPUQuota: 0.4}); err != nil {
		t.Fatal(err)
	}
	if got := readFile(t, filepath.Join(root, "placer-r/n/cgroup.subtree_control")); got != "+cpuset +cpu +memory" {
		t.Errorf("enabled %q", got)
	}
	if got := readFile(t, filepath.Join(root, "placer-r/n/nomad.slice/cpu.max")); got != "8000 10000" {
		t.Errorf("cpu.max %q, want 40 %% of two CPUs", got)
	}
	if got := readFile(t, filepath.Join(root, "placer-r/n/agent/cpu.weight")); got != "10000" {
		t.Errorf("the agent's cpu.weight is %q", got)
	}
}

func TestUnifiedNeedsCPUControllers(t *testing.T) {
	t.Parallel()
	h, _ := fakeUnified(t, "memory pids")
	if err := h.createRun("r", false); err == nil || !strings.Contains(err.Error(), "cpuset is not available") {
		t.Errorf("error %v, want that cpuset is not available", err)
	}
}

func TestProcessesOfAVanishedGroup(t *testing.T) {
	t.Parallel()
	h, root := fakeUnified(t, "cpu cpuset", "placer-r/n")
	writeFile(t, filepath.Join(root, "placer-r/cgroup.procs"), "7\n12\n")
	writeFile(t, filepath.Join(root, "placer-r/n/cgroup.procs"), "12\n3\n0\n") // 0: of another namespace
	pids, err := h.processes("placer-r")
	if err != nil || !slices.Equal(pids, []int{3, 7, 12}) {
		t.Errorf("processes %v, %v", pids, err)
	}
	if pids, err := h.processes("placer-gone"); err != nil || len(pids) != 0 {
		t.Errorf("processes of no group: %v, %v", pids, err)
	}
	if err := h.removeGroup("placer-gone"); err != nil {
		t.Errorf("removing no group: %v", err)
	}
}

func TestTopology(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ cpus, alpha, beta, gamma []int }{
		{[]int{0}, []int{0}, []int{0}, []int{0}},
		{[]int{0, 1}, []int{0}, []int{1}, []int{1}},
		{[]int{0, 1, 2}, []int{0}, []int{1}, []int{2}},
		{[]int{2, 3, 4, 5, 6, 7}, []int{2, 3, 4}, []int{5, 6}, []int{7}},
	} {
		got := Topology(c.cpus)
		for i, want := range [][]int{c.alpha, c.beta, c.gamma} {
			if !slices.Equal(got[i].CPUs, want) {
				t.Errorf("CPUs %v: %s has %v, want %v", c.cpus, got[i].Name, got[i].CPUs, want)
			}
		}
	}
}

func TestDescribedNodesSayWhatTheyShare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cpus []int
		want []string
	}{
		{[]int{0, 1}, []string{"fast alpha 2000", "fast beta 1200", "slow beta 800"}},
		{[]int{0, 1, 2}, []string{"fast alpha 2000", "fast beta 2000", "slow gamma 800"}},
		{[]int{0}, []string{"fast alpha 600", "fast alpha 600", "slow alpha 800"}},
	} {
		plain := Topology(c.cpus)
		for i, client := range Described(plain, 2000) {
			if got := fmt.Sprint(client.Meta["placer_sc"], " ", client.Meta["placer_machine"], " ", client.CPUMHz); got != c.want[i] {
				t.Errorf("CPUs %v: %s is %s, want %s", c.cpus, client.Name, got, c.want[i])
			}
		}
		for i, client := range Described(plain, 0) {
			if client.CPUMHz != plain[i].CPUMHz {
				t.Errorf("a clock that is not known: %s promises %d MHz", client.Name, client.CPUMHz)
			}
		}
		if plain[0].Meta != nil {
			t.Error("the clients that were given changed")
		}
	}
}

func TestCoreMHz(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		want  int
	}{
		"the base frequency first": {map[string]string{"sys/devices/system/cpu/cpu0/cpufreq/base_frequency": "2600000\n", "proc/cpuinfo": "cpu MHz\t\t: 3100.5\n"}, 2600},
		"a virtual machine":        {map[string]string{"proc/cpuinfo": "processor\t: 0\ncpu MHz\t\t: 2000.123\n"}, 2000},
		"nothing is told":          {map[string]string{"proc/cpuinfo": "processor\t: 0\n"}, 0},
		"no kernel":                {nil, 0},
	} {
		root := t.TempDir()
		for file, text := range c.files {
			path := filepath.Join(root, file)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		if got := CoreMHz(root); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// config is a whole one, before defaults.
func config() Config {
	return Config{BasePort: 20000, Clients: Topology([]int{0, 1})}
}

func TestConfigMistakes(t *testing.T) {
	t.Parallel()
	if _, err := config().withDefaults(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Config){
		`run ID "../x"`:      func(c *Config) { c.RunID = "../x" },
		"base port 80":       func(c *Config) { c.BasePort = 80 },
		"base port 65400":    func(c *Config) { c.BasePort = 65400 },
		"no clients":         func(c *Config) { c.Clients = nil },
		`"alpha" is taken`:   func(c *Config) { c.Clients[1].Name = "alpha" },
		`"server" is taken`:  func(c *Config) { c.Clients[0].Name = "server" },
		"CPU quota 1.5":      func(c *Config) { c.Clients[0].CPUQuota = 1.5 },
		"CPU -1 is negative": func(c *Config) { c.Clients[0].CPUs = []int{-1} },
		`client name "a b"`:  func(c *Config) { c.Clients[0].Name = "a b" },
		"at most 29 fit":     func(c *Config) { c.Clients = append(c.Clients, make([]Client, 30)...) },
	} {
		c := config()
		change(&c)
		if _, err := c.withDefaults(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// TestAgentFilesAreHCL parses what is generated, odd characters included.
func TestAgentFilesAreHCL(t *testing.T) {
	t.Parallel()
	c := config()
	c.ACL, c.PluginDir, c.ImageSources = true, "/plugins", []string{"http://127.0.0.1:9646"}
	c.Clients[0].Meta = map[string]string{`rack "1"`: "a\nb"}
	c.Clients[0].HostVolumes = map[string]string{"data": "/srv/data"}
	c.Clients[0].CPUMHz, c.Clients[0].Pool, c.Clients[0].Datacenter = 2000, "prod", "dc2"
	server, client := serverHCL(c, "/d/server"), clientHCL(c, 0, "/d/alpha")
	for name, text := range map[string]string{"server": server, "client": client} {
		if _, diagnostics := hclparse.NewParser().ParseHCL([]byte(text), name); diagnostics.HasErrors() {
			t.Errorf("%s: %v\n%s", name, diagnostics, text)
		}
	}
	for _, want := range []string{
		`reservable_cores = "0"`, "cpu_total_compute = 2000", `node_pool = "prod"`, `node_class = "fast-a"`, `datacenter = "dc2"`,
		`"rack \"1\"" = "a\nb"`, `host_volume "data" {`, `servers = ["127.0.0.1:20001"]`, `plugin_dir = "/plugins"`,
		"min_dynamic_port = 20300", "max_dynamic_port = 20399", "publish_allocation_metrics = true",
	} {
		if !strings.Contains(client, want) {
			t.Errorf("no %s in\n%s", want, client)
		}
	}
	for _, want := range []string{`img_src = ["'self'", "data:", "http://127.0.0.1:9646"]`, "http = 20000", "enabled = true"} {
		if !strings.Contains(server, want) {
			t.Errorf("no %s in\n%s", want, server)
		}
	}
}

func TestParseVersion(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{
		"Nomad v1.11.2\nBuildDate 2026-02-11\n": "1.11.2",
		"Nomad v1.10.0\n":                       "1.10.0",
		"Nomad v2.0.5\n":                        "2.0.5",
		"Nomad v1.11.0-beta.1+ent\n":            "1.11.0-beta.1+ent",
	} {
		if got, err := parseVersion(output); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", output, got, err, want)
		}
	}
	for _, output := range []string{"Nomad v1.9.7\n", "Nomad v2.1.0\n", "nomad: command not found", "Nomad vx"} {
		if got, err := parseVersion(output); err == nil {
			t.Errorf("%q gave %q, want an error", output, got)
		}
	}
}

func TestParseStartTicks(t *testing.T) {
	t.Parallel()
	const stat = "42 (a) b) (c) S 1 42 42 0 -1 4194560 100 0 0 0 5 6 0 0 20 0 1 0 987654 1000 20"
	if got, err := parseStartTicks(stat); err != nil || got != 987654 {
		t.Errorf("start %d, %v; want 987654", got, err)
	}
	for _, bad := range []string{"", "42 (x) S 1 2", strings.Replace(stat, "987654", "soon", 1)} {
		if _, err := parseStartTicks(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// TestCleanDead leaves runs alone whose owner lives, and removes the others.
func TestCleanDead(t *testing.T) {
	t.Parallel()
	h, _ := fakeUnified(t, "cpu cpuset")
	dir := t.TempDir()
	write := func(c Config, change func(*record)) string {
		c.Dir = dir
		r, err := newRecord(c, h)
		if err != nil {
			t.Fatal(err)
		}
		change(&r)
		if err := os.MkdirAll(c.runDir(), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := r.write(c.runDir()); err != nil {
			t.Fatal(err)
		}
		return c.runDir()
	}
	alive := write(Config{RunID: "alive"}, func(*record) {})
	reused := write(Config{RunID: "reused"}, func(r *record) { r.OwnerStart++ }) // another process has the ID now
	kept := write(Config{RunID: "kept", KeepDir: true}, func(r *record) { r.OwnerStart++ })
	if err := os.Mkdir(filepath.Join(dir, "somebody-elses"), 0o755); err != nil {
		t.Fatal(err)
	}
	cleaned, err := cleanDeadIn(t.Context(), dir)
	if err != nil || !slices.Equal(cleaned, []string{"kept", "reused"}) {
		t.Errorf("cleaned %v, %v", cleaned, err)
	}
	for path, want := range map[string]bool{
		alive: true, reused: false, filepath.Join(kept, keptFile): true, filepath.Join(kept, recordFile): false,
		filepath.Join(dir, "somebody-elses"): true,
	} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s exists: %t, want %t", path, err == nil, want)
		}
	}
}

func TestParseCPUs(t *testing.T) {
	t.Parallel()
	if got, err := parseCPUs("0-2,5,7-7"); err != nil || !slices.Equal(got, []int{0, 1, 2, 5, 7}) {
		t.Errorf("CPUs %v, %v", got, err)
	}
	for _, bad := range []string{"", "a", "1-", "-2"} {
		if got, err := parseCPUs(bad); err == nil {
			t.Errorf("%q gave %v", bad, got)
		}
	}
}

func TestAgentEnv(t *testing.T) {
	t.Parallel()
	got := agentEnv([]string{"PATH=/bin", "AWS_CA_BUNDLE=/x", "NOMAD_TOKEN=s", "CONSUL_HTTP_ADDR=y", "VAULT_ADDR=z", "HOME=/"})
	if !slices.Equal(got, []string{"PATH=/bin", "HOME=/"}) {
		t.Errorf("environment %v", got)
	}
}

// TestStartWithoutReexec checks that a caller who forgot Reexec gets an error.
func TestStartWithoutReexec(t *testing.T) {
	t.Parallel()
	if _, err := Start(t.Context(), config()); err == nil || !strings.Contains(err.Error(), "cluster.Reexec first") {
		t.Errorf("error %v, want a hint at Reexec", err)
	}
}

// TestFindNomadExplains names what was tried.
func TestFindNomadExplains(t *testing.T) {
	t.Setenv("NOMAD_BIN", "/no/such/nomad")
	_, _, err := FindNomad(t.Context(), ".")
	if err == nil || !strings.Contains(err.Error(), "/no/such/nomad") || !strings.Contains(err.Error(), "make nomad") {
		t.Errorf("error %v", err)
	}
	script := filepath.Join(t.TempDir(), "nomad")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho Nomad v1.10.5\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("NOMAD_BIN", script)
	if path, v, err := FindNomad(t.Context(), "."); err != nil || path != script || v != "1.10.5" {
		t.Errorf("found %s %s, %v", path, v, err)
	}
}
