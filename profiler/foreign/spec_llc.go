package foreign

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// specLLC: SPEC CPU2006 on a Skylake-SP whose last-level cache was cut by cache
// allocation, with the hardware prefetchers on or off.
var specLLC = Format{
	Name:  "spec-llc-sensitivity",
	Title: "SPEC CPU2006 at five sizes of the last-level cache, prefetchers on and off",
	Takes: []string{
		"cycles per instruction by cache size: speed (instructions/cycle), a ramp of llc_cap with intensity 100·(1 − size/full), and its tolerated score where the speed crosses 95 %",
	},
	Leaves: []string{
		"memory traffic per instruction: without clock and peak it is no share of the bandwidth, so no caused score",
		"misses per instruction and counters of another machine: no speed under pressure",
	},
	License: "GPL-3.0 (agusnt/Xeon-SP_Memory_Characterization_SPEC-CPU-2K6-2K17); none stated (ananduri9/SPEC-CPU-Cache-Benchmark-Data, not read)",
	tables: []tableSpec{
		{Spec: tables.Spec{Name: "cpu2006_llc_sweep", Columns: []string{"suite", "benchmark", "prefetch", "llc_MB", "cpi"}}},
		{Spec: tables.Spec{Name: "cpu2006_bandwidth", Columns: []string{"suite", "benchmark", "prefetchers_enabled", "bytes_per_kilo_instr_total"}},
			leave: "memory traffic per instruction, without clock and peak: no share of the bandwidth"},
		{Spec: tables.Spec{Name: "cpu2006_mpki", Columns: []string{"suite", "benchmark", "mpki_l1", "mpki_l2", "mpki_l3"}}, leave: "misses per instruction: no speed under pressure"},
		{Spec: tables.Spec{Name: "haswell_perf_counters", Columns: []string{"benchmark", "year", "size", "cycles", "instructions"}},
			leave: "counters of runs in isolation with other inputs on another machine: not the same workloads"},
	},
	read: readSPEC,
}

var specSet = profile.DataSet{
	Name: "spec-llc-sensitivity", Repository: "agusnt/Xeon-SP_Memory_Characterization_SPEC-CPU-2K6-2K17",
	Commit: "903d6b6bb87e", License: "GPL-3.0",
}

// specKey is one benchmark with one input, under one prefetcher setting.
type specKey struct{ suite, benchmark, prefetch string }

func (k specKey) less(o specKey) int {
	return cmp.Or(cmp.Compare(k.suite, o.suite), cmp.Compare(k.benchmark, o.benchmark), cmp.Compare(k.prefetch, o.prefetch))
}

func readSPEC(r *reading) error {
	t := r.table("cpu2006_llc_sweep")
	speeds := map[specKey]map[float64]float64{} // instructions/cycle by MB of cache
	for _, row := range t.rows {
		before := r.problems.Count()
		k := specKey{row.Text("suite"), row.Text("benchmark"), row.Text("prefetch")}
		if k.prefetch != "on" && k.prefetch != "off" {
			row.Problem("prefetch", "on or off is expected", "%q is not possible", k.prefetch)
		}
		size, cpi := row.Positive("llc_MB"), row.Positive("cpi")
		if r.problems.Count() > before {
			continue
		}
		if speeds[k] == nil {
			speeds[k] = map[float64]float64{}
		}
		if _, twice := speeds[k][size]; twice {
			row.Problem("llc_MB", "", "%s with prefetch %s at %v MB is given twice", k.benchmark, k.prefetch, size)
		}
		speeds[k][size] = 1 / cpi
	}
	if r.problems.Err() != nil {
		return nil
	}
	for _, k := range slices.SortedFunc(maps.Keys(speeds), specKey.less) {
		if len(speeds[k]) < 2 {
			t.skip(len(speeds[k]), "one cache size only: nothing to compare with")
			continue
		}
		t.take(len(speeds[k]))
		r.add(specProfile(k, speeds[k]))
	}
	return nil
}

// specProfile turns sizes into pressure: what is cut off is what a co-runner
// would hold. The largest size is the whole cache.
func specProfile(k specKey, speeds map[float64]float64) profile.Profile {
	sizes := slices.Sorted(maps.Keys(speeds))
	slices.Reverse(sizes)
	full := sizes[0]
	p := newProfile(specSet, "spec"+k.suite+"-"+k.benchmark, "cpu"+k.suite, k.benchmark, "prefetch-"+k.prefetch)
	p.Machine = profile.Machine{
		Configuration: fmt.Sprintf("skylake-sp/llc-%v-MB/prefetch-%s", full, k.prefetch),
		CPUModel:      "Intel Xeon Scalable (Skylake-SP)",
	}
	p.Isolated[p.Machine.Configuration] = measurement([]float64{speeds[full]}, "instructions/cycle")
	var levels []level
	for _, size := range sizes[1:] {
		x, ratio := 100*(1-size/full), speeds[size]/speeds[full]
		rounded := round(ratio)
		p.Ramp = append(p.Ramp, profile.RampPoint{
			Source: interference.LLCCapacity, IntensityPercent: round(x), Pairs: 1, WorkloadRatio: &rounded,
		})
		levels = append(levels, level{x, ratio})
	}
	p.Sensitivity.Tolerated[interference.LLCCapacity] = crossing(levels)
	p.Provenance.Repetitions = 1
	p.Warnings = append(p.Warnings,
		"the cache was limited by allocation, not occupied by a kernel: there is no pressure on bandwidth",
		"speeds are per cycle and printed with two digits: a ratio may be off by 2 %")
	fewRuns(&p)
	return p
}

// level is the speed at one intensity, as a share of that at rest.
type level struct{ percent, ratio float64 }

// crossing is the tolerated score of a curve, levels ascending: where the line
// between the last level within the bound and the first beyond it crosses the
// bound (Delimitrou 2015, §3.3.2, on a grid). A curve that never crosses tolerates
// at least the highest level measured; that is its score, for more was not seen.
func crossing(levels []level) interference.Estimate {
	e := interference.Estimate{Origin: interference.Measured}
	last := level{percent: 0, ratio: 1}
	for _, l := range levels {
		if l.ratio < keeps {
			at := last.percent + (l.percent-last.percent)*(last.ratio-keeps)/(last.ratio-l.ratio)
			e.Score, e.Low, e.High = interference.Percent(round(at)), interference.Percent(round(last.percent)), interference.Percent(round(l.percent))
			e.Note = "on the line between two levels; low and high are the levels"
			return e
		}
		last = l
	}
	e.Score, e.Low, e.High = interference.Percent(round(last.percent)), interference.Percent(round(last.percent)), interference.Percent(100)
	e.Note = "at least: no loss at the highest level measured, " + strconv.FormatFloat(round(last.percent), 'f', 1, 64) + " %"
	return e
}
