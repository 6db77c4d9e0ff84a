package provision

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Settings of a Provisioner.
type Settings struct {
	Strategy Strategy
	Mapping  Mapping // of the hybrids
	Limits   Limits
	Mode     Mode
	Reading  Reading

	Share       float64       // of the nodes of a type that must have been good enough
	Probability float64       // with which a job has room for the base within the estimated wait
	Within      time.Duration // how long a sample of a node counts
	Most        int           // and how many do
	Retention   float64       // times its spin-up that an idle node is kept
}

// DefaultSettings are those of the text where it has them; how long samples count is ours.
func DefaultSettings() Settings {
	p8, err := LookupMapping("P8")
	if err != nil {
		panic(err) // it is in the list
	}
	return Settings{
		Strategy: HybridMixed, Mapping: p8, Limits: DefaultLimits(), Mode: Scalar, Reading: ReachedByMost,
		Share: 0.9, Probability: 0.99, Within: time.Hour, Most: 200, Retention: RetainedFor,
	}
}

// ErrSettings: they make no sense.
var ErrSettings = errors.New("provision: unusable settings")

// Check says what is wrong.
func (s Settings) Check() error {
	switch {
	case !slices.Contains(Strategies(), s.Strategy):
		return fmt.Errorf("%w: there is no strategy %q", ErrSettings, s.Strategy)
	case s.Mapping.place == nil:
		return fmt.Errorf("%w: there is no mapping", ErrSettings)
	case !(s.Share > 0 && s.Share <= 1) || !(s.Probability > 0 && s.Probability <= 1):
		return fmt.Errorf("%w: share %g and probability %g must be above 0, and 1 at most", ErrSettings, s.Share, s.Probability)
	case s.Within <= 0 || s.Most <= 0 || !(s.Retention >= 0):
		return fmt.Errorf("%w: samples count %s and are %d at most, idle nodes are kept %g times their spin-up", ErrSettings, s.Within, s.Most, s.Retention)
	case !(s.Limits.Soft < s.Limits.Hard) || s.Limits.Step <= 0:
		return fmt.Errorf("%w: the soft limit %g is not below the hard one %g, or it is never adjusted", ErrSettings, s.Limits.Soft, s.Limits.Hard)
	}
	return nil
}

// Provisioner decides where each job goes and which rented nodes are kept. K names nodes. It is
// for one goroutine; callers tell it what happens, with the time.
type Provisioner[K cmp.Ordered] struct {
	settings  Settings
	types     Catalogue
	cores     map[string]int // of a type
	histories map[string]*History
	waits     map[string]*Waits
	spinUps   map[string]time.Duration // the mean of what was measured
	measured  map[string]int
	soft      *SoftLimit
	nodes     map[K]*rented
	idle      map[K]*rented // those that are ready and have no jobs
}

// rented is one node from when it is asked for until it is given back.
type rented struct {
	typ      string
	asked    time.Time
	spinUp   time.Duration
	ready    bool
	jobs     int // that run there, or are to
	idle     time.Time
	behaved  bool
	pressure Digits // at the last look; nil: none yet
	demands  []demand
}

// demand of a job that runs on a node, with its quality: it is compared at each look.
type demand struct {
	digits  Digits
	quality Quality
}

// New Provisioner of a base that is there and of types that can be rented. SR needs no types.
func New[K cmp.Ordered](s Settings, types Catalogue, now time.Time) (*Provisioner[K], error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if s.Strategy.Rents() {
		if err := types.Check(); err != nil {
			return nil, err
		}
	}
	cores := map[string]int{}
	for _, t := range types {
		cores[t.Name] = t.Cores
	}
	return &Provisioner[K]{
		settings: s, types: types, cores: cores, histories: map[string]*History{}, waits: map[string]*Waits{}, spinUps: map[string]time.Duration{},
		measured: map[string]int{}, soft: NewSoftLimit(s.Limits, now), nodes: map[K]*rented{}, idle: map[K]*rented{},
	}, nil
}

// Arrival is a job that needs a place.
type Arrival struct {
	Digits   Digits // nil: nothing is known of it
	Size     Size
	Family   string // of types that it prefers
	Fits     bool   // the base has room for it now
	Used     float64
	Position int // how many wait for the base in its class
}

