package dashboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

type jobView struct {
	Workload   cluster.WorkloadID
	NomadURL   string
	Evaluation *evaluationView // the newest of the job, if it has not ended

	// The rest is empty while there is no decision.
	Decided    bool
	Decision   cluster.Decision
	DiskLimits []string
	Outcome    badge
	Verdict    badge
	Expected   wording.Expectation
	Measured   wording.Measured
	Comparison template.HTML
	History    template.HTML
	Windows    int    // with a number
	MetShare   string // in words; empty where nothing could be judged
	Neighbours []hostView
	Actions    []cluster.ActionRecord // newest first
	Acting     bool                   // actions are recorded here
	WhatIf     *whatIfView            // nil where it cannot be answered
	Candidates []candidateRow
	RejectedBy []reasonCount
	NotListed  int // rejected nodes beyond the sample
	Sources    []sourceRow
	Unknown    []interference.SourceInfo // no score at all
	Steps      template.HTML
	StepsTotal time.Duration
	Profile    *profileView
	NoProfile  string // why there is none
	Learnt     learntView
}

type candidateRow struct {
	cluster.Candidate
	Rank     int
	Chosen   bool
	Expected wording.Expectation
	NomadURL string
}

type reasonCount struct {
	Reason cluster.RejectReason
	Count  int
}

type sourceRow struct {
	Info              interference.SourceInfo
	Tolerated         interference.Estimate
	Caused            interference.Estimate
	ToleranceAtTarget *interference.Estimate // by its target, where that is more; nil: as tolerated
	ToleratedBar      template.HTML
	CausedBar         template.HTML
}

type profileView struct {
	Profile  profile.Profile
	Isolated []aloneRow
	Ramps    []rampView
}

type aloneRow struct {
	Configuration string
	profile.Measurement
}

type rampView struct {
	Info   interference.SourceInfo
	Chart  template.HTML
	Points []profile.RampPoint
}

func (s *server) job(r *http.Request) (pageView, error) {
	ctx, id := r.Context(), workloadOf(r)
	view := jobView{Workload: id, NomadURL: s.nomadJob(id.JobID())}
	if err := s.jobEvaluation(ctx, &view); err != nil {
		return pageView{}, err
	}
	decision, err := s.records.Decision(ctx, id)
	switch {
	case errors.Is(err, cluster.ErrNoRecord) && view.Evaluation == nil:
		return pageView{}, err
	case err == nil:
		if err := s.jobDecision(ctx, &view, decision); err != nil {
			return pageView{}, err
		}
	case !errors.Is(err, cluster.ErrNoRecord):
		return pageView{}, err
	}
	page := pageView{Template: "job", Title: id.Job + " / " + id.Group}
	if view.WhatIf = s.whatIfForm(r, id, view.Decision); view.WhatIf != nil && view.WhatIf.Asked {
		page.Refresh = -1 // the answer is of the moment it was asked for
	}
	page.Data = view
	return page, nil
}

func (s *server) jobEvaluation(ctx context.Context, view *jobView) error {
	list, err := s.records.Evaluations(ctx)
	if err != nil {
		return err
	}
	sortEvaluations(list)
	for _, e := range list {
		if e.Job == view.Workload.JobID() {
			if !e.Stage.Ended() {
				v := viewEvaluation(e, s.options.Now())
				view.Evaluation = &v
			}
			return nil
		}
	}
	return nil
}

