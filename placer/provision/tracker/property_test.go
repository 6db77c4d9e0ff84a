package tracker

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/provision"
)

// provider is one that gives, refuses, lies and loses as it is drawn.
type provider struct {
	nodes []Node
	made  int
}

// Whatever the provider and the jobs do: no more is spent than may be, no failing type is ordered
// again and again, what is idle leaves in time, and every account can be taken over.
func TestAccountHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		settings := provision.DefaultSettings()
		settings.Strategy = rapid.SampledFrom(provision.Strategies()).Draw(rt, "strategy")
		limit := rapid.Float64Range(0, 5).Draw(rt, "max per hour")
		c := Config{Settings: settings, Types: types(), MaxPerHour: limit, Probes: rapid.Bool().Draw(rt, "probes")}
		now := start
		account, err := New(c, now)
		if err != nil {
			rt.Fatal(err)
		}
		var p provider
		idle, latest := map[cluster.NodeID]time.Time{}, now
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(-5, 120).Draw(rt, "seconds")) * time.Second)
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0, 1, 2:
				askOne(rt, account, now, limit)
			case 3, 4:
				p.give(rt, account)
			case 5:
				p.change(rt)
			case 6:
				account.Refused(now, rapid.SampledFrom([]string{"small", "large"}).Draw(rt, "refused"), errors.New("no"))
			case 7:
				account.Sent("small")
			case 8:
				next, err := New(c, now)
				if err != nil {
					rt.Fatal(err)
				}
				next.Resume(now, account.State())
				if !now.Before(latest) && !alike(next.State(), account.State()) {
					rt.Fatalf("%+v\nbecame %+v", account.State(), next.State())
				}
				account = next
			case 9:
				measureSome(rt, account, now)
			}
			if now.After(latest) {
				latest = now
			}
			account.Observe(now, p.nodes, provision.Use{UsedMHz: rapid.IntRange(0, 100).Draw(rt, "used"), TotalMHz: 100, UsedMB: 1, TotalMB: 100})
			check(rt, account, now, latest, p, idle)
		}
	})
}

// measureSome of the nodes that are to be; others are never heard of.
func measureSome(rt *rapid.T, account *Tracker, now time.Time) {
	for _, d := range account.ProbesDue(now) {
		switch rapid.IntRange(0, 2).Draw(rt, "measured") {
		case 0:
			account.Probed(now, d.Key, []string{"a", "b"}, map[string]float64{"a": rapid.Float64Range(-1, 9).Draw(rt, "speed"), "b": 5}, "")
		case 1:
			account.Probed(now, d.Key, []string{"a", "b"}, nil, "it failed")
		}
		if d.Within <= 0 {
			rt.Fatalf("%+v", d)
		}
	}
}

func askOne(rt *rapid.T, account *Tracker, now time.Time, limit float64) {
	before := account.committedPerHour()
	made, paused := account.made, map[string]bool{}
	for name, k := range account.kinds {
		paused[name] = now.Before(k.notBefore)
	}
	a := Ask{
		Workload: name(fmt.Sprint(rapid.IntRange(0, 8).Draw(rt, "job"))), Since: start, Random: rand.New(rand.NewPCG(1, 2)),
		Digits: drawDigits(rt), Need: provision.Size{Cores: rapid.IntRange(1, 20).Draw(rt, "cores"), MemoryMB: 100},
		Base:   Base{Fits: rapid.Bool().Draw(rt, "fits"), Holds: true},
		RoomOn: func(cluster.NodeID, provision.Size) bool { return true },
	}
	home := account.homeOf(a.Workload)
	got := account.Route(now, a)
	if got.Why == "" {
		rt.Fatalf("no reason: %+v", got)
	}
	if got.Side == provision.ToBase && !a.Base.Fits {
		rt.Fatalf("to a base without room: %+v", got)
	}
	if account.made > made {
		if after := account.committedPerHour(); after > limit+1e-9 || account.made > made+1 {
			rt.Fatalf("from %g to %g per hour of %g, %d orders", before, after, limit, account.made-made)
		}
		if paused[got.Type] {
			rt.Fatalf("ordered in its pause: %+v", got)
		}
	}
	if !account.cfg.Settings.Strategy.Rents() && home == nil && got.Side == provision.ToRent {
		rt.Fatalf("strategy SR rents: %+v", got)
	}
}

