package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/adapt"
	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

// World is one run. It is for one goroutine.
type World struct {
	config Config
	board  *board.Board
	now    Instant
	heap   eventHeap

	machines     []truth.Machine // by configuration: the room of its largest node
	workloads    slabs
	replicas     []replica
	freeReplica  int32
	nodeReplicas [][]int32
	down         []bool        // lost
	closed       []bool        // by the adapter
	rented       []board.Index // and there
	bound        [][]binding
	anyBound     int

	running  []int32
	lab      []int32 // waiting for a slot
	profiled map[*truth.Application]bool
	labBusy  int
	agents   int // free
	flights  []flight
	wakeAt   Instant
	fleetAt  Instant
	attempts int // at this instant
	stirred  bool

	next     Job
	more     bool
	timed    board.DecisionTime // nil: decisions take no time
	choosing *rand.Rand
	adapting *rand.Rand

	assumedT, assumedC []float64
	records            []Record
	counters           Counters
	ended              int
	reserved           float64 // cores asked for by the jobs that are there
	targeted           int     // jobs that are there and have a target
	usage              usage
	deciding           []time.Duration
	completed          float64 // work of jobs with a deadline
	slowdown           Slowdowns
	measured           uint64 // windows so far: of the meter's noise

	placed  []truth.Placed // scratch
	speeds  []truth.Speed
	doomed  []int32
	windows []adapt.Observation
}

// binding is a workload that waits at a node.
type binding struct {
	workload int32
	life     uint32
}

// flight is a decision being made.
type flight struct {
	who      int32 // the workload
	attempt  admission.Attempt
	choice   board.Choice
	replicas []board.Replica
	retries  int
	life     uint32
	free     bool
}

// The streams of random numbers: one per purpose, so that one more draw in one
// does not shift another.
const (
	streamChoose = iota + 1
	streamAdapt
	streamMeter
)

// New prepares a run.
func New(c Config) (*World, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	c.defaults()
	n := c.Board.Len()
	w := &World{
		config: c, board: c.Board, workloads: slabs{free: -1}, freeReplica: -1, agents: c.Agents, wakeAt: Never, fleetAt: Never,
		nodeReplicas: make([][]int32, n), down: make([]bool, n), closed: make([]bool, n), bound: make([][]binding, n),
		choosing: rand.New(rand.NewPCG(c.Seed, streamChoose)), adapting: rand.New(rand.NewPCG(c.Seed, streamAdapt)),
		records: make([]Record, 0, c.Expect), profiled: map[*truth.Application]bool{},
	}
	switch {
	case c.Instant:
	case c.DecisionTime > 0:
		w.timed = fixedTime(c.DecisionTime)
	default:
		w.timed, _ = c.Selector.(board.DecisionTime)
	}
	w.machines = machines(c.Board)
	for range c.Board.Columns {
		w.assumedT, w.assumedC = append(w.assumedT, assumedTolerated), append(w.assumedC, assumedCaused)
	}
	w.usage = newUsage(c.Board, c.SampleEvery)
	for i, change := range c.Nodes {
		if change.At <= 0 { // it is so before the first submission
			w.down[change.Node] = !change.Ready
			w.board.SetReady(change.Node, change.Ready)
			continue
		}
		w.heap.push(change.At, kindNode, int32(i), 0)
	}
	w.heap.push(c.SampleEvery, kindSample, 0, 0)
	if c.Adapter != nil {
		w.heap.push(c.Window, kindWindow, 0, 0)
	}
	return w, w.read()
}

// machines is the room of the largest node of every configuration.
func machines(b *board.Board) []truth.Machine {
	out := make([]truth.Machine, len(b.Configurations))
	for i := range b.Len() {
		n := b.Node(board.Index(i))
		m := &out[n.Configuration]
		m.Cores = max(m.Cores, float64(n.Total.Cores), float64(n.Total.CPUMHz)/mhzPerCore)
		m.MemoryMB = max(m.MemoryMB, float64(n.Total.MemoryMB))
	}
	return out
}

// What is assumed of the scores of a job that was never profiled: the middle.
const assumedTolerated, assumedCaused = 50, 50

