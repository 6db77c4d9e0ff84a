package lotes

import (
	"math"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// TetrisEpsilon is the weight of work in the text that LoTES is compared in.
const TetrisEpsilon = 1

// Scale makes resources shares of the largest node: cpu and memory.
type Scale struct{ cpu, memory float64 }

// TetrisScale is that of a board.
func TetrisScale(b *board.Board) Scale {
	s := Scale{1, 1}
	for i := range b.Len() {
		n := b.Node(board.Index(i))
		s.cpu, s.memory = max(s.cpu, float64(n.Total.CPUMHz)), max(s.memory, float64(n.Total.MemoryMB))
	}
	return s
}

// Need of a size on a node of that clock.
func (s Scale) Need(size cluster.Resources, coreMHz int) [2]float64 {
	return [2]float64{float64(size.CPUMHz+size.Cores*coreMHz) / s.cpu, float64(size.MemoryMB) / s.memory}
}

// Free is what is not held of a node.
func (s Scale) Free(b *board.Board, n board.Index) [2]float64 {
	return [2]float64{float64(b.FreeMHz(n)) / s.cpu, float64(b.Node(n).Total.MemoryMB-b.Used(n).MemoryMB) / s.memory}
}

// TetrisScore is ω − ε·γ: the alignment r·C of need and free resources, less the
// work p·(r·1) of the job (Tran 2016, §5.1); epsilonHours is ε·p.
func TetrisScore(need, free [2]float64, epsilonHours float64) float64 {
	return need[0]*free[0] + need[1]*free[1] - epsilonHours*(need[0]+need[1])
}

// RunTime of an ask on a node, as far as it is known: that on the best configuration,
// longer where its speed is less; 0 unknown.
func RunTime(b *board.Board, a *board.Request, n board.Index) time.Duration {
	if a.Expected <= 0 {
		return 0
	}
	top := 0.0
	for _, v := range a.Speed {
		if !math.IsNaN(v) {
			top = max(top, v)
		}
	}
	c := b.Node(n).Configuration
	if c >= len(a.Speed) || !(a.Speed[c] > 0) || math.IsInf(top, 1) {
		return a.Expected
	}
	return time.Duration(float64(a.Expected) * top / a.Speed[c])
}
