package dataset

import "io/fs"

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
	err := each(folder, "spec2006_times.csv.gz", []string{"machine", "compiler", "benchmark", "seconds"}, func(f *file) error {
		seconds, err := f.positive("seconds")
		if err != nil {
			return err
		}
		machine, compiler, benchmark := f.text("machine"), f.text("compiler"), f.text("benchmark")
		builds.add(benchmark, benchmark, machine+" "+compiler, 1/seconds)
		if first[machine] == "" {
			first[machine] = compiler
		}
		if first[machine] == compiler {
			machines.add(benchmark, benchmark, machine, 1/seconds)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return []Set{builds.finish(leastKnown, &skips{}), machines.finish(leastKnown, &skips{})}, nil
}
