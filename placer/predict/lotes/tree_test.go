package lotes_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/board/boardtest"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/predict/lotes"
)

// The index answers as a walk over all nodes would, while nodes change.
func TestRoomsAsAWalk(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 7))
		b := boardtest.Random(rng, boardtest.Shape{Nodes: 1 + rng.IntN(40), Cores: 8, Configurations: 2, Columns: 1, Load: 0.8, Caused: 10})
		nodes := make([]board.Index, b.Len())
		scores := make([][]int32, b.Len())
		for i := range nodes {
			nodes[i], scores[i] = board.Index(i), []int32{int32(rng.IntN(5)), int32(rng.IntN(5))}
		}
		of := func(at int, out []int32) { copy(out, scores[at]) }
		r := lotes.NewRooms(b, nodes, 2)
		r.Fill(of)
		for range 50 {
			n := rng.IntN(b.Len())
			b.SetReady(board.Index(n), rng.IntN(4) > 0)
			scores[n][rng.IntN(2)] = int32(rng.IntN(5))
			r.Update(n, of)
			size, class := boardtest.Cores(1+rng.IntN(6)), rng.IntN(2)
			pass := func(n board.Index) bool { return n%3 != 1 }
			if rng.IntN(2) == 0 {
				pass = nil
			}
			if on := b.Residents(board.Index(n)); rng.IntN(3) == 0 && len(on) > 0 {
				if err := b.Remove(board.Index(n), on[0].Handle); err != nil {
					t.Fatal(err)
				}
				r.Update(n, of)
			}
			first, best := -1, -1
			for i := range b.Len() {
				if !b.Fits(board.Index(i), size) || pass != nil && !pass(board.Index(i)) {
					continue
				}
				if first < 0 {
					first = i
				}
				if best < 0 || scores[i][class] > scores[best][class] {
					best = i
				}
			}
			if at, _ := r.First(size, pass); at != first {
				t.Fatalf("seed %d: first %d, want %d", seed, at, first)
			}
			if at, _ := r.Best(class, size, pass); at != best {
				t.Fatalf("seed %d: best %d, want %d", seed, at, best)
			}
		}
	}
}

// §4.3.1: a bin has three jobs of a class and one runs: two are missing.
func TestMissing(t *testing.T) {
	t.Parallel()
	b := board.New(nil, []string{"one"})
	b.Add(board.Node{Total: cluster.Resources{CPUMHz: 3000, MemoryMB: 3000}})
	m := lotes.On(b)
	m.SetModel(lotes.Model{Classes: []lotes.ModelClass{{Share: 1, Size: lotes.Size{CPUMHz: 1000, MemoryMB: 1000}}}})
	a := board.Request{Size: cluster.Resources{CPUMHz: 1000, MemoryMB: 1000}, Count: 1}
	m.Ready(&a)
	b.Place(0, board.Resident{Handle: 1, Size: a.Size})
	if v := m.Missing(0, 0); v != 2 {
		t.Errorf("%d are missing, want 2", v)
	}
	if lotes.On(b) != m {
		t.Error("a board has two mixes")
	}
}

// A new plan of the same classes leaves all machines on their bins; of other shares,
// no more are permuted than bins changed.
func TestReplanPermutesFew(t *testing.T) {
	t.Parallel()
	b := tableBoard(100)
	m := lotes.On(b)
	a := board.Request{Size: cluster.Resources{CPUMHz: 2000, MemoryMB: 1000}, Count: 1}
	m.SetModel(googleModel(0.23))
	m.Ready(&a)
	before := m.Plan()
	m.SetModel(googleModel(0.23))
	m.Ready(&a)
	if got := m.Report(); got.Permuted != 0 || got.Plans != 2 {
		t.Errorf("the same plan again: %+v", got)
	}
	m.SetModel(googleModel(0.30))
	m.Ready(&a)
	changed := 0.0
	for j := range before.Shares {
		for _, s := range before.Shares[j] {
			left := s.Machines
			for _, now := range m.Plan().Shares[j] {
				if fmt.Sprint(now.Bin) == fmt.Sprint(s.Bin) {
					left = math.Max(0, s.Machines-now.Machines)
				}
			}
			changed += left
		}
	}
	if got := m.Report().Permuted; got != int(changed) {
		t.Errorf("%d machines were permuted, %v had to be", got, changed)
	}
}

// tableBoard is table 1, one machine for so many, in units of 10⁻⁵.
func tableBoard(per int) *board.Board {
	var names []string
	for i := range table1 {
		names = append(names, fmt.Sprint(i))
	}
	b := board.New(nil, names)
	for i, c := range table1 {
		for k := range (c.machines + per - 1) / per {
			b.Add(board.Node{
				ID: cluster.NodeID(fmt.Sprint(i, "-", k)), Configuration: i, CoreMHz: 1000,
				Total: cluster.Resources{CPUMHz: int(c.cores * 1e5), Cores: int(c.cores * 100), MemoryMB: int(c.memory * 1e5), DiskMB: 1 << 30},
			})
		}
	}
	return b
}

// googleModel is table 2 with another share of the first class.
func googleModel(first float64) lotes.Model {
	out := lotes.Model{}
	for _, c := range google().Classes {
		out.Classes = append(out.Classes, lotes.ModelClass{Share: c.Share, Size: lotes.Size{CPUMHz: c.Need[0] * 1e5, MemoryMB: c.Need[1] * 1e5}, Rate: c.Rate})
	}
	out.Classes[0].Share = first
	return out
}

// BenchmarkDispatch places and removes jobs on 12,583 machines that are nearly full.
func BenchmarkDispatch(b *testing.B) {
	cells := tableBoard(1)
	m := lotes.On(cells)
	m.SetModel(googleModel(0.23))
	rng := rand.New(rand.NewPCG(1, 1))
	classes := google().Classes
	ask := func() board.Request {
		c := classes[[]int{0, 1, 1, 2}[rng.IntN(4)]]
		return board.Request{Count: 1, Size: cluster.Resources{CPUMHz: int(c.Need[0] * 1e5 * (0.5 + rng.Float64())), MemoryMB: int(c.Need[1] * 1e5 * (0.5 + rng.Float64()))}}
	}
	first := ask()
	m.Ready(&first)
	type job struct {
		n      board.Index
		handle board.Handle
	}
	var running []job
	var choosing time.Duration
	place := func(handle board.Handle) bool {
		a := ask()
		begun := time.Now()
		n, _ := m.Choose(&a, nil, false, rng)
		choosing += time.Since(begun)
		if n == board.None {
			return false
		}
		cells.Place(n, board.Resident{Handle: handle, Size: a.Size})
		running = append(running, job{n, handle})
		return true
	}
	handle := board.Handle(0)
	for ; place(handle); handle++ {
	}
	choosing = 0
	for b.Loop() { // a job ends, and the next is dispatched, or found to have no room
		at := rng.IntN(len(running))
		if err := cells.Remove(running[at].n, running[at].handle); err != nil {
			b.Fatal(err)
		}
		running[at] = running[len(running)-1]
		running = running[:len(running)-1]
		handle++
		place(handle)
	}
	b.ReportMetric(float64(choosing.Nanoseconds())/float64(b.N), "ns/choice")
}
