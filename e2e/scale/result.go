package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/journal"
)

// Result is a whole run.
type Result struct {
	Nodes        int            `json:"nodes"`
	Allocations  int            `json:"allocations"` // that ran before the first round, besides the system job's
	JobsPerRound int            `json:"jobs_per_round"`
	Writers      int            `json:"writers"`
	Seed         uint64         `json:"seed"`
	Pool         bool           `json:"hold_pool"` // the placer's jobs named the hold pool; else they passed the proxy
	Began        time.Time      `json:"began"`
	MemoryLimit  string         `json:"agent_memory_limit"` // GOMEMLIMIT
	Machine      string         `json:"machine"`
	LoadBefore   string         `json:"load_before"` // the machine's load averages before anything was started
	LoadAfter    string         `json:"load_after"`  // and after the last round
	Rounds       []Round        `json:"rounds"`
	Wanted       Wanted         `json:"wanted"`
	Writes       Writes         `json:"writes"`
	IdleAgentMiB float64        `json:"idle_agent_mib"`  // before the first round
	IdleServer   float64        `json:"idle_server_mib"` // before the agent
	Evaluations  map[side]Evals `json:"evaluations"`
	Problems     int            `json:"light_node_problems"`
	Problem      string         `json:"light_node_problem,omitempty"` // the first
	Again        int            `json:"allocations_beyond_the_first"`
	Profiles     *Profiles      `json:"profiles,omitempty"`
	Trouble      *Trouble       `json:"trouble,omitempty"`
}

// Round is one side's turn.
type Round struct {
	Side          side     `json:"side"`
	Number        int      `json:"number"`
	Jobs          int      `json:"jobs"`
	Seconds       float64  `json:"seconds"` // first submission to last allocation running
	JobsPerSecond float64  `json:"jobs_per_second"`
	MedianSeconds float64  `json:"median_seconds"` // of one job
	P99Seconds    float64  `json:"p99_seconds"`
	StolenPercent *float64 `json:"stolen_percent"` // of the CPUs' time, by the host; null is not known
	Usage         Usage    `json:"usage"`
	Samples       []Sample `json:"samples"`

	ids []string
}

// count fills in the times.
func (r *Round) count(sent map[string]time.Time, ran map[string]landing) {
	var first, last time.Time
	var each []float64
	for id, at := range sent {
		if first.IsZero() || at.Before(first) {
			first = at
		}
		l := ran[id]
		if l.at.After(last) {
			last = l.at
		}
		each = append(each, l.at.Sub(at).Seconds())
	}
	slices.Sort(each)
	r.Seconds = last.Sub(first).Seconds()
	r.JobsPerSecond = float64(len(sent)) / r.Seconds
	r.MedianSeconds = each[len(each)/2]
	r.P99Seconds = each[min(len(each)-1, len(each)*99/100)]
}

// Wanted says where the placer's allocations ran.
type Wanted struct {
	Jobs      int `json:"jobs"`
	First     int `json:"first"`     // on a node the decision gave the job
	Shortlist int `json:"shortlist"` // on some node of its shortlist
	Stock     int `json:"stock"`     // left to stock Nomad by the placer
}

// FirstShare and ShortlistShare are the hits in percent of the jobs.
func (w Wanted) FirstShare() float64     { return percent(w.First, w.Jobs) }
func (w Wanted) ShortlistShare() float64 { return percent(w.Shortlist, w.Jobs) }

func percent(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return 100 * float64(n) / float64(of)
}

// Writes is how often a job of the placer's side was registered.
type Writes struct {
	Most int     `json:"most"` // the user's own registration included
	Mean float64 `json:"mean"`
}

// Evals counts the evaluations of a side's jobs.
type Evals struct {
	PerJob   float64        `json:"per_job"`
	ByCause  map[string]int `json:"by_cause"`
	ByStatus map[string]int `json:"by_status"`
}

// wanted holds the decisions of the placer's jobs against where they run.
func (r *rig) wanted(ctx context.Context, ids []string) (Wanted, error) {
	book := journal.Book{Store: r.store}
	ran := r.ran.of(ids)
	var out Wanted
	for _, id := range ids {
		d, err := book.Decision(ctx, cluster.WorkloadID{Namespace: namespace, Job: id, Group: group})
		if err != nil {
			return out, fmt.Errorf("decision of %s: %w", id, err)
		}
		out.Jobs++
		if d.Outcome != cluster.Placed {
			out.Stock++
			continue
		}
		at := slices.IndexFunc(d.Candidates, func(c cluster.Candidate) bool { return string(c.Node) == ran[id].node })
		if at >= 0 {
			out.Shortlist++
		}
		if at >= 0 && at < d.Count {
			out.First++
		}
	}
	return out, nil
}

// writes reads how often each job was registered.
func (r *rig) writes(ids []string) (Writes, error) {
	var out Writes
	total := 0
	for _, id := range ids {
		job, _, err := r.api.Jobs().Info(id, nil)
		if err != nil {
			return out, fmt.Errorf("job %s: %w", id, err)
		}
		n := int(*job.Version) + 1
		out.Most = max(out.Most, n)
		total += n
	}
	if len(ids) > 0 {
		out.Mean = float64(total) / float64(len(ids))
	}
	return out, nil
}

// evaluations counts those of the rounds' jobs.
func (r *rig) evaluations(jobs int) (map[side]Evals, error) {
	list, _, err := r.api.Evaluations().List(nil)
	if err != nil {
		return nil, err
	}
	out := map[side]Evals{}
	for _, s := range []side{stock, placed} {
		e := Evals{ByCause: map[string]int{}, ByStatus: map[string]int{}}
		n := 0
		for _, one := range list {
			if strings.Contains(one.JobID, "-"+string(s)+"-") {
				n++
				e.ByCause[one.TriggeredBy]++
				e.ByStatus[one.Status]++
			}
		}
		e.PerJob = float64(n) / float64(max(1, jobs))
		out[s] = e
	}
	return out, nil
}

// of returns the rounds of one side.
func (r Result) of(s side) []Round {
	return slices.DeleteFunc(slices.Clone(r.Rounds), func(x Round) bool { return x.Side != s })
}

// rate is a side's jobs per second over all its rounds.
func (r Result) rate(s side) float64 {
	jobs, seconds := 0, 0.0
	for _, x := range r.of(s) {
		jobs += x.Jobs
		seconds += x.Seconds
	}
	if seconds == 0 {
		return 0
	}
	return float64(jobs) / seconds
}

// peak is the largest of a number over the samples of a side's rounds.
func (r Result) peak(s side, of func(Sample) float64) float64 {
	most := 0.0
	for _, x := range r.of(s) {
		for _, one := range x.Samples {
			most = max(most, of(one))
		}
	}
	return most
}
