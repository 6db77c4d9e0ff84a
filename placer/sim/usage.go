package sim

import (
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
	"github.com/nomad-placer/nomad-placer/placer/sim/fleet"
)

// usage is what is read of the cluster now and then. When it holds more than
// maxSamples, every second one is dropped and the interval doubled.
type usage struct {
	every   time.Duration
	total   float64
	nodes   []float64 // cores
	samples []Sample
	heat    [][]float32
	idle    int
}

// maxSamples bounds the memory of a run, and is as many columns as a picture
// shows.
const maxSamples = 512

func newUsage(b *board.Board, every time.Duration) usage {
	u := usage{every: every}
	for n := range b.Len() {
		t := b.Node(board.Index(n)).Total
		cores := max(float64(t.Cores), float64(t.CPUMHz)/mhzPerCore)
		u.nodes = append(u.nodes, cores)
		u.total += cores
	}
	return u
}

// sample reads the cluster, and comes again.
func (w *World) sample() {
	u := &w.usage
	s := Sample{At: w.now, Reserved: w.reserved, Running: len(w.running), Waiting: w.workloads.used - len(w.running)}
	row := make([]float32, 0, len(u.nodes))
	for n := range u.nodes {
		allocated := coresOf(w.board.Used(board.Index(n)))
		s.Units += len(w.nodeReplicas[n])
		used := allocated
		if w.config.Truth != nil {
			used = 0
			for _, k := range w.nodeReplicas[n] {
				used += w.usedBy(&w.replicas[k])
			}
		}
		s.Used += used
		s.Allocated += allocated
		if w.config.Fleet != nil && w.config.Fleet.Rents(board.Index(n)) {
			if w.board.Ready(board.Index(n)) {
				s.RentedNodes++
			}
			continue
		}
		s.OwnedUsed += used
		s.OwnedAllocated += allocated
		busy := 0.0
		if u.nodes[n] > 0 {
			busy = used / u.nodes[n]
		}
		row = append(row, float32(busy))
	}
	u.samples, u.heat = append(u.samples, s), append(u.heat, row)
	if len(u.samples) >= maxSamples {
		u.thin()
	}
	w.heap.push(w.now+u.every, kindSample, 0, 0)
}

// usedBy is the cores an allocation keeps busy.
func (w *World) usedBy(u *replica) float64 {
	s := w.workloads.at(u.workload)
	if s.job.App == nil || s.job.Deadline > 0 { // bound by cpu: its cap is what it takes
		return u.cores
	}
	busy := min(u.cores, s.useful) * s.job.App.Phases[s.phase].Intensity
	if s.job.Shape == Service && s.capacity > 0 {
		busy *= min(1, s.scale*s.load/s.capacity)
	}
	return busy
}

// provided is which nodes there were; nil without a fleet.
func (w *World) provided(end Instant) *Provision {
	if w.config.Fleet == nil {
		return nil
	}
	out := &Provision{Rented: w.config.Fleet.History()}
	for n, cores := range w.usage.nodes {
		if !w.config.Fleet.Rents(board.Index(n)) {
			out.OwnedCores += cores
		}
	}
	if r, ok := w.config.Controller.(admission.Reporter); ok {
		out.Sides = r.Report().Sides
	}
	w.usage.total = out.OwnedCores + fleet.MeanCores(out.Rented, end, 0)
	return out
}

// thin keeps every second sample.
func (u *usage) thin() {
	n := 0
	for i := 1; i < len(u.samples); i += 2 {
		u.samples[n], u.heat[n] = u.samples[i], u.heat[i]
		n++
	}
	u.samples, u.heat = u.samples[:n], u.heat[:n]
	u.every *= 2
}
