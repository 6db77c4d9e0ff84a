package policy

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/board/boardtest"
)

// busyShape is of boards on which many requests find no node at first.
var busyShape = boardtest.Shape{Nodes: 60, Cores: 8, Configurations: 4, Columns: 10, Load: 0.9, Caused: 70}

// changing calls each with requests that come again while residents come and go.
func changing(seed uint64, b *board.Board, each func(a *board.Request)) {
	random := rand.New(rand.NewPCG(seed, 1))
	requests := make([]board.Request, 12)
	for i := range requests {
		requests[i] = boardtest.Ask(random, busyShape)
		requests[i].Count = 1 + i%3
	}
	for n := range board.Index(b.Len()) {
		if len(b.Residents(n)) == 0 {
			b.Place(n, boardtest.Resident(random, board.Handle(2_000_000+int(n)), 1, busyShape))
		}
	}
	for step := range 400 {
		n := board.Index(random.IntN(b.Len()))
		switch there := b.Residents(n); {
		case random.IntN(20) == 0:
			b.SetReady(n, !b.Ready(n))
		case len(there) > 0 && random.IntN(3) == 0:
			if err := b.Remove(n, there[0].Handle); err != nil {
				panic(err)
			}
		case b.Fits(n, boardtest.Cores(1)):
			b.Place(n, boardtest.Resident(random, board.Handle(1_000_000+step), 1, busyShape))
		}
		a := &requests[random.IntN(len(requests))]
		if random.IntN(30) == 0 { // its scores were measured meanwhile
			a.Tolerated = boardtest.Ask(random, busyShape).Tolerated
		}
		each(a)
	}
}

// What lsh remembers of look-ups in vain changes nothing, the nodes that it says it examined
// included.
func TestRememberedLookUpsChangeNothing(t *testing.T) {
	t.Parallel()
	remembered, inVain := 0, 0
	for seed := range uint64(6) {
		b := boardtest.Random(rand.New(rand.NewPCG(seed, 2)), busyShape)
		with, without := lshSelector.New(b, Options{}).(*hashSelector), lshSelector.New(b, Options{}).(*hashSelector)
		changing(seed, b, func(a *board.Request) {
			clear(without.vain.of)
			want := without.Select(b, a, nil)
			if with.vain.of[a.Handle] != nil {
				remembered++
			}
			if got := with.Select(b, a, nil); !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d: %+v, and without anything remembered %+v", seed, got, want)
			}
			if len(want.Replicas) == 0 {
				inVain++
			}
		})
	}
	if remembered == 0 || inVain == 0 {
		t.Errorf("%d look-ups could use what was remembered, %d were in vain: nothing was tested", remembered, inVain)
	}
}

// A look-up of which too much has changed since is made again.
func TestLookUpOfLongAgo(t *testing.T) {
	t.Parallel()
	b := boardtest.Random(rand.New(rand.NewPCG(1, 2)), busyShape)
	var a *board.Request
	s := lshSelector.New(b, Options{}).(*hashSelector)
	changing(1, b, func(asked *board.Request) {
		if len(s.Select(b, asked, nil).Replicas) == 0 {
			a = asked
		}
	})
	const c = 0
	version := s.table.versions[c]
	for step := range board.Handle(mostChanges + 1) {
		n := s.table.members[c][int(step)%len(s.table.members[c])]
		if there := b.Residents(n); len(there) > 0 {
			if err := b.Remove(n, there[0].Handle); err != nil {
				t.Fatal(err)
			}
		} else {
			b.SetReady(n, !b.Ready(n))
		}
		s.table.refresh()
	}
	if _, all := s.table.since(c, version); all || s.vain.of[a.Handle] == nil || len(s.table.recent[c]) > mostChanges {
		t.Fatalf("the changes of %d nodes are kept, all of them %v: nothing is tested", len(s.table.recent[c]), all)
	}
	want := lshSelector.New(b, Options{}).Select(b, a, nil)
	if got := s.Select(b, a, nil); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, and without anything remembered %+v", got, want)
	}
}

// exhaustive is expected with every node looked at whole.
func exhaustive(b *board.Board, a *board.Request) []board.Replica {
	e := newExpected(Options{})
	f := &e.tentative
	f.begin(b, a, 0)
	e.begin(a)
	for len(f.replicas) < a.Count {
		var all prospects
		for i := range b.Len() {
			n := board.Index(i)
			if !f.open(n) {
				continue
			}
			p := e.judge(n)
			p.worth = stepped(e.worthOn(n, int(f.taken[n])).Net(), worthStep)
			all = append(all, p)
		}
		if len(all) == 0 {
			break
		}
		slices.SortFunc(all, func(x, y prospect) int {
			if (prospects{x, y}).Less(0, 1) {
				return -1
			}
			return 1
		})
		if !a.Forced && all[0].worth < e.accept {
			break
		}
		f.take(board.Replica{Node: all[0].node, Size: a.Size, Predicted: all[0].performance})
	}
	return f.choice(a.Count).Replicas
}

// To look at what the residents lose only where it may decide changes no choice.
func TestExpectedLooksAtEnough(t *testing.T) {
	t.Parallel()
	placed := 0
	for seed := range uint64(6) {
		b := boardtest.Random(rand.New(rand.NewPCG(seed, 3)), busyShape)
		e := newExpected(Options{})
		changing(seed, b, func(a *board.Request) {
			a.Forced = seed%2 == 0
			got, want := e.Select(b, a, rand.New(rand.NewPCG(1, 1))).Replicas, exhaustive(b, a)
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d: chose %+v, and with all nodes looked at %+v", seed, got, want)
			}
			placed += len(want)
		})
	}
	if placed == 0 {
		t.Error("nothing was placed: nothing was tested")
	}
}
