package trace

import (
	"io/fs"
	"time"
)

// Alibaba's machines of 2018 have 96 hardware threads (in the trace); memory is
// in percent of an unpublished size, for which we choose 512 GiB.
const (
	alibaba2018Cores       = 96
	alibaba2018MemoryBytes = 512 << 30
)

var alibaba2018 = Descriptor{
	Name:    "alibaba-2018",
	Summary: "Alibaba 2018: batch tasks of jobs (DAGs); machines",
	Source:  "Alibaba clusterdata, cluster-trace-v2018: batch_task.csv, machine_meta.csv",
	Order:   "sorted in memory by start: about 200 bytes per task of the sample, 14 million tasks in the whole trace",
	Detect:  func(first string) Role { return role(first, alibaba2018Roles) },
	Open: func(folder fs.FS, o Options) (Reader, error) {
		files, err := byRole(folder, o, func(first string) Role { return role(first, alibaba2018Roles) })
		if err != nil {
			return nil, err
		}
		if len(files[Jobs]) == 0 && len(files[Machines]) > 0 {
			return nil, errNoJobs("alibaba-2018", "machines were found, batch_task.csv is missing")
		}
		file, err := one(files, Jobs, "alibaba-2018", alibaba2018Tasks.expected())
		if err != nil {
			return nil, err
		}
		return openTable(folder, []string{file}, alibaba2018Tasks, o, false, parseAlibaba2018)
	},
	OpenNodes: func(folder fs.FS, o Options) (NodeReader, error) {
		files, err := byRole(folder, o, func(first string) Role { return role(first, alibaba2018Roles) })
		if err != nil {
			return nil, err
		}
		file, err := one(files, Machines, "alibaba-2018", alibaba2018Machines.expected())
		if err != nil {
			return nil, err
		}
		return openNodes(folder, []string{file}, alibaba2018Machines, o, parseAlibaba2018Machine)
	},
}

var alibaba2018Roles = []tableRole{{alibaba2018Tasks, Jobs}, {alibaba2018Machines, Machines}}

// Columns of alibaba2018Tasks.
const (
	alibaba2018Task = iota
	alibaba2018Instances
	alibaba2018Job
	alibaba2018Type
	alibaba2018Status
	alibaba2018Start
	alibaba2018End
	alibaba2018CPU
	alibaba2018Memory
)

var alibaba2018Tasks = &layout{
	separator: ',',
	columns: []column{
		{[]string{"task_name"}, true},
		{[]string{"instance_num"}, true},
		{[]string{"job_name"}, true},
		{[]string{"task_type"}, false},
		{[]string{"status"}, true},
		{[]string{"start_time"}, true},
		{[]string{"end_time"}, true},
		{[]string{"plan_cpu"}, false},
		{[]string{"plan_mem"}, false},
	},
	places: []int{0, 1, 2, 3, 4, 5, 6, 7, 8},
	shape:  "wnwnwnnnn",
}

// parseAlibaba2018 reads a batch task. The trace has no time of submission: a
// task counts as submitted when it started.
func parseAlibaba2018(o Options) parseJob {
	_, memory := o.largest(alibaba2018Cores, alibaba2018MemoryBytes)
	return func(r *rows, j *Job) (string, error) {
		if len(r.cell(alibaba2018Start)) == 0 {
			return skipNotStarted, nil
		}
		start, err := r.moment(alibaba2018Start, time.Second)
		if err != nil {
			return "", err
		}
		if start == 0 {
			return skipNotStarted, nil
		}
		end, ended, err := r.optionalSpan(alibaba2018End, time.Second)
		if err != nil {
			return "", err
		}
		j.ID = r.text(alibaba2018Job) + "/" + r.text(alibaba2018Task)
		j.Group, j.Kind, j.Class, j.Submit = r.text(alibaba2018Job), r.text(alibaba2018Type), Batch, start
		if skip, err := j.alibabaSize(r, alibaba2018Instances, alibaba2018CPU, alibaba2018Memory, memory/100); skip != "" || err != nil {
			return skip, err
		}
		return j.interval(start, end, ended && string(r.cell(alibaba2018Status)) == "Terminated"), nil
	}
}

const skipNotStarted = "it never started"

// Columns of alibaba2018Machines.
const (
	alibaba2018Machine = iota
	alibaba2018At
	alibaba2018MachineCPU
	alibaba2018MachineMemory
	alibaba2018MachineStatus
)

var alibaba2018Machines = &layout{
	separator: ',',
	columns: []column{
		{[]string{"machine_id"}, true},
		{[]string{"time_s", "time_stamp"}, true},
		{[]string{"cpu_num"}, true},
		{[]string{"mem_size_pct", "mem_size"}, true},
		{[]string{"status"}, true},
	},
	places: []int{0, 1, 4, 5, 6},
	shape:  "wNnnnnw",
}

// parseAlibaba2018Machine reads a state of a machine: it is there while USING.
func parseAlibaba2018Machine(o Options) parseNode {
	_, memory := o.largest(alibaba2018Cores, alibaba2018MemoryBytes)
	return func(r *rows, e *NodeEvent) (string, error) {
		var err error
		if e.At, err = r.moment(alibaba2018At, time.Second); err != nil {
			return "", err
		}
		e.Node = r.text(alibaba2018Machine)
		if string(r.cell(alibaba2018MachineStatus)) != "USING" {
			e.Change = Removed
			return "", nil
		}
		if e.Cores, err = r.size(alibaba2018MachineCPU); err != nil {
			return "", err
		}
		percent, err := r.size(alibaba2018MachineMemory)
		e.MemoryBytes = percent / 100 * memory
		return "", err
	}
}
