package foreign

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

const (
	threadsUnstated = "the machine type is not stated, so not how many CPUs the threads had"
	threadsTooMany  = "more threads than the machine has CPUs: how many it used is not said"
	threadsCopy     = "an exact copy of another repetition"
)

// maxThreads bounds the thread counts that are believed.
const maxThreads = 1024

// readParsecThreads makes one profile per workload and group with its speed by
// cores. The course took larger inputs and larger machines here than next to the
// kernels, so these are workloads of their own.
func readParsecThreads(r *reading, nodes map[ethNode]string) {
	t := r.table("parsec_thread_scaling")
	speeds := map[parsecKey]map[int][]float64{} // runs/s by threads
	seen := map[string]bool{}
	for _, row := range t.rows {
		k, threads := parsecOf(row), row.Count("threads", 1, maxThreads)
		real, user, system := row.Positive("real_s"), row.ZeroOrMore("user_s"), row.ZeroOrMore("sys_s")
		row.Count("rep", 1, tables.MaxRepetitions)
		cpus, stated := vcpus(nodes[ethNode{k.repository, "part2b", "parsec"}])
		id := fmt.Sprint(k, threads, real, user, system)
		switch {
		case !stated:
			t.skip(1, threadsUnstated)
		case threads > cpus:
			t.skip(1, threadsTooMany)
		case seen[id]:
			t.skip(1, threadsCopy)
		default:
			if speeds[k] == nil {
				speeds[k] = map[int][]float64{}
			}
			speeds[k][threads] = append(speeds[k][threads], 1/real)
			t.take(1)
		}
		seen[id] = true
	}
	if r.problems.Err() != nil {
		return
	}
	for _, k := range slices.SortedFunc(maps.Keys(speeds), parsecKey.less) {
		r.add(threadsProfile(k, speeds[k], nodes))
	}
}

func threadsProfile(k parsecKey, speeds map[int][]float64, nodes map[ethNode]string) profile.Profile {
	p := k.profile("threads")
	p.Machine, _ = ethMachine(nodes, ethNode{k.repository, "part2b", "parsec"})
	most := 0
	for _, threads := range slices.Sorted(maps.Keys(speeds)) {
		p.ScaleUp = append(p.ScaleUp, profile.ScalePoint{Cores: threads, Speed: measurement(speeds[threads], "runs/s")})
		most = threads
	}
	p.Isolated[p.Machine.Configuration] = measurement(speeds[most], "runs/s")
	p.Provenance.Repetitions = len(speeds[most])
	p.Warnings = append(p.Warnings, fmt.Sprintf("a size is the number of threads, not pinned; the speed in isolation is that with %s", plural(most, "thread")))
	fewRuns(&p)
	return p
}

// vcpus is the number of virtual CPUs in the name of a machine type of the
// cloud: e2-standard-8 has 8.
func vcpus(machineType string) (int, bool) {
	i := strings.LastIndexByte(machineType, '-')
	n, err := strconv.Atoi(machineType[i+1:])
	return n, err == nil && n > 0
}
