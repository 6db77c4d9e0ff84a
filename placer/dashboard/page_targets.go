package dashboard

import (
	"cmp"
	"context"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// targetsView is every job against its target, the missed ones first.
type targetsView struct {
	Query  string
	States []option
	Rows   []targetRow
	Counts []stateCount
	All    int
	Pager  pager
}

type stateCount struct {
	Badge badge
	Count int
	Query string // of the link that shows only these
}

type targetRow struct {
	measuredJob
	State  badge
	Spread string // of the newest windows; empty where there is none
	Share  string // of the windows that met the target
	Spark  template.HTML
}

func (s *server) targets(r *http.Request) (pageView, error) {
	jobs, err := s.targetJobs(r.Context())
	if err != nil {
		return pageView{}, err
	}
	query := r.URL.Query()
	view := targetsView{Query: strings.TrimSpace(query.Get("q")), States: selected(states, query.Get("state")), All: len(jobs)}
	state := targetState(chosenOption(view.States))
	counts := map[targetState]int{}
	var shown []measuredJob
	for _, j := range jobs {
		counts[j.state()]++
		if (state == "" || j.state() == state) && matches(strings.ToLower(view.Query), j.Decision.Workload.String(), j.Decision.Policy) {
			shown = append(shown, j)
		}
	}
	for _, o := range states[1:] {
		if n := counts[targetState(o.Value)]; n > 0 {
			view.Counts = append(view.Counts, stateCount{stateBadge(targetState(o.Value)), n, with(query, "state", o.Value)})
		}
	}
	view.Pager = paginate(query, len(shown))
	for _, j := range shown[view.Pager.From:view.Pager.To] {
		view.Rows = append(view.Rows, viewTargetRow(j))
	}
	return pageView{Template: "targets", Title: "Targets", Refresh: s.refreshSeconds(len(jobs)), Data: view}, nil
}

// targetJobs are all jobs, the missed ones first, then the newest.
func (s *server) targetJobs(ctx context.Context) ([]measuredJob, error) {
	decisions, err := s.records.Decisions(ctx)
	if err != nil {
		return nil, err
	}
	sortDecisions(decisions)
	jobs, err := s.measureJobs(ctx, decisions)
	slices.SortStableFunc(jobs, func(a, b measuredJob) int { return cmp.Compare(stateRank(a.state()), stateRank(b.state())) })
	return jobs, err
}

func stateRank(s targetState) int {
	return slices.IndexFunc(states, func(o option) bool { return o.Value == string(s) })
}

func viewTargetRow(j measuredJob) targetRow {
	row := targetRow{measuredJob: j, State: stateBadge(j.state()), Share: wording.Unknown, Spark: sparkline(j.Decision.Target, j.History)}
	if low, high, windows := j.History.Spread(); windows > 1 {
		row.Spread = wording.Between(low, high, j.Now.Unit)
	}
	if share, ok := j.History.MetShare(); ok {
		row.Share = wording.Number(share*100) + " %"
	}
	return row
}

// targetRecord is one row of /v1/targets. What is unknown is null.
type targetRecord struct {
	Workload  cluster.WorkloadID `json:"workload"`
	Policy    string             `json:"policy"`
	Outcome   cluster.Outcome    `json:"outcome"`
	Target    performance.Target `json:"target"`
	State     targetState        `json:"state"`
	Unit      string             `json:"unit"` // of the numbers below
	Wanted    *float64           `json:"wanted"`
	Predicted *numberRecord      `json:"predicted"` // with its 95 % interval
	Measured  *numberRecord      `json:"measured"`  // with the spread of the newest windows
	At        *time.Time         `json:"measured_at"`
	MetShare  *float64           `json:"met_share"` // of the windows judged, 0..1
	Judged    int                `json:"windows_judged"`
}

type numberRecord struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

func (s *server) targetsJSON(r *http.Request) (any, error) {
	jobs, err := s.targetJobs(r.Context())
	if err != nil {
		return nil, err
	}
	out := make([]targetRecord, len(jobs))
	for i, j := range jobs {
		out[i] = targetRecordOf(j)
	}
	return out, nil
}

func targetRecordOf(j measuredJob) targetRecord {
	d := j.Decision
	rec := targetRecord{Workload: d.Workload, Policy: d.Policy, Outcome: d.Outcome, Target: d.Target, State: j.state(), Unit: j.Now.Unit, Judged: j.History.Judged}
	if want, _, ok := d.Target.Value(); ok {
		rec.Wanted = &want
	}
	if e := j.Expected; e.Known && e.Comparable {
		rec.Predicted = &numberRecord{e.Value, e.Low, e.High}
	}
	if j.Now.Known {
		rec.Measured, rec.At = &numberRecord{j.Now.Value, j.Now.Value, j.Now.Value}, &j.Now.At
		if low, high, windows := j.History.Spread(); windows > 1 {
			rec.Measured.Low, rec.Measured.High = low, high
		}
	}
	if share, ok := j.History.MetShare(); ok {
		rec.MetShare = &share
	}
	return rec
}
