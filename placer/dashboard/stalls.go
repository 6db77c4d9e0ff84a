package dashboard

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
)

// Pressure stall information of the node a replica runs on: how long something
// there waited for a resource. A kernel without it, and a group that has ended
// meanwhile, give no sample.
var (
	nodeStallMetric = prometheus.NewDesc("placer_node_stalled_seconds_total",
		"Time in which some, or all, of what runs on this node waited for a resource.", []string{"resource", "share"}, nil)
	taskStallMetric = prometheus.NewDesc("placer_task_stalled_seconds_total",
		"Time in which some, or all, of a task on this node waited for a resource (control groups v2).",
		[]string{"alloc", "task", "resource", "share"}, nil)
)

var stallResources = []string{"cpu", "memory", "io"}

// taskGroups is where Nomad keeps the groups of tasks below the mount of control
// groups v2: those that share CPUs, and those with CPUs of their own.
const taskGroups = "sys/fs/cgroup/nomad.slice/*.slice/*.scope"

// stalls reads pressure stall information below root.
type stalls struct{ root fs.FS }

func (stalls) Describe(ch chan<- *prometheus.Desc) {
	ch <- nodeStallMetric
	ch <- taskStallMetric
}

func (s stalls) Collect(ch chan<- prometheus.Metric) {
	if s.root == nil {
		return
	}
	for _, resource := range stallResources {
		for share, seconds := range s.read("proc/pressure/" + resource) {
			ch <- counter(nodeStallMetric, seconds, resource, share)
		}
	}
	groups, err := fs.Glob(s.root, taskGroups)
	if err != nil {
		return // the pattern is a constant: never
	}
	for _, group := range groups {
		alloc, task, ok := strings.Cut(strings.TrimSuffix(path.Base(group), ".scope"), ".")
		if !ok {
			continue
		}
		for _, resource := range stallResources {
			for share, seconds := range s.read(path.Join(group, resource+".pressure")) {
				ch <- counter(taskStallMetric, seconds, alloc, task, resource, share)
			}
		}
	}
}

// read returns seconds by share; nothing where the file is not there or says
// something else.
func (s stalls) read(name string) map[string]float64 {
	data, err := fs.ReadFile(s.root, name)
	if err != nil {
		return nil
	}
	out := map[string]float64{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		share, seconds, err := parseStall(lines.Text())
		if err != nil {
			return nil
		}
		out[share] = seconds
	}
	return out
}

// parseStall reads a line such as "some avg10=0.00 avg60=0.00 avg300=0.00 total=17",
// the total in microseconds.
func parseStall(line string) (share string, seconds float64, err error) {
	fields := strings.Fields(line)
	if len(fields) < 2 || fields[0] != "some" && fields[0] != "full" {
		return "", 0, fmt.Errorf("dashboard: %q is not a line of pressure stall information", line)
	}
	text, ok := strings.CutPrefix(fields[len(fields)-1], "total=")
	if !ok {
		return "", 0, fmt.Errorf("dashboard: %q has no total", line)
	}
	us, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return "", 0, fmt.Errorf("dashboard: total of %q: %w", line, err)
	}
	return fields[0], float64(us) / 1e6, nil
}
