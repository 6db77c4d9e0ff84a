package foreign

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// ethIBench: groups of an ETH Zürich course measured PARSEC and memcached on
// cloud machines next to the released iBench kernels, all from one skeleton
// (eth-easl/cloud-comp-arch-project). Each group is its own replication: groups
// differ in year, machine and habits, so runs are compared inside one group
// only, and one group's workload is one profile.
var ethIBench = Format{
	Name:  ethName,
	Title: "PARSEC and memcached under the released iBench kernels, and PARSEC by threads, by groups of a course",
	Takes: []string{
		"PARSEC under a kernel: run time to speed (runs/s), a ramp point at intensity 100 for int, l1d, l1i, l2_cap, llc_cap, mem_bw; tolerated 100 where the loss is provably within 5 %, else a bracket",
		"memcached under a kernel: the load it serves with p95 within 1 ms (requests/s), in isolation and as a ramp point at intensity 100",
		"PARSEC by threads: scale-up points by cores, where the machine is stated",
	},
	Leaves: []string{
		"the caused scores: the kernels' own speed was not recorded",
		"the placement tables: several jobs at once with tuned placements, a test of a placer rather than a profile",
	},
	License: ethLicense,
	tables: []tableSpec{
		{Spec: tables.ParsecUnderKernels},
		{Spec: tables.Spec{Name: "memcached_under_ibench", Columns: []string{"source", "interference", "run", "p95_us", "qps", "target_qps"}}},
		{Spec: tables.Spec{Name: "parsec_thread_scaling", Columns: []string{"source", "suite", "app", "threads", "rep", "real_s", "user_s", "sys_s"}}},
		{Spec: tables.Spec{Name: "node_types", Columns: []string{"source", "experiment_part", "node_group", "gcp_machine_type"}}},
		{Spec: tables.Spec{Name: "placement_jobs", Columns: []string{"run_id", "job", "node_type", "cpuset", "duration_s"}}, leave: ethPlacement},
		{Spec: tables.Spec{Name: "placement_memcached", Columns: []string{"run_id", "from_s", "to_s", "p95_us", "qps"}}, leave: ethPlacement},
		{Spec: tables.Spec{Name: "placement_runs", Columns: []string{"run_id", "source", "jobs", "makespan_s"}}, leave: ethPlacement},
	},
	read: readETH,
}

const (
	ethName      = "eth-ibench-parsec-memcached"
	ethLicense   = "none stated by the repositories of the groups, but MIT by FFGGSSJJ/cloud-comp-arch; only measured numbers were extracted"
	ethPlacement = "several jobs placed at once: a test of a placer, not a profile of one workload"
)

// ethCommits are the repositories of the data set as published here; others of the same
// course are read as well.
var ethCommits = map[string]string{
	"4PiR2/ETHZ_Cloud-Computing-Architecture_FS21_FS2021-cca-project": "ccc49bcefb2a",
	"Bruol/cloud-computing-architecture-project":                      "1f602bc2fad4",
	"Diekgbbtt/cloud-comp-arch-project":                               "b298e1b1e35c",
	"FFGGSSJJ/cloud-comp-arch":                                        "25f0b4d4195f",
	"JoelBucher/cloud-comp-arch-project":                              "a0a1e09ea3f0",
	"MarinoEisenegger/cloud-comp-arch-project":                        "07476604fe25",
	"TellToldTold/cloud-comp-arch-project":                            "f650aaf2d2c8",
	"ariskoutris/Cloud-Computing-Architecture-Project":                "324e5519d6a2",
	"asi345/Cloud-Computing-Architecture-Project":                     "70a957b9eeef",
	"ixsanpe/cca-project":                                             "0df566974287",
	"jenny011/cca-project12":                                          "f449c8f0f773",
	"josflesan/cca-project":                                           "fc83141aab48",
	"lorenzo-asquini/Cloud-Computing-Architecture-Project":            "3941bdf4bb17",
	"notsofun/cloud-comp-arch-project":                                "28da2a62a9d1",
	"yiqun-liu/cloud-comp-arch":                                       "fb0be33d13b1",
}

// ethKernel is one released iBench kernel as the course ran it.
type ethKernel struct {
	source    interference.Source
	placement string
	// doubt is why a workload that loses nothing under the kernel may not be
	// called robust; empty where the kernel presses as its name says.
	doubt string
	note  string
}

