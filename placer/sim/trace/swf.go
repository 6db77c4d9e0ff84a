package trace

import (
	"errors"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

var swf = Descriptor{
	Name:    "swf",
	Summary: "the Standard Workload Format of the Parallel Workloads Archive, or a table with its columns",
	Source:  "Chapin and others 1999; Feitelson, Tsafrir and Krakov 2014",
	Order:   "sorted in memory by submission: about 200 bytes per job",
	Detect:  func(first string) Role { return role(first, swfRoles) },
	Open: func(folder fs.FS, o Options) (Reader, error) {
		files, err := byRole(folder, o, func(first string) Role { return role(first, swfRoles) })
		if err != nil {
			return nil, err
		}
		found := Jobs
		if len(files[Jobs]) == 0 {
			found = swfPublished
		}
		file, err := one(files, found, "swf", swfTable.expected())
		if err != nil {
			return nil, err
		}
		l := swfTable
		if found == swfPublished {
			l = swfLog
		}
		return openTable(folder, []string{file}, l, o, false, func(Options) parseJob { return parseSWF })
	},
	OpenNodes: func(folder fs.FS, o Options) (NodeReader, error) {
		files, err := byRole(folder, o, func(first string) Role { return role(first, swfRoles) })
		if err != nil {
			return nil, err
		}
		file, err := one(files, Machines, "swf", swfMachines.expected())
		if err != nil {
			return nil, err
		}
		return openSWFMachines(folder, file, o)
	},
}

// swfPublished is the role of a log as the archive has it: blanks, no header,
// comments that start with a semicolon.
const swfPublished Role = "jobs, as published"

var swfRoles = []tableRole{{swfTable, Jobs}, {swfMachines, Machines}, {swfLog, swfPublished}}

// Columns of swfTable and swfLog.
const (
	swfJob = iota
	swfSubmit
	swfRun
	swfAllocated
	swfRequested
	swfMemoryUsed
	swfMemoryRequested
	swfUser
	swfQueue
	swfQueueName
)

var swfColumns = []column{
	{[]string{"job"}, true},
	{[]string{"submit_s"}, true},
	{[]string{"run_s"}, true},
	{[]string{"procs_alloc"}, true},
	{[]string{"procs_req"}, true},
	{[]string{"mem_used"}, false},
	{[]string{"mem_req"}, false},
	{[]string{"user"}, false},
	{[]string{"queue"}, false},
	{[]string{"queue_name"}, false},
}

var (
	swfTable = &layout{separator: ',', columns: swfColumns}
	swfLog   = &layout{
		separator: ' ', comment: ';', columns: swfColumns,
		places: []int{0, 1, 3, 4, 7, 6, 9, 11, 14, -1}, shape: "NNNNNNNNNNNNNNNNNN",
	}
)

// parseSWF reads a job: as many tasks of one core as processors were asked for
// (given, where nothing was asked). Memory is in KiB per processor, asked before
// used; in the logs of MetaCentrum, which have the name of the queue, it is in
// bytes for the whole job (read as KiB, it would be a thousand times what their
// machines have).
func parseSWF(r *rows, j *Job) (string, error) {
	submit, err := r.moment(swfSubmit, time.Second)
	if err != nil {
		return "", err
	}
	run, given, err := r.optionalSpan(swfRun, time.Second)
	if err != nil {
		return "", err
	}
	processors, err := r.firstKnown(swfRequested, swfAllocated)
	if err != nil {
		return "", err
	}
	if !(processors >= 1 && processors < 1<<31) {
		return skipNoTasks, nil
	}
	memory, err := r.firstKnown(swfMemoryRequested, swfMemoryUsed)
	if err != nil {
		return "", err
	}
	j.ID, j.User, j.Class, j.Submit = r.text(swfJob), r.text(swfUser), Batch, submit
	j.Tasks, j.Cores, j.GPUs, j.MemoryBytes = int(processors), 1, 0, memory*1024
	j.Kind = r.text(swfQueueName)
	if j.Kind != "" {
		j.MemoryBytes = memory / processors
	} else if queue := r.text(swfQueue); queue != "-1" {
		j.Kind = queue
	}
	return j.interval(0, run, given && run >= 0), nil
}

// firstKnown is the first of the columns above 0, which is how these logs say
// that they know; NaN without one.
func (r *rows) firstKnown(columns ...int) (float64, error) {
	for _, c := range columns {
		v, err := r.size(c)
		if err != nil {
			return 0, err
		}
		if v > 0 {
			return v, nil
		}
	}
	return nan, nil
}

// Columns of swfMachines.
const (
	swfCluster = iota
	swfNodes
	swfNodeCPUs
	swfNodeMemory
)

var swfMachines = &layout{
	separator: ',',
	columns: []column{
		{[]string{"name"}, true},
		{[]string{"nodes"}, true},
		{[]string{"cpus_per_node"}, true},
		{[]string{"mem_kb_per_node"}, true},
	},
}

// maxSWFNodes bounds what one row of machines may unfold to.
const maxSWFNodes = 1_000_000

// openSWFMachines unfolds a table of clusters into their nodes.
func openSWFMachines(folder fs.FS, file string, o Options) (NodeReader, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	r := newRows(folder, []string{file}, swfMachines)
	defer r.shut()
	n := &nodes{skips: skips{}}
	for {
		err := r.next()
		if errors.Is(err, io.EOF) {
			n.settle(o)
			return n, nil
		}
		if err != nil {
			return nil, err
		}
		if err := n.unfold(r); err != nil {
			return nil, err
		}
	}
}

func (n *nodes) unfold(r *rows) error {
	count, err := r.count(swfNodes)
	if err != nil {
		return err
	}
	if count < 1 || count > maxSWFNodes {
		return r.bad(swfNodes, "not a number of nodes", "at most 1000000")
	}
	cores, err := r.size(swfNodeCPUs)
	if err != nil {
		return err
	}
	kibibytes, err := r.size(swfNodeMemory)
	if err != nil {
		return err
	}
	name := strings.TrimSpace(r.text(swfCluster))
	for i := range count {
		n.events = append(n.events, NodeEvent{
			Node: name + "-" + strconv.FormatInt(i+1, 10), Configuration: name, Cores: cores, MemoryBytes: kibibytes * 1024,
		})
	}
	return nil
}
