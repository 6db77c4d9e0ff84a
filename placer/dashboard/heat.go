package dashboard

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// measure is what the heat map colours and sorts by.
type measure string

// The measures. Room is the tighter of the two others, both as what is left of
// 100; it is the default.
const (
	measureRoom     measure = "room"
	measureHeadroom measure = "headroom" // what a newcomer may cause
	measurePressure measure = "pressure" // what a newcomer must tolerate
)

// measures lists them with their words, in the order of the form.
var measures = []option{
	{string(measureRoom), "room left in the tighter of the two", false},
	{string(measureHeadroom), "headroom: what a newcomer may exert", false},
	{string(measurePressure), "pressure: what a newcomer must tolerate", false},
}

// room is how many percent points a newcomer has left on a source of a node by
// the measure; NaN where a number it rests on is unknown.
func (m measure) room(p cluster.Pressure, s interference.Source) float64 {
	headroom, _ := p.Tolerated[s].Score.Percent()
	pressure, _ := p.Caused[s].Score.Percent()
	switch m {
	case measureHeadroom:
		return headroom
	case measurePressure:
		return 100 - pressure
	default:
		return min(headroom, 100-pressure) // NaN if one of them is
	}
}

// tightest is the least known room of a node over the columns; NaN where none
// is known.
func (m measure) tightest(p cluster.Pressure, columns []interference.SourceInfo) float64 {
	least := math.NaN()
	for _, c := range columns {
		if v := m.room(p, c.Source); !math.IsNaN(v) && !(v >= least) {
			least = v
		}
	}
	return least
}

// The classes of the scale: heatLevels steps of equal width, 0 with most room.
const heatLevels = 5

func heatClass(room float64) string {
	if math.IsNaN(room) {
		return "unknown"
	}
	return fmt.Sprintf("heat-%d", heatLevels-1-min(heatLevels-1, int(room*heatLevels/100)))
}

// heatCell is one cell of the nodes × sources table.
type heatCell struct {
	Headroom string // what a newcomer may cause
	Pressure string // what a newcomer must tolerate
	Kind     string // CSS class: heat-0 (much room) … heat-4, unknown
	Say      string // for screen readers and the tooltip
}

func heat(n cluster.NodeRecord, s interference.Source, m measure) heatCell {
	t, c := n.Pressure.Tolerated[s], n.Pressure.Caused[s]
	cell := heatCell{Headroom: wholePercent(t), Pressure: wholePercent(c), Kind: heatClass(m.room(n.Pressure, s))}
	cell.Say = wording.Source(s) + ": headroom " + wording.Score(t) + ", pressure " + wording.Score(c)
	if note := wording.AssumedNote(n); note != "" {
		cell.Say += "; " + note
		cell.Kind += " assumed"
	}
	return cell
}

func wholePercent(e interference.Estimate) string {
	v, ok := e.Score.Percent()
	if !ok {
		return "?"
	}
	return fmt.Sprintf("%.0f", v)
}

// shownColumns are the sources of which at least one node says something.
func shownColumns(nodes []cluster.NodeRecord) []interference.SourceInfo {
	var out []interference.SourceInfo
	for _, info := range interference.Sources() {
		for _, n := range nodes {
			if n.Pressure.Tolerated[info.Source].Score.Known() || n.Pressure.Caused[info.Source].Score.Known() {
				out = append(out, info)
				break
			}
		}
	}
	return out
}

// sortTightest is a value of the sort field besides "name" and the sources.
const sortTightest = "tightest"

// sortHeat puts the nodes with the least room on the source first, or those
// whose tightest source has least; unknown comes last. Any other key sorts by
// name.
func sortHeat(nodes []cluster.NodeRecord, key string, m measure, columns []interference.SourceInfo) {
	sortNodes(nodes)
	of := func(n cluster.NodeRecord) float64 { return m.room(n.Pressure, interference.Source(key)) }
	switch {
	case key == sortTightest:
		of = func(n cluster.NodeRecord) float64 { return m.tightest(n.Pressure, columns) }
	case !isColumn(key, columns):
		return
	}
	type keyed struct {
		node cluster.NodeRecord
		room float64
	}
	list := make([]keyed, len(nodes))
	for i, n := range nodes {
		list[i] = keyed{n, of(n)}
		if math.IsNaN(list[i].room) {
			list[i].room = math.Inf(1)
		}
	}
	slices.SortStableFunc(list, func(a, b keyed) int { return cmp.Compare(a.room, b.room) })
	for i := range list {
		nodes[i] = list[i].node
	}
}

func isColumn(key string, columns []interference.SourceInfo) bool {
	return slices.ContainsFunc(columns, func(c interference.SourceInfo) bool { return string(c.Source) == key })
}

// heatRecord is /v1/heat: the cluster as two matrices, nodes × sources.
type heatRecord struct {
	Sources []heatSource `json:"sources"` // the columns
	Nodes   []heatNode   `json:"nodes"`   // by name
}

type heatSource struct {
	Source interference.Source `json:"source"`
	Title  string              `json:"title"`
}

type heatNode struct {
	ID            cluster.NodeID       `json:"id"`
	Name          string               `json:"name"`
	Class         string               `json:"class"`
	Configuration string               `json:"configuration"`
	Ready         bool                 `json:"ready"`
	Residents     int                  `json:"residents"`
	Assumed       int                  `json:"assumed"`  // residents whose scores are unknown
	Headroom      []interference.Score `json:"headroom"` // percent by column; null is unknown
	Pressure      []interference.Score `json:"pressure"`
}

func heatRecordOf(nodes []cluster.NodeRecord) heatRecord {
	sortNodes(nodes)
	columns := shownColumns(nodes)
	record := heatRecord{Sources: make([]heatSource, len(columns)), Nodes: make([]heatNode, len(nodes))}
	for i, c := range columns {
		record.Sources[i] = heatSource{c.Source, c.Title}
	}
	for i, n := range nodes {
		h := heatNode{
			ID: n.Node.ID, Name: n.Node.Name, Class: n.Node.Class, Configuration: n.Node.Configuration, Ready: n.Node.Ready,
			Residents: len(n.Residents), Assumed: wording.Assumed(n),
			Headroom: make([]interference.Score, len(columns)), Pressure: make([]interference.Score, len(columns)),
		}
		for j, c := range columns {
			h.Headroom[j] = tenth(n.Pressure.Tolerated[c.Source].Score)
			h.Pressure[j] = tenth(n.Pressure.Caused[c.Source].Score)
		}
		record.Nodes[i] = h
	}
	return record
}

// tenth rounds a score to a tenth of a percent, which halves the record.
func tenth(s interference.Score) interference.Score {
	v, ok := s.Percent()
	if !ok {
		return s
	}
	return interference.Percent(math.Round(v*10) / 10)
}
