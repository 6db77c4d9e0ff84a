package trace

import (
	"io/fs"
	"slices"
	"strconv"
	"time"
)

// Google published sizes relative to the largest machine only. 32 hardware
// threads and 64 GiB for it (so 16 and 32 for the machines of half that size, 92 %
// of the cluster) are choices of ours, of what was bought about 2010.
const (
	google2011Cores       = 32
	google2011MemoryBytes = 64 << 30
)

var google2011 = Descriptor{
	Name:    "google-2011",
	Summary: "Google 2011: task events, or job arrivals and the tasks running at the start; machines that come and go",
	Source:  "Google ClusterData2011_2 (Reiss, Wilkes and Hellerstein 2011; Reiss and others 2012)",
	Order: "task events are in order, and held until their task ends, at most Options.Horizon long: about 150 bytes per task " +
		"submitted in it; tables of jobs are sorted in memory",
	Detect:    func(first string) Role { return role(first, google2011Roles) },
	Open:      openGoogle2011,
	OpenNodes: openGoogle2011Nodes,
}

// Roles of Google's files with jobs.
const (
	googleTaskEvents Role = "task events"
	googleJobEvents  Role = "job events"
	googleInitial    Role = "tasks at the start"
	googleArrivals   Role = "job arrivals"
)

var google2011Roles = []tableRole{
	{googleTasks, googleTaskEvents},
	{googleJobs, googleJobEvents},
	{googleInitialTasks, googleInitial},
	{googleJobArrivals, googleArrivals},
	{googleMachines, Machines},
	{googleChanges, MachineEvents},
}

// openGoogle2011 reads the task events where there are any; else the tasks
// running at the start, followed by the arrivals of jobs.
func openGoogle2011(folder fs.FS, o Options) (Reader, error) {
	files, err := byRole(folder, o, func(first string) Role { return role(first, google2011Roles) })
	if err != nil {
		return nil, err
	}
	if o, err = o.complete(); err != nil {
		return nil, err
	}
	zero := time.Duration(0) // machines have the same clock
	if parts := files[googleTaskEvents]; len(parts) > 0 {
		counted := skips{}
		return newStream(newGoogleEvents(newRows(folder, parts, googleTasks), o, counted), counted, o, inFileAs, &zero, true), nil
	}
	counted := skips{}
	var all chain
	add := func(role Role, l *layout, p parseJob) {
		if len(files[role]) > 0 {
			all = append(all, &table{rows: newRows(folder, files[role], l), parse: p, skips: counted, lenient: o.SkipMalformed})
		}
	}
	started := map[string]bool{} // jobs whose tasks are known
	add(googleInitial, googleInitialTasks, parseGoogleInitial(o, started))
	add(googleJobEvents, googleJobs, parseGoogleJob)
	add(googleArrivals, googleJobArrivals, parseGoogleArrival(started))
	if len(all) == 0 {
		return nil, errNoJobs("google-2011", "neither task events, nor job events, nor arrivals were found")
	}
	return newStream(&all, counted, o, sorted, &zero, false), nil
}

// Columns of googleTasks.
const (
	googleAt = iota
	googleJob
	googleTask
	googleEvent
	googleUser
	googleClass
	googlePriority
	googleCPU
	googleMemory
	googleApart
)

// googleTasks are the files task_events/part-*.csv.gz.
var googleTasks = &layout{
	separator: ',',
	columns: []column{
		{[]string{"timestamp", "time"}, true},
		{[]string{"job_id", "job ID"}, true},
		{[]string{"task_index", "task index"}, true},
		{[]string{"event_type", "event type"}, true},
		{[]string{"user", "user name"}, false},
		{[]string{"scheduling_class", "scheduling class"}, false},
		{[]string{"priority"}, true},
		{[]string{"cpu_request", "CPU request"}, false},
		{[]string{"memory_request", "memory request"}, false},
		{[]string{"different_machines", "different machines restriction"}, false},
	},
	places: []int{0, 2, 3, 5, 6, 7, 8, 9, 10, 12},
	shape:  "NnNNnNannnnnn",
}

// googleJobs are the files job_events/part-*.csv.gz.
var googleJobs = &layout{
	separator: ',',
	columns: []column{
		{[]string{"timestamp", "time"}, true},
		{[]string{"job_id", "job ID"}, true},
		{[]string{"event_type", "event type"}, true},
		{[]string{"user", "user name"}, false},
		{[]string{"scheduling_class", "scheduling class"}, true},
		{[]string{"logical_job_name", "logical job name"}, true},
	},
	places: []int{0, 2, 3, 4, 5, 7},
	shape:  "NnNNanaa",
}

// parseGoogleJob reads the submission of a job. Its tasks are in another table,
// so its width, sizes and duration are unknown.
func parseGoogleJob(r *rows, j *Job) (string, error) {
	at, err := r.moment(0, time.Microsecond)
	if err != nil {
		return "", err
	}
	event, err := r.count(2)
	if err != nil {
		return "", err
	}
	if event != googleSubmit {
		return "an event of a job other than its submission", nil
	}
	class, _, err := r.integer(4)
	if err != nil {
		return "", err
	}
	j.ID, j.User, j.Submit, j.GPUs = r.text(1), r.text(3), at, 0
	j.Group, j.Kind, j.Class = j.ID, googleKind(class), googleClassOf(class, 2)
	return "", nil
}

