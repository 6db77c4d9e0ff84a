package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/dispatch"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/profiler"
)

// Errors of a campaign.
var (
	// ErrChoice: there are no such nodes.
	ErrChoice = errors.New("the choice of nodes")
	// ErrOtherBuild: the driver that measured is another build than the node said.
	ErrOtherBuild = errors.New("another build of the driver measured it than the node has")
)

// World is what a campaign sees of a cluster; nomadapi.World is one.
type World interface {
	Snapshot(ctx context.Context) (*cluster.Snapshot, error)
	MeasuringRefused(n *cluster.Node, work string) string
}

// Unit is one measurement.
type Unit struct {
	Kind    string         // its work by the driver's name, and the beginning of its key
	Name    string         // for people
	Node    cluster.NodeID // that it is about; empty: any will do
	Says    any            // all that the result depends on: its key is of the JSON of it
	Seconds float64        // that it takes, about
	// Job is its job on a node; nomadapi.ErrNoFit where that has no room for it.
	Job func(m nomadapi.Measuring) (map[string]any, error)
	// File is what it leaves, by its path in the allocation.
	File string
	// Check refuses a result that cannot be of this unit and this node.
	Check func(n *cluster.Node, result []byte) error
	// Outdated says that a kept result is not of the node as it is now; nil: it always is.
	Outdated func(n *cluster.Node, result []byte) bool
}

// Options of a campaign.
type Options struct {
	World     World
	Cluster   dispatch.Cluster
	Namespace string
	ID        string // the same for the same folder: what a campaign that was killed has left is removed
	Folder    string // where results are kept
	Choice    Choice
	AtOnce    int           // nodes; 0: as many as are free
	Again     bool          // what is kept is measured again
	Wait      time.Duration // for a node that is not free, or gone
	Attempts  int           // of a unit; 0: 3
	Now       func() time.Time
	After     func(time.Duration) <-chan time.Time
	Says      func(text string)
	Progress  func(Tally)
}

const (
	defaultAttempts = 3
	lookEvery       = time.Second // at the nodes
	// saysWithin is how long it takes until a node says of itself what was measured there: its driver
	// looks every few seconds, and its agent tells the servers some seconds later.
	saysWithin = time.Minute
	// overhead is what a job takes besides its measurement: its placement, its start and its end.
	overhead = 10 * time.Second
)

// The ends of a unit.
const (
	Measured = "measured"
	Stored   = "kept" // from an earlier run
	LeftOut  = "left out"
	Open     = "open" // the campaign was ended before
)

// Outcome is what became of a unit.
type Outcome struct {
	Unit          string `json:"unit"`
	State         string `json:"state"`
	Why           string `json:"why,omitempty"`
	Node          string `json:"node,omitempty"`
	Configuration string `json:"configuration,omitempty"`
	Kept          *Kept  `json:"-"` // nil: there is no result
}

// Report is what became of a campaign.
type Report struct {
	Outcomes   []Outcome `json:"units"`
	Torn       int       `json:"torn"`        // results that were not whole, and were measured again
	OtherBuild int       `json:"other_build"` // results of another build, and measured again
	Outdated   int       `json:"outdated"`    // results of nodes that have changed, and measured again
}

// Count is how many units ended so.
func (r *Report) Count(state string) int {
	n := 0
	for _, o := range r.Outcomes {
		if o.State == state {
			n++
		}
	}
	return n
}

// Tally is how far a campaign is.
type Tally struct {
	Total, Done, LeftOut, Running int
	Left                          time.Duration
}

// Run has the units measured that are not kept. What was measured is in the report also where it
// ended with an error.
func Run(ctx context.Context, o Options, nodes []*cluster.Node, units []Unit) (*Report, error) {
	c := &campaign{
		Options: o, units: units, nodes: map[cluster.NodeID]bool{}, under: map[int]*cluster.Node{},
		begun: map[int]time.Time{}, since: map[int]time.Time{}, said: map[int]string{}, slower: 1,
	}
	for _, n := range nodes {
		c.nodes[n.ID] = true
	}
	if err := os.MkdirAll(o.Folder, 0o755); err != nil {
		return nil, err
	}
	if err := c.recall(nodes); err != nil {
		return nil, err
	}
	if len(c.open) == 0 {
		return &c.report, nil
	}
	names := make([]string, len(c.open))
	for i, unit := range c.open {
		names[i] = plain(units[unit].Kind + "-" + units[unit].Name)
	}
	after := func(d time.Duration) <-chan time.Time {
		c.tell()
		return o.After(d)
	}
	err := dispatch.RunJobs(ctx, o.Cluster, dispatch.Options{
		Job: o.ID, AtOnce: o.AtOnce, Attempts: cmp.Or(o.Attempts, defaultAttempts), Now: o.Now, After: after, Says: o.Says,
	}, dispatch.Jobs{
		Names: names,
		Next:  func(ctx context.Context, i int, id string) (map[string]any, error) { return c.next(ctx, c.open[i], id) },
		Take:  func(ctx context.Context, i int, s dispatch.State) error { return c.take(ctx, c.open[i], s) },
		Over:  func(i int) { delete(c.under, c.open[i]) },
		LeftOut: func(i int, why error) {
			out := &c.report.Outcomes[c.open[i]]
			out.State, out.Why = LeftOut, strings.TrimPrefix(why.Error(), dispatch.ErrLeftOut.Error()+": ")
		},
	})
	return &c.report, err
}

