package dataset

import "io/fs"

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
	type run struct{ name, app, kernel string }
	seconds := map[run][]float64{}
	var order []run
	err := each(folder, "parsec_under_ibench.csv.gz", []string{"source", "suite", "app", "interference", "real_s"}, func(f *file) error {
		took, err := f.positive("real_s")
		if err != nil {
			return err
		}
		key := run{f.text("source") + " " + f.text("suite") + " " + f.text("app"), f.text("app"), f.text("interference")}
		if seconds[key] == nil {
			order = append(order, key)
		}
		seconds[key] = append(seconds[key], took)
		return nil
	})
	if err != nil {
		return nil, err
	}
	t := newTable(Set{Name: "parsec beside kernels", Kind: Interference})
	var skipped skips
	for _, key := range order {
		if key.kernel == "none" {
			continue
		}
		alone := Median(seconds[run{key.name, key.app, "none"}])
		for _, took := range seconds[key] {
			if !(alone > 0) {
				skipped.add("never measured without a kernel", key.name)
				continue
			}
			t.add(key.name, key.app, key.kernel, min(100, 100*alone/took))
		}
	}
	return []Set{t.finish(leastKnown, &skipped)}, nil
}
