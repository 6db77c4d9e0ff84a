package dashboard

import (
	"context"
	"html/template"
	"net/http"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

type nodeView struct {
	Record   cluster.NodeRecord
	NomadURL string
	Assumed  string // what is assumed, if anything
	Room     []roomRow
	Sources  []headroomRow
	Unknown  []interference.SourceInfo
	Placed   []cluster.Decision // decisions that chose this node
}

type roomRow struct {
	What string
	Text string
	Bar  template.HTML
}

type headroomRow struct {
	Info        interference.SourceInfo
	Headroom    interference.Estimate // least any resident tolerates
	Pressure    interference.Estimate // sum the residents cause
	HeadroomBar template.HTML
	PressureBar template.HTML
}

func (s *server) node(r *http.Request) (pageView, error) {
	record, err := s.findNode(r)
	if err != nil {
		return pageView{}, err
	}
	view := nodeView{Record: record, NomadURL: s.nomadNode(record.Node.ID), Assumed: wording.AssumedNote(record), Room: viewRoom(record)}
	for _, info := range interference.Sources() {
		t, okT := record.Pressure.Tolerated[info.Source]
		c, okC := record.Pressure.Caused[info.Source]
		if !okT && !okC {
			view.Unknown = append(view.Unknown, info)
			continue
		}
		view.Sources = append(view.Sources, headroomRow{
			Info: info, Headroom: t, Pressure: c,
			HeadroomBar: estimateBar(t, "tolerated"), PressureBar: estimateBar(c, "caused"),
		})
	}
	if view.Placed, err = s.placedOn(r.Context(), record.Node.ID); err != nil {
		return pageView{}, err
	}
	return pageView{Template: "node", Title: record.Node.Name, Data: view}, nil
}

func viewRoom(n cluster.NodeRecord) []roomRow {
	rows := []roomRow{
		{"CPU", wording.Number(float64(n.Used.CPUMHz)) + " of " + wording.Number(float64(n.Node.Total.CPUMHz)) + " MHz",
			shareBar(n.Used.CPUMHz, n.Node.Total.CPUMHz, "CPU MHz")},
		{"Reserved cores", wording.Number(float64(n.Used.Cores)) + " of " + wording.Number(float64(n.Node.Total.Cores)),
			shareBar(n.Used.Cores, n.Node.Total.Cores, "cores")},
		{"Memory", wording.Number(float64(n.Used.MemoryMB)) + " of " + wording.Number(float64(n.Node.Total.MemoryMB)) + " MiB",
			shareBar(n.Used.MemoryMB, n.Node.Total.MemoryMB, "memory MiB")},
		{"Disk", wording.Number(float64(n.Used.DiskMB)) + " of " + wording.Number(float64(n.Node.Total.DiskMB)) + " MiB",
			shareBar(n.Used.DiskMB, n.Node.Total.DiskMB, "disk MiB")},
	}
	if d := n.Disk; d != nil {
		rows = append(rows, roomRow{"Disk bandwidth", wording.DiskRecord(*d), shareBar(int(d.PromisedMBPerSec), int(d.RatedMBPerSec), "MB/s")})
	}
	return rows
}

// placedOn returns the decisions that chose the node, newest first.
func (s *server) placedOn(ctx context.Context, id cluster.NodeID) ([]cluster.Decision, error) {
	list, err := s.records.Decisions(ctx)
	if err != nil {
		return nil, err
	}
	sortDecisions(list)
	var out []cluster.Decision
	for _, d := range list {
		if d.Outcome != cluster.Placed {
			continue
		}
		for _, c := range chosen(d) {
			if c.Node == id {
				out = append(out, d)
				break
			}
		}
	}
	return out, nil
}
