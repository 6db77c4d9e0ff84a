package board_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// told is all that a board says of its nodes, but for handles.
func told(b *board.Board) []any {
	var out []any
	for i := range board.Index(b.Len()) {
		residents := slices.Clone(b.Residents(i))
		for r := range residents {
			residents[r].Handle = 0
		}
		out = append(out, *b.Node(i), b.Ready(i), b.Used(i), len(residents), slices.Clone(b.Tolerated(i)), slices.Clone(b.Caused(i)), slices.Clone(b.Headroom(i)))
		for _, r := range residents {
			out = append(out, r)
		}
	}
	return out
}

// What hosts keep from one board to the next must never show, nor whose storage a board has:
// whatever happens to a cluster, and whatever is done to a board, the next is as without.
func TestBoardsAreAsNew(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(3)
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 3))
		s := clustertest.Random(rng, 12, 3, []string{"a", "b"}, columns)
		s.Nodes[1].Machine, s.Nodes[2].Machine = "shared", "shared"
		s.Cache, s.Disk = &cluster.Cache{}, map[cluster.WorkloadID]performance.DiskSpec{}
		var ids []cluster.WorkloadID
		for id := range s.Known {
			ids = append(ids, id)
		}
		slices.SortFunc(ids, func(a, b cluster.WorkloadID) int { return compareText(a.String(), b.String()) })
		var earlier *board.Board
		for step := range 80 {
			at := rng.IntN(len(s.Nodes))
			n, id := s.Nodes[at], ids[rng.IntN(len(ids))]
			switch rng.IntN(6) {
			case 0:
				s.Allocations[n.ID] = append(slices.Clip(s.Allocations[n.ID]), cluster.Allocation{ID: "next", Workload: id, Node: n.ID, Resources: cluster.Resources{CPUMHz: 100}, Profiling: rng.IntN(3) == 0})
			case 1:
				if list := s.Allocations[n.ID]; len(list) > 0 {
					s.Allocations[n.ID] = slices.Clone(list[1:])
				}
			case 2:
				s.Known[id] = clustertest.Sensitivity(columns, []float64{float64(rng.IntN(100)), 50, 60}, []float64{10, float64(rng.IntN(100)), 5})
			case 3: // a node is another
				next := *n
				next.Ready, next.Total.CPUMHz = !n.Ready, n.Total.CPUMHz+1
				s.Nodes = slices.Clone(s.Nodes)
				s.Nodes[at] = &next
			case 4: // or at another place
				s.Nodes = append(slices.Clone(s.Nodes[1:]), s.Nodes[0])
			default:
				s.Disk[id] = performance.DiskSpec{BandwidthMBPerSec: float64(rng.IntN(50))}
			}
			except := cluster.WorkloadID{}
			if rng.IntN(3) == 0 {
				except = id
			}
			fresh := *s
			fresh.Cache = nil
			b := board.Renew(earlier, s, columns, except)
			if got, want := told(b), told(board.FromSnapshot(&fresh, columns, except)); !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, step %d: with what hosts keep\n%v\nand without\n%v", seed, step, got, want)
			}
			disturb(t, rng, b)
			if earlier = b; rng.IntN(8) == 0 {
				earlier = nil
			}
		}
	}
}

func compareText(a, b string) int {
	if a < b {
		return -1
	}
	return 1
}

// disturb writes to a board in each way there is, and checks that handles are unique.
func disturb(t *testing.T, rng *rand.Rand, b *board.Board) {
	t.Helper()
	seen := map[board.Handle]bool{}
	for i := range board.Index(b.Len()) {
		b.SetReady(i, rng.IntN(2) == 0)
		for _, r := range slices.Clone(b.Residents(i)) {
			if seen[r.Handle] {
				t.Fatalf("two residents are %d", r.Handle)
			}
			seen[r.Handle] = true
			var err error
			switch rng.IntN(4) {
			case 0:
				err = b.Remove(i, r.Handle)
			case 1:
				err = b.Resize(i, r.Handle, cluster.Resources{CPUMHz: 1})
			case 2:
				b.SetSlowdown(i, r.Handle, 0.5)
			default:
				r.Handle = -r.Handle
				b.Place(i, r)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Nobody hears of a board that has an earlier one's storage.
func TestRenewedBoardsHaveNoListeners(t *testing.T) {
	t.Parallel()
	s := clustertest.Snapshot(clustertest.Node("n1", "big"))
	b := board.FromSnapshot(s, clustertest.Columns(1), cluster.WorkloadID{})
	board.NewAlike(b)
	if again := board.Renew(b, s, b.Columns, cluster.WorkloadID{}); again != b || len(again.Listeners()) > 0 {
		t.Errorf("%d listeners; the same storage: %t", len(again.Listeners()), again == b)
	}
}

// What is made of a node is there again, until anything of it is different.
func TestMemosLastWhileNothingChanges(t *testing.T) {
	t.Parallel()
	columns := clustertest.Columns(1)
	s := clustertest.Snapshot(clustertest.Node("n1", "big"))
	w := clustertest.Workload("a")
	clustertest.Run(s, w, "n1")
	s.Cache = &cluster.Cache{}
	memo := func() *any { return board.FromSnapshot(s, columns, cluster.WorkloadID{}).Memo(0) }
	*memo() = "made of it"
	if *memo() != "made of it" {
		t.Error("nothing changed, and it is gone")
	}
	s.Known[w.ID] = clustertest.Sensitivity(columns, []float64{30}, []float64{60})
	if *memo() != nil {
		t.Error("scores changed, and it is still there")
	}
	b := board.FromSnapshot(s, columns, cluster.WorkloadID{})
	b.Place(0, board.Resident{Handle: -1, Tolerated: []float64{50}, Caused: []float64{50}})
	if b.Memo(0) != nil {
		t.Error("a node that was written to on the board keeps something for the next board")
	}
}
