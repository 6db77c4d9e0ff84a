package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/board/boardtest"
	"github.com/nomad-placer/nomad-placer/placer/disk"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// blocBoard has nodes of 8 cores whose board counts both sources of storage.
func blocBoard(nodes int) *board.Board {
	b := board.New([]interference.Source{interference.StorageCapacity, interference.StorageBandwidth}, []string{"only"})
	for i := range nodes {
		b.Add(boardtest.Node(fmt.Sprint(i), 8))
	}
	return b
}

// storageJob causes some use of the bandwidth, and keeps its bound up to MB of it.
func storageJob(caused, most float64) board.Request {
	return board.Request{
		Handle: 1, Size: boardtest.Cores(1), Count: 1,
		Tolerated: []float64{90, most - caused}, Caused: []float64{5, caused}, Speed: []float64{1},
	}
}

func runsOn(b *board.Board, n board.Index, handle board.Handle, a board.Request) {
	b.Place(n, board.Resident{Handle: handle, Size: a.Size, Tolerated: a.Tolerated, Caused: a.Caused})
}

func blocNode(t *testing.T, b *board.Board, a board.Request) board.Index {
	t.Helper()
	c := blocSelector.New(b, Options{}).Select(b, &a, rand.New(rand.NewPCG(1, 1)))
	if len(c.Replicas) != a.Count {
		t.Fatalf("%+v", c)
	}
	return c.Replicas[len(c.Replicas)-1].Node
}

// §B.4.1: webmail keeps 5 ms up to 70 % of the bandwidth, websearch up to 30 %. Next to
// webmail that uses 35 %, websearch would have no room, and more webmail has.
func TestPaperBlocBinShrinks(t *testing.T) {
	t.Parallel()
	b := blocBoard(2)
	runsOn(b, 1, 7, storageJob(35, 70))
	if got := blocNode(t, b, storageJob(5, 30)); got != 0 {
		t.Errorf("websearch is on node %d", got)
	}
	if got := blocNode(t, b, storageJob(20, 70)); got != 1 {
		t.Errorf("webmail is on node %d", got)
	}
}

// §B.4.2, line 4: Σ b < MB_s − Δ_B, strictly, with Δ_B of 2 %.
func TestPaperBlocMargin(t *testing.T) {
	t.Parallel()
	for caused, want := range map[float64]board.Index{32.9: 1, 33: 0} {
		b := blocBoard(2)
		runsOn(b, 1, 7, storageJob(35, 70))
		if got := blocNode(t, b, storageJob(caused, 70)); got != want {
			t.Errorf("%g of 68 %%: node %d, want %d", 35+caused, got, want)
		}
	}
}

// Consolidation: of two nodes that suffice the fuller one, and an unused one only after them.
func TestBlocTakesTheFullest(t *testing.T) {
	t.Parallel()
	b := blocBoard(3)
	runsOn(b, 1, 7, storageJob(10, 70))
	runsOn(b, 2, 8, storageJob(20, 70))
	if got := blocNode(t, b, storageJob(10, 70)); got != 2 {
		t.Errorf("node %d", got)
	}
	// Its own allocations count: 20 + 3·15 is below 68, a fourth goes to the next node.
	a := storageJob(15, 70)
	a.Count = 4
	if got := blocNode(t, b, a); got != 1 {
		t.Errorf("the fourth is on node %d", got)
	}
}

// Two disk-bound jobs are apart, where a policy by CPU and memory stacks them; and an
// unused node takes what needs more than its own limit.
func TestBlocKeepsDiskBoundJobsApart(t *testing.T) {
	t.Parallel()
	b := blocBoard(2)
	first := blocNode(t, b, storageJob(60, 70))
	runsOn(b, first, 7, storageJob(60, 70))
	if got := blocNode(t, b, storageJob(60, 70)); got == first {
		t.Errorf("both are on node %d", got)
	}
	if got := blocNode(t, b, storageJob(95, 70)); got == first {
		t.Errorf("what needs more than its limit is on node %d, which is in use", got)
	}
}

// What is promised counts instead of scores, where job and node say it: by its scores the
// newcomer would fit next to the first, by what it asks for it does not; and where the node
// does not say what its disk does, scores count.
func TestBlocCountsPromises(t *testing.T) {
	t.Parallel()
	for rated, want := range map[float64]board.Index{100: 0, 0: 1} {
		b := board.New([]interference.Source{interference.StorageCapacity, interference.StorageBandwidth}, []string{"only"})
		for i := range 2 {
			n := boardtest.Node(fmt.Sprint(i), 8)
			n.DiskMBPerSec = rated
			b.Add(n)
		}
		a := storageJob(5, 90)
		a.Disk = &performance.DiskSpec{BandwidthMBPerSec: 60}
		b.Place(1, board.Resident{Handle: 7, Size: a.Size, Tolerated: a.Tolerated, Caused: a.Caused, Disk: a.Disk})
		if got := blocNode(t, b, a); got != want {
			t.Errorf("where a disk does %g MB/s: node %d, want %d", rated, got, want)
		}
	}
}

// Policy and ledger are one rule: a node in use suffices where its account takes the newcomer.
func TestBlocIsTheLedgersRule(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) performance.DiskSpec {
			return performance.DiskSpec{BandwidthMBPerSec: float64(rapid.IntRange(1, 80).Draw(t, name)), MostPercent: float64(rapid.IntRange(5, 100).Draw(t, name+", %"))}
		}
		b := board.New(nil, []string{"only"})
		n := boardtest.Node("n", 8)
		n.DiskMBPerSec = 128 // a power of two: both ways round in the same place
		b.Add(n)
		account := disk.NewAccount(n.DiskMBPerSec)
		for i := range rapid.IntRange(1, 4).Draw(t, "residents") {
			p := draw("resident")
			b.Place(0, board.Resident{Handle: board.Handle(i + 1), Size: boardtest.Cores(1), Disk: &p})
			account.Add(p)
		}
		newcomer := draw("newcomer")
		a := board.Request{Handle: 9, Size: boardtest.Cores(1), Count: 1, Speed: []float64{1}, Disk: &newcomer}
		s := newBloc(b, Options{}).(*bloc)
		s.tentative.begin(b, &a, 0)
		s.tentative.gather()
		if p := s.place(0); (p.tier == 0) != account.Takes(newcomer) && math.Abs(p.left) > epsilonPoints {
			t.Fatalf("the policy says %+v, the ledger %v: %+v", p, account.Takes(newcomer), account)
		}
	})
}

// Where it suffices nowhere, the node on which the least is missing.
func TestBlocLastResort(t *testing.T) {
	t.Parallel()
	b := blocBoard(2)
	runsOn(b, 0, 7, storageJob(60, 70))
	runsOn(b, 1, 8, storageJob(50, 70))
	if got := blocNode(t, b, storageJob(30, 70)); got != 1 {
		t.Errorf("node %d", got)
	}
}

// A board that does not count storage has no bound: what is in use is filled.
func TestBlocWithoutItsColumns(t *testing.T) {
	t.Parallel()
	b := board.New([]interference.Source{interference.TLB}, []string{"only"})
	for i := range 2 {
		b.Add(boardtest.Node(fmt.Sprint(i), 8))
	}
	a := board.Request{Handle: 1, Size: boardtest.Cores(1), Count: 1, Tolerated: []float64{50}, Caused: []float64{50}, Speed: []float64{1}}
	b.Place(1, board.Resident{Handle: 7, Size: a.Size, Tolerated: a.Tolerated, Caused: a.Caused})
	if got := blocNode(t, b, a); got != 1 {
		t.Errorf("node %d", got)
	}
}
