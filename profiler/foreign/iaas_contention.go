package foreign

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// iaasContention: one dedicated host full of virtual machines, of which 1 to all
// ran the same benchmark at once.
var iaasContention = Format{
	Name:  "iaas-vm-contention",
	Title: "Benchmarks in 1 to 48 virtual machines of one dedicated host at once",
	Takes: []string{
		"one active machine: speed in isolation by host type (iperf in bytes/s, sysbench and y-cruncher in runs/s, pgbench in transactions/s)",
		"more active machines on m5d: a ramp of net_bw (iperf) and int (sysbench), intensity 100·(machines − 1)/(48 − 1); no score, for this is not the kernels' scale",
	},
	Leaves: []string{
		"y-cruncher and pgbench next to neighbours: they use several resources at once",
		"iperf, sysbench and y-cruncher of c3 and c4: the source has the same numbers for both hosts",
		"the summary table: averages of the rows of m5d",
	},
	License: "none stated",
	tables: []tableSpec{
		{Spec: tables.Spec{Name: "host", Columns: []string{"iperf", "sysbench", "ycruncher", "pgbench", "set", "vm"}}, several: true},
		{Spec: tables.Spec{Name: "m5d_dedicated_host", Columns: []string{"iperf", "sysbench", "ycruncher", "pgbench", "setId", "vmId"}}},
		{Spec: tables.Spec{Name: "m5d_summary_by_tenants", Columns: []string{"sysbench", "ycruncher", "pgbench", "iperf", "setId", "tenants"}},
			leave: "averages over the repetitions of m5d_dedicated_host"},
	},
	read: readIaaS,
}

var iaasSet = profile.DataSet{
	Name: "iaas-vm-contention", Repository: "wlloyduw/IaaSCloudResourceContention", Commit: "3447d81b1514", License: "none stated",
}

const (
	iaasMixed  = "the neighbours use several resources at once: not a level of one source"
	iaasShared = "c3 and c4 have the same numbers: which host they were measured on is not known"
	iaasNoSolo = "no row with one active machine to compare with"
)

// iaasBenchmark is one column of the tables.
type iaasBenchmark struct {
	column string
	unit   string
	// speed turns the column into units per second.
	speed func(v float64) float64
	// source is what copies of it use; empty where that is more than one.
	source interference.Source
}

// pgbenchSeconds is the length of a run of pgbench.
const pgbenchSeconds = 60

var iaasBenchmarks = []iaasBenchmark{
	{"iperf", "bytes/s", func(v float64) float64 { return v * 1e6 / 8 }, interference.NetworkBandwidth},
	// sysbench's CPU test divides integers in search of primes.
	{"sysbench", "runs/s", func(v float64) float64 { return 1 / v }, interference.Integer},
	{"ycruncher", "runs/s", func(v float64) float64 { return 1 / v }, ""},
	{"pgbench", "transactions/s", func(v float64) float64 { return v / pgbenchSeconds }, ""},
}

// iaasHost is one table of rows per virtual machine.
type iaasHost struct {
	configuration string
	table         *table
	set, vm       string // column names
	full          int    // machines on the host
	// shared: only pgbench is known to be of this host, so it has no ramp.
	shared bool
}

// speeds are by benchmark, active machines, and repetition; of each repetition
// all machines' speeds.
type iaasSpeeds map[string]map[int]map[int][]float64

