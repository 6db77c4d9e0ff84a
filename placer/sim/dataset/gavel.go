package dataset

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
)

var gavelReader = Reader{
	Name:    "gavel-gpu-colocation",
	Summary: "training jobs on three GPU types, and co-located on one",
	Source:  "stanford-futuredata/gavel (Narayanan 2020)",
	Read:    readGavel,
}

// readGavel makes a matrix of speeds by GPU type (a workload is a model, a batch
// size and a number of GPUs), and one per GPU type of what is left of a job's
// speed next to another, in percent; the column is the other job. A pair without
// throughput did not fit in memory together or was never run; it is skipped.
func readGavel(folder fs.FS) ([]Set, error) {
	speed := newTable(Set{Name: "gavel by GPU", Kind: Heterogeneity, Ratio: true})
	isolated := map[gavelPlace]float64{}
	var skipped skips
	err := each(folder, tables.GavelSolo, &skipped, func(row tables.Row) {
		run := tables.GavelSoloOf(row)
		switch {
		case run.GPU.Spread:
			skipped.add("workers spread over servers", row.Where())
		case run.StepsPerSec == 0:
			skipped.add("no throughput", row.Where())
		default:
			isolated[gavelPlace{run.GPU, run.Job}] = run.StepsPerSec
			speed.add(jobName(run.Job), modelOf(run.Job), run.GPU.Kind, run.StepsPerSec)
		}
	})
	if err != nil {
		return nil, err
	}
	sets := []Set{speed.finish(leastScores, &skipped)}
	pairs, err := gavelPairs(folder, isolated)
	return append(sets, pairs...), err
}

// gavelPlace is a job on a type of GPU.
type gavelPlace struct {
	gpu tables.GavelGPU
	job tables.GavelJob
}

func gavelPairs(folder fs.FS, isolated map[gavelPlace]float64) ([]Set, error) {
	sets, skipped := map[string]*table{}, map[string]*skips{}
	var order []string
	var copies skips
	err := each(folder, tables.GavelPairs, &copies, func(row tables.Row) {
		run := tables.GavelPairOf(row)
		gpu := run.GPU.Kind
		if sets[gpu] == nil {
			sets[gpu], skipped[gpu] = newTable(Set{Name: "gavel beside each other on " + gpu, Kind: Interference}), &skips{}
			order = append(order, gpu)
		}
		for i, job := range run.Jobs {
			other, rate := run.Jobs[1-i], run.StepsPerSec[i]
			if i == 0 && job == other {
				continue // two of the same job are one cell
			}
			solo, ok := isolated[gavelPlace{run.GPU, job}]
			if rate == 0 || !ok {
				skipped[gpu].add("no throughput co-located or in isolation", row.Where())
				continue
			}
			sets[gpu].add(jobName(job), modelOf(job), jobName(other), min(100, 100*rate/solo))
		}
	})
	if err != nil {
		return nil, err
	}
	var out []Set
	for _, gpu := range order {
		*skipped[gpu] = append(*skipped[gpu], copies...)
		out = append(out, sets[gpu].finish(leastKnown, skipped[gpu]))
	}
	return out, nil
}

func jobName(j tables.GavelJob) string { return fmt.Sprintf("%s × %d", j.Model, j.GPUs) }

// modelOf is a job without batch size and number of GPUs.
func modelOf(j tables.GavelJob) string {
	model, _, _ := strings.Cut(jobName(j), " (")
	return model
}
