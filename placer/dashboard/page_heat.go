package dashboard

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// heatView is the heat map: every node against every source. The page holds one
// part of the table; heat.js draws all of it from /v1/heat.
type heatView struct {
	Query    string
	Measure  measure
	Measures []option
	Classes  []option
	Sorts    []option
	Columns  []heatColumn
	Nodes    []nodeRow
	Total    int // nodes that match
	All      int // nodes there are
	Pager    pager
}

// option is one choice of a form's list.
type option struct {
	Value, Label string
	Selected     bool
}

// heatColumn is one source with the link that sorts by it.
type heatColumn struct {
	interference.SourceInfo
	Query  string // of the link
	Sorted bool
}

// heatClassNone is the class filter's value for nodes without a class.
const heatClassNone = "(none)"

func (s *server) heat(r *http.Request) (pageView, error) {
	nodes, err := s.records.Nodes(r.Context())
	if err != nil {
		return pageView{}, err
	}
	query := r.URL.Query()
	columns := shownColumns(nodes)
	view := heatView{
		Query: strings.TrimSpace(query.Get("q")), All: len(nodes),
		Measures: selected(measures, query.Get("measure")),
		Classes:  classOptions(nodes, query.Get("class")),
		Sorts:    sortOptions(columns, query.Get("sort")),
	}
	view.Measure = measure(chosenOption(view.Measures))
	sort := chosenOption(view.Sorts)
	view.Columns = heatColumns(columns, query, sort)
	shown := slices.DeleteFunc(nodes, func(n cluster.NodeRecord) bool { return !heatMatches(n, view.Query, chosenOption(view.Classes)) })
	sortHeat(shown, sort, view.Measure, columns)
	view.Total = len(shown)
	view.Pager = paginate(query, len(shown))
	for _, n := range shown[view.Pager.From:view.Pager.To] {
		row := nodeRow{Record: n, Assumed: wording.AssumedNote(n)}
		for _, c := range columns {
			row.Cells = append(row.Cells, heat(n, c.Source, view.Measure))
		}
		view.Nodes = append(view.Nodes, row)
	}
	return pageView{Template: "heat", Title: "Heat map", Script: "heat.js", Wide: true, Data: view}, nil
}

func (s *server) heatJSON(r *http.Request) (any, error) {
	nodes, err := s.records.Nodes(r.Context())
	if err != nil {
		return nil, err
	}
	return compact{heatRecordOf(nodes)}, nil
}

func heatMatches(n cluster.NodeRecord, query, class string) bool {
	if class != "" && class != n.Node.Class && (class != heatClassNone || n.Node.Class != "") {
		return false
	}
	return matches(strings.ToLower(query), n.Node.Name, string(n.Node.ID), n.Node.Configuration)
}

func heatColumns(columns []interference.SourceInfo, query url.Values, sort string) []heatColumn {
	out := make([]heatColumn, len(columns))
	for i, c := range columns {
		out[i] = heatColumn{c, with(query, "sort", string(c.Source)), sort == string(c.Source)}
	}
	return out
}

func classOptions(nodes []cluster.NodeRecord, want string) []option {
	seen := map[string]bool{}
	list := []option{{"", "all", false}}
	for _, n := range nodes {
		name := n.Node.Class
		if name == "" {
			name = heatClassNone
		}
		if !seen[name] {
			seen[name] = true
			list = append(list, option{name, name, false})
		}
	}
	slices.SortFunc(list[1:], func(a, b option) int { return strings.Compare(a.Value, b.Value) })
	return selected(list, want)
}

func sortOptions(columns []interference.SourceInfo, want string) []option {
	list := []option{{"name", "name", false}, {sortTightest, "tightest source", false}}
	for _, c := range columns {
		list = append(list, option{string(c.Source), c.Title, false})
	}
	return selected(list, want)
}
