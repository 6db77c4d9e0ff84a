package dataset

import (
	"fmt"
	"io/fs"
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
)

var lumosReader = Reader{
	Name:    "lumos-cloud-perf",
	Summary: "Hadoop, Spark and Hive on the machine types of two clouds, three runs each",
	Source:  "jind5182/lumos-dataset",
	Read:    readLumos,
}

// readLumos makes one matrix per cloud and campaign: the two campaigns repeat
// the same workloads at another date, so that one would give the other away; it
// is each row's Again. A workload is a program with a framework and an input
// size; its group is the program.
func readLumos(folder fs.FS) ([]Set, error) {
	sets, skipped := map[string]*table{}, map[string]*skips{}
	var order, clouds []string
	var copies skips
	err := each(folder, tables.LumosRuns.With(tables.LumosCampaign), &copies, func(row tables.Row) {
		run := tables.LumosRunOf(row)
		campaign := fmt.Sprintf("lumos %s, %s s", run.Cloud, row.Text(tables.LumosCampaign))
		if sets[campaign] == nil {
			sets[campaign], skipped[campaign] = newTable(Set{Name: campaign, Kind: Heterogeneity, Ratio: true}), &skips{}
			order, clouds = append(order, campaign), append(clouds, run.Cloud)
		}
		if !run.Completed {
			skipped[campaign].add("the run did not complete", row.Where())
			return
		}
		group := run.Framework + " " + run.Workload
		sets[campaign].add(group+" "+run.Size, group, run.Machine, 1/run.Seconds)
	})
	if err != nil {
		return nil, err
	}
	var out []Set
	for _, campaign := range order {
		*skipped[campaign] = append(*skipped[campaign], copies...)
		out = append(out, sets[campaign].finish(leastKnown, skipped[campaign]))
	}
	for i := range out {
		for k := range out {
			if i != k && clouds[i] == clouds[k] {
				measuredAgain(&out[i], out[k])
			}
		}
	}
	return out, nil
}

// measuredAgain notes what other says of the rows of set.
func measuredAgain(set *Set, other Set) {
	rows := map[string]Row{}
	for _, row := range other.Rows {
		rows[row.Name] = row
	}
	for i := range set.Rows {
		row := &set.Rows[i]
		twin, ok := rows[row.Name]
		if !ok {
			continue
		}
		row.Again = make([]float64, len(set.Columns))
		for j, column := range set.Columns {
			row.Again[j] = math.NaN()
			if k := slices.Index(other.Columns, column); k >= 0 {
				row.Again[j] = Median(twin.Cells[k])
			}
		}
	}
}

// leastKnown is how many columns a row must be known in: two are shown, and
// best found among fewer than four is no test (chosen by us).
const leastKnown = 4
