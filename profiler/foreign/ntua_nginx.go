package foreign

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// ntuaNginx: nginx at fixed loads next to 1 to 4 pods that use one resource
// or on a mix.
var ntuaNginx = Format{
	Name:  "ntua-nginx-ibench-pcm",
	Title: "nginx latency next to iBench and stress-ng pods, by load and replicas",
	Takes: []string{
		"pods of one kind: a ramp of int (CPU), llc_cap (stress-ng l3) and mem_bw, intensity 25 per pod; the ratio is p99 in isolation over p99 next to the pods, the median over the offered loads; no score, for this is not the kernels' scale",
	},
	Leaves: []string{
		"mixes of pods: not a level of one source",
		"the speed in isolation: every load offered was served, so the capacity is not known",
		"the hardware counters: the profile format has no place for them",
	},
	License: "none stated",
	tables: []tableSpec{{Spec: tables.Spec{Name: "nginx_ibench", Columns: []string{
		"campaign", "replicas", "interference", "rps_offered", "rps_served", "p99_ms", "errors"}}}},
	read: readNTUA,
}

var ntuaSet = profile.DataSet{
	Name: "ntua-nginx-ibench-pcm", Repository: "georgakopoulosgeo/Interference_Thesis_NTUA", Commit: "b869279bcc93", License: "none stated",
}

const (
	ntuaMixed      = "a mix of pods: not a level of one source"
	ntuaErrors     = "requests failed: the latency is of the others only"
	ntuaNoBaseline = "no run without pods at the same load in the campaign"
	ntuaUnused     = "no run of one kind of pods in the campaign to compare with"
)

// ntuaPodPercent is the intensity of a pod: four are the most there were, on a
// node of three cores.
const ntuaPodPercent = 25

// ntuaMaxPods is the most pods of one kind.
const ntuaMaxPods = 4

// ntuaKinds map the pods' names: stress-ng's cache stressor stands in for the
// kernel of the last-level cache.
var ntuaKinds = map[string]interference.Source{
	"iBench_CPU":   interference.Integer,
	"stress-ng_l3": interference.LLCCapacity,
	"iBench_memBW": interference.MemoryBandwidth,
}

// ntuaMixParts are the names inside a mix, such as 1_CPU_2_L3.
var ntuaMixParts = []string{"CPU", "L3", "MemBW"}

// pods is what ran next to nginx: none, or a number of one kind. ok is false for
// a name that is neither that nor a mix.
func pods(name string) (source interference.Source, count int, mixed, ok bool) {
	if strings.HasPrefix(name, "Baseline") {
		return "", 0, false, true
	}
	number, rest, found := strings.Cut(name, "_")
	n, err := strconv.Atoi(number)
	if !found || err != nil || n < 1 || n > ntuaMaxPods {
		return "", 0, false, false
	}
	kind := strings.TrimSuffix(strings.TrimSuffix(rest, "_pods"), "_pod")
	if source, known := ntuaKinds[kind]; known && kind != rest {
		return source, n, false, true
	}
	parts := strings.Split(name, "_")
	for i, p := range parts {
		_, err := strconv.Atoi(p)
		if (i%2 == 0) != (err == nil) || i%2 == 1 && !slices.Contains(ntuaMixParts, p) {
			return "", 0, false, false
		}
	}
	return "", 0, true, len(parts)%2 == 0
}

// ntuaKey is one deployment of nginx in one campaign.
type ntuaKey struct{ campaign, replicas string }

func (k ntuaKey) less(o ntuaKey) int {
	return cmp.Or(cmp.Compare(k.campaign, o.campaign), cmp.Compare(k.replicas, o.replicas))
}

// ntuaPressure is what ran next to it; the zero value is nothing.
type ntuaPressure struct {
	source interference.Source
	pods   int
}

// ntuaTails are the p99 in ms by pressure and offered load.
type ntuaTails map[ntuaPressure]map[float64][]float64