// ethKernels map the names of the data. The skeleton pins memcached and the
// kernels cpu, l1d, l1i and l2 to CPU 0, llc and membw to CPU 1 (its folder
// interference/). What a kernel does is from stanford-mast/iBench, src/.
var ethKernels = map[string]ethKernel{
	// cpu.cpp spins on the clock: no floating-point or vector work, so of our
	// sources it is int; most of its effect is the CPU time it takes.
	"cpu": {source: interference.Integer, placement: onSameCPUs, note: "the kernel spins on the same CPU: mostly stolen CPU time"},
	"l1d": {source: interference.L1Data, placement: onSameCPUs, doubt: ethTinyBuffer},
	// l1i.c runs long straight-line code that never sleeps.
	"l1i": {source: interference.L1Instruction, placement: onSameCPUs, note: "the kernel never sleeps on the same CPU: mostly stolen CPU time"},
	"l2":  {source: interference.L2Capacity, placement: onSameCPUs, doubt: ethTinyBuffer},
	// l3.c copies one half of a buffer of the size of the cache into the other.
	"llc": {source: interference.LLCCapacity, placement: onOtherCPUs,
		doubt: "early releases of the kernel took the cache size in KiB for bytes and exerted no pressure; which release ran is not stated",
		note:  "the other CPU may be a hardware thread of the same core"},
	// memBw.c streams over 16 MB with one thread.
	"membw": {source: interference.MemoryBandwidth, placement: onOtherCPUs, note: "one thread streams: not all of the machine's bandwidth",
		doubt: "one thread does not take all of the machine's bandwidth"},
}

// ethTinyBuffer: l1d.c and l2.c read the size in KiB, map as many bytes (32 for
// a cache of 32 KiB), and sleep after each copy of half of it.
const ethTinyBuffer = "the released kernel takes the cache size in KiB for bytes and exerts little pressure; no loss under it proves nothing"

func ethSet(repository string) profile.DataSet {
	license := "none stated"
	switch {
	case repository == "FFGGSSJJ/cloud-comp-arch":
		license = "MIT"
	case ethCommits[repository] == "":
		license = "not known"
	}
	return profile.DataSet{Name: ethName, Repository: repository, Commit: ethCommits[repository], License: license}
}

// ethProfile begins a profile of a group.
func ethProfile(repository, application string, parts ...string) profile.Profile {
	p := newProfile(ethSet(repository), application, parts...)
	if ethCommits[repository] == "" {
		p.Warnings = append(p.Warnings, ethUnknown)
	}
	return p
}

func ethGroup(repository string) string {
	if ethCommits[repository] == "" {
		return repository // of the known ones the owner tells them apart
	}
	owner, _, _ := strings.Cut(repository, "/")
	return owner
}

func ethRepository(r tables.Row) string {
	name := r.Text("source")
	checkRepository(r, name)
	return name
}

// checkRepository notes what is no name of a repository. A group of which we do not know the
// commit is as good a replication as any other; its profiles say so.
func checkRepository(r tables.Row, name string) {
	owner, rest, ok := strings.Cut(name, "/")
	if !ok || owner == "" || rest == "" || strings.Contains(rest, "/") {
		r.Problem("source", "a group is named by its repository, as in Bruol/cloud-computing-architecture-project", "%q is not owner/name", name)
	}
}

// ethUnknown is the warning of a profile of a group that is not in ethCommits.
const ethUnknown = "a group that this release does not know: neither the commit nor the license of its numbers is"

func ethInterference(r tables.Row) string {
	name := r.Text("interference")
	checkKernel(r, name)
	return name
}

func checkKernel(r tables.Row, name string) {
	if _, ok := ethKernels[name]; !ok && name != tables.NoKernel {
		r.Problem("interference", "known: "+tables.NoKernel+", "+strings.Join(slices.Sorted(maps.Keys(ethKernels)), ", "), "unknown source of interference %q", name)
	}
}

func readETH(r *reading) error {
	nodes := ethNodes(r.table("node_types"))
	readParsec(r, nodes)
	readParsecThreads(r, nodes)
	readMemcached(r, nodes)
	return nil
}

// ethNode is a machine of one group: part of the experiment and role.
type ethNode struct{ repository, part, group string }

// ethNodes reads the machine types; a group may not have stated any.
func ethNodes(t *table) map[ethNode]string {
	out := map[ethNode]string{}
	for _, r := range t.rows {
		out[ethNode{ethRepository(r), r.Text("experiment_part"), r.Text("node_group")}] = r.Text("gcp_machine_type")
	}
	t.take(len(t.rows))
	return out
}

// ethMachine is what is known of a group's machine. A group that did not state
// its type gets a configuration of its own: it must not be taken for another's.
func ethMachine(nodes map[ethNode]string, n ethNode) (profile.Machine, string) {
	if kind, ok := nodes[n]; ok {
		return profile.Machine{Configuration: "gcp/" + kind, Virtual: true}, ""
	}
	name := "gcp/not-stated/" + ethGroup(n.repository) + "/" + n.part
	return profile.Machine{Configuration: name, Virtual: true}, "the machine type is not stated: " + name + " is used for it"
}

