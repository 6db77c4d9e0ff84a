package dataset

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

var c3oReader = Reader{
	Name:    "c3o-spark",
	Summary: "Spark jobs by machine type, cluster size and input, five runs each",
	Source:  "dos-group/c3o-experiments (Will 2020)",
	Read:    readC3O,
}

// c3oFiles are the jobs; what else differs between their rows is input.
var c3oFiles = []string{"grep.csv.gz", "sgd.csv.gz", "sort.csv.gz"}

// c3oCounts are the measured numbers of nodes.
var c3oCounts = []string{"2", "4", "6", "8", "10", "12"}

// readC3O makes three matrices: by number of nodes, twice with different counts
// shown (a workload is a job, its input and a machine type), by machine type (a workload is a job, its input and
// a number of nodes), and by both at once.
func readC3O(folder fs.FS) ([]Set, error) {
	out := newTable(Set{Name: "c3o by count, 2 and 4 shown", Kind: ScaleOut, Ratio: true, Columns: c3oCounts, Probes: [][]int{{0}, {1}}})
	machine := newTable(Set{Name: "c3o by machine", Kind: Heterogeneity, Ratio: true})
	both := newTable(Set{Name: "c3o by machine and count", Kind: Exhaustive, Ratio: true})
	for _, name := range c3oFiles {
		job := strings.TrimSuffix(name, ".csv.gz")
		err := each(folder, name, []string{"instance_count", "machine_type", "gross_runtime"}, func(f *file) error {
			seconds, err := f.positive("gross_runtime")
			if err != nil {
				return err
			}
			count, ok := f.whole("instance_count")
			if !ok {
				return fmt.Errorf("%s: %w: instance_count is %q", f.where(), ErrFormat, f.text("instance_count"))
			}
			nodes, kind, input := strconv.Itoa(count), f.text("machine_type"), job+" "+f.input()
			out.add(input+" on "+kind, job, nodes, 1/seconds)
			machine.add(input+" on "+nodes, job, kind, 1/seconds)
			both.add(input, job, kind+"×"+nodes, 1/seconds)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	near := out.finish(leastKnown, &skips{})
	far := near
	far.Name, far.Probes = "c3o by count, 2 and 8 shown", [][]int{{0}, {3}}
	return []Set{near, far, machine.finish(3, &skips{}), both.finish(9, &skips{})}, nil
}

// input joins the fields that describe a C3O job's input.
func (f *file) input() string {
	var parts []string
	for j, column := range f.header {
		switch column {
		case "instance_count", "machine_type", "slots", "memory", "gross_runtime":
		default:
			parts = append(parts, column+"="+f.record[j])
		}
	}
	return strings.Join(parts, " ")
}
