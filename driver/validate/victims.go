package validate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/driver/validate/worker"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/stat"
)

// victim is a small workload that lives on one resource.
type victim struct {
	source interference.Source
	kind   string
	// size is its working set on a machine; 0 bytes says it has none.
	size   func(m ibench.Machine) int64
	stride int
	disk   bool
	window time.Duration // longer than usual, for workers with slow steps; 0 is the pace's
	// groupBytes puts victim and kernel into a cgroup with that memory limit,
	// so that memory can run short without running short for the machine.
	groupBytes int64
}

// The working sets. Each fits its resource with a little room, so that only
// another workload can take it away.
const (
	shareOfCache    = 0.75  // of a private cache
	shareOfLLC      = 0.125 // of the last-level cache as reported, which virtual machines overstate
	codeBytes       = 24 << 10
	straightBytes   = 96 << 10 // of code: several instruction caches, so that it lives on prefetching
	tlbPages        = 512
	echoBytes       = 4 << 10
	diskBytes       = 32 << 20
	cachedFileBytes = boundMemoryBytes
	groupLimitBytes = boundMemoryBytes + boundMemoryBytes/2
	diskWindow      = 60 * time.Millisecond
)

// victims lists the victim of each source, in the order of the paper.
func victims() []victim {
	return []victim{
		{source: interference.MemoryCapacity, kind: "touch", size: fixed(cachedFileBytes), disk: true, groupBytes: groupLimitBytes},
		{source: interference.MemoryBandwidth, kind: "memchr", size: beyondLLC},
		{source: interference.StorageCapacity, kind: "disk-random", size: fixed(diskBytes), disk: true, window: diskWindow},
		{source: interference.StorageBandwidth, kind: "disk-append", size: fixed(diskBytes), disk: true, window: diskWindow},
		{source: interference.NetworkBandwidth, kind: "echo", size: fixed(echoBytes)},
		{source: interference.LLCCapacity, kind: "chase", size: shareOf(llc, shareOfLLC)},
		{source: interference.LLCBandwidth, kind: "memchr", size: shareOf(llc, shareOfLLC)},
		{source: interference.L2Capacity, kind: "chase", size: shareOf(l2, shareOfCache)},
		{source: interference.L2Bandwidth, kind: "memchr", size: shareOf(l2, shareOfCache)},
		{source: interference.L1Instruction, kind: "code", size: fixed(codeBytes), stride: 1},
		{source: interference.L1Data, kind: "chase", size: shareOf(l1, shareOfCache)},
		{source: interference.TLB, kind: "chase", size: fixed(tlbPages * pageBytes), stride: pageBytes},
		{source: interference.Integer, kind: "integer", size: fixed(0)},
		{source: interference.FloatingPoint, kind: "float", size: fixed(0)},
		{source: interference.Prefetcher, kind: "code", size: fixed(straightBytes)},
		{source: interference.Interconnect, kind: "ping", size: fixed(0)},
		{source: interference.Vector, kind: "vector", size: fixed(0)},
	}
}

const pageBytes = 4096

func victimOf(s interference.Source) (victim, bool) {
	for _, v := range victims() {
		if v.source == s {
			return v, true
		}
	}
	return victim{}, false
}

func fixed(bytes int64) func(ibench.Machine) int64 {
	return func(ibench.Machine) int64 { return bytes }
}

// cacheOf finds one cache of a machine; ok is false where none is reported.
type cacheOf func(m ibench.Machine) (ibench.Cache, bool)

func l1(m ibench.Machine) (ibench.Cache, bool) { return m.DataCache(1) }

func l2(m ibench.Machine) (ibench.Cache, bool) { return m.DataCache(2) }

func llc(m ibench.Machine) (ibench.Cache, bool) { return m.LLC() }

// shareOf is a share of a cache; 0 where the machine reports none.
func shareOf(cache cacheOf, share float64) func(ibench.Machine) int64 {
	return func(m ibench.Machine) int64 {
		c, ok := cache(m)
		if !ok {
			return 0
		}
		return int64(share*float64(c.SizeBytes)) / int64(c.LineBytes) * int64(c.LineBytes)
	}
}

// The working set of a victim of the memory: several times the last-level
// cache, within bounds that are mapped in a moment.
const (
	beyondFactor = 4
	beyondMin    = 64 << 20
	beyondMax    = 512 << 20
)

func beyondLLC(m ibench.Machine) int64 {
	c, _ := m.LLC()
	return min(max(beyondFactor*c.SizeBytes, beyondMin), beyondMax)
}

// spec is how the victim is started.
func (v victim) spec(m ibench.Machine, l layout) worker.Spec {
	s := worker.Spec{Kind: v.kind, CPUs: []int{l.victim}, Bytes: v.size(m), Stride: v.stride}
	if v.source == interference.Interconnect && len(l.beside) > 0 {
		s.CPUs = append(s.CPUs, l.beside[len(l.beside)-1])
	}
	if v.disk {
		s.Dir = storageDir
	}
	return s
}

func (v victim) length(p pace) time.Duration { return max(v.window, p.window) }

// startVictim starts the victim of a source and lets it work.
func (t *team) startVictim(ctx context.Context, v victim, spec worker.Spec) (subject, error) {
	w, err := t.worker(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("victim: %w", err)
	}
	w.Run()
	return w, nil
}

