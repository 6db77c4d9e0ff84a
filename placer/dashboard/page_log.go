package dashboard

import (
	"net/http"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// logView is the newest decision of every workload, newest first.
type logView struct {
	Query    string
	Outcomes []option
	Policies []option
	Rows     []logRow
	All      int
	Pager    pager
}

type logRow struct {
	Decision   cluster.Decision
	Outcome    badge
	Nodes      []cluster.Candidate
	NodesLeft  int
	RejectedBy []reasonCount
}

// outcomes lists the outcomes as the filter does.
var outcomes = []option{
	{"", "all", false}, {string(cluster.Placed), "placed", false},
	{string(cluster.Queued), "waiting for room", false}, {string(cluster.Stock), "left to Nomad", false},
}

func (s *server) log(r *http.Request) (pageView, error) {
	decisions, err := s.records.Decisions(r.Context())
	if err != nil {
		return pageView{}, err
	}
	sortDecisions(decisions)
	query := r.URL.Query()
	view := logView{
		Query: strings.TrimSpace(query.Get("q")), All: len(decisions),
		Outcomes: selected(outcomes, query.Get("outcome")), Policies: policyOptions(decisions, query.Get("policy")),
	}
	outcome, policy := cluster.Outcome(chosenOption(view.Outcomes)), chosenOption(view.Policies)
	shown := slices.DeleteFunc(decisions, func(d cluster.Decision) bool {
		return outcome != "" && d.Outcome != outcome || policy != "" && d.Policy != policy ||
			!matches(strings.ToLower(view.Query), d.Workload.String(), d.Reason)
	})
	view.Pager = paginate(query, len(shown))
	for _, d := range shown[view.Pager.From:view.Pager.To] {
		row := logRow{Decision: d, Outcome: outcomeBadge(d.Outcome), RejectedBy: viewReasons(d.RejectedBy)}
		row.Nodes, row.NodesLeft = chosenShort(d)
		view.Rows = append(view.Rows, row)
	}
	return pageView{Template: "log", Title: "Decisions", Data: view}, nil
}

// policyOptions are the policies that decided something. A policy that is
// asked for stays in the list even if it did not.
func policyOptions(decisions []cluster.Decision, want string) []option {
	names := []string{}
	if want != "" {
		names = append(names, want)
	}
	for _, d := range decisions {
		names = append(names, d.Policy)
	}
	slices.Sort(names)
	list := []option{{"", "all", false}}
	for _, n := range slices.Compact(names) {
		if n != "" {
			list = append(list, option{n, n, false})
		}
	}
	return selected(list, want)
}