// Decide where a job goes. Where no type has room for it, it is the base's.
func (p *Provisioner[K]) Decide(now time.Time, a Arrival, random *rand.Rand) Destination {
	j := Job{Digits: a.Digits, Fits: a.Fits, Position: a.Position}
	if !p.settings.Strategy.Rents() {
		return base(j, "all nodes are owned")
	}
	t, err := p.settings.Strategy.TypeFor(p.types, a.Size, a.Family)
	if err != nil {
		return base(j, "no node that can be rented is large enough")
	}
	j.Type = t.Name
	if !p.settings.Strategy.Owns() {
		return rent(j, "all nodes are rented")
	}
	return p.settings.Mapping.Place(j, Base{Used: a.Used, Soft: p.soft.Value(), Hard: p.settings.Limits.Hard}, market[K]{p, now}, random)
}

// Class of a job is the type that it would be rented, or where nothing is, the smallest that would
// do: jobs of one class wait for the base in one queue.
func (p *Provisioner[K]) Class(a Arrival) string {
	typeFor := p.settings.Strategy.TypeFor
	if !p.settings.Strategy.Rents() {
		typeFor = Catalogue.Smallest
	}
	t, err := typeFor(p.types, a.Size, a.Family)
	if err != nil {
		return ""
	}
	return t.Name
}

// market is what a mapping sees at a time.
type market[K cmp.Ordered] struct {
	of  *Provisioner[K]
	now time.Time
}

// Suffices implements Market.
func (m market[K]) Suffices(typ string, job Digits) bool {
	h, ok := m.of.histories[typ]
	s := m.of.settings
	return !ok || h.Sufficed(m.now, job, s.Share, s.Mode, s.Reading)
}

// Seen implements Market.
func (m market[K]) Seen(typ string) int {
	h, ok := m.of.histories[typ]
	if !ok {
		return 0
	}
	return h.Samples(m.now)
}

// Wait implements Market.
func (m market[K]) Wait(typ string, position int) (time.Duration, bool) {
	w, ok := m.of.waits[typ]
	if !ok {
		return 0, false
	}
	return w.Within(m.of.settings.Probability, position)
}

// Largest implements Market.
func (m market[K]) Largest() (string, time.Duration) {
	t, err := m.of.types.Largest()
	if err != nil {
		return "", 0
	}
	return t.Name, m.of.SpinUp(t.Name)
}

// SpinUp of a type: the mean of what was measured, before that what is expected.
func (p *Provisioner[K]) SpinUp(typ string) time.Duration {
	if d, ok := p.spinUps[typ]; ok {
		return d
	}
	for _, t := range p.types {
		if t.Name == typ {
			return t.SpinUp
		}
	}
	return 0
}

// Wait is how long a job of a class is expected to wait for the base; false where nothing is known.
func (p *Provisioner[K]) Wait(now time.Time, class string, position int) (time.Duration, bool) {
	return market[K]{p, now}.Wait(class, position)
}

// SoftLimit is the share of the base up to which every job goes there.
func (p *Provisioner[K]) SoftLimit() float64 { return p.soft.Value() }

// Queue tells how many jobs wait for the base; the soft limit follows.
func (p *Provisioner[K]) Queue(now time.Time, length int) { p.soft.Step(now, length) }

// Waited tells that a job of a class got room in the base after a while.
func (p *Provisioner[K]) Waited(class string, d time.Duration) { p.waitsOf(class).Waited(d) }

// Freed tells that room for a job of a class became free in the base.
func (p *Provisioner[K]) Freed(now time.Time, class string) { p.waitsOf(class).Released(now) }

func (p *Provisioner[K]) waitsOf(class string) *Waits {
	w, ok := p.waits[class]
	if !ok {
		w = &Waits{}
		p.waits[class] = w
	}
	return w
}

// Asked tells that a node is on its way.
func (p *Provisioner[K]) Asked(now time.Time, node K, typ string) {
	p.nodes[node] = &rented{typ: typ, asked: now, behaved: true}
	delete(p.idle, node)
}

// Came tells that a node is ready. Without a job it is idle from now on.
func (p *Provisioner[K]) Came(now time.Time, node K) {
	n, ok := p.nodes[node]
	if !ok || n.ready {
		return
	}
	n.ready, n.idle, n.spinUp = true, now, max(0, now.Sub(n.asked)) // clocks are set back
	if n.jobs == 0 {
		p.idle[node] = n
	}
	k := p.measured[n.typ]
	p.spinUps[n.typ] = (p.spinUps[n.typ]*time.Duration(k) + n.spinUp) / time.Duration(k+1)
	p.measured[n.typ] = k + 1
}

// Went tells that a node is gone, given back or not.
func (p *Provisioner[K]) Went(node K) {
	delete(p.nodes, node)
	delete(p.idle, node)
}