func readNTUA(r *reading) error {
	t := r.table("nginx_ibench")
	campaigns := map[ntuaKey]ntuaTails{}
	for _, row := range t.rows {
		k := ntuaKey{row.Text("campaign"), row.Text("replicas")}
		name := row.Text("interference")
		source, count, mixed, ok := pods(name)
		if !ok {
			row.Problem("interference", "known are Baseline…, 1 to 4 pods of "+strings.Join(slices.Sorted(maps.Keys(ntuaKinds)), ", ")+", and mixes like 1_CPU_2_L3", "unknown source of interference %q", name)
		}
		load, tail, failed := row.Positive("rps_offered"), row.Positive("p99_ms"), row.ZeroOrMore("errors")
		row.ZeroOrMore("rps_served")
		switch {
		case mixed:
			t.skip(1, ntuaMixed)
			continue
		case failed > 0:
			t.skip(1, ntuaErrors)
			continue
		}
		if campaigns[k] == nil {
			campaigns[k] = ntuaTails{}
		}
		at := ntuaPressure{source, count}
		if campaigns[k][at] == nil {
			campaigns[k][at] = map[float64][]float64{}
		}
		campaigns[k][at][load] = append(campaigns[k][at][load], tail)
	}
	if r.problems.Err() != nil {
		return nil
	}
	for _, k := range slices.SortedFunc(maps.Keys(campaigns), ntuaKey.less) {
		ntuaProfile(r, t, k, campaigns[k])
	}
	return nil
}

func ntuaProfile(r *reading, t *table, k ntuaKey, tails ntuaTails) {
	p := newProfile(ntuaSet, "nginx", k.campaign, "nginx", "replicas-"+k.replicas)
	p.Machine = profile.Machine{Configuration: "ntua-nuc/3-cores", Virtual: true}
	isolated := tails[ntuaPressure{}]
	pressures := slices.SortedFunc(maps.Keys(tails), func(a, b ntuaPressure) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.pods, b.pods))
	})
	for _, at := range pressures {
		if at.pods == 0 {
			continue
		}
		c, taken, left := overLoads(tails[at], isolated)
		t.take(taken)
		t.skip(left, ntuaNoBaseline)
		if taken == 0 {
			continue
		}
		p.Ramp = append(p.Ramp, point(at.source, float64(ntuaPodPercent*at.pods), c, notStatedCPU))
		p.Sensitivity.Tolerated[at.source] = interference.Estimate{
			Note: "pressure is counted in pods, not in percent of the resource: no score",
		}
	}
	baselines := 0
	for _, runs := range isolated {
		baselines += len(runs)
	}
	if len(p.Ramp) == 0 {
		t.skip(baselines, ntuaUnused)
		return
	}
	t.take(baselines)
	p.Provenance.Kernels = "pods of iBench (CPU, memBW) and stress-ng (l3), releases not stated"
	p.Provenance.Repetitions = 1
	p.Warnings = append(p.Warnings,
		"a ratio is p99 in isolation over p99 next to the pods, at the same offered load; the median over the loads",
		"the speed in isolation is not known: every load offered was served")
	r.add(p)
}

// overLoads compares load by load and takes the median of the ratios, with its
// interval from 6 loads on. left counts the runs without a partner.
func overLoads(on, isolated map[float64][]float64) (c comparison, taken, left int) {
	var logs []float64
	for _, load := range slices.Sorted(maps.Keys(on)) {
		if len(isolated[load]) == 0 {
			left += len(on[load])
			continue
		}
		taken += len(on[load])
		logs = append(logs, math.Log(stat.Median(isolated[load])/stat.Median(on[load])))
	}
	if len(logs) == 0 {
		return c, taken, left
	}
	s := stat.Exp(stat.MedianInterval(logs, confidence))
	c.ratio, c.pairs = round(s.Center), len(logs)
	if len(logs) >= minIntervalRuns {
		low, high := round(s.Low), round(s.High)
		c.low, c.high = &low, &high
	}
	return c, taken, left
}