// read takes the next submission from the source.
func (w *World) read() error {
	before := w.next.At
	job, ok, err := w.config.Jobs.Next()
	if err != nil {
		return fmt.Errorf("sim: jobs: %w", err)
	}
	if ok && job.At < before {
		return fmt.Errorf("%w: job %d at %s after %s", ErrOrder, job.Number, job.At, before)
	}
	w.next, w.more = job, ok
	return nil
}

// progressEvery is how many events pass between two looks at the context.
const progressEvery = 1 << 14

// Run runs to the end.
func (w *World) Run(ctx context.Context) (*Result, error) {
	for {
		if w.counters.Events%progressEvery == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if w.config.Progress != nil {
				w.config.Progress(w.ended, w.config.Expect, w.now)
			}
		}
		alive, err := w.step()
		if err != nil {
			return nil, err
		}
		if !alive {
			return w.result(), nil
		}
	}
}

// step takes the earliest submission or event; false is the end of the run.
func (w *World) step() (bool, error) {
	idle := w.workloads.used == 0 && !w.more
	if idle || len(w.heap.events) == 0 && !w.more {
		return false, nil
	}
	if w.more && (len(w.heap.events) == 0 || w.next.At <= w.heap.events[0].at) {
		if w.pastLimit(w.next.At) {
			return false, nil
		}
		w.tick(w.next.At)
		if err := w.arrive(); err != nil {
			return false, err
		}
		return true, w.schedule()
	}
	e := w.heap.pop()
	if w.pastLimit(e.at) || w.stuck(e) {
		return false, nil
	}
	w.tick(e.at)
	if err := w.happen(e); err != nil {
		return false, err
	}
	if !w.stirred {
		return true, nil
	}
	return true, w.schedule()
}

func (w *World) tick(at Instant) {
	w.counters.Events++
	if at != w.now {
		w.now, w.attempts = at, 0
	}
}

func (w *World) pastLimit(at Instant) bool {
	if w.config.Limit > 0 && at > w.config.Limit {
		w.now = w.config.Limit
		return true
	}
	return false
}

// stuck: only the clocks go on, and nothing is on its way. What waits, or runs
// at no speed, then does so for ever.
func (w *World) stuck(e event) bool {
	clocks := 0 // in the heap beside e
	if w.config.Adapter != nil {
		clocks = 1
	}
	if e.kind != kindSample && e.kind != kindWindow || w.more || len(w.heap.events) > clocks {
		w.usage.idle = 0
		return false
	}
	w.usage.idle++
	return w.usage.idle > maxIdleSamples
}

// maxIdleSamples bounds how long a run waits for a wait to end by itself.
const maxIdleSamples = 1000

// happen dispatches one event.
func (w *World) happen(e event) error {
	w.stirred = true
	switch e.kind {
	case kindReady:
		return w.ready(e.who)
	case kindProgress:
		w.milestone(e)
	case kindReplica:
		w.taskEnds(e)
	case kindDecision:
		w.decided(e.who)
	case kindWake:
		if e.at == w.wakeAt {
			w.wakeAt = Never
		}
	case kindLoad:
		w.loadChanges(e)
	case kindResume:
		w.resumes(e)
	case kindWindow:
		return w.window()
	case kindSample:
		w.stirred = false
		w.sample()
	case kindNode:
		w.nodeChanges(w.config.Nodes[e.who])
	case kindDeadline:
		w.dueNow(e)
	case kindMigrated:
		w.migrated(e.who)
	case kindLearned:
		return w.learned(e)
	case kindFleet:
		w.fleetMoves(e)
	}
	return nil
}

func (w *World) result() *Result {
	for _, i := range w.running {
		w.integrate(w.workloads.at(i))
		w.conclude(w.workloads.at(i))
	}
	end := Instant(0)
	for i := range w.records {
		end = max(end, w.records[i].Ended)
	}
	w.counters.Jobs = len(w.records)
	provided := w.provided(end)
	return &Result{
		Records: w.records, Counters: w.counters, Samples: w.usage.samples, Heat: w.usage.heat,
		Cores: w.usage.total, End: end, Deciding: w.deciding, Work: w.completed, Slowdown: w.slowdown,
		Provision: provided,
	}
}
