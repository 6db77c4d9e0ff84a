package main

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// app is one of the applications that are compared. What a rate or a batch job is
// asked for follows from what it does alone on the fastest node, so that the targets
// are those of the machine that is measured on.
type app struct {
	name string // of the job, its file in jobs/ and its main task
	kind performance.Kind
	// rate of a service's load, per second, with the least bound on its tail.
	rate    float64       // of a service, while it is measured in isolation
	latency time.Duration // at tailPercentile; more where the tail alone is long
	// share of the speed in isolation that a rate or batch job is asked for; above 1 it
	// needs several allocations. Of a service: the share of a CPU that its target takes.
	share  float64
	unit   string
	counts []int    // of the scale block
	memory []int    // MB, of the scale block
	probe  string   // "prometheus", or the pattern of a log probe
	tasks  []string // its tasks, the sized one first
	inputs []string // of package training/input
	// compared: it is one of the jobs that run side by side; the others are only
	// sized.
	compared bool
	quick    bool // it is swept by -quick, too
}

// The bound of the services' latency: so many times the tail that they have alone.
const (
	tailPercentile = 99
	tailFactor     = 2
)

// bound is the latency that is asked of a service.
func (a app) bound(known alone) time.Duration {
	if a.latency == 0 {
		return 0
	}
	alone := time.Duration(tailFactor * known.TailMillis * float64(time.Millisecond))
	return max(a.latency, alone.Round(time.Millisecond))
}

// apps is the list of applications. What those that are compared ask for adds up to
// less than the machine has, so that some placement keeps all of them: the two services
// on one CPU, the others on the other with a third of it to spare.
var apps = []app{
	{name: "cache", kind: performance.QPS, rate: 4000, share: 0.25, latency: 5 * time.Millisecond, tasks: []string{"redis", "load"}, compared: true},
	{name: "web", kind: performance.QPS, rate: 1500, share: 0.25, latency: 5 * time.Millisecond, tasks: []string{"nginx", "load"}, compared: true},
	{name: "encode", kind: performance.Rate, share: 0.2, unit: "MB of video", counts: []int{1, 2, 3}, inputs: []string{"video360"}, compared: true},
	{name: "query", kind: performance.Rate, share: 0.1, unit: "MB of JSON", counts: []int{1, 2, 3}, inputs: []string{"records"}, compared: true},
	{name: "pages", kind: performance.Rate, share: 1.3, unit: "pages", counts: []int{1, 2, 3, 4}, inputs: []string{"text"}, compared: true, quick: true},
	{name: "compress", kind: performance.FinishWithin, share: 0.2, unit: "chunks", probe: `chunks done: (\d+)`, compared: true},
	{name: "fill-memory", kind: performance.BestEffort, unit: "MB of text", inputs: []string{"text"}, compared: true},
	{name: "fill-cpu", kind: performance.BestEffort, unit: "evaluations", compared: true},
	{name: "store", kind: performance.Rate, share: 0.3, unit: "requests", memory: []int{48, 80, 112, 160, 256}},
	{name: "pack", kind: performance.Rate, share: 0.5, unit: "MB of text", memory: []int{48, 96, 144, 208}, inputs: []string{"text"}},
	{name: "transcode", kind: performance.Rate, share: 0.5, unit: "MB of video", memory: []int{32, 64, 96, 128, 192}, inputs: []string{"video360"}},
	{name: "digest", kind: performance.Rate, share: 2.4, unit: "objects", counts: []int{1, 2, 3, 4}, inputs: []string{"text"}},
}

// mainTask is the sized one.
func (a app) mainTask() string { return a.allTasks()[0] }

func (a app) allTasks() []string {
	if len(a.tasks) == 0 {
		return []string{a.name}
	}
	return a.tasks
}

// scales says that the placer may choose its size.
func (a app) scales() bool { return len(a.counts)+len(a.memory) > 0 }

// compared are the applications that run side by side.
func compared() []app {
	return slices.DeleteFunc(slices.Clone(apps), func(a app) bool { return !a.compared })
}

// sized are the applications whose sizes are swept.
func sized(quick bool) []app {
	return slices.DeleteFunc(slices.Clone(apps), func(a app) bool { return !a.scales() || quick && !a.quick })
}

// profiled are the applications that the placer is asked about: all that are
// compared or swept.
func profiled(quick bool) []app {
	swept := sized(quick)
	return slices.DeleteFunc(slices.Clone(apps), func(a app) bool {
		return !a.compared && !slices.ContainsFunc(swept, func(s app) bool { return s.name == a.name })
	})
}

// programs that the applications need, with the Debian packages that have them.
var programs = map[string]string{
	"redis-server": "redis-server", "nginx": "nginx-light", "x264": "x264", "jq": "jq", "lz4": "lz4", "bc": "bc", "xz": "xz-utils", "gzip": "gzip", "openssl": "openssl",
}

// checkPrograms says what is missing and how to get it.
func checkPrograms(look func(name string) (string, error)) error {
	var missing []string
	for name, pkg := range programs {
		if _, err := look(name); err != nil {
			missing = append(missing, pkg)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	return fmt.Errorf("programs of the applications are missing: apt-get install --no-install-recommends %s", strings.Join(missing, " "))
}

// lookPath finds a program, also where only root looks.
func lookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return exec.LookPath("/usr/sbin/" + name)
	}
	return path, nil
}

// neededInputs are the inputs of all applications.
func neededInputs() []string {
	var out []string
	for _, a := range apps {
		out = append(out, a.inputs...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// size is what a group may be given.
type size struct {
	Count    int `json:"count"`
	MemoryMB int `json:"memory_mb,omitempty"` // 0: as the job says
}

// sizes are those of the scale block, least resources first.
func (a app) sizes() []size {
	counts, memory := a.counts, a.memory
	if len(counts) == 0 {
		counts = []int{1}
	}
	if len(memory) == 0 {
		memory = []int{0}
	}
	var out []size
	for _, n := range counts {
		for _, mb := range memory {
			out = append(out, size{n, mb})
		}
	}
	return out
}

// appNamed is one of the list.
func appNamed(name string) app {
	return apps[slices.IndexFunc(apps, func(a app) bool { return a.name == name })]
}