// parsecKey is one PARSEC workload of one group.
type parsecKey struct{ repository, suite, app string }

func (k parsecKey) less(o parsecKey) int {
	return cmp.Or(cmp.Compare(k.repository, o.repository), cmp.Compare(k.suite, o.suite), cmp.Compare(k.app, o.app))
}

func parsecOf(r tables.Row) parsecKey {
	return parsecKey{ethRepository(r), r.Text("suite"), r.Text("app")}
}

func (k parsecKey) profile(kind string) profile.Profile {
	p := ethProfile(k.repository, "parsec-"+k.app, ethGroup(k.repository), k.suite, k.app, kind)
	p.Provenance.Input = "of the course's " + k.suite + "; its size is not stated"
	return p
}

// readParsec makes one profile per workload and group from run times under the
// kernels.
func readParsec(r *reading, nodes map[ethNode]string) {
	t := r.table("parsec_under_ibench")
	runs := map[parsecKey]map[string][]float64{} // runs/s by kernel
	seen := map[string]bool{}
	for _, row := range t.rows {
		before := r.problems.Count()
		run := tables.ParsecRunOf(row)
		checkRepository(row, run.Repository)
		checkKernel(row, run.Kernel)
		if r.problems.Count() > before {
			continue
		}
		k := parsecKey{run.Repository, run.Suite, run.Program}
		id := fmt.Sprint(k, run.Kernel, run.Repetition)
		if seen[id] {
			row.Problem("rep", "number the repetitions of a group", "repetition %d of %s under %s is given twice", run.Repetition, k.app, run.Kernel)
		}
		seen[id] = true
		if runs[k] == nil {
			runs[k] = map[string][]float64{}
		}
		runs[k][run.Kernel] = append(runs[k][run.Kernel], 1/run.Seconds)
	}
	if r.problems.Err() != nil {
		return
	}
	for _, k := range slices.SortedFunc(maps.Keys(runs), parsecKey.less) {
		parsecProfile(r, t, k, runs[k], nodes)
	}
}

func parsecProfile(r *reading, t *table, k parsecKey, runs map[string][]float64, nodes map[ethNode]string) {
	n := 0
	for _, list := range runs {
		n += len(list)
	}
	isolated := runs[tables.NoKernel]
	if len(isolated) == 0 {
		t.skip(n, "no run without pressure to compare with")
		return
	}
	p := k.profile("ibench")
	machine, warning := ethMachine(nodes, ethNode{k.repository, "part2a", "parsec"})
	if warning != "" {
		p.Warnings = append(p.Warnings, warning)
	}
	p.Machine = machine
	p.Isolated[machine.Configuration] = measurement(isolated, "runs/s")
	for _, name := range slices.Sorted(maps.Keys(ethKernels)) {
		on := runs[name]
		if len(on) == 0 {
			continue
		}
		kernel, c := ethKernels[name], compare(on, isolated)
		p.Ramp = append(p.Ramp, point(kernel.source, fullPressure, c, kernel.placement))
		p.Sensitivity.Tolerated[kernel.source] = kernel.tolerated(c)
	}
	ethFinish(&p, len(isolated))
	t.take(n)
	r.add(p)
}

// fullPressure is the one level of the released kernels.
const fullPressure = 100

func ethFinish(p *profile.Profile, repetitions int) {
	p.Provenance.Kernels = "iBench as released (stanford-mast/iBench), release not stated, one level"
	p.Provenance.Repetitions = repetitions
	p.Warnings = append(p.Warnings, "the pressure of the released kernels is not calibrated: intensity 100 is all they have")
	fewRuns(p)
}

// tolerated judges the one level there is. A loss at full pressure leaves the
// score anywhere below; no loss means 100 only where the kernel presses as it
// should and chance cannot explain it.
func (k ethKernel) tolerated(c comparison) interference.Estimate {
	e := interference.Estimate{Origin: interference.Measured}
	share := "keeps " + strconv.FormatFloat(100*c.ratio, 'f', 1, 64) + " % of its speed at full pressure"
	switch {
	case c.loss:
		e.Low, e.High = interference.Percent(0), interference.Percent(fullPressure)
		e.Note = share + ": the score is below 100, and no lower level was measured"
	case c.clean && k.doubt == "":
		e.Score = interference.Percent(fullPressure)
		e.Low, e.High = e.Score, e.Score
		e.Note = share + ", beyond chance: the bound is never broken"
	case c.clean:
		e.Note = share + ", but " + k.doubt
	default:
		e.Note = share + ": not distinguished from noise by " + plural(c.pairs, "run") + " each"
	}
	if k.note != "" {
		e.Note += "; " + k.note
	}
	return e
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}