func drawDigits(rt *rapid.T) provision.Digits {
	if rapid.IntRange(0, 4).Draw(rt, "known") == 0 {
		return nil
	}
	return provision.Digits{rapid.Uint8Range(0, 99).Draw(rt, "a"), rapid.Uint8Range(0, 99).Draw(rt, "b")}
}

// give some of what is wanted, or what nobody wants.
func (p *provider) give(rt *rapid.T, account *Tracker) {
	for _, typ := range types() {
		for range rapid.IntRange(0, account.Wanted(typ.Name)+1).Draw(rt, "given") {
			p.made++
			p.nodes = append(p.nodes, Node{ID: cluster.NodeID(fmt.Sprint("n", p.made)), Name: fmt.Sprint("n", p.made), Class: typ.NodeClass, Ready: rapid.IntRange(0, 5).Draw(rt, "ready") > 0})
		}
		account.Counted(typ.Name, rapid.IntRange(0, 4).Draw(rt, "counted"))
	}
}

func (p *provider) change(rt *rapid.T) {
	if len(p.nodes) == 0 {
		return
	}
	i := rapid.IntRange(0, len(p.nodes)-1).Draw(rt, "node")
	switch rapid.IntRange(0, 3).Draw(rt, "change") {
	case 0:
		p.nodes = slices.Delete(p.nodes, i, i+1)
	case 1:
		p.nodes[i].Ready = !p.nodes[i].Ready
	case 2:
		p.nodes[i].Jobs = []cluster.WorkloadID{name(fmt.Sprint(rapid.IntRange(0, 8).Draw(rt, "job there")))}
	default:
		p.nodes[i].Jobs = nil
	}
}

func check(rt *rapid.T, account *Tracker, now, latest time.Time, p provider, idle map[cluster.NodeID]time.Time) {
	report := account.Report(now)
	seen := map[string]bool{}
	leaving := map[string]int{}
	for _, n := range report.Nodes {
		if n.ID != "" && seen[n.ID] || n.Why == "" {
			rt.Fatalf("twice, or without a reason: %+v", n)
		}
		seen[n.ID] = true
		if n.State == provision.Leaving {
			leaving[n.Type]++
		}
	}
	for _, typ := range report.Types {
		all := 0
		for _, n := range report.Nodes {
			if n.Type == typ.Name {
				all++
			}
		}
		if typ.Wanted != all-leaving[typ.Name] || typ.Present > all {
			rt.Fatalf("%+v of %d nodes, of which %d leave", typ, all, leaving[typ.Name])
		}
	}
	for _, n := range p.nodes {
		if n.Ready && !seen[string(n.ID)] {
			rt.Fatalf("node %s is ready and not in the account", n.ID)
		}
		if len(n.Jobs) > 0 || !n.Ready || account.homeOnly(n.ID) {
			delete(idle, n.ID)
			continue
		}
		if idle[n.ID].IsZero() {
			idle[n.ID] = latest
		}
		s := account.slotOf(n.ID)
		was, _ := account.desk.Seen(s.key)
		if now.Sub(idle[n.ID]) > time.Duration(account.cfg.Settings.Retention)*was.SpinUp && s.leaving == "" {
			until, isIdle := account.desk.KeptUntil(s.key)
			rt.Fatalf("node %s is idle since %s, now it is %s, by the account %+v, kept until %s (%v), and it stays", n.ID, idle[n.ID], now, was, until, isIdle)
		}
	}
}

// homeOnly reports whether a node is kept for somebody who is not there yet.
func (t *Tracker) homeOnly(id cluster.NodeID) bool {
	s := t.slotOf(id)
	return s != nil && len(s.jobs) > 0
}
