package dataset

import (
	"fmt"
	"io/fs"
	"strings"
)

var gavelReader = Reader{
	Name:    "gavel-gpu-colocation",
	Summary: "training jobs on three GPU types, and co-located on one",
	Source:  "stanford-futuredata/gavel (Narayanan 2020)",
	Read:    readGavel,
}

// readGavel makes a matrix of speeds by GPU type (a workload is a model, a batch
// size and a number of GPUs), and one per GPU type of what is left of a job's
// speed beside another, in percent; the column is the other job. A pair without
// throughput did not fit in memory together or was never run; it is skipped.
func readGavel(folder fs.FS) ([]Set, error) {
	speed := newTable(Set{Name: "gavel by GPU", Kind: Heterogeneity, Ratio: true})
	alone := map[string]float64{}
	var skipped skips
	err := each(folder, "solo_throughput.csv.gz", []string{"gpu", "job_type", "scale_factor", "steps_per_s"}, func(f *file) error {
		if strings.HasSuffix(f.text("gpu"), "_unconsolidated") {
			skipped.add("workers spread over servers", f.where())
			return nil
		}
		rate, err := f.number("steps_per_s")
		if err != nil {
			return err
		}
		if rate <= 0 {
			skipped.add("no throughput", f.where())
			return nil
		}
		job := fmt.Sprintf("%s × %s", f.text("job_type"), f.text("scale_factor"))
		alone[f.text("gpu")+" "+job] = rate
		speed.add(job, modelOf(job), f.text("gpu"), rate)
		return nil
	})
	if err != nil {
		return nil, err
	}
	sets := []Set{speed.finish(leastScores, &skipped)}
	pairs, err := gavelPairs(folder, alone)
	return append(sets, pairs...), err
}

func gavelPairs(folder fs.FS, alone map[string]float64) ([]Set, error) {
	tables, skipped := map[string]*table{}, map[string]*skips{}
	var order []string
	wanted := []string{"gpu", "job_type_a", "scale_a", "job_type_b", "scale_b", "steps_per_s_a", "steps_per_s_b"}
	err := each(folder, "pair_throughput.csv.gz", wanted, func(f *file) error {
		gpu := f.text("gpu")
		if tables[gpu] == nil {
			tables[gpu], skipped[gpu] = newTable(Set{Name: "gavel beside each other on " + gpu, Kind: Interference}), &skips{}
			order = append(order, gpu)
		}
		a, b := f.text("job_type_a")+" × "+f.text("scale_a"), f.text("job_type_b")+" × "+f.text("scale_b")
		for side, other := range map[string]string{a: b, b: a} {
			suffix := "_a"
			if side == b {
				suffix = "_b"
			}
			rate, err := f.number("steps_per_s" + suffix)
			if err != nil {
				return err
			}
			solo, ok := alone[gpu+" "+side]
			if rate <= 0 || !ok {
				skipped[gpu].add("no throughput co-located or in isolation", f.where())
				continue
			}
			tables[gpu].add(side, modelOf(side), other, min(100, 100*rate/solo))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var sets []Set
	for _, gpu := range order {
		sets = append(sets, tables[gpu].finish(leastKnown, skipped[gpu]))
	}
	return sets, nil
}

// modelOf is a job without batch size and number of GPUs.
func modelOf(job string) string {
	model, _, _ := strings.Cut(job, " (")
	return model
}
