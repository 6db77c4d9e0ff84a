package provisioning

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/provision/tracker"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/store"
)

// Every is how often the account is brought up to date, whether jobs come or not (chosen by us: a
// node that is ready should not wait for the job that it is kept for).
const Every = 2 * time.Second

// Options are what an operator says of nodes that can be rented.
type Options struct {
	Settings   provision.Settings
	Types      []tracker.Type
	MaxPerHour float64
	Reserved   *cluster.Constraint // that owned nodes meet; nil: all that are of no type
	Renter     cluster.Renter      // nil: an autoscaler asks for what is wanted
	NoProbes   bool                // the quality of rented nodes is not measured
}

// Config is what a room is made of.
type Config struct {
	Options
	World   cluster.State
	Clock   cluster.Clock
	Log     *slog.Logger
	Book    journal.Book
	Columns func() []interference.Source
	Below   func() map[cluster.WorkloadID]bool    // what missed its target when it was measured last; nil: nothing is measured
	UsedMHz func() map[cluster.WorkloadID]float64 // that workloads were measured to use last; nil: nothing is measured
	// Decided is the newest decision on a workload; nil: no runs are noted.
	Decided func(cluster.WorkloadID) (cluster.Decision, bool)
	// Prober measures rented nodes; nil: nobody does.
	Prober cluster.Prober
}

// Room keeps one account.
type Room struct {
	cfg   Config
	sides sides
	calls sync.WaitGroup // to the Renter and the Prober

	mu       sync.Mutex
	rents    map[string]*renting // by type
	account  *tracker.Tracker
	looked   *cluster.Snapshot // that was observed last
	saved    tracker.State
	samples  provision.Capacities
	kept     time.Time // when the samples were written last
	runs     *provision.RunLog
	runsKept time.Time
	leads    bool
}

// renting is what goes on with the Renter for a type.
type renting struct {
	busy      bool // it is being asked
	silent    bool // it did not answer last time
	failures  int  // to return nodes, one after the other
	notBefore time.Time
}

// New room. Nothing is read before Start.
func New(c Config) (*Room, error) {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.NoProbes {
		c.Prober = nil
	}
	r := &Room{cfg: c, sides: newSides(c.Types, c.Reserved), rents: map[string]*renting{}, runs: provision.NewRunLog(c.Clock.Now(), nil)}
	for _, t := range c.Types {
		r.rents[t.Name] = &renting{}
	}
	var err error
	r.account, err = r.newAccount(c.Clock.Now())
	return r, err
}

func (r *Room) newAccount(now time.Time) (*tracker.Tracker, error) {
	return tracker.New(tracker.Config{Settings: r.cfg.Settings, Types: r.cfg.Types, MaxPerHour: r.cfg.MaxPerHour, Probes: r.cfg.Prober != nil}, now)
}

// Start takes over the account from an earlier leader.
func (r *Room) Start(ctx context.Context) error {
	account, state, err := r.stored(ctx)
	if err != nil {
		return err
	}
	samples, err := r.cfg.Book.Capacity(ctx)
	if err != nil {
		r.cfg.Log.Warn("the capacity of earlier hours is not known", "error", err)
	}
	pages, unreadable, err := r.cfg.Book.RunPages(ctx)
	if err != nil {
		return err // beginning anew would write over what is there
	}
	if unreadable > 0 {
		r.cfg.Log.Warn("runs that are damaged, or of a newer version, are not used", "documents", unreadable)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.cfg.Clock.Now()
	r.account, r.saved, r.looked, r.leads, r.samples, r.kept = account, state, nil, true, samples, now
	r.runs, r.runsKept = provision.NewRunLog(now, pages), now
	return nil
}

// Stop is called when the agent leads no more, and the context of its passes has ended.
func (r *Room) Stop() {
	r.calls.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.leads = false
}

// stored is the account as the store has it.
func (r *Room) stored(ctx context.Context) (*tracker.Tracker, tracker.State, error) {
	now := r.cfg.Clock.Now()
	account, err := r.newAccount(now)
	if err != nil {
		return nil, tracker.State{}, err
	}
	state, err := r.cfg.Book.Provision(ctx)
	if errors.Is(err, cluster.ErrNoRecord) {
		return account, tracker.State{}, nil
	}
	if errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrFormat) {
		r.cfg.Log.Error("the account of rented nodes is not one; beginning anew with the nodes that are there", "error", err)
		return account, tracker.State{}, nil
	}
	if err != nil {
		return nil, state, fmt.Errorf("the account of rented nodes: %w", err)
	}
	account.Resume(now, state)
	return account, state, nil
}