// notOfIDs are the characters that do not belong into the ID of a job.
var notOfIDs = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// longestName of a unit in the ID of its job.
const longestName = 60

func plain(name string) string {
	name = notOfIDs.ReplaceAllString(name, "-")
	return name[:min(len(name), longestName)]
}

// campaign is one run.
type campaign struct {
	Options
	units  []Unit
	nodes  map[cluster.NodeID]bool // of the choice
	report Report
	open   []int // units that are not kept

	snapshot *cluster.Snapshot
	looked   time.Time

	under  map[int]*cluster.Node // where units are measured
	begun  map[int]time.Time     // when that began
	since  map[int]time.Time     // when a unit began to wait for a node
	said   map[int]string        // why it waits, as last said
	slower float64               // that units take, by what was seen of late
}

// recall takes what is kept, and counts what is not to be believed.
func (c *campaign) recall(nodes []*cluster.Node) error {
	builds := map[string]bool{}
	of := map[cluster.NodeID]*cluster.Node{}
	for _, n := range nodes {
		builds[n.Attributes.Text(nomadapi.DriverBuild)], of[n.ID] = true, n
	}
	for i := range c.units {
		u := &c.units[i]
		key, _, err := u.key(c.Choice)
		if err != nil {
			return err
		}
		out := Outcome{Unit: u.Name, State: Open}
		n := of[u.Node]
		if n != nil {
			out.Node, out.Configuration = n.Name, n.Configuration
		}
		kept, err := load(c.Folder, key)
		switch {
		case c.Again:
		case errors.Is(err, profiler.ErrTorn):
			c.report.Torn++
		case err != nil:
			return err
		case kept == nil:
		case n != nil && kept.Receipt.Build != n.Attributes.Text(nomadapi.DriverBuild), !builds[kept.Receipt.Build]:
			c.report.OtherBuild++
		case n != nil && u.Outdated != nil && c.Now().Sub(kept.Taken) > saysWithin && u.Outdated(n, kept.Result):
			c.report.Outdated++
		default:
			out.State, out.Kept = Stored, kept
			out.Node, out.Configuration = kept.NodeName, kept.Configuration
		}
		if out.Kept == nil {
			c.open = append(c.open, i)
		}
		c.report.Outcomes = append(c.report.Outcomes, out)
	}
	return nil
}

// next is the job of a unit, if a node is free for it.
func (c *campaign) next(ctx context.Context, unit int, id string) (map[string]any, error) {
	now := c.Now()
	if c.snapshot == nil || now.Sub(c.looked) >= lookEvery {
		s, err := c.World.Snapshot(ctx)
		if err != nil {
			return nil, fmt.Errorf("look at the nodes: %w", err)
		}
		c.snapshot, c.looked = s, now
	}
	u := &c.units[unit]
	var reasons []string
	occupied := false // by this campaign: it will be free
	gone := true
	for _, n := range c.snapshot.Nodes {
		if !c.nodes[n.ID] || u.Node != "" && n.ID != u.Node {
			continue
		}
		gone = false
		why, busy := c.unfree(u, n)
		switch {
		case busy:
			occupied = true
			continue
		case why != "":
			reasons = append(reasons, n.Name+": "+why)
			continue
		}
		job, err := u.Job(nomadapi.Measuring{ID: id, Namespace: c.Namespace, Node: *n, Free: free(c.snapshot, n), Deadline: now.Add(c.expected(u))})
		if errors.Is(err, nomadapi.ErrNoFit) {
			reasons = append(reasons, err.Error())
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", dispatch.ErrLeftOut, err)
		}
		c.under[unit], c.begun[unit] = n, now
		delete(c.since, unit)
		return job, nil
	}
	if occupied {
		delete(c.since, unit)
		return nil, nil
	}
	if gone {
		reasons = append(reasons, "its node is gone from the cluster")
	}
	return nil, c.wait(unit, strings.Join(slices.Compact(reasons), "; "), now)
}

