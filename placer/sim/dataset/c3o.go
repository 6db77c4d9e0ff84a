package dataset

import (
	"io/fs"
	"strconv"
	"strings"

	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
)

var c3oReader = Reader{
	Name:    "c3o-spark",
	Summary: "Spark jobs by machine type, cluster size and input, five runs each",
	Source:  "dos-group/c3o-experiments (Will 2020)",
	Read:    readC3O,
}

// c3oJobs are the jobs; what else differs between their rows is input.
var c3oJobs = []string{"grep", "sgd", "sort"}

// c3oCounts are the measured numbers of nodes.
var c3oCounts = []string{"2", "4", "6", "8", "10", "12"}

// readC3O makes three matrices: by number of nodes, twice with different counts
// shown (a workload is a job, its input and a machine type), by machine type (a workload is a job, its input and
// a number of nodes), and by both at once. Repetitions are not numbered and in whole seconds:
// equal rows are measurements.
func readC3O(folder fs.FS) ([]Set, error) {
	out := newTable(Set{Name: "c3o by count, 2 and 4 shown", Kind: ScaleOut, Ratio: true, Columns: c3oCounts, Probes: [][]int{{0}, {1}}})
	machine := newTable(Set{Name: "c3o by machine", Kind: Heterogeneity, Ratio: true})
	both := newTable(Set{Name: "c3o by machine and count", Kind: Exhaustive, Ratio: true})
	for _, job := range c3oJobs {
		spec := tables.Spec{Name: job, Columns: []string{"instance_count", "machine_type", "gross_runtime"}, Unnumbered: true}
		err := each(folder, spec, &skips{}, func(row tables.Row) {
			seconds, count := row.Positive("gross_runtime"), row.Count("instance_count", 1, maxNodes)
			nodes, kind, input := strconv.Itoa(count), row.Text("machine_type"), job+" "+c3oInput(row)
			out.add(input+" on "+kind, job, nodes, 1/seconds)
			machine.add(input+" on "+nodes, job, kind, 1/seconds)
			both.add(input, job, kind+"×"+nodes, 1/seconds)
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

// maxNodes bounds the numbers of nodes that are believed.
const maxNodes = 1 << 20

// c3oInput joins the fields that describe a job's input.
func c3oInput(row tables.Row) string {
	var parts []string
	for _, column := range row.Columns() {
		switch column {
		case "instance_count", "machine_type", "slots", "memory", "gross_runtime":
		default:
			parts = append(parts, column+"="+row.Field(column))
		}
	}
	return strings.Join(parts, " ")
}
