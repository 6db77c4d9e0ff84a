package worth

import (
	"math/rand/v2"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

// Places are nodes of a board, by the speed in isolation of each configuration of the
// board, in any unit; 0 is not known.
func Places(b *board.Board, at []board.Index, speed []float64) []Place {
	top := 0.0
	for _, v := range speed {
		top = max(top, v)
	}
	var out []Place
	for _, n := range at {
		p := Place{Speed: 1, Pressure: b.Caused(n)}
		if v := speed[b.Node(n).Configuration]; v > 0 {
			p.Speed = v / top
		}
		for _, r := range b.MachineResidents(n) {
			p.Residents = append(p.Residents, residentOf(p.Pressure, r.Tolerated, r.Caused))
		}
		out = append(out, p)
	}
	return out
}

func residentOf(all, tolerated, caused []float64) Resident {
	r := Resident{Tolerated: tolerated, Pressure: slices.Clone(all)}
	for k, c := range caused {
		r.Pressure[k] = max(0, r.Pressure[k]-c)
	}
	return r
}

// TypicalCount is how many typical questions are asked (chosen by us).
const TypicalCount = 20

// Shape of a typical question (chosen by us).
const (
	typicalPlaces    = 3
	typicalResidents = 3 // at most on a place
)

// Typical are questions that stand for later decisions about a workload: which of a few
// places is best, each with some of the workloads whose scores are known, by workload and
// column. Their weights add up to weight.
func Typical(tolerated, caused [][]float64, count int, weight float64, random *rand.Rand) []Question {
	if len(caused) == 0 {
		return nil
	}
	var out []Question
	for range count {
		q := Question{Weight: weight / float64(count)}
		for range typicalPlaces {
			q.Places = append(q.Places, typicalPlace(tolerated, caused, 1+random.IntN(typicalResidents), random))
		}
		out = append(out, q)
	}
	return out
}

func typicalPlace(tolerated, caused [][]float64, residents int, random *rand.Rand) Place {
	p := Place{Speed: 1, Pressure: make([]float64, len(caused[0]))}
	var who []int
	for range residents {
		i := random.IntN(len(caused))
		who = append(who, i)
		for k, c := range caused[i] {
			p.Pressure[k] += c
		}
	}
	for _, i := range who {
		p.Residents = append(p.Residents, residentOf(p.Pressure, tolerated[i], caused[i]))
	}
	return p
}
