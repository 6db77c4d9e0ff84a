package foreign

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// gavelGPU: deep-learning training alone and in pairs that share their GPUs.
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
		{name: "solo_throughput", columns: []string{"gpu", "job_type", "scale_factor", "steps_per_s"}},
		{name: "pair_throughput", columns: []string{"gpu", "job_type_a", "scale_a", "job_type_b", "scale_b", "steps_per_s_a", "steps_per_s_b"}},
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

// gavelJob is a model with its batch size, on a number of GPUs.
type gavelJob struct {
	model string
	gpus  int
}

func (j gavelJob) less(o gavelJob) int {
	return cmp.Or(cmp.Compare(j.model, o.model), cmp.Compare(j.gpus, o.gpus))
}

func (j gavelJob) application() string { return fmt.Sprintf("%s x%d", j.model, j.gpus) }

func (j gavelJob) profile() profile.Profile {
	return newProfile(gavelSet, j.application(), j.model, "gpus-"+strconv.Itoa(j.gpus))
}

// maxGPUs bounds the numbers of GPUs that are believed.
const maxGPUs = 1024

// gavelConfiguration: workers that do not share a server are slower, so the
// source's suffix makes another configuration.
func gavelConfiguration(gpu string) string {
	if kind, spread := strings.CutSuffix(gpu, "_unconsolidated"); spread {
		return "gpu/" + kind + "/spread"
	}
	return "gpu/" + gpu
}

// gavelSpeeds are steps/s by job and configuration.
type gavelSpeeds map[gavelJob]map[string]float64

func readGavel(r *reading) error {
	speeds := readGavelSolo(r.table("solo_throughput"))
	if r.problems.err() != nil {
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
		before := t.problems.count()
		j := gavelJob{row.text("job_type"), row.count("scale_factor", 1, maxGPUs)}
		configuration, v := gavelConfiguration(row.text("gpu")), row.zeroOrMore("steps_per_s")
		if t.problems.count() > before {
			continue
		}
		if v == 0 {
			t.skip(1, gavelZero)
			continue
		}
		if speeds[j] == nil {
			speeds[j] = map[string]float64{}
		}
		if _, twice := speeds[j][configuration]; twice {
			row.problem("job_type", "", "%s on %s is given twice", j.application(), configuration)
		}
		speeds[j][configuration] = v
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

func readGavelPairs(r *reading, t *table, alone gavelSpeeds) {
	seen := map[gavelPairKey][2]float64{}
	for _, row := range t.rows {
		before := r.problems.count()
		k := gavelPairKey{
			gavelConfiguration(row.text("gpu")),
			gavelJob{row.text("job_type_a"), row.count("scale_a", 1, maxGPUs)},
			gavelJob{row.text("job_type_b"), row.count("scale_b", 1, maxGPUs)},
		}
		a, b := row.zeroOrMore("steps_per_s_a"), row.zeroOrMore("steps_per_s_b")
		if r.problems.count() > before {
			continue
		}
		if k.a.less(k.b) > 0 { // one order for both ways round
			k.a, k.b, a, b = k.b, k.a, b, a
		}
		if other, twice := seen[k]; twice {
			if other != [2]float64{a, b} {
				row.problem("steps_per_s_a", "", "%s with %s on %s is given twice with different numbers", k.a.application(), k.b.application(), k.configuration)
			}
			t.skip(1, gavelMirror)
			continue
		}
		seen[k] = [2]float64{a, b}
		aloneA, aloneB := alone[k.a][k.configuration], alone[k.b][k.configuration]
		switch {
		case a == 0 && b == 0:
			t.skip(1, gavelNoPair)
		case a == 0 || b == 0:
			t.skip(1, gavelHalf)
		case aloneA == 0 || aloneB == 0:
			t.skip(1, gavelNoSolo)
		default:
			t.take(1)
			r.pairs = append(r.pairs, gavelPair(k, [2]float64{a, b}, [2]float64{aloneA, aloneB}))
		}
	}
}

func gavelPair(k gavelPairKey, together, alone [2]float64) profile.Pair {
	set := gavelSet
	return profile.Pair{
		Format: profile.PairFormat, Placement: onSameCPUs, Pairs: 1, DataSet: &set,
		Machine: profile.Machine{Configuration: k.configuration},
		A:       gavelSide(k.a, together[0], alone[0]),
		B:       gavelSide(k.b, together[1], alone[1]),
		Warnings: []string{
			undatedPair,
			"both sides share the GPUs, not CPUs; the source may have cut ratios above 1",
			"measured once: the intervals say nothing (0 to twice the value)",
		},
	}
}

const undatedPair = "measured by others at a time the data do not state; see data_set"

func gavelSide(j gavelJob, together, alone float64) profile.PairSide {
	ratio := together / alone
	return profile.PairSide{
		Key: j.profile().Key, Application: j.application(),
		Isolated: measurement([]float64{alone}, "steps/s"), Together: measurement([]float64{together}, "steps/s"),
		Ratio: round(ratio), Low: 0, High: round(2 * ratio),
	}
}