// Pass brings the account up to date, and has nodes ordered and returned.
func (r *Room) Pass(ctx context.Context) error {
	s, err := r.cfg.World.Snapshot(ctx)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.observe(s)
	if r.cfg.Below != nil {
		r.account.Measured(r.cfg.Clock.Now(), r.cfg.Below())
	}
	r.logEvents()
	r.samples.Add(r.capacityOf(s))
	if r.cfg.Decided != nil {
		r.runs.Observe(r.cfg.Clock.Now(), presentIn(s, r.cfg.Decided, r.cfg.Columns()))
	}
	r.mu.Unlock()
	if err := r.keepCapacity(ctx); err != nil {
		r.cfg.Log.Warn("the capacity over time is not kept", "error", err)
	}
	if err := r.keepRuns(ctx); err != nil {
		r.cfg.Log.Warn("runs are not kept", "error", err)
	}
	if err := r.save(ctx); err != nil {
		return err // what is not on record is not ordered
	}
	r.order(ctx)
	r.probe(ctx, s)
	return nil
}

// capacityOf needs the lock.
func (r *Room) capacityOf(s *cluster.Snapshot) provision.Capacity {
	out, use := r.account.Capacity(r.cfg.Clock.Now()), r.sides.useOf(s)
	perCore := float64(megahertzPerCore(s))
	out.Owned, out.Given = float64(use.TotalMHz)/perCore, float64(use.UsedMHz)/perCore
	if r.cfg.UsedMHz != nil {
		out.Used, out.Unmeasured = usedIn(s, r.cfg.UsedMHz(), perCore)
	}
	return out
}

// usedIn is how many cores the workloads of a snapshot were measured to keep busy, nil where none was; and
// of how many that is not known.
func usedIn(s *cluster.Snapshot, usedMHz map[cluster.WorkloadID]float64, perCore float64) (used *float64, unmeasured int) {
	sum, measured := 0.0, 0
	for _, w := range workloadsIn(s) {
		if mhz, known := usedMHz[w]; known {
			sum, measured = sum+mhz/perCore, measured+1
		} else {
			unmeasured++
		}
	}
	if measured == 0 {
		return nil, unmeasured
	}
	return &sum, unmeasured
}

// keepCapacity writes the samples now and then.
func (r *Room) keepCapacity(ctx context.Context) error {
	r.mu.Lock()
	due, samples := r.cfg.Clock.Now().Sub(r.kept) >= saveEvery, slices.Clone(r.samples)
	r.mu.Unlock()
	if !due {
		return nil
	}
	err := r.cfg.Book.PutCapacity(ctx, samples)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = r.cfg.Clock.Now()
	return err
}

// Capacity is what there was in the last hours.
func (r *Room) Capacity(ctx context.Context) (provision.Capacities, error) {
	r.mu.Lock()
	if r.leads {
		defer r.mu.Unlock()
		return slices.Clone(r.samples), nil
	}
	r.mu.Unlock()
	return r.cfg.Book.Capacity(ctx)
}

// observe needs the lock.
func (r *Room) observe(s *cluster.Snapshot) {
	if s == r.looked {
		return
	}
	r.looked = s
	r.account.Observe(r.cfg.Clock.Now(), r.sides.rentedIn(s), r.sides.useOf(s))
}

// logEvents needs the lock.
func (r *Room) logEvents() {
	for _, e := range r.account.Events() {
		r.cfg.Log.Warn(e.Text)
	}
}

// save keeps the account where it says something new. What only time makes of it, the next leader
// finds by itself.
func (r *Room) save(ctx context.Context) error {
	r.mu.Lock()
	state, old := r.account.State(), r.saved
	r.mu.Unlock()
	if state.Settled(old) && state.SpentAt.Sub(old.SpentAt) < saveEvery {
		return nil
	}
	if err := r.cfg.Book.PutProvision(ctx, state); err != nil {
		return fmt.Errorf("the account of rented nodes: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.saved = state
	return nil
}

// saveEvery bounds what is lost of the sum that was spent, and of the capacity over time (chosen by us).
const saveEvery = 5 * time.Minute

// Report is the account now: that of this replica where it leads, else the one on record with what
// the world shows.
func (r *Room) Report(ctx context.Context) (provision.Report, error) {
	r.mu.Lock()
	if r.leads {
		defer r.mu.Unlock()
		return r.account.Report(r.cfg.Clock.Now()), nil
	}
	r.mu.Unlock()
	account, _, err := r.stored(ctx)
	if err != nil {
		return provision.Report{}, err
	}
	s, err := r.cfg.World.Snapshot(ctx)
	if err != nil {
		return provision.Report{}, err
	}
	now := r.cfg.Clock.Now()
	account.Observe(now, r.sides.rentedIn(s), r.sides.useOf(s))
	return account.Report(now), nil
}
