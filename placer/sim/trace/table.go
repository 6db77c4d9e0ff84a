package trace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"slices"
	"time"
)

// parseJob turns a record into a job, or says why it is left out.
type parseJob func(r *rows, job *Job) (skip string, err error)

// table is the source of the formats with one row per job.
type table struct {
	rows    *rows
	parse   parseJob
	skips   skips
	lenient bool
}

func (t *table) next(job *Job) error {
	for {
		skip, err := t.row(job)
		switch {
		case err == nil && skip == "":
			return nil
		case err == nil:
			t.skips[skip]++
		case t.lenient && inOneCell(err):
			t.skips[skipMalformed]++
		default:
			return err
		}
		*job = Job{}
	}
}

func (t *table) row(job *Job) (string, error) {
	if err := t.rows.next(); err != nil {
		return "", err
	}
	job.GPUs, job.InputBytes, job.ShuffleBytes, job.OutputBytes = math.NaN(), math.NaN(), math.NaN(), math.NaN()
	job.Cores, job.MemoryBytes, job.DiskBytes = math.NaN(), math.NaN(), math.NaN()
	job.Tasks, job.Duration = Unknown, Unknown
	return t.parse(t.rows, job)
}

func (t *table) close() { t.rows.shut() }

// openTable opens the reader of a format with one row per job and one file.
func openTable(folder fs.FS, files []string, l *layout, o Options, unique bool, parse func(Options) parseJob) (Reader, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	t := &table{rows: newRows(folder, files, l), parse: parse(o), skips: skips{}, lenient: o.SkipMalformed}
	return newStream(t, t.skips, o, sorted, nil, unique), nil
}

// interval sets the duration of a job from its start and end. Where the end is
// not given or did not happen, ended is false.
func (j *Job) interval(start, end time.Duration, ended bool) (skip string) {
	switch {
	case !ended:
		j.Duration = Unknown
	case end < start:
		return skipNegative
	default:
		j.Duration = end - start
	}
	return ""
}

// parseNode turns a record into an event, or says why it is left out.
type parseNode func(r *rows, e *NodeEvent) (skip string, err error)

// nodes is the NodeReader of every format: events held and sorted.
type nodes struct {
	events []NodeEvent
	skips  skips
}

// Next returns the next event.
func (n *nodes) Next() (NodeEvent, error) {
	if len(n.events) == 0 {
		return NodeEvent{}, io.EOF
	}
	e := n.events[0]
	n.events = n.events[1:]
	return e, nil
}

// Skips counts the rows left out.
func (n *nodes) Skips() map[string]int { return maps.Clone(n.skips) }

// Close ends reading.
func (n *nodes) Close() error { n.events = nil; return nil }

// Reasons for leaving out an event of a machine.
const (
	skipNeverAdded = "a machine is removed or resized that was never added"
	skipAddedTwice = "a machine is added that is there already, unchanged"
	skipNoCapacity = "a machine without a capacity"
	skipAfterEnd   = "after the stretch that is read"
)

// openNodes reads a table of machines whole.
func openNodes(folder fs.FS, files []string, l *layout, o Options, parse func(Options) parseNode) (NodeReader, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	r := newRows(folder, files, l)
	defer r.shut()
	n := &nodes{skips: skips{}}
	parser := parse(o)
	for {
		err := r.next()
		if errors.Is(err, io.EOF) {
			break
		}
		e := NodeEvent{Cores: math.NaN(), MemoryBytes: math.NaN()}
		var skip string
		if err == nil {
			skip, err = parser(r, &e)
		}
		switch {
		case err != nil:
			return nil, err
		case skip != "":
			n.skips[skip]++
		default:
			n.events = append(n.events, e)
		}
	}
	n.settle(o)
	return n, nil
}

// settle sorts events, puts them on the reader's clock and makes them
// consistent: a node is there before it changes, and changes only while it is.
func (n *nodes) settle(o Options) {
	slices.SortStableFunc(n.events, func(a, b NodeEvent) int { return cmp.Compare(a.At, b.At) })
	shift := o.From
	if o.Origin != nil {
		shift += *o.Origin
	}
	there := map[string]NodeEvent{}
	kept := n.events[:0]
	for _, e := range n.events {
		at := e.At - shift
		if o.To > 0 && at >= o.To-o.From {
			n.skips[skipAfterEnd]++
			continue
		}
		e.At = scale(max(0, at), o.SubmitScale)
		if skip := consistent(there, &e); skip != "" {
			n.skips[skip]++
			continue
		}
		kept = append(kept, e)
	}
	n.events = kept
}

// consistent checks an event against the nodes that are there, corrects what
// kind of change it is, and remembers it.
func consistent(there map[string]NodeEvent, e *NodeEvent) (skip string) {
	was, is := there[e.Node]
	switch {
	case e.Change == Removed && !is, e.Change == Resized && !is:
		return skipNeverAdded
	case e.Change == Removed:
		delete(there, e.Node)
		e.Cores, e.MemoryBytes, e.GPUs, e.GPUType, e.Configuration = was.Cores, was.MemoryBytes, was.GPUs, was.GPUType, was.Configuration
		return ""
	case !(e.Cores > 0):
		return skipNoCapacity
	case is && same(was, *e):
		return skipAddedTwice
	case is:
		e.Change = Resized
	}
	there[e.Node] = *e
	return ""
}

// same compares capacities; two unknown ones are the same.
func same(a, b NodeEvent) bool {
	equal := func(x, y float64) bool { return x == y || (math.IsNaN(x) && math.IsNaN(y)) }
	return equal(a.Cores, b.Cores) && equal(a.MemoryBytes, b.MemoryBytes) && a.GPUs == b.GPUs &&
		a.GPUType == b.GPUType && a.Configuration == b.Configuration
}

// errNoJobs is the error of a folder that holds machines of a trace only.
func errNoJobs(format, files string) error {
	return fmt.Errorf("%w: the folder has no jobs of %s: %s", ErrFormat, format, files)
}
