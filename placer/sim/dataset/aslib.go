package dataset

import (
	"io/fs"

	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
)

var aslibReader = Reader{
	Name:    "aslib-runtimes",
	Summary: "solvers on instances, with heavy tails and censored runs: no structure like that of machines",
	Source:  "coseal/aslib_data (Bischl 2016)",
	Read:    readASlib,
}

var aslibScenarios = []string{"asp-potassco", "csp-2010", "sat12-indu"}

// aslibRows is how many instances of a scenario are taken, the first ones: more
// make the evaluation long and tell nothing new (chosen by us).
const aslibRows = 100

// readASlib makes one matrix per scenario: a row is an instance, a column a
// solver. A run that hit the time limit is censored: its speed is not known, and
// is skipped rather than taken for the limit's.
func readASlib(folder fs.FS) ([]Set, error) {
	var sets []Set
	for _, name := range aslibScenarios {
		t := newTable(Set{Kind: Heterogeneity, Ratio: true})
		var skipped skips
		spec := tables.Spec{Name: name, Columns: []string{"scenario", "instance", "algorithm", "runtime_s", "status"}}
		err := each(folder, spec, &skipped, func(row tables.Row) {
			t.set.Name = "aslib " + row.Text("scenario")
			instance := row.Text("instance")
			if _, seen := t.rows[instance]; !seen && len(t.set.Rows) >= aslibRows {
				skipped.add("instance beyond the first 100", row.Where())
				return
			}
			if row.Text("status") != "ok" {
				skipped.add("the run was cut short: its time is not known", row.Where())
				return
			}
			seconds := row.ZeroOrMore("runtime_s")
			if seconds == 0 {
				skipped.add("a run time of 0, below the clock's resolution", row.Where())
				return
			}
			t.add(instance, instance, row.Text("algorithm"), 1/seconds)
		})
		if err != nil {
			return nil, err
		}
		sets = append(sets, t.finish(leastKnown, &skipped))
	}
	return sets, nil
}