// Looked tells what presses on a node besides its jobs.
func (p *Provisioner[K]) Looked(now time.Time, node K, pressure Digits) {
	n, ok := p.nodes[node]
	if !ok || !n.ready {
		return
	}
	h, ok := p.histories[n.typ]
	if !ok {
		h = NewHistory(p.settings.Within, p.settings.Most)
		p.histories[n.typ] = h
	}
	h.Add(now, pressure)
	n.pressure = pressure
	offer := Offer(pressure)
	for _, job := range n.demands {
		n.behaved = n.behaved && p.suffices(pressure, offer, job)
	}
}

// Failed tells that a node was not good enough for a job, by what the job did there.
func (p *Provisioner[K]) Failed(node K) {
	if n, ok := p.nodes[node]; ok {
		n.behaved = false
	}
}

// Good reports whether a node on which something presses is good enough for a job; for one of which
// nothing is known each is.
func (p *Provisioner[K]) Good(pressure, job Digits) bool {
	return p.suffices(pressure, Offer(pressure), demand{job, Demand(job)})
}

// suffices reports whether a node that offers this under a pressure is good enough for a job.
func (p *Provisioner[K]) suffices(pressure Digits, offer Quality, job demand) bool {
	if p.settings.Mode == Vector {
		return Tolerates(job.digits, pressure)
	}
	return offer.Suffices(job.quality)
}

// Began tells that a job has a node, whether it is ready or not.
func (p *Provisioner[K]) Began(node K, job Digits) {
	n, ok := p.nodes[node]
	if !ok {
		return
	}
	n.jobs++
	delete(p.idle, node)
	n.demands = append(n.demands, demand{job, Demand(job)})
	if len(job) > 0 && n.pressure != nil {
		n.behaved = n.behaved && p.Good(n.pressure, job)
	}
}

// Left tells that a job has left a node.
func (p *Provisioner[K]) Left(now time.Time, node K, job Digits) {
	n, ok := p.nodes[node]
	if !ok || n.jobs == 0 {
		return
	}
	n.jobs--
	if i := slices.IndexFunc(n.demands, func(d demand) bool { return slices.Equal(d.digits, job) }); i >= 0 {
		n.demands = slices.Delete(n.demands, i, i+1)
	}
	if n.jobs == 0 {
		n.idle = now
		if n.ready {
			p.idle[node] = n
		}
	}
}

// Reuse is a node that is there, or on its way, and may take one job more; false where one must
// be asked for. One of the type that the job would be rented comes first, then those of fewest
// cores: what is idle is paid for, whatever its size (our reading; the text has no rule). Of one
// type it is a node that has jobs and room, then of idle ones the one that came to be so last, so
// that the others leave.
func (p *Provisioner[K]) Reuse(typ string, job Digits, room func(K) bool) (node K, ok bool) {
	for k, n := range p.nodes {
		if !n.behaved || ok && !p.rather(typ, k, node) { // room takes the longest to find out
			continue
		}
		if room(k) && (len(job) == 0 || n.pressure == nil || p.Good(n.pressure, job)) {
			node, ok = k, true
		}
	}
	return node, ok
}

// rather reports whether a node is used before another one by a job of a type.
func (p *Provisioner[K]) rather(typ string, a, b K) bool {
	x, y := p.nodes[a], p.nodes[b]
	if (x.typ == typ) != (y.typ == typ) {
		return x.typ == typ
	}
	if d := cmp.Compare(p.cores[x.typ], p.cores[y.typ]); d != 0 {
		return d < 0
	}
	if (x.jobs > 0) != (y.jobs > 0) {
		return x.jobs > 0
	}
	if d := x.idle.Compare(y.idle); d != 0 {
		return d > 0
	}
	return a < b
}

// Nodes is how many are rented, or on their way.
func (p *Provisioner[K]) Nodes() int { return len(p.nodes) }

// Behaved reports whether a node was good enough for all the jobs that it had.
func (p *Provisioner[K]) Behaved(node K) bool {
	n, ok := p.nodes[node]
	return ok && n.behaved
}

// Leaving are the idle nodes that are kept no longer.
func (p *Provisioner[K]) Leaving(now time.Time) []K {
	var out []K
	for k, n := range p.idle {
		if until := n.keptUntil(p.settings.Retention); !until.After(now) {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

// NextLeaves is when the next idle node is given back, if none is used again.
func (p *Provisioner[K]) NextLeaves() (next time.Time, ok bool) {
	for _, n := range p.idle {
		if until := n.keptUntil(p.settings.Retention); !ok || until.Before(next) {
			next, ok = until, true
		}
	}
	return next, ok
}

// keptUntil is when an idle node is given back.
func (n *rented) keptUntil(times float64) time.Time {
	return Idle{Since: n.idle, SpinUp: n.spinUp, Behaved: n.behaved}.KeptUntil(times)
}