// measureVictim measures what the victim of a source loses at each level.
func (s *session) measureVictim(ctx context.Context, source interference.Source) (VictimCurve, error) {
	v, ok := victimOf(source)
	if !ok {
		return VictimCurve{}, fmt.Errorf("source %s has no victim", source)
	}
	out := VictimCurve{Source: source, Victim: v.kind, Does: worker.Does(v.kind)}
	t := &team{session: s}
	err := t.curve(ctx, v, &out)
	if err = errors.Join(err, t.end()); err != nil {
		return out, err
	}
	out.judge()
	return out, nil
}

func (t *team) curve(ctx context.Context, v victim, out *VictimCurve) error {
	where, spec := t.layout.kernelPlace(v.source), v.spec(t.machine, t.layout)
	if v.groupBytes > 0 {
		join, err := t.memoryGroup(v.groupBytes)
		if err != nil {
			return err
		}
		where.Join, spec.Join = join, join
	}
	out.Placement = where.Name
	k, err := t.kernel(ctx, v.source, where)
	if err != nil {
		return err
	}
	w, err := t.startVictim(ctx, v, spec)
	if err != nil {
		return err
	}
	length := v.length(t.pace)
	if where.Same {
		length = max(length, sameWindow)
	}
	measure := t.workerWindow(w)
	return levels(ctx, t.pace, out, func(x float64) func(bool) (float64, error) {
		return t.underPressure(ctx, k, x, measure, length)
	})
}

// levels measures the points of a curve in several passes, up and down in turn:
// what changes meanwhile, on this machine or on the host of a virtual one,
// changes every level alike and is no bend of the curve.
func levels(ctx context.Context, p pace, out *VictimCurve, at func(x float64) func(on bool) (float64, error)) error {
	n := 100 / p.victimStep
	found := make([]paired, n)
	for pass := range p.passes {
		for i := range n {
			if pass%2 == 1 {
				i = n - 1 - i
			}
			x := (i + 1) * p.victimStep
			if err := found[i].add(ctx, p.curvePairs, at(float64(x))); err != nil {
				return fmt.Errorf("intensity %d: %w", x, err)
			}
		}
	}
	for i := range found {
		x := (i + 1) * p.victimStep
		ratio, err := found[i].ratio()
		if err != nil {
			return fmt.Errorf("intensity %d: %w", x, err)
		}
		out.Points = append(out.Points, VictimPoint{Intensity: float64(x), Loss: lossOf(ratio)})
	}
	return nil
}

// sameWindow holds several of the windows of 10 ms in which a kernel shares a
// CPU, whole ones.
const sameWindow = 40 * time.Millisecond

// memoryGroup makes a cgroup with a memory limit for this team.
func (t *team) memoryGroup(limitBytes int64) (join func(pid int) error, err error) {
	join, remove, err := t.bench.MemoryGroup(limitBytes)
	if err != nil {
		return nil, fmt.Errorf("a cgroup with a memory limit: %w", err)
	}
	t.open = append(t.open, closer(remove))
	return join, nil
}

// closer makes an io.Closer of a function.
type closer func() error

// Close calls it.
func (c closer) Close() error { return c() }

// The verdicts on a victim's curve.
const (
	verdictMonotone = "monotone"
	verdictNoEffect = "no measurable effect on this machine"
	verdictBumpy    = "MISS: not monotone beyond the noise"
)

// noticeable is the loss in percent that a source must cause at its most to
// count as an effect, whatever the interval says (the smallest bound anybody
// profiles with is 5 %; chosen by us below it).
const noticeable = 2.0

// judge says whether the loss grows with the intensity.
func (c *VictimCurve) judge() {
	losses := make([]float64, 0, len(c.Points))
	var widths []float64
	effect := false
	for _, p := range c.Points {
		losses = append(losses, float64(p.Loss.Center))
		widths = append(widths, float64(p.Loss.High-p.Loss.Low)/2)
		effect = effect || (p.Loss.excludesZero() && p.Loss.Center >= noticeable)
	}
	c.RiseViolation, c.Noise = Number(violation(losses)), Number(stat.Median(widths))
	c.RSquared, c.MaxGap = c.straightness(losses)
	switch {
	case !effect:
		c.Verdict = verdictNoEffect
		c.RSquared, c.MaxGap = unknown, unknown
	case c.RiseViolation <= max(c.Noise, noticeable):
		c.Verdict = verdictMonotone
	default:
		c.Verdict = verdictBumpy
	}
}

// violation is the largest distance between the losses and the nearest
// sequence that never falls.
func violation(losses []float64) float64 {
	speed := make([]float64, len(losses))
	for i, v := range losses {
		speed[i] = 100 - v
	}
	worst := 0.0
	for i, fitted := range stat.NonIncreasing(speed, nil) {
		worst = max(worst, math.Abs(fitted-speed[i]))
	}
	return worst
}

// straightness scales the losses to that at 100.
func (c *VictimCurve) straightness(losses []float64) (rSquared, maxGap Number) {
	if len(losses) == 0 || losses[len(losses)-1] <= 0 {
		return unknown, unknown
	}
	points := []LinearPoint{{}} // no pressure, no loss
	for i, p := range c.Points {
		points = append(points, LinearPoint{Intensity: p.Intensity, Impact: Number(100 * losses[i] / losses[len(losses)-1])})
	}
	return straightness(points)
}