func (s *server) jobDecision(ctx context.Context, view *jobView, d cluster.Decision) error {
	observations, err := s.records.Observations(ctx, d.Workload)
	if err != nil {
		return err
	}
	m := wording.Measure(d.Target, observations)
	view.Decided, view.Decision = true, d
	view.Outcome, view.Verdict = outcomeBadge(d.Outcome), verdictBadge(m.Verdict)
	view.Expected, view.Measured = wording.Expect(d.Predicted, d.Target), m
	if c := compare(d.Target, view.Expected, m); c.any() {
		view.Comparison = comparisonChart(c)
	}
	history := wording.Over(d.Target, observations)
	view.History, view.Windows = historyChart(d.Target, view.Expected, history), len(history.Known())
	if share, ok := history.MetShare(); ok {
		view.MetShare = fmt.Sprintf("target met in %d of %d windows, %s %% of the time", history.Met, history.Judged, wording.Number(share*100))
	}
	view.Candidates = s.viewCandidates(d)
	view.RejectedBy = viewReasons(d.RejectedBy)
	for _, rc := range view.RejectedBy {
		view.NotListed += rc.Count
	}
	view.NotListed = max(0, view.NotListed-len(d.Rejected))
	view.Sources, view.Unknown = viewSources(d.Sensitivity)
	for i := range view.Sources {
		row := &view.Sources[i]
		if e, ok := d.ToleranceAtTarget[row.Info.Source]; ok && e.Score != row.Tolerated.Score {
			row.ToleranceAtTarget = &e
		}
	}
	if d.Disk != nil {
		limits, err := s.records.DiskLimits(ctx, d.Workload)
		if err != nil {
			return err
		}
		view.DiskLimits = wording.DiskLimits(d.Disk.Promise, limits, s.options.Now())
	}
	if view.Neighbours, err = s.hosts(ctx, d.Workload, d.Sensitivity); err != nil {
		return err
	}
	if err := s.jobActions(ctx, view); err != nil {
		return err
	}
	view.Steps = stepsChart(d.Steps)
	for _, step := range d.Steps {
		view.StepsTotal += step.Duration
	}
	if err := s.jobProfile(ctx, view, d); err != nil {
		return err
	}
	var taken time.Time
	if view.Profile != nil {
		taken = view.Profile.Profile.Taken
	}
	learnt, err := s.learnt(ctx, d, taken)
	view.Learnt = viewLearnt(learnt)
	return err
}

func (s *server) viewCandidates(d cluster.Decision) []candidateRow {
	n := len(chosen(d))
	rows := make([]candidateRow, len(d.Candidates))
	for i, c := range d.Candidates {
		rows[i] = candidateRow{
			Candidate: c, Rank: i + 1, Chosen: i < n && d.Outcome == cluster.Placed,
			Expected: wording.Expect(c.Predicted, d.Target), NomadURL: s.nomadNode(c.Node),
		}
	}
	return rows
}

// viewReasons sorts the counts, most frequent first.
func viewReasons(by map[cluster.RejectReason]int) []reasonCount {
	out := make([]reasonCount, 0, len(by))
	for reason, n := range by {
		out = append(out, reasonCount{reason, n})
	}
	slices.SortFunc(out, func(a, b reasonCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason))
	})
	return out
}

// viewSources are the sources with a score of either side, and the rest.
func viewSources(s interference.Sensitivity) (rows []sourceRow, unknown []interference.SourceInfo) {
	for _, row := range viewEverySource(s) {
		_, okT := s.Tolerated[row.Info.Source]
		_, okC := s.Caused[row.Info.Source]
		if !okT && !okC {
			unknown = append(unknown, row.Info)
			continue
		}
		rows = append(rows, row)
	}
	return rows, unknown
}

func viewEverySource(s interference.Sensitivity) []sourceRow {
	var rows []sourceRow
	for _, info := range interference.Sources() {
		t, c := s.Tolerated[info.Source], s.Caused[info.Source]
		rows = append(rows, sourceRow{
			Info: info, Tolerated: t, Caused: c,
			ToleratedBar: estimateBar(t, "tolerated"), CausedBar: estimateBar(c, "caused"),
		})
	}
	return rows
}

// jobProfile adds the measured profile, where there is one.
func (s *server) jobProfile(ctx context.Context, view *jobView, d cluster.Decision) error {
	if d.ProfileKey == "" {
		view.NoProfile = "This workload was not profiled."
		return nil
	}
	p, err := s.records.Profile(ctx, d.ProfileKey)
	if errors.Is(err, cluster.ErrNoRecord) {
		view.NoProfile = "No profile is stored for this workload; the scores are predicted or assumed."
		return nil
	}
	if err != nil {
		return err
	}
	view.Profile = viewProfile(p)
	return nil
}

func viewProfile(p profile.Profile) *profileView {
	v := &profileView{Profile: p, Isolated: viewAlone(p)}
	bound := p.SlowdownMax
	if bound == 0 {
		bound = performance.DefaultSlowdownMaxPercent
	}
	for _, info := range interference.Sources() {
		var points []profile.RampPoint
		for _, q := range p.Ramp {
			if q.Source == info.Source {
				points = append(points, q)
			}
		}
		if len(points) > 0 {
			v.Ramps = append(v.Ramps, rampView{info, rampChart(info.Source, points, bound), points})
		}
	}
	return v
}

// viewAlone are the speeds by node configuration.
func viewAlone(p profile.Profile) []aloneRow {
	var rows []aloneRow
	for configuration, m := range p.Isolated {
		rows = append(rows, aloneRow{configuration, m})
	}
	slices.SortFunc(rows, func(a, b aloneRow) int { return cmp.Compare(a.Configuration, b.Configuration) })
	return rows
}