func readIaaS(r *reading) error {
	var hosts []iaasHost
	first := map[string]string{}
	for _, t := range r.all("host") {
		name, _, _ := strings.Cut(filepath.Base(t.file), "_")
		if name != "c3" && name != "c4" {
			r.problems.Add(&tables.InputError{File: t.path, Problem: "the host type is not known", Hint: "the columns do not say it: keep the name c3_host or c4_host"})
			continue
		}
		if other, twice := first[name]; twice {
			r.problems.Add(&tables.InputError{File: t.path, Problem: fmt.Sprintf("is the host %s, and so is %s", name, other), Hint: "keep one of them"})
		}
		first[name] = t.file
		hosts = append(hosts, iaasHost{configuration: "aws/" + name, table: t, set: "set", vm: "vm", full: 16, shared: true})
	}
	if t := r.table("m5d_dedicated_host"); len(t.rows) > 0 {
		hosts = append(hosts, iaasHost{configuration: "aws/m5d", table: t, set: "setId", vm: "vmId", full: 48})
	}
	for _, t := range r.tables {
		t.per = len(iaasBenchmarks) // every row has one number of each
		for reason := range t.skipped {
			t.skipped[reason] *= t.per
		}
	}
	speeds := map[string]iaasSpeeds{}
	for _, h := range hosts {
		speeds[h.configuration] = h.read()
	}
	if r.problems.Err() != nil {
		return nil
	}
	for _, b := range iaasBenchmarks {
		if p, ok := iaasProfile(b, hosts, speeds); ok {
			r.add(p)
		}
	}
	return nil
}

// read collects the speeds. Rows with the same set and machine are repetitions,
// in the order of the file.
func (h iaasHost) read() iaasSpeeds {
	out := iaasSpeeds{}
	type place struct{ set, vm int }
	visits := map[place]int{}
	for _, row := range h.table.rows {
		at := place{row.Count(h.set, 1, h.full), row.Count(h.vm, 1, h.full)}
		visits[at]++
		for _, b := range iaasBenchmarks {
			v := b.speed(row.Positive(b.column))
			switch {
			case h.shared && b.column != "pgbench":
				h.table.skip(1, iaasShared)
				continue
			case at.set > 1 && b.source == "":
				h.table.skip(1, iaasMixed)
				continue
			}
			out.add(b.column, at.set, visits[at], v)
		}
	}
	return out
}

func (s iaasSpeeds) add(benchmark string, active, repetition int, v float64) {
	if s[benchmark] == nil {
		s[benchmark] = map[int]map[int][]float64{}
	}
	if s[benchmark][active] == nil {
		s[benchmark][active] = map[int][]float64{}
	}
	s[benchmark][active][repetition] = append(s[benchmark][active][repetition], v)
}

// count is the number of speeds of a benchmark.
func (s iaasSpeeds) count(benchmark string) int {
	n := 0
	for _, repetitions := range s[benchmark] {
		for _, all := range repetitions {
			n += len(all)
		}
	}
	return n
}

// runs are the medians over the machines of a repetition: machines of one host
// at one time are no independent samples.
func (s iaasSpeeds) runs(benchmark string, active int) []float64 {
	var out []float64
	for _, repetition := range slices.Sorted(maps.Keys(s[benchmark][active])) {
		out = append(out, stat.Median(s[benchmark][active][repetition]))
	}
	return out
}

func iaasProfile(b iaasBenchmark, hosts []iaasHost, speeds map[string]iaasSpeeds) (profile.Profile, bool) {
	p := newProfile(iaasSet, b.column, b.column)
	for _, h := range hosts {
		own := speeds[h.configuration]
		isolated := own.runs(b.column, 1)
		if len(isolated) == 0 {
			h.table.skip(own.count(b.column), iaasNoSolo)
			continue
		}
		h.table.take(own.count(b.column))
		p.Isolated[h.configuration] = measurement(isolated, b.unit)
		p.Machine = profile.Machine{Configuration: h.configuration, Virtual: true}
		p.Provenance.Repetitions = len(isolated)
		if b.source != "" {
			iaasRamp(&p, b, h, own)
		}
	}
	fewRuns(&p)
	return p, len(p.Isolated) > 0
}

func iaasRamp(p *profile.Profile, b iaasBenchmark, h iaasHost, speeds iaasSpeeds) {
	isolated := speeds.runs(b.column, 1)
	for _, active := range slices.Sorted(maps.Keys(speeds[b.column])) {
		if active == 1 {
			continue
		}
		x := 100 * float64(active-1) / float64(h.full-1)
		p.Ramp = append(p.Ramp, point(b.source, x, compare(speeds.runs(b.column, active), isolated), onOtherCPUs))
	}
	p.Sensitivity.Tolerated[b.source] = interference.Estimate{
		Note: "pressure is counted in virtual machines that run the same benchmark, not in percent of the resource: no score",
	}
}
