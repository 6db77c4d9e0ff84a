package trace

import (
	"io/fs"
	"strconv"
	"time"
)

var philly = Descriptor{
	Name:    "philly",
	Summary: "Microsoft Philly 2017: training jobs with GPUs and durations, by virtual cluster",
	Source:  "msr-fiddle/philly-traces (Jeon and others 2019), as one table",
	Order:   "sorted in memory by submission: about 200 bytes per job, 117,325 jobs in the whole trace",
	Detect:  func(first string) Role { return role(first, []tableRole{{phillyJobs, Jobs}}) },
	Open: func(folder fs.FS, o Options) (Reader, error) {
		files, err := byRole(folder, o, func(first string) Role { return role(first, []tableRole{{phillyJobs, Jobs}}) })
		if err != nil {
			return nil, err
		}
		file, err := one(files, Jobs, "philly", phillyJobs.expected())
		if err != nil {
			return nil, err
		}
		return openTable(folder, []string{file}, phillyJobs, o, true, func(Options) parseJob { return newPhillyParser() })
	},
}

// Columns of phillyJobs.
const (
	phillySubmit = iota
	phillyDuration
	phillyGPUs
	phillyCluster
)

var phillyJobs = &layout{
	separator: ',',
	columns: []column{
		{[]string{"submit_s", "submit_time"}, true},
		{[]string{"duration_s", "duration"}, true},
		{[]string{"num_gpus", "gpus"}, true},
		{[]string{"virtual_cluster", "vc"}, false},
	},
}

// newPhillyParser reads training jobs. The trace has no cores and no memory.
func newPhillyParser() parseJob {
	var row int64
	return func(r *rows, j *Job) (string, error) {
		row++
		submit, err := r.moment(phillySubmit, time.Second)
		if err != nil {
			return "", err
		}
		duration, given, err := r.optionalSpan(phillyDuration, time.Second)
		if err != nil {
			return "", err
		}
		if j.GPUs, err = r.size(phillyGPUs); err != nil {
			return "", err
		}
		j.ID, j.User, j.Kind = strconv.FormatInt(row, 10), r.text(phillyCluster), "training"
		j.Submit, j.Class, j.Tasks = submit, Batch, 1
		return j.interval(0, duration, given), nil
	}
}
