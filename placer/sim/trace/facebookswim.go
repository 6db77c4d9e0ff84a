package trace

import (
	"io/fs"
	"time"
)

var facebookSWIM = Descriptor{
	Name:    "facebook-swim",
	Summary: "Facebook MapReduce jobs 2009 and 2010: bursts, with bytes read, shuffled and written",
	Source:  "SWIMProjectUCB/SWIM, workloadSuite (Chen and others 2011)",
	Order:   "sorted in memory by submission: about 250 bytes per job, 24,000 jobs at most in one sample",
	Detect:  func(first string) Role { return role(first, swimRoles) },
	Open: func(folder fs.FS, o Options) (Reader, error) {
		files, err := byRole(folder, o, func(first string) Role { return role(first, swimRoles) })
		if err != nil {
			return nil, err
		}
		if len(files[Jobs]) == 0 && len(files[swimPublished]) > 0 {
			file, err := one(files, swimPublished, "facebook-swim", "")
			if err != nil {
				return nil, err
			}
			return openTable(folder, []string{file}, swimTabs, o, false, func(Options) parseJob { return parseSWIM })
		}
		file, err := one(files, Jobs, "facebook-swim", swimJobs.expected())
		if err != nil {
			return nil, err
		}
		return openTable(folder, []string{file}, swimJobs, o, false, func(Options) parseJob { return parseSWIM })
	},
}

// swimPublished is the role of a file as it was published: tabs and no header.
const swimPublished Role = "jobs, as published"

var swimRoles = []tableRole{{swimJobs, Jobs}, {swimTabs, swimPublished}}

// Columns of swimJobs and swimTabs.
const (
	swimJob = iota
	swimSubmit
	swimInput
	swimShuffle
	swimOutput
)

var swimColumns = []column{
	{[]string{"job"}, true},
	{[]string{"submit_s"}, true},
	{[]string{"map_input_bytes"}, true},
	{[]string{"shuffle_bytes"}, true},
	{[]string{"reduce_output_bytes"}, true},
}

var (
	swimJobs = &layout{separator: ',', columns: swimColumns}
	swimTabs = &layout{separator: '\t', columns: swimColumns, places: []int{0, 1, 3, 4, 5}, shape: "wNnNNN"}
)

// parseSWIM reads a MapReduce job. The samples have bytes, and no number of
// tasks, sizes or durations: those follow from how fast they are processed.
func parseSWIM(r *rows, j *Job) (string, error) {
	submit, err := r.moment(swimSubmit, time.Second)
	if err != nil {
		return "", err
	}
	for i, to := range [...]*float64{&j.InputBytes, &j.ShuffleBytes, &j.OutputBytes} {
		if *to, err = r.size(swimInput + i); err != nil {
			return "", err
		}
	}
	j.ID, j.Kind, j.Class, j.Submit, j.GPUs = r.text(swimJob), "mapreduce", Batch, submit, 0
	return "", nil
}
