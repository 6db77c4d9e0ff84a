package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"
)

// CPUTime is where a program's CPU time went in a round, in milliseconds by group.
type CPUTime struct {
	Jobs   int                `json:"jobs"` // of the round
	Millis map[string]float64 `json:"millis"`
}

// total is all of it.
func (t CPUTime) total() float64 {
	sum := 0.0
	for _, v := range t.Millis {
		sum += v
	}
	return sum
}

// pieceSeconds is the length of the profiles that are taken one after the other: how
// long a round lasts is not known before, and what comes after it is little then.
const pieceSeconds = 2

// profiler takes CPU profiles of a program until it is stopped.
type profiler struct {
	stopped chan struct{}
	done    chan struct{}
	pieces  []*profile.Profile
	err     error
}

// profileOf takes profiles from a server that has Go's handlers for them.
func profileOf(ctx context.Context, server string) *profiler {
	p := &profiler{stopped: make(chan struct{}), done: make(chan struct{})}
	url := fmt.Sprintf("%s/debug/pprof/profile?seconds=%d", server, pieceSeconds)
	go func() {
		defer close(p.done)
		for {
			piece, err := readProfile(ctx, url)
			if err != nil {
				p.err = err
				return
			}
			p.pieces = append(p.pieces, piece)
			select {
			case <-p.stopped:
				return
			default:
			}
		}
	}()
	return p
}

// stop returns where the time went.
func (p *profiler) stop(jobs int) (CPUTime, error) {
	close(p.stopped)
	<-p.done
	if p.err != nil {
		return CPUTime{}, fmt.Errorf("CPU profile: %w", p.err)
	}
	out := CPUTime{Jobs: jobs, Millis: map[string]float64{}}
	for _, piece := range p.pieces {
		if err := out.add(piece); err != nil {
			return CPUTime{}, err
		}
	}
	return out, nil
}

func readProfile(ctx context.Context, url string) (*profile.Profile, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	return profile.Parse(response.Body)
}

// cpuValue is the unit of a Go CPU profile's values that are time.
const cpuValue = "nanoseconds"

// add counts the samples of a profile.
func (t CPUTime) add(p *profile.Profile) error {
	at := slices.IndexFunc(p.SampleType, func(v *profile.ValueType) bool { return v.Unit == cpuValue })
	if at < 0 {
		return fmt.Errorf("CPU profile: no values in %s", cpuValue)
	}
	for _, s := range p.Sample {
		t.Millis[groupOf(s)] += float64(s.Value[at]) / float64(time.Millisecond)
	}
	return nil
}

// ourModule begins the names of our own functions.
const ourModule = "github.com/nomad-placer/nomad-placer/"

// Groups without a prefix of their own.
const (
	groupRuntime = "Go runtime: goroutines, timers, polling"
	groupOther   = "other"
)

// functionGroups name what functions are for, by how their names begin. The first that
// fits counts, so the special ones come first.
var functionGroups = []struct {
	prefix, group string
}{
	{"runtime.gcBgMarkWorker", groupCollection},
	{"runtime.gcAssistAlloc", groupCollection},
	{"runtime.gcStart", groupCollection},
	{"runtime.bgsweep", groupCollection},
	{"runtime.bgscavenge", groupCollection},
	{"runtime.deductSweepCredit", groupCollection},
	{"encoding/json.", groupJSON},
	{"github.com/hashicorp/nomad/nomad/stream.", "event stream"},
	{"github.com/hashicorp/go-msgpack/", "msgpack"},
	{"github.com/vmihailenco/msgpack/", "msgpack"},
	{"github.com/hashicorp/go-memdb.", groupState},
	{"github.com/hashicorp/go-immutable-radix", groupState},
	{"github.com/hashicorp/nomad/nomad/state.", groupState},
	{"github.com/hashicorp/raft", groupRaft},
	{"go.etcd.io/bbolt.", groupRaft},
	{"github.com/hashicorp/nomad/nomad.(*nomadFSM).", groupRaft},
	{"github.com/hashicorp/nomad/scheduler", "scheduler"},
	{"github.com/hashicorp/nomad/nomad.(*Worker).", "scheduler"},
	{"github.com/hashicorp/nomad/nomad.(*planner).", "plans"},
	{"github.com/hashicorp/nomad/nomad.evaluate", "plans"},
	{"github.com/hashicorp/nomad/nomad.(*EvalBroker).", groupBroker},
	{"github.com/hashicorp/nomad/nomad.(*BlockedEvals).", groupBroker},
	{"github.com/hashicorp/nomad/nomad/deploymentwatcher.", "deployment watcher"},
	{"github.com/hashicorp/nomad/nomad/drainer.", "drains"},
	{"github.com/hashicorp/nomad/nomad.(*Job).", "jobs: registration and queries"},
	{"github.com/hashicorp/nomad/nomad.(*Node).", "nodes: heartbeats, their allocations"},
	{"github.com/hashicorp/nomad/nomad.", groupServer},
	{"github.com/hashicorp/nomad/command/agent.", "HTTP"},
	{"github.com/hashicorp/nomad/helper/pool.", groupRPC},
	{"github.com/hashicorp/net-rpc-msgpackrpc", groupRPC},
	{"github.com/hashicorp/yamux.", groupRPC},
	{"net/rpc.", groupRPC},
	{"net/http.", "HTTP"},
	{"golang.org/x/net/http2", "HTTP"},
	{"github.com/hashicorp/nomad/api.", "Nomad's API"},
	{"github.com/armon/go-metrics", "metrics and logs"},
	{"github.com/hashicorp/go-metrics", "metrics and logs"},
	{"github.com/hashicorp/go-hclog", "metrics and logs"},
	{"github.com/prometheus/", "metrics and logs"},
	{"log/slog.", "metrics and logs"},
}

