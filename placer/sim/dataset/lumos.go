package dataset

import (
	"fmt"
	"io/fs"
	"math"
	"slices"
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
	const name = "runs_alibaba_huawei.csv.gz"
	tables, skipped := map[string]*table{}, map[string]*skips{}
	var order, clouds []string
	err := each(folder, name, []string{"cloud", "sar_interval_s", "vm_type", "framework", "workload", "datasize", "completed", "elapsed_s"}, func(f *file) error {
		campaign := fmt.Sprintf("lumos %s, %s s", f.text("cloud"), f.text("sar_interval_s"))
		if tables[campaign] == nil {
			tables[campaign], skipped[campaign] = newTable(Set{Name: campaign, Kind: Heterogeneity, Ratio: true}), &skips{}
			order, clouds = append(order, campaign), append(clouds, f.text("cloud"))
		}
		if f.text("completed") != "1" {
			skipped[campaign].add("the run did not complete", f.where())
			return nil
		}
		seconds, err := f.positive("elapsed_s")
		if err != nil {
			return err
		}
		group := f.text("framework") + " " + f.text("workload")
		tables[campaign].add(group+" "+f.text("datasize"), group, f.text("vm_type"), 1/seconds)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var sets []Set
	for _, campaign := range order {
		sets = append(sets, tables[campaign].finish(leastKnown, skipped[campaign]))
	}
	for i := range sets {
		for k := range sets {
			if i != k && clouds[i] == clouds[k] {
				measuredAgain(&sets[i], sets[k])
			}
		}
	}
	return sets, nil
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
