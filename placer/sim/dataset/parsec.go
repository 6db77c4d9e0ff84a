package dataset

import (
	"io/fs"

	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
)

var parsecReader = Reader{
	Name:    "eth-ibench-parsec-memcached",
	Summary: "PARSEC programs next to iBench kernels: what is left of their speed",
	Source:  "student projects of a course at ETH Zürich, collected in the data set",
	Read:    readPARSEC,
}

// readPARSEC makes one matrix: a workload is a program as one project measured
// it, a column a kernel, the value percent of the speed without. It is a slowdown
// at full intensity, not a tolerated score.
func readPARSEC(folder fs.FS) ([]Set, error) {
	type key struct{ name, program, kernel string }
	seconds := map[key][]float64{}
	var order []key
	var skipped skips
	err := each(folder, tables.ParsecUnderKernels, &skipped, func(row tables.Row) {
		run := tables.ParsecRunOf(row)
		k := key{run.Repository + " " + run.Suite + " " + run.Program, run.Program, run.Kernel}
		if seconds[k] == nil {
			order = append(order, k)
		}
		seconds[k] = append(seconds[k], run.Seconds)
	})
	if err != nil {
		return nil, err
	}
	t := newTable(Set{Name: "parsec beside kernels", Kind: Interference})
	for _, k := range order {
		if k.kernel == tables.NoKernel {
			continue
		}
		isolated := Median(seconds[key{k.name, k.program, tables.NoKernel}])
		for _, took := range seconds[k] {
			if !(isolated > 0) {
				skipped.add("never measured without a kernel", k.name)
				continue
			}
			t.add(k.name, k.program, k.kernel, min(100, 100*isolated/took))
		}
	}
	return []Set{t.finish(leastKnown, &skipped)}, nil
}
