package foreign

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// gavelGPU: deep-learning training in isolation and in pairs that share their GPUs.
var gavelGPU = Format{
	Name:  "gavel-gpu-colocation",
	Title: "Training jobs in isolation and in pairs on K80, P100 and V100 GPUs",
	Takes: []string{
		"in isolation: speed by GPU type (steps/s), one profile per job and number of GPUs; workers spread over servers are a configuration of their own",
		"pairs: the slowdown of both sides on the same GPUs",
	},
	Leaves: []string{
		"zero throughputs: no measurement, or a pair that does not fit in memory",
		"a pair given a second time the other way round",
		"scale-up by cores: a GPU is not a core",
	},
	License: "MIT",
	tables: []tableSpec{
		{Spec: tables.GavelSolo},
		{Spec: tables.GavelPairs},
	},
	read: readGavel,
}

var gavelSet = profile.DataSet{
	Name: "gavel-gpu-colocation", Repository: "stanford-futuredata/gavel", Commit: "c4fa40097339", License: "MIT (Copyright 2020 Stanford Future Data Systems)",
}

const (
	gavelZero   = "no throughput in isolation in the source"
	gavelNoPair = "no throughput together: they do not fit in memory, or were not run"
	gavelHalf   = "no throughput of one side together"
	gavelNoSolo = "no throughput in isolation of one side to compare with"
	gavelMirror = "the same pair the other way round"
)

// gavelJob makes profiles of jobs.
type gavelJob struct{ tables.GavelJob }

func (j gavelJob) less(o gavelJob) int {
	return cmp.Or(cmp.Compare(j.Model, o.Model), cmp.Compare(j.GPUs, o.GPUs))
}

func (j gavelJob) application() string { return fmt.Sprintf("%s x%d", j.Model, j.GPUs) }

func (j gavelJob) profile() profile.Profile {
	return newProfile(gavelSet, j.application(), j.Model, "gpus-"+strconv.Itoa(j.GPUs))
}

// gavelConfiguration: workers that do not share a server are slower, so they make
// another configuration.
func gavelConfiguration(gpu tables.GavelGPU) string {
	if gpu.Spread {
		return "gpu/" + gpu.Kind + "/spread"
	}
	return "gpu/" + gpu.Kind
}

// gavelSpeeds are steps/s by job and configuration.
type gavelSpeeds map[gavelJob]map[string]float64

func readGavel(r *reading) error {
	speeds := readGavelSolo(r.table("solo_throughput"))
	if r.problems.Err() != nil {
		return nil
	}
	for _, j := range slices.SortedFunc(maps.Keys(speeds), gavelJob.less) {
		r.add(gavelProfile(j, speeds[j]))
	}
	readGavelPairs(r, r.table("pair_throughput"), speeds)
	return nil
}

func readGavelSolo(t *table) gavelSpeeds {
	speeds := gavelSpeeds{}
	for _, row := range t.rows {
		before := t.problems.Count()
		run := tables.GavelSoloOf(row)
		if t.problems.Count() > before {
			continue
		}
		j, configuration := gavelJob{run.Job}, gavelConfiguration(run.GPU)
		if run.StepsPerSec == 0 {
			t.skip(1, gavelZero)
			continue
		}
		if speeds[j] == nil {
			speeds[j] = map[string]float64{}
		}
		if _, twice := speeds[j][configuration]; twice {
			row.Problem("job_type", "", "%s on %s is given twice", j.application(), configuration)
		}
		speeds[j][configuration] = run.StepsPerSec
		t.take(1)
	}
	return speeds
}

func gavelProfile(j gavelJob, speeds map[string]float64) profile.Profile {
	p := j.profile()
	configurations := slices.Sorted(maps.Keys(speeds))
	for _, c := range configurations {
		p.Isolated[c] = measurement([]float64{speeds[c]}, "steps/s")
	}
	p.Machine = profile.Machine{Configuration: configurations[0]}
	p.Provenance.Repetitions = 1
	fewRuns(&p)
	return p
}

// gavelPairKey is a pair in one order.
type gavelPairKey struct {
	configuration string
	a, b          gavelJob
}

func readGavelPairs(r *reading, t *table, isolated gavelSpeeds) {
	seen := map[gavelPairKey][2]float64{}
	for _, row := range t.rows {
		before := r.problems.Count()
		run := tables.GavelPairOf(row)
		if r.problems.Count() > before {
			continue
		}
		k := gavelPairKey{gavelConfiguration(run.GPU), gavelJob{run.Jobs[0]}, gavelJob{run.Jobs[1]}}
		a, b := run.StepsPerSec[0], run.StepsPerSec[1]
		if k.a.less(k.b) > 0 { // one order for both ways round
			k.a, k.b, a, b = k.b, k.a, b, a
		}
		if other, twice := seen[k]; twice {
			if other != [2]float64{a, b} {
				row.Problem("steps_per_s_a", "", "%s with %s on %s is given twice with different numbers", k.a.application(), k.b.application(), k.configuration)
			}
			t.skip(1, gavelMirror)
			continue
		}
		seen[k] = [2]float64{a, b}
		isolatedA, isolatedB := isolated[k.a][k.configuration], isolated[k.b][k.configuration]
		switch {
		case a == 0 && b == 0:
			t.skip(1, gavelNoPair)
		case a == 0 || b == 0:
			t.skip(1, gavelHalf)
		case isolatedA == 0 || isolatedB == 0:
			t.skip(1, gavelNoSolo)
		default:
			t.take(1)
			r.pairs = append(r.pairs, gavelPair(k, [2]float64{a, b}, [2]float64{isolatedA, isolatedB}))
		}
	}
}

func gavelPair(k gavelPairKey, together, isolated [2]float64) profile.Pair {
	set := gavelSet
	return profile.Pair{
		Format: profile.PairFormat, Placement: onSameCPUs, Pairs: 1, DataSet: &set,
		Machine: profile.Machine{Configuration: k.configuration},
		A:       gavelSide(k.a, together[0], isolated[0]),
		B:       gavelSide(k.b, together[1], isolated[1]),
		Warnings: []string{
			undatedPair,
			"both sides share the GPUs, not CPUs; the source may have cut ratios above 1",
			"measured once: the intervals say nothing (0 to twice the value)",
		},
	}
}

const undatedPair = "measured by others at a time the data do not state; see data_set"

func gavelSide(j gavelJob, together, isolated float64) profile.PairSide {
	ratio := together / isolated
	return profile.PairSide{
		Key: j.profile().Key, Application: j.application(),
		Isolated: measurement([]float64{isolated}, "steps/s"), Together: measurement([]float64{together}, "steps/s"),
		Ratio: round(ratio), Low: 0, High: round(2 * ratio),
	}
}
