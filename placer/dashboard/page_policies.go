package dashboard

import (
	"cmp"
	"context"
	"html/template"
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// policiesView is what each policy decided and how jobs do under it.
type policiesView struct {
	Rows      []policyRow
	Unordered []string // policies without a decision
}

// policyRecord is one row of /v1/policies. What is unknown is null.
type policyRecord struct {
	Policy      string                  `json:"policy"`
	Decisions   int                     `json:"decisions"`
	Outcomes    map[cluster.Outcome]int `json:"outcomes"`
	WithTarget  int                     `json:"with_target"`  // of the decisions
	Met         int                     `json:"met"`          // now
	Missed      int                     `json:"missed"`       // now; the rest is not measured
	MetShare    *float64                `json:"met_share"`    // of the time, 0..1: mean over the workloads judged
	Judged      int                     `json:"judged"`       // workloads that mean is over
	OffShare    *float64                `json:"off_share"`    // median of |measured − predicted| / predicted
	Compared    int                     `json:"compared"`     // workloads that median is over
	PlaceMillis *float64                `json:"place_millis"` // median time to choose nodes
}

type policyRow struct {
	policyRecord
	Placed, Waiting, Left int
	Unmeasured            int
	ShareBar              template.HTML
	PlaceTime             string
}

func (s *server) policies(r *http.Request) (pageView, error) {
	list, workloads, err := s.league(r.Context())
	if err != nil {
		return pageView{}, err
	}
	var view policiesView
	decided := map[string]bool{}
	for _, p := range list {
		decided[p.Policy] = true
		view.Rows = append(view.Rows, viewPolicyRow(p))
	}
	if w, ok := s.whatIf(); ok {
		for _, name := range w.Policies() {
			if !decided[name] {
				view.Unordered = append(view.Unordered, name)
			}
		}
	}
	return pageView{Template: "policies", Title: "Policies", Refresh: s.refreshSeconds(workloads), Data: view}, nil
}

func (s *server) policiesJSON(r *http.Request) (any, error) {
	list, _, err := s.league(r.Context())
	return listed(list, err)
}

// league sums up what is recorded by policy: first the one under which targets
// are met most of the time, last those of which nothing was measured.
func (s *server) league(ctx context.Context) (list []policyRecord, workloads int, err error) {
	decisions, err := s.records.Decisions(ctx)
	if err != nil {
		return nil, 0, err
	}
	jobs, err := s.measureJobs(ctx, decisions)
	if err != nil {
		return nil, 0, err
	}
	by := map[string][]measuredJob{}
	for _, j := range jobs {
		by[j.Decision.Policy] = append(by[j.Decision.Policy], j)
	}
	for name, jobs := range by {
		list = append(list, policyRecordOf(name, jobs))
	}
	share := func(p policyRecord) float64 {
		if p.MetShare == nil {
			return -1
		}
		return *p.MetShare
	}
	slices.SortFunc(list, func(a, b policyRecord) int {
		return cmp.Or(cmp.Compare(share(b), share(a)), cmp.Compare(a.Policy, b.Policy))
	})
	return list, len(decisions), nil
}

func policyRecordOf(name string, jobs []measuredJob) policyRecord {
	p := policyRecord{Policy: name, Decisions: len(jobs), Outcomes: map[cluster.Outcome]int{}}
	var shares, off, millis []float64
	for _, j := range jobs {
		p.Outcomes[j.Decision.Outcome]++
		for _, step := range j.Decision.Steps {
			if step.Name == string(cluster.StagePlace) {
				millis = append(millis, float64(step.Duration)/float64(time.Millisecond))
			}
		}
		if _, _, ok := j.Decision.Target.Value(); !ok {
			continue
		}
		p.WithTarget++
		switch j.Now.Verdict {
		case wording.Met:
			p.Met++
		case wording.Missed:
			p.Missed++
		case wording.NoVerdict:
		}
		if share, ok := j.History.MetShare(); ok {
			shares = append(shares, share)
		}
		if e := j.Expected; e.Known && e.Comparable && j.Now.Known && e.Value > 0 {
			off = append(off, math.Abs(j.Now.Value-e.Value)/e.Value)
		}
	}
	p.Judged, p.Compared = len(shares), len(off)
	p.MetShare, p.OffShare, p.PlaceMillis = mean(shares), median(off), median(millis)
	return p
}

// mean and median of nothing are unknown.
func mean(v []float64) *float64 {
	if len(v) == 0 {
		return nil
	}
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	sum /= float64(len(v))
	return &sum
}

func median(v []float64) *float64 {
	if len(v) == 0 {
		return nil
	}
	slices.Sort(v)
	m := (v[(len(v)-1)/2] + v[len(v)/2]) / 2
	return &m
}

func viewPolicyRow(p policyRecord) policyRow {
	row := policyRow{
		policyRecord: p, Placed: p.Outcomes[cluster.Placed], Waiting: p.Outcomes[cluster.Queued], Left: p.Outcomes[cluster.Stock],
		Unmeasured: p.WithTarget - p.Met - p.Missed, PlaceTime: wording.Unknown,
	}
	if p.MetShare != nil {
		row.ShareBar = percentBar(*p.MetShare*100, "share of the time the targets were met")
	}
	if p.PlaceMillis != nil {
		row.PlaceTime = wording.Duration(time.Duration(*p.PlaceMillis * float64(time.Millisecond)))
	}
	return row
}
