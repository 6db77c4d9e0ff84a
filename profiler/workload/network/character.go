package network

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Character is what a cluster's traffic looks like, as the study describes its
// systems (Delimitrou 2015, §C.4).
type Character struct {
	Servers        int     `json:"servers"`
	Racks          int     `json:"racks"`
	BytesPerSecond float64 `json:"bytes_per_second"`
	// Where the bytes go, in percent. Neighbouring racks have consecutive numbers.
	SameRack      Percent `json:"same_rack"`
	NeighbourRack Percent `json:"neighbour_rack"`
	OtherRack     Percent `json:"other_rack"`
	Cloud         Percent `json:"cloud"`
	// Hours is the load of the hours of a day, in percent of its mean.
	Hours [24]Percent `json:"hours"`
	// Weekend is the load of weekend days, in percent of that of weekdays.
	Weekend Percent `json:"weekend"`
	// AboveRange is the part of the servers whose mean load is above ten times the
	// median (chosen by us: the study does not say how it chose the range of its maps).
	AboveRange Percent      `json:"above_range"`
	Hot        []ServerLoad `json:"hot"`     // the most traffic
	Talkers    []ServerLoad `json:"talkers"` // the most peers
}

// ServerLoad is one server of a list.
type ServerLoad struct {
	Server         int     `json:"server"`
	Rack           int     `json:"rack"`
	BytesPerSecond float64 `json:"bytes_per_second"`
	Peers          int     `json:"peers"`
}

// listed is how many servers lists name.
const listed = 10

// rangeFactor is how many times the median load the range of a map reaches.
const rangeFactor = 10

// Character describes the traffic.
func (a *Activity) Character() Character {
	t := a.Topology
	seconds := a.Span.Captured().Seconds()
	c := Character{Servers: t.Servers(), Racks: t.Racks(), BytesPerSecond: float64(a.total) / seconds}
	var same, near, other, cloud float64
	peers := make([]map[int32]bool, t.Nodes())
	for i := range peers {
		peers[i] = map[int32]bool{}
	}
	for i, p := range a.pairs {
		peers[p.source][p.destination], peers[p.destination][p.source] = true, true
		bytes := float64(a.moved[i])
		if t.isCloud(p.source) || t.isCloud(p.destination) {
			cloud += bytes
			continue
		}
		switch apart := t.Rack(int(p.source)) - t.Rack(int(p.destination)); {
		case apart == 0:
			same += bytes
		case apart == 1 || apart == -1 || t.Racks()-apart == 1 || t.Racks()+apart == 1:
			near += bytes
		default:
			other += bytes
		}
	}
	total := float64(a.total)
	c.SameRack, c.NeighbourRack, c.OtherRack, c.Cloud = PercentOf(same, total), PercentOf(near, total), PercentOf(other, total), PercentOf(cloud, total)
	c.Hours, c.Weekend = a.overTime()
	var loads []ServerLoad
	for s, bytes := range a.serverTotals() {
		loads = append(loads, ServerLoad{s, t.Rack(s), float64(bytes) / seconds, len(peers[s])})
	}
	slices.SortStableFunc(loads, func(a, b ServerLoad) int { return cmp.Compare(b.BytesPerSecond, a.BytesPerSecond) })
	above := rangeFactor * loads[len(loads)/2].BytesPerSecond
	n := 0
	for n < len(loads) && loads[n].BytesPerSecond > above {
		n++
	}
	c.AboveRange = PercentOf(float64(n), float64(len(loads)))
	c.Hot = slices.Clone(loads[:min(listed, len(loads))])
	slices.SortStableFunc(loads, func(a, b ServerLoad) int { return cmp.Compare(b.Peers, a.Peers) })
	c.Talkers = slices.Clone(loads[:min(listed, len(loads))])
	return c
}

