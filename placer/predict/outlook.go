package predict

import (
	"cmp"
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Outlook predicts from scores what the allocations of one machine keep of their performance,
// and what they would lose by a newcomer. Pressures of several co-runners saturate: they leave
// the product of what each of them leaves (the papers add them up without a limit), and the
// scarcest source decides, as in Kept. Where CPU time is shared through a source, co-runners
// take their fair share of it instead (decision 0017). Of what is private to a core, nothing
// reaches an allocation that has whole cores, but through hardware threads. Its storage is kept
// from one machine to the next.
type Outlook struct {
	slowdown  float64 // the QoS bound that scores were measured at, a share
	traits    Traits
	host      Host
	residents []board.Resident
	held      int       // cores that residents have for themselves
	left      []float64 // of each source by all residents, as a share
	loose     []float64 // the same by those that have no cores of their own
	sums      []float64 // of their caused scores, for learnt responses
	pressure  []float64
	without   []float64 // the pressure without a newcomer
	demands   []TimeDemand
	granted   []float64
}

// Traits are what is so of sources, by column; nil: it is so of none.
type Traits struct {
	Shared  []bool // CPU time is shared through it
	Private []bool // to a core
}

// TraitsOf some columns. fairShares: co-located allocations take at most their fair share of CPU
// time.
func TraitsOf(columns []interference.Source, fairShares bool) Traits {
	t := Traits{Private: make([]bool, len(columns))}
	for i, c := range columns {
		info, _ := interference.Info(c)
		t.Private[i] = info.Scope == interference.ScopeCore
	}
	if fairShares {
		t.Shared = TimeSharedAmong(columns)
	}
	return t
}

// Host is the machine that allocations are on.
type Host struct {
	Cores          int // 0: not known
	ThreadsPerCore int // 0: not known, which counts as two
}

// HostOf a node of a board.
func HostOf(n *board.Node) Host { return Host{n.Total.Cores, n.ThreadsPerCore} }

// NewOutlook is for scores that were measured at a QoS bound, a share.
func NewOutlook(slowdown float64, traits Traits) *Outlook {
	return &Outlook{slowdown: slowdown, traits: traits}
}

// leastLeft is what one co-runner leaves of a source at least (chosen by us): what it takes
// must be possible to take out of a product again.
const leastLeft = 0.01

func leaves(causedPercent float64) float64 {
	if !(causedPercent > 0) {
		return 1
	}
	return max(leastLeft, 1-causedPercent/100)
}

// caused is 0 where no score is known: an allocation of which nothing is known moves no
// decision.
func caused(r *board.Resident, k int) float64 {
	if k >= len(r.Caused) {
		return 0
	}
	return r.Caused[k]
}

// Among takes the residents of a machine, by columns of that number.
func (o *Outlook) Among(residents []board.Resident, columns int, host Host) {
	o.residents, o.host, o.held = residents, host, 0
	o.left, o.loose, o.sums = sized(o.left, columns), sized(o.loose, columns), sized(o.sums, columns)
	o.pressure, o.without = sized(o.pressure, columns), sized(o.without, columns)
	for k := range columns {
		o.left[k], o.loose[k], o.sums[k] = 1, 1, 0
	}
	for i := range residents {
		o.held += residents[i].Size.Cores
		for k, c := range residents[i].Caused {
			o.left[k] *= leaves(c)
			o.sums[k] += c
			if !holdsCores(&residents[i]) {
				o.loose[k] *= leaves(c)
			}
		}
	}
}

// holdsCores: Nomad lets nobody else run on the cores that an allocation asks for.
func holdsCores(r *board.Resident) bool { return r.Size.Cores > 0 }

// meets is the share of the pressure on what is private to a core that reaches an allocation with
// cores of its own: only an odd hardware thread has another allocation on its core, which is as busy as
// the rest of the machine is held. held are the cores of the others.
func (o *Outlook) meets(cores, held int) float64 {
	if cores%2 == 0 || o.host.ThreadsPerCore == 1 {
		return 0
	}
	busy := 1.0
	if others := o.host.Cores - cores; others > 0 {
		busy = min(1, float64(held)/float64(others))
	}
	return busy / float64(cores)
}

// private is the pressure through what is private to a core on one that is with others that leave so
// much of it: all of them, and those without cores of their own, which share theirs.
func (o *Outlook) private(r *board.Resident, left, loose float64, held int) float64 {
	if holdsCores(r) {
		return 100 * (1 - left) * o.meets(r.Size.Cores, held)
	}
	return 100 * (1 - loose)
}

func sized(v []float64, n int) []float64 {
	if cap(v) < n {
		return make([]float64, n)
	}
	return v[:n]
}

// Kept is the share of its performance in isolation that a newcomer keeps among them.
func (o *Outlook) Kept(r *board.Resident) float64 {
	if r.Response != nil {
		return keptBy(r.Response, o.sums)
	}
	for k, left := range o.left {
		switch {
		case o.divides(k, r):
			o.pressure[k] = o.taken(k, r)
		case isSo(o.traits.Private, k):
			o.pressure[k] = o.private(r, left, o.loose[k], o.held)
		default:
			o.pressure[k] = 100 * (1 - left)
		}
	}
	return o.kept(r, o.pressure)
}

func isSo(trait []bool, k int) bool { return k < len(trait) && trait[k] }

// divides: CPU time is shared through the source, and the allocation has no cores of its own.
func (o *Outlook) divides(k int, r *board.Resident) bool {
	return isSo(o.traits.Shared, k) && !holdsCores(r)
}

// taken is the pressure of the residents on one of them, or on another, through a source through
// which CPU time is shared.
func (o *Outlook) taken(k int, from *board.Resident) float64 {
	o.demands = o.demands[:0]
	for i := range o.residents {
		if r := &o.residents[i]; r != from && caused(r, k) > 0 && !holdsCores(r) {
			o.demands = append(o.demands, DemandNextTo(r, from, k))
		}
	}
	return o.takenBy(from, k)
}

// takenWith adds a newcomer to those of whom taken was asked last.
func (o *Outlook) takenWith(newcomer *board.Resident, k int, from *board.Resident) float64 {
	if holdsCores(newcomer) {
		return o.takenBy(from, k)
	}
	o.demands = append(o.demands, DemandNextTo(newcomer, from, k))
	return o.takenBy(from, k)
}

// takenBy is TimePressure by o.demands, with storage that is kept.
func (o *Outlook) takenBy(from *board.Resident, k int) float64 {
	n := len(o.demands)
	if n == 0 {
		return 0
	}
	all := append(o.demands, TimeDemand{})
	o.demands, o.granted = all[:n], sized(o.granted, n+1)
	return TimePressure(timeTaken(o.granted, 100, Weight(from.Size), all), o.demands, from, k)
}

// Changes are the shares that each resident keeps without a newcomer and with it.
func (o *Outlook) Changes(newcomer *board.Resident, f func(r *board.Resident, without, with float64)) {
	for i := range o.residents {
		r := &o.residents[i]
		without, with := o.keptWith(r, newcomer)
		f(r, without, with)
	}
}

// LostAmong is what resident i is expected to lose by the others: a share of its target, or of
// its performance in isolation.
func (o *Outlook) LostAmong(i int) float64 {
	r := &o.residents[i]
	kept, _ := o.keptWith(r, nil)
	return max(0, shareOfTarget(r, 1)-shareOfTarget(r, kept))
}

// keptWith is the share that a resident keeps among the others, without a newcomer and with it.
// nil is none.
func (o *Outlook) keptWith(r, newcomer *board.Resident) (without, with float64) {
	if r.Response != nil {
		return o.keptByResponse(r, newcomer)
	}
	changes := false
	for k, left := range o.left {
		presses := newcomer != nil && caused(newcomer, k) > 0
		changes = changes || presses
		if o.divides(k, r) {
			o.without[k] = o.taken(k, r)
			o.pressure[k] = o.without[k]
			if presses {
				o.pressure[k] = o.takenWith(newcomer, k, r)
			}
			continue
		}
		left /= leaves(caused(r, k))
		if isSo(o.traits.Private, k) {
			o.privateWith(r, newcomer, k, left)
			continue
		}
		o.without[k] = 100 * (1 - left)
		if presses {
			left *= leaves(caused(newcomer, k))
		}
		o.pressure[k] = 100 * (1 - left)
	}
	without = o.kept(r, o.without)
	if !changes {
		return without, without
	}
	return without, o.kept(r, o.pressure)
}

// privateWith sets the pressure on a resident through what is private to a core, without a newcomer and
// with it. left is what the others leave.
func (o *Outlook) privateWith(r, newcomer *board.Resident, k int, left float64) {
	loose, held := o.loose[k], o.held-r.Size.Cores
	if !holdsCores(r) {
		loose /= leaves(caused(r, k))
	}
	o.without[k] = o.private(r, left, loose, held)
	if newcomer != nil {
		left *= leaves(caused(newcomer, k))
		held += newcomer.Size.Cores
		if !holdsCores(newcomer) {
			loose *= leaves(caused(newcomer, k))
		}
	}
	o.pressure[k] = o.private(r, left, loose, held)
}

func (o *Outlook) keptByResponse(r, newcomer *board.Resident) (without, with float64) {
	for k := range o.sums {
		o.pressure[k] = max(0, o.sums[k]-caused(r, k))
	}
	without = keptBy(r.Response, o.pressure)
	if newcomer == nil {
		return without, without
	}
	for k := range o.sums {
		o.pressure[k] += caused(newcomer, k)
	}
	return without, keptBy(r.Response, o.pressure)
}

// kept under a pressure. What an allocation tolerates at its target is where it keeps the
// share that the target requires.
func (o *Outlook) kept(r *board.Resident, pressure []float64) float64 {
	if len(r.Tolerated) == 0 {
		return 1 // as for caused
	}
	return clip(Kept(r.Tolerated, pressure, o.slowdownOf(r)))
}

// slowdownOf is the loss at which an allocation's tolerated scores are meant.
func (o *Outlook) slowdownOf(r *board.Resident) float64 {
	if r.LateShare > 0 {
		return r.LateShare
	}
	if f := r.RequiredFraction; f != nil && *f > 0 && *f < 1 {
		return max(o.slowdown, 1-*f)
	}
	return o.slowdown
}

// keptBy a learnt response is relative to what it predicts in isolation.
func keptBy(r board.Response, caused []float64) float64 {
	alone, among := r.Runtime(nil), r.Runtime(caused)
	if !(alone > 0) || !(among > 0) {
		return 1
	}
	return clip(alone / among)
}

// Newcomer is an allocation that could be on a machine, with what it would be worth there.
type Newcomer struct {
	board.Resident
	Curve       []float64 // tolerated at the QoS bound: what its performance follows from
	Speed       float64   // in isolation on the machine's configuration; NaN, or what is no speed, is unknown
	Top, Target float64   // the speed on the best configuration, and what it must reach; 0 is unknown, or none
}

// Worth is what an allocation is expected to do on a machine.
type Worth struct {
	Reached float64 // share of its target, or of its best performance
	Lost    float64 // by the residents: the sum of such shares
	Kept    float64 // share of its speed that co-runners leave it
	// Broken is the most that a resident with a target would lose of that by all others, of those who
	// would lose more by the allocation: what is promised to one is not given to another.
	Broken float64
}

// Gain is what all are expected to do more by it.
func (w Worth) Gain() float64 { return w.Reached - w.Lost }

// Breaks reports whether a resident would miss its target by it.
func (w Worth) Breaks() bool { return w.Broken > brokenFrom }

// Net is what a place is compared by. One where a promise breaks is behind all where none does.
func (w Worth) Net() float64 {
	if w.Breaks() {
		return w.Gain() - 1
	}
	return w.Gain()
}

// brokenFrom is the share of a target that a resident may be expected to lose: as much as the usual QoS
// bound (Delimitrou 2015, §3.3.2).
const brokenFrom = 0.05

// Worth of an allocation among the residents.
func (o *Outlook) Worth(c Newcomer) Worth {
	w := Worth{}
	w.Reached, w.Kept = o.Reached(c)
	o.Changes(&c.Resident, func(r *board.Resident, without, with float64) {
		lost := max(0, shareOfTarget(r, without)-shareOfTarget(r, with))
		w.Lost += lost
		if lost > 0 && hasTarget(r) {
			w.Broken = max(w.Broken, shareOfTarget(r, 1)-shareOfTarget(r, with))
		}
	})
	return w
}

// hasTarget: something is promised to the resident.
func hasTarget(r *board.Resident) bool {
	return r.RequiredFraction != nil || r.TargetShare > 0 || r.LateShare > 0
}

// Reached is the part of Worth that concerns the allocation itself, at a fraction of the cost:
// the most that Net can be.
func (o *Outlook) Reached(c Newcomer) (reached, kept float64) {
	own := c.Resident
	if own.LateShare == 0 {
		own.Tolerated, own.RequiredFraction = c.Curve, nil
	}
	kept = o.Kept(&own)
	return c.reaches(kept), kept
}

// shareOfTarget is what the share that a resident keeps is worth: its target is reached with
// less than all.
func shareOfTarget(r *board.Resident, kept float64) float64 {
	chance, takes := chanceInTime(1-kept, r.LateShare), r.TargetShare
	if f := r.RequiredFraction; f != nil {
		takes = *f
	}
	if !(takes > 0) {
		return chance * kept
	}
	return chance * TargetShare(kept/takes)
}

// Loss is what one resident would lose by a newcomer: a share of its target, or of its
// performance in isolation.
type Loss struct {
	Resident board.Handle
	Share    float64
	Chance   bool // Share is of the chance to keep a bound on the latency
	Column   int  // by which it would keep least; -1: a learnt response does not say
}

// Losses are those of Worth by resident, the largest first.
func (o *Outlook) Losses(newcomer *board.Resident) []Loss {
	var out []Loss
	for i := range o.residents {
		r := &o.residents[i]
		before, after := o.keptWith(r, newcomer)
		if lost := shareOfTarget(r, before) - shareOfTarget(r, after); lost > 0 {
			out = append(out, Loss{r.Handle, lost, r.LateShare > 0, o.scarcest(r)})
		}
	}
	slices.SortStableFunc(out, func(x, y Loss) int { return cmp.Compare(y.Share, x.Share) })
	return out
}

// scarcest is the column by which an allocation keeps least under o.pressure.
func (o *Outlook) scarcest(r *board.Resident) int {
	if r.Response != nil {
		return -1
	}
	at, least := -1, 1.0
	for k, x := range o.pressure {
		if k >= len(r.Tolerated) || !(x > 0) {
			continue
		}
		if kept := response(min(100, x), r.Tolerated[k], o.slowdownOf(r), fullPressureShare); kept < least {
			at, least = k, kept
		}
	}
	return at
}

// Most is what an allocation reaches on a machine at most, whoever is there.
func (c Newcomer) Most() float64 {
	if c.Target > 0 {
		return 1
	}
	return c.share(1)
}

func (c Newcomer) reaches(kept float64) float64 {
	return chanceInTime(1-kept, c.LateShare) * c.share(kept)
}

func (c Newcomer) share(kept float64) float64 {
	switch {
	case !(c.Top > 0):
		return kept
	case !(c.Speed >= 0) || math.IsInf(c.Speed, 1):
		return kept / 2 // unknown there: between what it is at best and nothing (chosen by us)
	case c.Target > 0:
		return TargetShare(c.Speed * kept / c.Target)
	default:
		return c.Speed / c.Top * kept
	}
}

// relativeError is the standard deviation of predicted performance, relative to it (chosen by
// us; the pairs of docs/classification.md have 3 to 10 %).
const relativeError = 0.1

// TargetShare is the share of its target that is expected to be reached where ratio times the
// target is predicted: what is above the target does not make up for what may be below it.
func TargetShare(ratio float64) float64 {
	if !(ratio > 0) {
		return 0
	}
	sd := relativeError * ratio
	z := (1 - ratio) / sd
	return clip(1 - sd*(normalDensity(z)+z*normalBelow(z)))
}

// lateError is the standard deviation of the logarithm of a predicted share of late requests
// (chosen by us: it grows with the square of pressure by tolerance, and each of the two scores is
// off by a third where it is small, docs/classification.md).
const lateError = 1

// chanceInTime is the probability that no more requests are late than may be, where a share of
// them is predicted to be: a bound on a percentile is kept or missed. 1 where none is set.
func chanceInTime(late, allowed float64) float64 {
	if allowed <= 0 || late <= 0 {
		return 1
	}
	return normalBelow(math.Log(allowed/late) / lateError)
}

func normalDensity(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }

func normalBelow(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
