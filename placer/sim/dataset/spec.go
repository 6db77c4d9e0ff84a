package dataset

import (
	"io/fs"

	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
)

var specTimes = tables.Spec{Name: "spec2006_times", Columns: []string{"machine", "compiler", "benchmark", "seconds"}}

var specReader = Reader{
	Name:    "spec-cpu-machine-matrix",
	Summary: "SPEC CPU2006 on ARM and x86 machines, by compiler",
	Source:  "cyyself/spec-cpu-db",
	Read:    readSPEC,
}

// readSPEC makes two matrices: every machine and compiler, and one compiler per
// machine, the one seen first. In the first, several columns are nearly the same
// machine, which makes them easy to tell from each other's value but the best
// hard to name.
func readSPEC(folder fs.FS) ([]Set, error) {
	builds := newTable(Set{Name: "spec 2006, machine and compiler", Kind: Heterogeneity, Ratio: true})
	machines := newTable(Set{Name: "spec 2006, machine", Kind: Heterogeneity, Ratio: true})
	first := map[string]string{}
	var skipped skips
	err := each(folder, specTimes, &skipped, func(row tables.Row) {
		machine, compiler, benchmark, seconds := row.Text("machine"), row.Text("compiler"), row.Text("benchmark"), row.Positive("seconds")
		builds.add(benchmark, benchmark, machine+" "+compiler, 1/seconds)
		if first[machine] == "" {
			first[machine] = compiler
		}
		if first[machine] != compiler {
			skipped.add("another compiler than the machine's first", row.Where())
			return
		}
		machines.add(benchmark, benchmark, machine, 1/seconds)
	})
	if err != nil {
		return nil, err
	}
	return []Set{builds.finish(leastKnown, &skips{}), machines.finish(leastKnown, &skipped)}, nil
}
