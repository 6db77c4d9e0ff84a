package throttle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// The times of a keeper, chosen by us.
const (
	// Every is between two looks at the groups: a task runs as long without its limit.
	Every = 5 * time.Second
	// askAgain is how old an answer that an allocation has no limit may be: most have none, and
	// each question reads a record.
	askAgain = time.Minute
	// writeAgain is how often a report that has not changed is written again.
	writeAgain = cluster.DiskLimitsStale / 3
)

// ErrNoRight: the process may not write control groups.
var ErrNoRight = errors.New("the placer's agent has no right to write control groups: it must be root, and outside of a container")

// Home is where an allocation is, and whose it is.
type Home struct {
	Workload cluster.WorkloadID
	Node     cluster.NodeID
	NodeName string
}

// Config is what a keeper works with.
type Config struct {
	Tree *Tree
	// Disk finds the number of the disk that has the node's allocations, as in 254:0.
	Disk func() (string, error)
	// Home finds an allocation; false where there is none of that id.
	Home func(ctx context.Context, allocation string) (Home, bool, error)
	// Promise is what the newest decision on a workload promised it; nil: nothing, or the
	// placer did not place it.
	Promise func(ctx context.Context, w cluster.WorkloadID) (*performance.DiskSpec, error)
	// Limited says which promises are limits; nil: none are, and what is found is taken back.
	Limited func(p performance.DiskSpec) bool
	// Report keeps what is bounded on a node; one without limits is to be removed.
	Report func(ctx context.Context, limits cluster.DiskLimits) error
	Now    func() time.Time
	Log    *slog.Logger
}

// Keeper keeps the limits of one machine. Its methods are for one caller at a time.
type Keeper struct {
	cfg      Config
	disk     string
	problem  error // nothing can be bounded, whatever is asked for
	homes    map[string]known
	said     map[string]map[string]bool // problems by allocation, so that each is said once
	reported map[cluster.NodeID]cluster.DiskLimits
}

// known is an allocation.
type known struct {
	home    Home
	is      bool
	promise *performance.DiskSpec
	asked   time.Time // for the promise; zero: not yet
}

// New makes a keeper. Nothing is looked at before Run or Look.
func New(c Config) *Keeper {
	return &Keeper{cfg: c, homes: map[string]known{}, said: map[string]map[string]bool{}, reported: map[cluster.NodeID]cluster.DiskLimits{}}
}

// Run keeps the limits until ctx ends, and takes them back then. What an agent has left that was
// killed is kept or taken back as if it were its own. What cannot be bounded is said, and ends
// nothing. Where nothing is to be limited, it looks until all that was left is taken back.
func (k *Keeper) Run(ctx context.Context, after func(time.Duration) <-chan time.Time) error {
	k.Begin()
	for {
		var next <-chan time.Time
		if sure := k.Look(ctx); !sure || k.cfg.Limited != nil {
			next = after(Every)
		}
		select {
		case <-ctx.Done():
			k.End(context.WithoutCancel(ctx))
			return ctx.Err()
		case <-next:
		}
	}
}

// Begin finds out what there is to bound with.
func (k *Keeper) Begin() {
	if k.problem = k.cfg.Tree.Usable(); k.problem == nil {
		k.disk, k.problem = k.cfg.Disk()
	}
}

// endTime bounds the reports of an end.
const endTime = 5 * time.Second

