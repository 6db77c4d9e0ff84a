package trace

import (
	"io/fs"
	"math"
	"time"
)

// The size of Alibaba's machines of 2017: 64 hardware threads is in the trace's
// own documentation; memory is only published relative to the largest machine,
// and 96 GiB is our choice.
const (
	alibaba2017Cores       = 64
	alibaba2017MemoryBytes = 96 << 30
)

var alibaba2017 = Descriptor{
	Name:    "alibaba-2017",
	Summary: "Alibaba 2017: batch tasks with widths, sizes and durations; machines",
	Source:  "Alibaba clusterdata, cluster-trace-v2017: batch_task.csv, server_event.csv",
	Order:   "sorted in memory by creation time: about 200 bytes per task, 80,553 tasks in the whole trace",
	Detect:  func(first string) Role { return role(first, alibaba2017Roles) },
	Open: func(folder fs.FS, o Options) (Reader, error) {
		files, err := byRole(folder, o, func(first string) Role { return role(first, alibaba2017Roles) })
		if err != nil {
			return nil, err
		}
		file, err := one(files, Jobs, "alibaba-2017", alibaba2017Tasks.expected())
		if err != nil {
			return nil, err
		}
		return openTable(folder, []string{file}, alibaba2017Tasks, o, false, parseAlibaba2017)
	},
	OpenNodes: func(folder fs.FS, o Options) (NodeReader, error) {
		files, err := byRole(folder, o, func(first string) Role { return role(first, alibaba2017Roles) })
		if err != nil {
			return nil, err
		}
		file, err := one(files, Machines, "alibaba-2017", alibaba2017Servers.expected())
		if err != nil {
			return nil, err
		}
		return openNodes(folder, []string{file}, alibaba2017Servers, o, parseAlibaba2017Server)
	},
}

var alibaba2017Roles = []tableRole{{alibaba2017Tasks, Jobs}, {alibaba2017Servers, Machines}}

// Columns of alibaba2017Tasks.
const (
	alibaba2017Create = iota
	alibaba2017End
	alibaba2017Job
	alibaba2017Task
	alibaba2017Instances
	alibaba2017Status
	alibaba2017CPU
	alibaba2017Memory
)

var alibaba2017Tasks = &layout{
	separator: ',',
	columns: []column{
		{[]string{"task_create_time_s", "create_timestamp"}, true},
		{[]string{"task_end_time_s", "modify_timestamp"}, true},
		{[]string{"job_id"}, true},
		{[]string{"task_id"}, true},
		{[]string{"instances", "instance_num"}, true},
		{[]string{"status"}, true},
		{[]string{"cpu_per_instance_x100", "plan_cpu"}, false},
		{[]string{"mem_per_instance_norm", "plan_mem"}, false},
	},
	places: []int{0, 1, 2, 3, 4, 5, 6, 7},
	shape:  "NnNNNwnn",
}

// alibaba2017Before is how long before the trace began a task may have been created: the
// published ones are up to 18 minutes (a day is chosen by us).
const alibaba2017Before = 24 * time.Hour

// parseAlibaba2017 reads a batch task. Only a terminated one has a duration; that
// of any other ends when its record was last written.
func parseAlibaba2017(o Options) parseJob {
	_, memory := o.largest(alibaba2017Cores, alibaba2017MemoryBytes)
	return func(r *rows, j *Job) (string, error) {
		create, err := r.notBefore(-alibaba2017Before, alibaba2017Create, time.Second)
		if err != nil {
			return "", err
		}
		end, given, err := r.optionalSpan(alibaba2017End, time.Second)
		if err != nil {
			return "", err
		}
		j.ID = r.text(alibaba2017Job) + "/" + r.text(alibaba2017Task)
		j.Group, j.Kind, j.Class, j.Submit = r.text(alibaba2017Job), "batch", Batch, create
		if skip, err := j.alibabaSize(r, alibaba2017Instances, alibaba2017CPU, alibaba2017Memory, memory); skip != "" || err != nil {
			return skip, err
		}
		return j.interval(create, end, given && string(r.cell(alibaba2017Status)) == "Terminated"), nil
	}
}

// alibabaSize reads the width, cores (in hundredths) and memory (relative) of an
// Alibaba task.
func (j *Job) alibabaSize(r *rows, instances, cpu, memory int, largestMemory float64) (string, error) {
	n, err := r.count(instances)
	if err != nil {
		return "", err
	}
	if n <= 0 {
		return skipNoTasks, nil
	}
	j.Tasks = int(n)
	hundredths, err := r.size(cpu)
	if err != nil {
		return "", err
	}
	share, err := r.size(memory)
	if err != nil {
		return "", err
	}
	j.Cores, j.MemoryBytes, j.GPUs = hundredths/100, share*largestMemory, 0
	return "", nil
}

// Columns of alibaba2017Servers.
const (
	alibaba2017At = iota
	alibaba2017Machine
	alibaba2017Event
	alibaba2017MachineCPU
	alibaba2017MachineMemory
)

var alibaba2017Servers = &layout{
	separator: ',',
	columns: []column{
		{[]string{"timestamp"}, true},
		{[]string{"machineID", "machine_id"}, true},
		{[]string{"eventtype", "event_type"}, true},
		{[]string{"number_of_cpus", "capacity_cpu"}, true},
		{[]string{"normalized_memory", "capacity_memory"}, true},
	},
	places: []int{0, 1, 2, 4, 5},
	shape:  "NNwannn",
}

// parseAlibaba2017Server reads an event of a machine: add, softerror or
// harderror. A machine with a hard error is gone; one with a soft error is not.
func parseAlibaba2017Server(o Options) parseNode {
	_, memory := o.largest(alibaba2017Cores, alibaba2017MemoryBytes)
	return func(r *rows, e *NodeEvent) (string, error) {
		at, err := r.moment(alibaba2017At, time.Second)
		if err != nil {
			return "", err
		}
		e.At, e.Node = at, r.text(alibaba2017Machine)
		switch string(r.cell(alibaba2017Event)) {
		case "add":
		case "harderror":
			e.Change = Removed
			return "", nil
		case "softerror":
			return "a soft error of a machine", nil
		default:
			return "", r.bad(alibaba2017Event, "not an event of a machine", "known: add, softerror, harderror")
		}
		if e.Cores, err = r.size(alibaba2017MachineCPU); err != nil {
			return "", err
		}
		share, err := r.size(alibaba2017MachineMemory)
		if e.MemoryBytes = share * memory; math.IsNaN(share) {
			e.MemoryBytes = share
		}
		return "", err
	}
}
