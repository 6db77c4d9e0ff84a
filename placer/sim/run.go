package sim

import (
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

// place starts allocations of a workload.
func (w *World) place(i int32, s *workload, replicas []board.Replica, choice *board.Choice) {
	w.counters.Placements++
	if len(choice.Relaxed) > 0 {
		w.counters.Relaxed++
		if len(choice.Relaxed) > 1 {
			w.counters.RelaxedSeveral++
		}
	}
	r := &w.records[s.record]
	if r.Started == Never {
		r.Started, r.Relaxed = w.now, int16(len(choice.Relaxed))
		r.Best, r.Node = w.onBest(s, replicas), int32(replicas[0].Node)
		r.Rented = w.config.Fleet != nil && w.config.Fleet.Rents(replicas[0].Node)
	}
	first := s.stage != stageRunning
	if s.ask.Tolerances != nil {
		tolerance := s.ask.ToleranceOf(w.board, replicas)
		s.ask.Tolerated, s.ask.RequiredFraction = tolerance.Tolerated, tolerance.RequiredFraction
	}
	s.targetShare = w.targetShare(s, replicas)
	for _, u := range replicas {
		k := w.begin(i, s, u.Node, u.Size)
		r.Cores += float32(w.replicas[k].cores)
		if s.job.App == nil && s.job.Shape == Tasks {
			w.rateTask(s, k)
		}
	}
	if s.job.Shape == Tasks {
		s.left -= len(replicas)
		s.ask.Count = s.left
	} else {
		s.left = 0
	}
	if first {
		w.goes(i, s)
	}
	for _, u := range replicas {
		w.refresh(u.Node)
	}
	w.rate(i, s)
}

// targetShare is the part of what replicas are estimated to do in isolation that the target takes; 0
// where there is none, or nothing is known.
func (w *World) targetShare(s *workload, replicas []board.Replica) float64 {
	if s.job.Target <= 0 || len(s.ask.Speed) == 0 {
		return 0
	}
	sum := 0.0
	for _, u := range replicas {
		v := s.ask.Speed[w.board.Node(u.Node).Configuration]
		for _, o := range s.ask.Sizes {
			if o.Size == u.Size {
				v *= o.Speed
			}
		}
		sum += v
	}
	if n := len(replicas); len(s.ask.ScaleOut) >= n && n > 0 {
		sum *= s.ask.ScaleOut[n-1] / float64(n)
	}
	if !(sum > 0) {
		return 0
	}
	return s.job.Target * s.load / sum
}

// goes makes a workload run.
func (w *World) goes(i int32, s *workload) {
	s.stage = stageRunning
	s.running = len(w.running)
	w.running = append(w.running, i)
	s.progress.since = w.now
	if w.records[s.record].Restarts > 0 && w.config.RestartTime > 0 {
		s.resume = w.now + w.config.RestartTime
		w.heap.push(s.resume, kindResume, i, s.life)
	}
	if s.job.Shape == Service && s.job.Load.varies() {
		s.load = s.job.Load.At(0)
		w.heap.push(w.now+w.config.LoadEvery, kindLoad, i, s.life)
	}
}

// onBest reports whether all units are on configurations within 1 % of the best.
func (w *World) onBest(s *workload, replicas []board.Replica) bool {
	if s.job.App == nil {
		return true
	}
	return !slices.ContainsFunc(replicas, func(u board.Replica) bool { return w.platform(s, u.Node) < 0.99 })
}

// begin puts one allocation on a node.
func (w *World) begin(i int32, s *workload, n board.Index, size cluster.Resources) int32 {
	k := w.freeReplica
	if k < 0 {
		w.replicas = append(w.replicas, replica{})
		k = int32(len(w.replicas) - 1)
	} else {
		w.freeReplica = w.replicas[k].next
	}
	u := &w.replicas[k]
	generation := u.progress.generation + 1
	*u = replica{
		workload: i, node: n, number: s.numbered, size: size, cores: coresOf(size),
		place: int32(len(w.nodeReplicas[n])), at: int32(len(s.replicas)), platform: w.platform(s, n),
	}
	s.numbered = (s.numbered + 1) & (1<<maxReplicaBits - 1) // those of long ago have ended
	s.platforms += u.platform
	u.progress = progress{work: s.job.Duration.Seconds(), since: w.now, generation: generation}
	u.started = w.now
	w.nodeReplicas[n] = append(w.nodeReplicas[n], k)
	s.replicas = append(s.replicas, k)
	handle := handleOf(i, u.number)
	w.board.Place(n, s.resident(handle, size))
	w.config.Controller.Started(w.now, n, handle)
	return k
}

// resident is what the board knows of an allocation.
func (s *workload) resident(handle board.Handle, size cluster.Resources) board.Resident {
	return board.Resident{
		Handle: handle, Size: size, Tolerated: s.ask.Tolerated, Caused: s.ask.Caused, RequiredFraction: s.ask.RequiredFraction, Priority: s.ask.Priority, BestEffort: s.ask.BestEffort,
		Class: s.ask.Class, Response: s.ask.Response, TargetShare: s.targetShare,
	}
}

// platform is what the configuration of a node gives a workload alone, relative
// to its best one.
func (w *World) platform(s *workload, n board.Index) float64 {
	if s.job.App == nil || s.top <= 0 {
		return 1
	}
	return s.job.App.Isolated[w.board.Node(n).Configuration] / s.top
}

// finish takes one allocation away.
func (w *World) finish(k int32) {
	u := &w.replicas[k]
	s := w.workloads.at(u.workload)
	w.leaveNode(k)
	u.resume = 0 // its move, if it was on one, ends nowhere
	w.leaveGroup(s, k)
	handle := handleOf(u.workload, u.number)
	if err := w.board.Remove(u.node, handle); err != nil {
		panic(err) // the board holds what the world put there: a fault of this package
	}
	w.config.Controller.Ended(w.now, u.node, handle)
	u.progress.generation++
	u.next = w.freeReplica
	w.freeReplica = k
}

// leaveNode takes an allocation out of its node's list; the last one takes its place.
func (w *World) leaveNode(k int32) {
	u := &w.replicas[k]
	list := w.nodeReplicas[u.node]
	last := list[len(list)-1]
	list[u.place] = last
	w.replicas[last].place = u.place
	w.nodeReplicas[u.node] = list[:len(list)-1]
}

// leaveGroup takes an allocation out of its workload; the last one takes its
// place.
func (w *World) leaveGroup(s *workload, k int32) {
	u := &w.replicas[k]
	other := s.replicas[len(s.replicas)-1]
	s.replicas[u.at] = other
	w.replicas[other].at = u.at
	s.replicas = s.replicas[:len(s.replicas)-1]
	s.speeds, s.isolatedSpeeds, s.platforms, s.iops = s.speeds-u.speed, s.isolatedSpeeds-u.isolated, s.platforms-u.platform, s.iops-u.iops
	if len(s.replicas) == 0 {
		s.speeds, s.isolatedSpeeds, s.platforms, s.iops, s.numbered = 0, 0, 0, 0, 0 // no rest of rounding
	}
}

// refresh computes the speeds on a node anew.
func (w *World) refresh(n board.Index) {
	if w.config.Truth == nil || len(w.nodeReplicas[n]) == 0 {
		return
	}
	w.placed = w.placed[:0]
	for _, k := range w.nodeReplicas[n] {
		u := &w.replicas[k]
		s := w.workloads.at(u.workload)
		w.placed = append(w.placed, truth.Placed{
			Application: s.job.App, Cores: u.cores, MemoryMB: float64(u.size.MemoryMB), Phase: s.phase, Load: s.load, Elastic: s.job.Sized, Number: u.number,
		})
	}
	if w.config.Fleet != nil {
		w.placed = append(w.placed, w.config.Fleet.Outside(n)...)
	}
	w.speeds = w.config.Truth.Speeds(w.board.Node(n).Configuration, w.placed, w.speeds)
	for at, k := range w.nodeReplicas[n] {
		u := &w.replicas[k]
		if u.speed == w.speeds[at].Value && u.isolated == w.speeds[at].Isolated && u.speed > 0 {
			continue
		}
		s := w.workloads.at(u.workload)
		w.integrate(s)
		s.speeds += w.speeds[at].Value - u.speed
		s.isolatedSpeeds += w.speeds[at].Isolated - u.isolated
		s.iops += w.speeds[at].IOPS - u.iops
		u.speed, u.isolated, u.iops = w.speeds[at].Value, w.speeds[at].Isolated, w.speeds[at].IOPS
		w.rate(u.workload, s)
		if s.job.Shape == Tasks {
			w.rateTask(s, k)
		}
		if u.speed <= 0 {
			w.doomed = append(w.doomed, u.workload)
		}
	}
}

// rate integrates what was done so far and reschedules the end of a workload.
func (w *World) rate(i int32, s *workload) {
	if s.stage != stageRunning {
		return
	}
	w.integrate(s)
	w.measure(s)
	if s.job.Shape == Tasks {
		return // each on its own
	}
	p := &s.progress
	before := p.rate
	p.rate = w.groupRate(s)
	if p.rate == before && p.generation != 0 && s.running >= 0 && p.rate != 0 {
		return
	}
	p.generation++
	if at, ok := p.at(s.boundary()); ok {
		w.heap.push(at, kindProgress, i, p.generation)
	}
}

// groupRate is the progress of batch work, or the passing of a service's life.
func (w *World) groupRate(s *workload) float64 {
	switch {
	case len(s.replicas) == 0:
		if s.job.Shape == Service {
			return 1 // its users wait, and its time passes
		}
		return 0
	case s.job.App == nil || s.job.Shape == Service:
		return 1
	case w.now < s.resume:
		return 0
	default:
		return s.capacity / s.scale
	}
}

// rateTask reschedules the end of a single task.
func (w *World) rateTask(s *workload, k int32) {
	u := &w.replicas[k]
	rate := 1.0
	if s.job.App != nil {
		rate = u.speed / s.scale
	}
	if w.now < u.resume {
		rate = 0
	}
	if rate == u.progress.rate && rate != 0 {
		return
	}
	u.progress.advance(w.now)
	u.progress.rate = rate
	u.progress.generation++
	if at, ok := u.progress.at(u.progress.work); ok {
		w.heap.push(at, kindReplica, k, u.progress.generation)
	}
}

// boundary is the work at which the phase, or everything, ends.
func (s *workload) boundary() float64 {
	if s.job.App == nil || s.phase >= len(s.job.App.Phases)-1 {
		return s.progress.work
	}
	share := 0.0
	for _, p := range s.job.App.Phases[:s.phase+1] {
		share += p.Share
	}
	return share * s.progress.work
}

// integrate adds the time since the last change to the sums of a workload.
func (w *World) integrate(s *workload) {
	dt := s.progress.advance(w.now)
	if dt <= 0 || s.job.App == nil {
		return
	}
	s.seconds += dt
	s.sumInterference += dt * s.interference
	s.sumPlatform += dt * s.platform
	s.sumIOPS += dt * s.iops
	if s.job.Shape == Service {
		offered := s.scale * s.load
		served := min(1, s.capacity/offered)
		s.sumServed += dt * served
		s.sumTail += dt * tailOf(s.capacity/offered)
		if served >= QoS {
			s.sumInBound += dt
		}
	}
}

// measure reads what the workload reaches now.
func (w *World) measure(s *workload) {
	if s.job.App == nil {
		return
	}
	s.capacity, s.interference, s.platform = 0, 0, 0
	if n := len(s.replicas); n > 0 {
		s.capacity = s.speeds
		if s.job.Shape != Tasks {
			s.capacity *= w.config.Truth.Group(s.job.App, n)
		}
		if s.isolatedSpeeds > 0 {
			s.interference = s.speeds / s.isolatedSpeeds
		}
		s.platform = s.platforms / float64(n)
	}
	if w.now < s.resume {
		s.capacity = 0
	}
}

// milestone ends a phase, or the workload.
func (w *World) milestone(e event) {
	s := w.workloads.at(e.who)
	if s.stage != stageRunning || s.progress.generation != e.generation {
		w.stale()
		return
	}
	w.integrate(s)
	if s.progress.reached(s.progress.work) {
		w.end(e.who, s, Done)
		return
	}
	if s.progress.reached(s.boundary()) {
		s.phase++
	}
	s.progress.rate = -1 // differs from every rate: it is rescheduled
	nodes := w.nodesOf(s)
	for _, n := range nodes {
		w.refresh(n)
	}
	w.rate(e.who, s)
}

// nodesOf lists the nodes of a workload once each.
func (w *World) nodesOf(s *workload) []board.Index {
	var out []board.Index
	for _, k := range s.replicas {
		if n := w.replicas[k].node; !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// taskEnds ends one task, and the workload with its last one.
func (w *World) taskEnds(e event) {
	u := &w.replicas[e.who]
	if u.progress.generation != e.generation {
		w.stale()
		return
	}
	i, n := u.workload, u.node
	s := w.workloads.at(i)
	w.integrate(s)
	if len(s.replicas) == 1 && s.left == 0 {
		w.completed += s.requested()
		w.end(i, s, Done)
		return
	}
	w.finish(e.who)
	w.vacated(n)
	w.measure(s)
}

func (w *World) stale() {
	w.counters.Stale++
	w.stirred = false
}

// vacated: a node has room again.
func (w *World) vacated(n board.Index) {
	w.refresh(n)
	if w.anyBound > 0 {
		w.bindings(n)
	}
}

// end takes a workload out of the world.
func (w *World) end(i int32, s *workload, o Outcome) {
	w.leaveNodes(s)
	r := &w.records[s.record]
	r.Outcome, r.Ended = o, w.now
	w.conclude(s)
	w.leaveRunning(s)
	w.ended++
	w.reserved -= w.asked(s)
	if s.job.Target > 0 {
		w.targeted--
	}
	if w.config.Adapter != nil {
		w.config.Adapter.Forget(s.ask.Handle)
	}
	if s.waits() { // it was killed with tasks still to be placed
		w.config.Controller.Withdraw(s.ask.Handle)
	}
	w.workloads.give(i)
}

// leaveNodes takes all allocations of a workload away.
func (w *World) leaveNodes(s *workload) {
	for len(s.replicas) > 0 {
		k := s.replicas[len(s.replicas)-1]
		n := w.replicas[k].node
		w.finish(k)
		w.vacated(n)
	}
}

func (w *World) leaveRunning(s *workload) {
	if s.running < 0 {
		return
	}
	last := w.running[len(w.running)-1]
	w.running[s.running] = last
	w.workloads.at(last).running = s.running
	w.running = w.running[:len(w.running)-1]
	s.running = -1
}

// conclude writes the means of a run into its record.
func (w *World) conclude(s *workload) {
	r := &w.records[s.record]
	if s.seconds > 0 {
		r.Interference, r.Platform = float32(s.sumInterference/s.seconds), float32(s.sumPlatform/s.seconds)
		r.Served, r.InBound = float32(s.sumServed/s.seconds), float32(s.sumInBound/s.seconds)
		r.IOPS = float32(s.sumIOPS / s.seconds)
		r.Tail = float32(s.sumTail / s.seconds)
	}
	if s.job.App == nil {
		r.Interference, r.Platform, r.Served, r.InBound, r.Tail = 1, 1, 1, 1, 1
	}
}

// settle kills what ran out of memory.
func (w *World) settle() {
	for len(w.doomed) > 0 {
		i := w.doomed[len(w.doomed)-1]
		w.doomed = w.doomed[:len(w.doomed)-1]
		s := w.workloads.at(i)
		if s.stage == stageRunning && slices.ContainsFunc(s.replicas, func(k int32) bool { return w.replicas[k].speed <= 0 }) {
			w.counters.Killed++
			w.integrate(s)
			w.end(i, s, Killed)
		}
	}
}