// unfree says why no unit can be measured on a node now. busy: the campaign itself measures there, or
// on another node of the machine.
func (c *campaign) unfree(u *Unit, n *cluster.Node) (why string, busy bool) {
	for _, other := range c.under {
		if other.ID == n.ID || n.Machine != "" && other.Machine == n.Machine {
			return "", true
		}
	}
	others, ours := tenants(c.snapshot, n, c.ID)
	switch {
	case ours:
		return "", true
	case !n.Ready:
		return "it is down, draining or not eligible", false
	case others != "":
		return others + " run there", false
	}
	return c.World.MeasuringRefused(n, u.Kind), false
}

// wait says why a unit waits, and leaves it out once it has waited long enough.
func (c *campaign) wait(unit int, why string, now time.Time) error {
	if c.since[unit].IsZero() {
		c.since[unit] = now
	}
	if now.Sub(c.since[unit]) >= c.Wait {
		return fmt.Errorf("%w: %s", dispatch.ErrLeftOut, why)
	}
	if c.said[unit] != why {
		c.said[unit] = why
		c.Says(c.units[unit].Name + " waits: " + why)
	}
	return nil
}

// take keeps what a unit has left.
func (c *campaign) take(ctx context.Context, unit int, s dispatch.State) error {
	u, n := &c.units[unit], c.under[unit]
	receipt, result, err := c.read(ctx, u, s)
	if err != nil {
		return err
	}
	switch err := receipt.Check(result); {
	case errors.Is(err, profiler.ErrTorn):
		c.report.Torn++
		return err
	case err != nil:
		return err
	case receipt.Build != n.Attributes.Text(nomadapi.DriverBuild):
		c.report.OtherBuild++
		return ErrOtherBuild
	}
	if err := u.Check(n, result); err != nil {
		return err
	}
	key, says, err := u.key(c.Choice)
	if err != nil {
		return err
	}
	took := c.Now().Sub(c.begun[unit])
	k := Kept{
		Unit: says, Node: n.ID, NodeName: n.Name, Configuration: n.Configuration, Calibration: n.Attributes.Text(nomadapi.DriverCalibration),
		Taken: c.Now().UTC(), Seconds: took.Seconds(), Receipt: receipt, Result: result,
	}
	if err := save(c.Folder, key, k); err != nil {
		return fmt.Errorf("%w: %w", dispatch.ErrNotTaken, err)
	}
	c.slower = took.Seconds() / c.expected(u).Seconds()
	c.report.Outcomes[unit] = Outcome{Unit: u.Name, State: Measured, Node: n.Name, Configuration: n.Configuration, Kept: &k}
	return nil
}

// read reads the receipt and the result of a unit. Of a job that failed there may be none.
func (c *campaign) read(ctx context.Context, u *Unit, s dispatch.State) (receipt profiler.Receipt, result []byte, err error) {
	data, err := c.Cluster.Read(ctx, s, profiler.ResultDir+"/"+profiler.ReceiptFile)
	if err == nil {
		err = json.Unmarshal(data, &receipt)
	}
	if err == nil {
		result, err = c.Cluster.Read(ctx, s, u.File)
	}
	switch {
	case err != nil && s.Failed:
		return receipt, nil, errors.New(s.Why)
	case err != nil:
		return receipt, nil, fmt.Errorf("its result cannot be read: %w", err)
	}
	return receipt, result, nil
}

func (c *campaign) expected(u *Unit) time.Duration {
	return time.Duration(u.Seconds*float64(time.Second)) + overhead
}

// tell says how far it is.
func (c *campaign) tell() {
	t := Tally{Total: len(c.units), LeftOut: c.report.Count(LeftOut), Running: len(c.under)}
	t.Done = c.report.Count(Measured) + c.report.Count(Stored)
	var left, longest time.Duration
	now := c.Now()
	for _, unit := range c.open {
		if c.report.Outcomes[unit].State != Open {
			continue
		}
		takes := time.Duration(c.slower * float64(c.expected(&c.units[unit])))
		if c.under[unit] != nil {
			so := now.Sub(c.begun[unit])
			takes = max(takes-so, so/10) // one that takes longer than others is not done yet
		}
		left, longest = left+takes, max(longest, takes)
	}
	t.Left = max(longest, left/time.Duration(max(1, t.Running))).Round(time.Second)
	c.Progress(t)
}