// googleJobArrivals is a table of submissions of jobs.
var googleJobArrivals = &layout{
	separator: ',',
	columns:   []column{{[]string{"submit_us"}, true}, {[]string{"job_id"}, true}},
}

// parseGoogleArrival reads the arrival of a job that is not among those whose
// tasks are known.
func parseGoogleArrival(started map[string]bool) parseJob {
	return func(r *rows, j *Job) (string, error) {
		at, err := r.moment(0, time.Microsecond)
		if err != nil {
			return "", err
		}
		j.ID, j.Submit, j.GPUs = r.text(1), at, 0
		j.Group = j.ID
		if started[j.ID] {
			return "its tasks are among those at the start", nil
		}
		return "", nil
	}
}

// Columns of googleInitialTasks.
const (
	initialSubmit = iota
	initialJob
	initialTask
	initialUser
	initialClass
	initialPriority
	initialRun
	initialEnd
	initialCPU
	initialMemory
)

// googleInitialTasks is a table of the tasks submitted before the trace began.
var googleInitialTasks = &layout{
	separator: ',',
	columns: []column{
		{[]string{"submit_us"}, true},
		{[]string{"job_id"}, true},
		{[]string{"task_index"}, true},
		{[]string{"user"}, false},
		{[]string{"scheduling_class"}, true},
		{[]string{"priority"}, true},
		{[]string{"runtime_us"}, true},
		{[]string{"end_us_or_minus1"}, true},
		{[]string{"cpu_request_norm"}, true},
		{[]string{"mem_request_norm"}, true},
	},
}

// parseGoogleInitial reads a task that was there when the trace began. Its
// duration counts from then, for what was before is not known; where it outlived
// the trace, that is a lower bound.
func parseGoogleInitial(o Options, started map[string]bool) parseJob {
	cores, memory := o.largest(google2011Cores, google2011MemoryBytes)
	return func(r *rows, j *Job) (string, error) {
		at, err := r.moment(initialSubmit, time.Microsecond)
		if err != nil {
			return "", err
		}
		run, err := r.span(initialRun, time.Microsecond)
		if err != nil {
			return "", err
		}
		end, err := r.span(initialEnd, time.Microsecond)
		if err != nil {
			return "", err
		}
		class, _, err := r.integer(initialClass)
		if err != nil {
			return "", err
		}
		priority, _, err := r.integer(initialPriority)
		if err != nil {
			return "", err
		}
		if j.Cores, err = r.size(initialCPU); err != nil {
			return "", err
		}
		if j.MemoryBytes, err = r.size(initialMemory); err != nil {
			return "", err
		}
		j.Cores, j.MemoryBytes = j.Cores*cores, j.MemoryBytes*memory
		j.Group, j.User, j.Submit, j.Tasks, j.GPUs = r.text(initialJob), r.text(initialUser), at, 1, 0
		j.ID = j.Group + "/" + r.text(initialTask)
		j.Kind, j.Class, j.Priority = googleKind(class), googleClassOf(class, priority), int(priority)
		if run < 0 {
			return skipNegative, nil
		}
		started[j.Group] = true
		if end < 0 {
			j.AtLeast = run
		} else {
			j.Duration = run
		}
		return "", nil
	}
}

// googleKind is the scheduling class in words.
func googleKind(class int64) string {
	if class >= 0 && class < int64(len(googleKinds)) {
		return googleKinds[class]
	}
	return ""
}

var googleKinds = [...]string{"scheduling class 0", "scheduling class 1", "scheduling class 2", "scheduling class 3"}

// googleClassOf: 3 is the most sensitive to latency (Reiss 2011, "Common
// fields"); priorities 0 and 1 are the free band, charged little and evicted
// first (Reiss and others 2012, §2).
func googleClassOf(class, priority int64) Class {
	switch {
	case class == 3:
		return Service
	case priority <= 1:
		return BestEffort
	default:
		return Batch
	}
}

// chain is one source after another.
type chain []*table

func (c *chain) next(j *Job) error {
	for {
		err := (*c)[0].next(j)
		if err == nil || len(*c) == 1 || !isEnd(err) {
			return err
		}
		*c = (*c)[1:]
	}
}

func (c *chain) close() { (*c)[0].close() }

// taskName is job/index.
func taskName(job uint64, index uint32) (task, group string) {
	var buffer [32]byte
	text := strconv.AppendUint(buffer[:0], job, 10)
	n := len(text)
	text = strconv.AppendUint(append(text, '/'), uint64(index), 10)
	task = string(text)
	return task, task[:n]
}

// intern keeps one string per distinct text.
type intern struct {
	places map[string]uint32
	texts  []string
}

func newIntern() intern { return intern{places: map[string]uint32{"": 0}, texts: []string{""}} }

func (n *intern) place(text []byte) uint32 {
	if p, ok := n.places[string(text)]; ok {
		return p
	}
	p := uint32(len(n.texts))
	own := string(slices.Clone(text))
	n.texts = append(n.texts, own)
	n.places[own] = p
	return p
}
