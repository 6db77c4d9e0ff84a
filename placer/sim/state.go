package sim

import (
	"math"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// progress is work that goes on at a rate.
type progress struct {
	done, work float64 // seconds of ideal speed
	rate       float64 // seconds of ideal speed per second
	since      Instant
	generation uint32
}

func (p *progress) advance(now Instant) float64 {
	dt := (now - p.since).Seconds()
	p.done += p.rate * dt
	p.since = now
	return dt
}

// at is when the work reaches a mark; false: never at this rate.
func (p *progress) at(mark float64) (Instant, bool) {
	if p.rate <= 0 {
		return 0, false
	}
	left := (mark - p.done) / p.rate
	if left <= 0 {
		return p.since, true
	}
	if left > maxSeconds {
		return 0, false
	}
	return p.since + Instant(math.Ceil(left*float64(time.Second))), true
}

// maxSeconds is as far as an Instant reaches, with room to add.
const maxSeconds = 2e9

// reached allows for the rounding of an instant to nanoseconds.
func (p *progress) reached(mark float64) bool { return p.done >= mark-1e-6 }

// stage is where a workload tolerates.
type stage uint8

const (
	stageFree stage = iota
	stageProfiling
	stageWaiting
	stageRunning
)

// workload is a job in the world.
type workload struct {
	job         Job
	ask         board.Request
	stage       stage
	phase       int
	known       int    // phase of the last profile
	again       int    // profiles of that phase beyond the first
	life        uint32 // how often this place was used, for late bindings
	record      int32
	replicas    []int32
	targetShare float64 // of what its replicas are estimated to do in isolation; 0: not known
	left        int     // tasks not yet started, or late bindings to come
	running     int     // place in World.running
	progress    progress
	resume      Instant // no work before
	top         float64 // the application's speed in isolation on the best configuration that can hold it
	best        float64 // the same at the size asked for
	useful      float64 // cores that the application has a use for
	scale       float64 // performance that is ideal speed
	capacity    float64 // performance now
	load        float64
	missing     int // allocations to replace
	numbered    int32
	free        int32

	// Sums over its allocations, so that a group of thousands costs no more than
	// one when one of them changes.
	speeds, isolatedSpeeds, platforms, iops float64

	interference, platform float64 // now
	sumInterference        float64
	sumPlatform            float64
	sumServed, sumInBound  float64
	sumIOPS                float64
	sumTail                float64
	seconds                float64
}

// replica is one allocation.
type replica struct {
	workload int32
	node     board.Index
	number   int32 // of its handle
	place    int32 // in World.nodeReplicas
	at       int32 // in workload.units
	size     cluster.Resources
	cores    float64
	speed    float64
	isolated float64
	iops     float64
	platform float64  // what its configuration gives, relative to the best
	progress progress // Tasks only
	started  Instant
	resume   Instant // no work before, where it was moved
	next     int32   // free list
}

// slabBits: workloads are kept in slabs, so that pointers to their asks hold.
const slabBits = 10

type slabs struct {
	all  [][]workload
	free int32
	used int
}

func (s *slabs) at(i int32) *workload { return &s.all[i>>slabBits][i&(1<<slabBits-1)] }

// take returns a place that is free.
func (s *slabs) take() int32 {
	s.used++
	if s.free < 0 {
		base := int32(len(s.all)) << slabBits
		slab := make([]workload, 1<<slabBits)
		for k := range slab {
			slab[k].free = base + int32(k) + 1
		}
		slab[len(slab)-1].free = -1
		s.all, s.free = append(s.all, slab), base
	}
	i := s.free
	s.free = s.at(i).free
	return i
}

// give returns a place; what has capacity is kept.
func (s *slabs) give(i int32) {
	w := s.at(i)
	s.used--
	*w = workload{free: s.free, replicas: w.replicas[:0], life: w.life + 1, progress: progress{generation: w.progress.generation + 1}}
	s.free = i
}

func handleOf(workload int32, number int32) board.Handle {
	return board.Handle(workload)<<maxReplicaBits | board.Handle(number)
}

func workloadOf(handle board.Handle) int32 { return int32(handle >> maxReplicaBits) }