// Groups of several prefixes.
const (
	groupCollection = "garbage collection"
	groupJSON       = "JSON"
	groupState      = "state store"
	groupRaft       = "Raft and its log"
	groupBroker     = "evaluations: broker, blocked ones"
	groupServer     = "the rest of Nomad's server"
	groupRPC        = "RPC"
)

// groupOf is what a sample was for: that of its innermost function which has a group, so
// that JSON is JSON whoever wants it, and memory is allocated for who asked for it.
func groupOf(s *profile.Sample) string {
	runtimeOnly := true
	for _, location := range s.Location { // from the leaf on
		for _, line := range location.Line { // the inlined ones first
			if line.Function == nil {
				continue
			}
			name := line.Function.Name
			if group, ok := groupOfFunction(name); ok {
				return group
			}
			runtimeOnly = runtimeOnly && strings.HasPrefix(name, "runtime.")
		}
	}
	if runtimeOnly {
		return groupRuntime
	}
	return groupOther
}

// groupOfFunction is the package of a function of ours, and a named group of others.
func groupOfFunction(name string) (string, bool) {
	if path, ours := strings.CutPrefix(name, ourModule); ours {
		folders, last := "", path
		if i := strings.LastIndexByte(path, '/'); i >= 0 {
			folders, last = path[:i+1], path[i+1:]
		}
		pkg, _, _ := strings.Cut(last, ".")
		return folders + pkg, true
	}
	for _, g := range functionGroups {
		if strings.HasPrefix(name, g.prefix) {
			return g.group, true
		}
	}
	return "", false
}

// Profiles are where the CPU time of a round more went, which is profiled and not measured.
type Profiles struct {
	ServerStock  CPUTime `json:"server_stock"` // the server in stock's turn
	ServerPlacer CPUTime `json:"server_placer"`
	Agent        CPUTime `json:"agent"` // in the placer's turn
}

// profiledRound gives each side a turn of its own, since to be profiled costs CPU time.
func (r *rig) profiledRound(ctx context.Context, workloads []workload, say func(string)) (*Profiles, error) {
	var out Profiles
	for _, s := range []side{stock, placed} {
		say("a round more, for profiles: " + string(s))
		server := profileOf(ctx, r.cluster.Addr())
		var agent *profiler
		if s == placed {
			agent = profileOf(ctx, "http://"+r.agent.pprof)
		}
		round, err := r.runRound(ctx, s, r.options.rounds, workloads, say)
		if err != nil {
			return nil, err
		}
		to := &out.ServerStock
		if s == placed {
			to = &out.ServerPlacer
			if out.Agent, err = agent.stop(round.Jobs); err != nil {
				return nil, fmt.Errorf("agent: %w", err)
			}
		}
		if *to, err = server.stop(round.Jobs); err != nil {
			return nil, fmt.Errorf("server: %w", err)
		}
		if err := r.settle(ctx); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

// smallPercent of a program's time is not worth a line.
const smallPercent = 1

// write is the table of the report.
func (p Profiles) write(w io.Writer) {
	columns := []CPUTime{p.ServerStock, p.ServerPlacer, p.Agent}
	worth := map[string]float64{} // the largest share of a group
	for _, c := range columns {
		for group, millis := range c.Millis {
			worth[group] = max(worth[group], 100*millis/c.total())
		}
	}
	groups := slices.SortedFunc(maps.Keys(worth), func(a, b string) int {
		return cmp.Or(cmp.Compare(worth[b], worth[a]), cmp.Compare(a, b))
	})
	large := slices.DeleteFunc(slices.Clone(groups), func(g string) bool { return worth[g] < smallPercent })
	fmt.Fprintf(w, "\nWhere CPU time goes, per job, in a round more that was profiled (`-profile`); a sample counts for its innermost function that has a group:\n\n"+
		"| | server, stock's turn | server, placer's turn | agent, placer's turn |\n|---|---|---|---|\n")
	line := func(name string, in []string) {
		fmt.Fprintf(w, "| %s |", name)
		for _, c := range columns {
			fmt.Fprintf(w, " %s |", c.cell(in))
		}
		fmt.Fprintln(w)
	}
	for _, g := range large {
		line(g, []string{g})
	}
	line(fmt.Sprintf("each below %d %%", smallPercent), groups[len(large):])
	line("all", groups)
}

// cell is the time of some groups: per job, and as a share.
func (t CPUTime) cell(groups []string) string {
	sum := 0.0
	for _, g := range groups {
		sum += t.Millis[g]
	}
	if sum == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f ms, %.0f %%", sum/float64(max(1, t.Jobs)), 100*sum/t.total())
}
