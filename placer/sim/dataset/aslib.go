package dataset

import "io/fs"

var aslibReader = Reader{
	Name:    "aslib-runtimes",
	Summary: "solvers on instances, with heavy tails and censored runs: no structure like that of machines",
	Source:  "coseal/aslib_data (Bischl 2016)",
	Read:    readASlib,
}

var aslibFiles = []string{"asp-potassco.csv.gz", "csp-2010.csv.gz", "sat12-indu.csv.gz"}

// aslibRows is how many instances of a scenario are taken, the first ones: more
// make the evaluation long and tell nothing new (chosen by us).
const aslibRows = 100

// readASlib makes one matrix per scenario: a row is an instance, a column a
// solver. A run that hit the time limit is censored: its speed is not known, and
// is skipped rather than taken for the limit's.
func readASlib(folder fs.FS) ([]Set, error) {
	var sets []Set
	for _, name := range aslibFiles {
		t := newTable(Set{Kind: Heterogeneity, Ratio: true})
		var skipped skips
		err := each(folder, name, []string{"scenario", "instance", "algorithm", "runtime_s", "status"}, func(f *file) error {
			t.set.Name = "aslib " + f.text("scenario")
			instance := f.text("instance")
			if _, seen := t.rows[instance]; !seen && len(t.set.Rows) >= aslibRows {
				skipped.add("instance beyond the first 100", f.where())
				return nil
			}
			if f.text("status") != "ok" {
				skipped.add("the run was cut short: its time is not known", f.where())
				return nil
			}
			seconds, err := f.number("runtime_s")
			if err != nil {
				return err
			}
			if seconds <= 0 {
				skipped.add("a run time of 0, below the clock's resolution", f.where())
				return nil
			}
			t.add(instance, instance, f.text("algorithm"), 1/seconds)
			return nil
		})
		if err != nil {
			return nil, err
		}
		sets = append(sets, t.finish(leastKnown, &skipped))
	}
	return sets, nil
}
