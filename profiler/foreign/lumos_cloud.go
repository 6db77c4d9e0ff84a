package foreign

import (
	"cmp"
	"maps"
	"slices"

	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// lumosCloud: Hadoop, Spark and Hive workloads on many machine types of clouds.
var lumosCloud = Format{
	Name:  "lumos-cloud-perf",
	Title: "Hadoop, Spark and Hive workloads on dozens of cloud machine types",
	Takes: []string{
		"run time by machine type: speed in isolation by node configuration (runs/s), with the runs of both campaigns as replicates",
	},
	Leaves: []string{
		"runs that did not complete",
		"the system metrics: means of use, not what was achieved under pressure",
	},
	License: "none stated",
	tables:  []tableSpec{{Spec: tables.LumosRuns}},
	read:    readLumos,
}

var lumosSet = profile.DataSet{
	Name: "lumos-cloud-perf", Repository: "jind5182/lumos-dataset", Commit: "7f009da9228f", License: "none stated",
}

type lumosKey struct{ framework, workload, size string }

func (k lumosKey) less(o lumosKey) int {
	return cmp.Or(cmp.Compare(k.framework, o.framework), cmp.Compare(k.workload, o.workload), cmp.Compare(k.size, o.size))
}

func readLumos(r *reading) error {
	t := r.table("runs_alibaba_huawei")
	speeds := map[lumosKey]map[string][]float64{} // runs/s by node configuration
	for _, row := range t.rows {
		run := tables.LumosRunOf(row)
		if !run.Completed {
			t.skip(1, "the run did not complete")
			continue
		}
		k, configuration := lumosKey{run.Framework, run.Workload, run.Size}, run.Cloud+"/"+run.Machine
		if speeds[k] == nil {
			speeds[k] = map[string][]float64{}
		}
		speeds[k][configuration] = append(speeds[k][configuration], 1/run.Seconds)
		t.take(1)
	}
	if r.problems.Err() != nil {
		return nil
	}
	for _, k := range slices.SortedFunc(maps.Keys(speeds), lumosKey.less) {
		r.add(lumosProfile(k, speeds[k]))
	}
	return nil
}

func lumosProfile(k lumosKey, speeds map[string][]float64) profile.Profile {
	p := newProfile(lumosSet, k.framework+"-"+k.workload+"-"+k.size, k.framework, k.workload, k.size)
	most := ""
	for _, configuration := range slices.Sorted(maps.Keys(speeds)) {
		p.Isolated[configuration] = measurement(speeds[configuration], "runs/s")
		if len(speeds[configuration]) > len(speeds[most]) {
			most = configuration
		}
	}
	// There is no interference run; the machine is the one measured most often.
	p.Machine = profile.Machine{Configuration: most, Virtual: true}
	p.Provenance.Input = k.size
	p.Provenance.Repetitions = len(speeds[most])
	fewRuns(&p)
	return p
}