// overTime is the load of the hours of a day over their mean, and that of weekend
// days over weekdays. What was not captured is not known.
func (a *Activity) overTime() (hours [24]Percent, weekend Percent) {
	var bytes, seconds [24]float64
	var weekBytes, weekSeconds [2]float64 // weekdays, weekend
	perBin := a.binTotals()
	for b, v := range perBin {
		if a.Span.missing(b) {
			continue
		}
		at := a.Span.From + time.Duration(b)*a.Span.Bin
		hour, late := int(at%day/time.Hour), 0
		if at%week >= 5*day {
			late = 1
		}
		bytes[hour] += v
		seconds[hour] += a.Span.Bin.Seconds()
		weekBytes[late] += v
		weekSeconds[late] += a.Span.Bin.Seconds()
	}
	mean, known := 0.0, 0.0
	for h := range bytes {
		if seconds[h] > 0 {
			mean += bytes[h] / seconds[h]
			known++
		}
	}
	for h := range hours {
		hours[h] = unknownPercent
		if seconds[h] > 0 {
			hours[h] = PercentOf(bytes[h]/seconds[h], mean/known)
		}
	}
	weekend = unknownPercent
	if weekSeconds[0] > 0 && weekSeconds[1] > 0 {
		weekend = PercentOf(weekBytes[1]/weekSeconds[1], weekBytes[0]/weekSeconds[0])
	}
	return hours, weekend
}

// binTotals is what all servers have in every bin.
func (a *Activity) binTotals() []float64 {
	bins := a.Span.Bins()
	out := make([]float64, bins)
	for i, v := range a.bins {
		out[i%bins] += float64(v)
	}
	return out
}

// Map is a heat map: cells from 0 to 1, where 1 is at or above its range.
type Map struct {
	Cells [][]float64 `json:"cells"`
	// Range is what a cell of 1 stands for: bytes per second of a server, or bytes of
	// the whole span between two cells.
	Range float64 `json:"range"`
}

// Maps are the heat maps of one activity.
type Maps struct{ Servers, Pairs, Racks Map }

// Maps draws all three.
func (a *Activity) Maps() Maps { return Maps{a.ServerMap(), a.PairMap(), a.RackMap()} }

// mapColumns is how many columns of time a map has at most.
const mapColumns = 360

// ServerMap is how much traffic servers have over time (Fig. C.2a): rows are servers
// in the order of racks, columns are time.
func (a *Activity) ServerMap() Map {
	bins := a.Span.Bins()
	columns := min(mapColumns, bins)
	cells := make([]int64, a.side*columns)
	for i, v := range a.bins {
		server, bin := i/bins, i%bins
		cells[server*a.side/a.Topology.Servers()*columns+bin*columns/bins] += v
	}
	m := mapOf(cells, a.side, columns)
	servers := float64(a.Topology.Servers()) / float64(a.side)
	m.Range /= servers * float64(bins) / float64(columns) * a.Span.Bin.Seconds()
	return m
}

// PairMap is how much servers exchange (Fig. C.2b): both directions are added up, so
// it is symmetric.
func (a *Activity) PairMap() Map { return symmetric(a.cells, a.side) }

// RackMap is how much racks exchange (Fig. C.2c), symmetric.
func (a *Activity) RackMap() Map { return symmetric(a.racks, a.Topology.Racks()) }

func symmetric(cells []int64, side int) Map {
	sum := make([]int64, len(cells))
	for i := range side {
		for j := range side {
			sum[i*side+j] = cells[i*side+j] + cells[j*side+i]
		}
	}
	return mapOf(sum, side, side)
}

// inRange is the share of the cells with traffic that are within the range of a map:
// 0.1 to 0.5 % of the servers exceed those of the study.
const inRange = 0.997

func mapOf(cells []int64, rows, columns int) Map {
	sorted := slices.DeleteFunc(slices.Clone(cells), func(v int64) bool { return v == 0 })
	slices.Sort(sorted)
	top := 1.0
	if n := len(sorted); n > 0 {
		top = float64(sorted[int(inRange*float64(n-1))])
	}
	m := Map{Cells: make([][]float64, rows), Range: top}
	for i := range m.Cells {
		m.Cells[i] = make([]float64, columns)
		for j := range m.Cells[i] {
			m.Cells[i][j] = math.Round(1000*min(1, float64(cells[i*columns+j])/top)) / 1000
		}
	}
	return m
}