// End takes everything back that is of allocations which were looked at.
func (k *Keeper) End(ctx context.Context) {
	groups, err := k.cfg.Tree.groups()
	if err != nil {
		k.say("", fmt.Errorf("control groups: %w", err))
	}
	for _, g := range groups {
		if k.homes[g.allocation].is {
			k.release(g)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	k.report(ctx, nil)
}

// Look has the groups that are there now bounded as the records say. Only those of allocations
// that our Nomad knows are touched: a machine may have clients of several. sure says whether all
// was known that had to be.
func (k *Keeper) Look(ctx context.Context) (sure bool) {
	groups, err := k.cfg.Tree.groups()
	if err != nil {
		k.say("", fmt.Errorf("control groups: %w", err))
		return false
	}
	k.forget(groups)
	sure = true
	now := k.cfg.Now()
	limits := map[string]*cluster.DiskLimit{} // by allocation
	by := map[cluster.NodeID][]*cluster.DiskLimit{}
	for i := range groups {
		g := &groups[i]
		if k.cfg.Limited == nil && !k.cfg.Tree.bounded(*g) {
			continue
		}
		a, err := k.known(ctx, g.allocation, now)
		if ctx.Err() != nil {
			return false
		}
		if err != nil {
			sure = false
			k.cfg.Log.Debug("what an allocation may move cannot be asked for now; its limit stays", "allocation", g.allocation, "error", err)
		}
		if !a.is || a.asked.IsZero() {
			continue // another cluster's, or not known yet
		}
		if !k.limited(a) || g.left() {
			k.release(*g)
			continue
		}
		l := limits[g.allocation]
		if l == nil {
			l = &cluster.DiskLimit{
				Workload: a.home.Workload, Allocation: g.allocation, Node: a.home.NodeName, MBPerSec: a.promise.BandwidthMBPerSec, OnlyDirect: k.cfg.Tree.version == 1,
			}
			limits[g.allocation] = l
			by[a.home.Node] = append(by[a.home.Node], l)
		}
		k.bound(g, l)
	}
	k.report(ctx, by)
	return sure
}

// limited says whether an allocation is to be bounded.
func (k *Keeper) limited(a known) bool {
	return a.is && a.promise != nil && k.cfg.Limited != nil && k.cfg.Limited(*a.promise)
}

// forget forgets allocations that have no group any more.
func (k *Keeper) forget(groups []group) {
	there := map[string]bool{"": true}
	for _, g := range groups {
		there[g.allocation] = true
	}
	maps.DeleteFunc(k.homes, func(id string, _ known) bool { return !there[id] })
	maps.DeleteFunc(k.said, func(id string, _ map[string]bool) bool { return !there[id] })
}

// known finds an allocation and what it is promised, in a look at some time.
func (k *Keeper) known(ctx context.Context, id string, now time.Time) (known, error) {
	a := k.homes[id]
	if !a.asked.IsZero() && (a.asked.Equal(now) || !k.limited(a) && now.Sub(a.asked) < askAgain) {
		return a, nil
	}
	var err error
	if !a.is {
		if a.home, a.is, err = k.cfg.Home(ctx, id); err != nil {
			return a, err
		}
	}
	if a.is {
		promise, err := k.cfg.Promise(ctx, a.home.Workload)
		if err != nil {
			return a, err // with what was promised before
		}
		a.promise = promise
	}
	a.asked = now
	k.homes[id] = a
	return a, nil
}

// bytesPerMB: bandwidths are in 10^6 bytes throughout.
const bytesPerMB = 1e6

// bound bounds a group of an allocation, and notes how.
func (k *Keeper) bound(g *group, l *cluster.DiskLimit) {
	changed, err := false, k.problem
	if err == nil {
		if changed, err = k.cfg.Tree.bound(g, k.disk, max(1, int64(l.MBPerSec*bytesPerMB))); gone(err) {
			return // the task ended meanwhile
		}
	}
	if err != nil {
		err = inWords(err)
		l.Problem = err.Error()
		k.say(l.Allocation, fmt.Errorf("what %s (%s on %s) reads and writes is not limited to its promise: %w", l.Workload, g.name(), l.Node, err))
		return
	}
	l.Tasks++
	if changed {
		k.cfg.Log.Info("the disk bandwidth of a task is limited", "workload", l.Workload.String(), "task", g.name(), "mb_per_sec", l.MBPerSec, "disk", k.disk)
	}
}

// inWords puts what an operator can do about an error before it.
func inWords(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) {
		return fmt.Errorf("%w (%w)", ErrNoRight, err)
	}
	return err
}

// release takes the limit of a group back that is to have none.
func (k *Keeper) release(g group) {
	if !k.cfg.Tree.bounded(g) {
		return
	}
	if err := k.cfg.Tree.release(g); err != nil && !gone(err) {
		k.say(g.allocation, fmt.Errorf("the disk limit of %s could not be taken back: %w", g.name(), inWords(err)))
		return
	}
	k.cfg.Log.Info("the disk bandwidth of a task is not limited any more", "task", g.name())
}

// say says a problem once.
func (k *Keeper) say(allocation string, err error) {
	said := k.said[allocation]
	if said == nil {
		said = map[string]bool{}
		k.said[allocation] = said
	}
	if !said[err.Error()] {
		said[err.Error()] = true
		k.cfg.Log.Warn(wording.Shorten(err.Error(), 400))
	}
}

// report has it kept what is bounded, by node, where that changed or is old.
func (k *Keeper) report(ctx context.Context, by map[cluster.NodeID][]*cluster.DiskLimit) {
	now := k.cfg.Now()
	next := map[cluster.NodeID]cluster.DiskLimits{}
	for node, limits := range by {
		report := cluster.DiskLimits{Node: node, Name: limits[0].Node, At: now}
		for _, l := range limits {
			report.Limits = append(report.Limits, *l)
		}
		next[node] = report
	}
	for node, last := range k.reported {
		if _, ok := next[node]; !ok {
			next[node] = cluster.DiskLimits{Node: node, Name: last.Name, At: now}
		}
	}
	for _, node := range slices.Sorted(maps.Keys(next)) {
		report, last := next[node], k.reported[node]
		if slices.Equal(report.Limits, last.Limits) && now.Sub(last.At) < writeAgain {
			continue
		}
		if err := k.cfg.Report(ctx, report); err != nil {
			k.cfg.Log.Info("what is limited on this node could not be recorded; it will be tried again", "error", err)
			continue
		}
		if k.reported[node] = report; len(report.Limits) == 0 {
			delete(k.reported, node)
		}
	}
}
