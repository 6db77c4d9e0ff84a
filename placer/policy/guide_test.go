package policy_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/board/boardtest"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/policy/policytest"
)

// This is the example of placer/docs/policy-author-guide.md, from the outside of
// the package; what is between the marks is printed there.

// guide: begin

// roomiest puts each allocation where the source with the least headroom keeps
// most of it: the opposite of a tight fit. Cost: O(count × nodes × columns).
type roomiest struct{}

// Select implements board.Selector.
func (roomiest) Select(b *board.Board, a *board.Request, _ *rand.Rand) board.Choice {
	var c board.Choice
	taken := map[board.Index]int{} // by this choice: the board does not know of them yet
	for len(c.Replicas) < a.Count {
		best, most := board.None, math.Inf(-1)
		for i := range b.Len() {
			n := board.Index(i)
			c.Examined++
			if a.Allowed != nil && !a.Allowed(n) {
				continue // the user's own constraints
			}
			if b.Room(n, a.Size, taken[n]+1) <= taken[n] {
				continue // not ready, or no room
			}
			if left := leastLeft(b, a, n, taken[n]+1); left > most {
				best, most = n, left
			}
		}
		if best == board.None {
			break
		}
		taken[best]++
		c.Replicas = append(c.Replicas, board.Replica{Node: best, Size: a.Size, Predicted: math.NaN()})
	}
	if a.Gang && len(c.Replicas) < a.Count {
		c.Replicas = nil // all or none
	}
	// Nothing is predicted here, so a target is never said to be reached.
	c.Reaches = len(c.Replicas) > 0 && a.Target == 0
	return c
}

// leastLeft is the headroom that copies of the newcomer leave on a node, of the
// source where that is least.
func leastLeft(b *board.Board, a *board.Request, n board.Index, copies int) float64 {
	left := math.Inf(1)
	for k, headroom := range b.Headroom(n) {
		left = min(left, headroom-float64(copies)*a.Caused[k])
	}
	return left
}

var roomiestSelector = policy.SelectorDescriptor{
	Name:         "roomiest",
	Summary:      "the node that keeps the most headroom",
	NeedsProfile: true,
	New:          func(*board.Board, policy.Options) board.Selector { return roomiest{} },
}

// guide: end

// The example of the guide obeys the rules that the guide speaks of.
func TestConformanceOfTheGuidesPolicy(t *testing.T) {
	t.Parallel()
	policytest.RunSelector(t, roomiestSelector)
}

func Example_yourOwnPolicy() {
	b := board.New(boardtest.Columns(2), []string{"any"})
	crowded := b.Add(boardtest.Node("crowded", 4))
	b.Add(boardtest.Node("quiet", 4))
	b.Place(crowded, board.Resident{
		Handle: 1, Size: boardtest.Cores(1), Tolerated: []float64{30, 80}, Caused: []float64{10, 10},
	})

	newcomer := board.Request{Size: boardtest.Cores(1), Count: 2, Tolerated: boardtest.Same(2, 60), Caused: boardtest.Same(2, 20)}
	choice := roomiestSelector.New(b, policy.Options{}).Select(b, &newcomer, policy.Draws(1))
	for _, u := range choice.Replicas {
		fmt.Println(b.Node(u.Node).ID)
	}
	// Output:
	// quiet
	// quiet
}

// The guide prints this file's example as it is.
func TestTheGuidePrintsThisExample(t *testing.T) {
	t.Parallel()
	const guide = "../docs/policy-author-guide.md"
	page, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("guide_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(source), "// guide: begin\n\n")
	example, _, _ := strings.Cut(rest, "\n// guide: end")
	if example == "" || !strings.Contains(string(page), "```go\n"+example+"```\n") {
		t.Errorf("%s does not print the example of guide_test.go as it is", guide)
	}
}
