package trace

import (
	"errors"
	"io"
	"math"
	"time"
)

// Events of Google's tasks (format and schema, "Task events table").
const (
	googleSubmit = iota
	googleSchedule
	googleEvict
	googleFail
	googleFinish
	googleKill
	googleLost
	googleUpdatePending
	googleUpdateRunning
)

// afterTrace is the time Google writes for "after the end of the trace".
const afterTrace = math.MaxInt64

// googleKey names a task.
type googleKey struct {
	job   uint64
	index uint32
}

// googlePending is a submitted task whose end is waited for.
type googlePending struct {
	key       googleKey
	user      uint32 // interned
	class     int8
	priority  int8
	apart     bool
	done      bool
	submitUS  int64
	startedUS int64 // -1 until it is scheduled
	ranUS     int64 // -1 until it has ended
	cpu       float64
	memory    float64
}

// googleEvents turns events into jobs. A job leaves when its end is known, or
// when the horizon has passed; those submitted before it leave first, so the queue
// is in order of submission and holds no more than was submitted in one horizon.
type googleEvents struct {
	rows      *rows
	options   Options
	skips     skips
	cores     float64
	memory    float64
	horizonUS int64

	queue []googlePending // ring
	head  int64           // number of the first pending task since the start
	tail  int64           // number of the next
	live  map[googleKey]int64
	users intern
	nowUS int64
	ended bool
}

func newGoogleEvents(r *rows, o Options, counted skips) *googleEvents {
	g := &googleEvents{
		rows: r, options: o, skips: counted, horizonUS: o.Horizon.Microseconds(),
		queue: make([]googlePending, 1<<12), live: map[googleKey]int64{}, users: newIntern(),
	}
	g.cores, g.memory = o.largest(google2011Cores, google2011MemoryBytes)
	return g
}

func (g *googleEvents) close() { g.rows.shut() }

func isEnd(err error) bool { return errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) }

// next gives the first pending task as soon as it may leave.
func (g *googleEvents) next(j *Job) error {
	for !g.mayLeave() {
		switch err := g.event(); {
		case err == nil:
		case isEnd(err):
			g.ended = true
			if g.head == g.tail {
				return io.EOF
			}
		case g.options.SkipMalformed && inOneCell(err):
			g.skips[skipMalformed]++
		default:
			return err
		}
	}
	g.leave(j)
	return nil
}

func (g *googleEvents) mayLeave() bool {
	if g.head == g.tail {
		return false
	}
	first := g.at(g.head)
	return first.done || g.ended || g.nowUS-first.submitUS > g.horizonUS
}

// at is a pending task by its number.
func (g *googleEvents) at(number int64) *googlePending {
	return &g.queue[number&int64(len(g.queue)-1)]
}

// leave takes the first pending task out.
func (g *googleEvents) leave(j *Job) {
	p := g.at(g.head)
	if !p.done {
		delete(g.live, p.key)
	}
	j.ID, j.Group = taskName(p.key.job, p.key.index)
	j.User, j.Kind = g.users.texts[p.user], googleKind(int64(p.class))
	j.Class, j.Priority = googleClassOf(int64(p.class), int64(p.priority)), int(p.priority)
	j.Submit, j.Tasks, j.GPUs = time.Duration(p.submitUS)*time.Microsecond, 1, 0
	j.Cores, j.MemoryBytes, j.DiskBytes = p.cpu*g.cores, p.memory*g.memory, nan
	j.InputBytes, j.ShuffleBytes, j.OutputBytes, j.Apart = nan, nan, nan, p.apart
	j.Duration = Unknown
	switch {
	case p.ranUS >= 0:
		j.Duration = time.Duration(p.ranUS) * time.Microsecond
	case !p.done && p.startedUS >= 0:
		j.AtLeast = time.Duration(g.nowUS-p.startedUS) * time.Microsecond
	}
	g.head++
}

// event reads one row.
func (g *googleEvents) event() error {
	r := g.rows
	if err := r.next(); err != nil {
		return err
	}
	at, err := r.count(googleAt)
	if err != nil {
		return err
	}
	job, err := r.count(googleJob)
	if err != nil {
		return err
	}
	index, err := r.count(googleTask)
	if err != nil {
		return err
	}
	kind, err := r.count(googleEvent)
	if err != nil {
		return err
	}
	switch {
	case at < 0 || (at > longest/1000 && at != afterTrace):
		return r.bad(googleAt, "not a time of the trace", "microseconds, from 0")
	case index < 0 || index > math.MaxUint32:
		return r.bad(googleTask, "not the index of a task", "")
	case job < 0:
		return r.bad(googleJob, "not the id of a job", "")
	}
	if at == afterTrace {
		return nil // what happened later is not known
	}
	key := googleKey{uint64(job), uint32(index)}
	switch kind {
	case googleSubmit:
		return g.submit(key, at)
	case googleUpdatePending, googleUpdateRunning:
		return nil
	case googleSchedule, googleEvict, googleFail, googleFinish, googleKill, googleLost:
		g.change(key, kind, at)
		return nil
	default:
		return r.bad(googleEvent, "not an event of a task", "known: 0 to 8")
	}
}

// submit makes a task pending.
func (g *googleEvents) submit(key googleKey, at int64) error {
	if at < g.nowUS {
		g.skips["a submission before that of an earlier row"]++
		return nil
	}
	g.nowUS = at
	if _, ok := g.live[key]; ok {
		g.skips["submitted again after an eviction, or while it was pending"]++
		return nil
	}
	if g.options.Sample < 1 && !inSample(g.rows.cell(googleJob), g.options) {
		return nil
	}
	p, err := g.pending(key, at)
	if err != nil {
		return err
	}
	if g.tail-g.head == int64(len(g.queue)) {
		g.grow()
	}
	*g.at(g.tail) = p
	g.live[key] = g.tail
	g.tail++
	return nil
}

// pending reads the rest of a row of submission.
func (g *googleEvents) pending(key googleKey, at int64) (googlePending, error) {
	r := g.rows
	p := googlePending{key: key, submitUS: at, startedUS: Unknown, ranUS: Unknown, user: g.users.place(r.cell(googleUser))}
	class, _, err := r.integer(googleClass)
	if err != nil {
		return p, err
	}
	priority, _, err := r.integer(googlePriority)
	if err != nil {
		return p, err
	}
	if p.cpu, err = r.size(googleCPU); err != nil {
		return p, err
	}
	if p.memory, err = r.size(googleMemory); err != nil {
		return p, err
	}
	apart, _, err := r.integer(googleApart)
	p.class, p.priority, p.apart = int8(min(max(class, -1), 127)), int8(min(max(priority, 0), 127)), apart == 1
	return p, err
}

// grow doubles the ring; numbers of tasks stay.
func (g *googleEvents) grow() {
	larger := make([]googlePending, 2*len(g.queue))
	for n := g.head; n < g.tail; n++ {
		larger[n&int64(len(larger)-1)] = *g.at(n)
	}
	g.queue = larger
}

// change follows a pending task. One that is evicted waits to be scheduled
// again: what it had run is lost, as it was at Google.
func (g *googleEvents) change(key googleKey, kind, at int64) {
	g.nowUS = max(g.nowUS, at)
	number, ok := g.live[key]
	if !ok {
		return // not in the sample, or submitted before the horizon
	}
	p := g.at(number)
	switch kind {
	case googleSchedule:
		p.startedUS = at
	case googleEvict:
		p.startedUS = Unknown
	default:
		p.done = true
		if p.startedUS >= 0 && at >= p.startedUS {
			p.ranUS = at - p.startedUS
		}
		delete(g.live, key)
	}
}
