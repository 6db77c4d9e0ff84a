package dashboard

import (
	"cmp"
	"context"
	"errors"
	"html/template"
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// hostView is one node a workload runs on, with its co-runners.
type hostView struct {
	Node        cluster.Node
	Allocations int
	Others      []neighbourView
	Pressure    []pressureRow // tightest first; empty where there are no others
	Unknown     int           // others whose scores are unknown: the pressure is more than shown
}

type neighbourView struct {
	cluster.Resident
	Loud []sourceScore // what it causes most, if known
}

// pressureRow sets what the others cause on a source against what the workload
// stands.
type pressureRow struct {
	Info         interference.SourceInfo
	Caused       interference.Estimate // by the others together
	Tolerated    interference.Estimate // by the workload
	CausedBar    template.HTML
	ToleratedBar template.HTML
	Margin       float64 // points between the two; NaN: not known
}

// Over says that the others cause more than the workload tolerates.
func (p pressureRow) Over() bool { return p.Margin < 0 }

// The lists of one page are bounded.
const (
	maxHosts        = 8
	maxPressureRows = 6
)

// hosts are the nodes the workload runs on now.
func (s *server) hosts(ctx context.Context, w cluster.WorkloadID, own interference.Sensitivity) ([]hostView, error) {
	nodes, err := s.records.Nodes(ctx)
	if errors.Is(err, errNoNodes) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	sortNodes(nodes)
	var out []hostView
	known := map[cluster.WorkloadID]interference.Sensitivity{}
	for _, n := range nodes {
		at := slices.IndexFunc(n.Residents, func(r cluster.Resident) bool { return r.Workload == w })
		if at < 0 || len(out) == maxHosts {
			continue
		}
		h := hostView{Node: n.Node, Allocations: n.Residents[at].Allocations}
		caused := make([]float64, len(interference.Sources()))
		for _, r := range n.Residents {
			if r.Workload == w {
				continue
			}
			scores, err := s.scoresOf(ctx, r.Workload, known)
			if err != nil {
				return nil, err
			}
			h.add(r, scores, caused)
		}
		h.compare(own, caused)
		out = append(out, h)
	}
	return out, nil
}

// scoresOf are the scores recorded with a workload's decision; none is not an
// error.
func (s *server) scoresOf(ctx context.Context, w cluster.WorkloadID, known map[cluster.WorkloadID]interference.Sensitivity) (interference.Sensitivity, error) {
	if scores, ok := known[w]; ok {
		return scores, nil
	}
	d, err := s.records.Decision(ctx, w)
	if err != nil && !errors.Is(err, cluster.ErrNoRecord) {
		return interference.Sensitivity{}, err
	}
	known[w] = d.Sensitivity
	return d.Sensitivity, nil
}

// add takes one co-runner in; a source of which one co-runner's score is
// unknown becomes NaN.
func (h *hostView) add(r cluster.Resident, scores interference.Sensitivity, caused []float64) {
	h.Others = append(h.Others, neighbourView{r, worst(scores.Caused, func(a, b float64) int { return cmp.Compare(b, a) })})
	if len(scores.Caused) == 0 {
		h.Unknown++
		return
	}
	for i, info := range interference.Sources() {
		v, _ := scores.Caused[info.Source].Score.Percent()
		caused[i] += v * float64(max(1, r.Allocations))
	}
}

func (h *hostView) compare(own interference.Sensitivity, caused []float64) {
	if len(h.Others) == h.Unknown {
		return
	}
	for i, info := range interference.Sources() {
		row := pressureRow{Info: info, Tolerated: own.Tolerated[info.Source], Caused: interference.Estimate{Score: interference.Percent(caused[i])}}
		tolerated, _ := row.Tolerated.Score.Percent()
		row.Margin = tolerated - caused[i]
		if math.IsNaN(row.Margin) {
			continue
		}
		row.CausedBar, row.ToleratedBar = estimateBar(row.Caused, "caused"), estimateBar(row.Tolerated, "tolerated")
		h.Pressure = append(h.Pressure, row)
	}
	slices.SortStableFunc(h.Pressure, func(a, b pressureRow) int { return cmp.Compare(a.Margin, b.Margin) })
	h.Pressure = h.Pressure[:min(len(h.Pressure), maxPressureRows)]
}

// MarginText prints the margin, or by how much it is exceeded: "12 points".
func (p pressureRow) MarginText() string { return wording.Points(math.Abs(p.Margin)) }
