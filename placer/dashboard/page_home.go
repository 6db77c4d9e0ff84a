package dashboard

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// maxRows bounds each table of the first page; the search field and the JSON
// reach the rest.
const maxRows = 200

type homeView struct {
	Query       string
	Evaluations []evaluationView
	Jobs        []jobRow
	JobsLeft    int // rows not shown
	Columns     []interference.SourceInfo
	Nodes       []nodeRow
	NodesLeft   int
	NoNodes     string // why none are shown
}

type jobRow struct {
	Decision  cluster.Decision
	Outcome   badge
	Predicted string
	Measured  string
	Verdict   badge
	Nodes     []cluster.Candidate
	NodesLeft int
}

type nodeRow struct {
	Record  cluster.NodeRecord
	Assumed string // what is assumed, if anything
	Cells   []heatCell
}

func (s *server) home(r *http.Request) (pageView, error) {
	ctx, query := r.Context(), strings.ToLower(strings.TrimSpace(r.URL.Query().Get("q")))
	view := homeView{Query: query}
	evaluations, err := s.records.Evaluations(ctx)
	if err != nil {
		return pageView{}, err
	}
	sortEvaluations(evaluations)
	for _, e := range evaluations {
		if !e.Stage.Ended() && matches(query, e.Job.String()) {
			view.Evaluations = append(view.Evaluations, viewEvaluation(e, s.options.Now()))
		}
	}
	if err := s.homeJobs(ctx, &view); err != nil {
		return pageView{}, err
	}
	if err := s.homeNodes(ctx, &view); err != nil {
		return pageView{}, err
	}
	return pageView{Template: "home", Title: "Placements", Data: view}, nil
}

func matches(query string, texts ...string) bool {
	if query == "" {
		return true
	}
	for _, t := range texts {
		if strings.Contains(strings.ToLower(t), query) {
			return true
		}
	}
	return false
}

func (s *server) homeJobs(ctx context.Context, view *homeView) error {
	decisions, err := s.records.Decisions(ctx)
	if err != nil {
		return err
	}
	sortDecisions(decisions)
	for _, d := range decisions {
		if !matches(view.Query, d.Workload.String(), string(d.Outcome)) {
			continue
		}
		if len(view.Jobs) == maxRows {
			view.JobsLeft++
			continue
		}
		observations, err := s.records.Observations(ctx, d.Workload)
		if err != nil {
			return err
		}
		view.Jobs = append(view.Jobs, viewJobRow(d, wording.Measure(d.Target, observations)))
	}
	return nil
}

func viewJobRow(d cluster.Decision, m wording.Measured) jobRow {
	row := jobRow{
		Decision: d, Outcome: outcomeBadge(d.Outcome),
		Predicted: wording.Expect(d.Predicted, d.Target).Short(),
		Measured:  m.String(), Verdict: verdictBadge(m.Verdict),
	}
	if d.Outcome == cluster.Placed {
		row.Nodes, row.NodesLeft = chosenShort(d)
	}
	return row
}

func (s *server) homeNodes(ctx context.Context, view *homeView) error {
	nodes, err := s.records.Nodes(ctx)
	if errors.Is(err, errNoNodes) {
		view.NoNodes = wording.Capital(err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	sortNodes(nodes)
	view.Columns = shownColumns(nodes)
	for _, n := range nodes {
		if !matches(view.Query, n.Node.Name, string(n.Node.ID), n.Node.Class) {
			continue
		}
		if len(view.Nodes) == maxRows {
			view.NodesLeft++
			continue
		}
		row := nodeRow{Record: n, Assumed: wording.AssumedNote(n)}
		for _, c := range view.Columns {
			row.Cells = append(row.Cells, heat(n, c.Source, measureRoom))
		}
		view.Nodes = append(view.Nodes, row)
	}
	return nil
}
