package policy

import (
	"math/rand/v2"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/predict"
)

var miosSelector = SelectorDescriptor{
	Name:         "mios",
	Summary:      "the slot where the workload is predicted to be fastest next to its co-runners, one workload at a time",
	Paper:        "Chiang and Huang 2011, §3.2 (MIOS)",
	NeedsProfile: true,
	Parameters:   scoringParameters,
	New:          func(b *board.Board, o Options) board.Selector { return newMIOS(b, o) },
	reason:       "predicted to be fastest with these co-runners",
}

// scoringParameters are the parameters of the policies of TRACON.
var scoringParameters = []Parameter{
	{Name: "objective", Default: "runtime", Summary: "what is summed and minimised: runtime or iops",
		set: oneOf(map[string]func(o *Options){
			"runtime": func(o *Options) { o.Scoring.IOPS = false },
			"iops":    func(o *Options) { o.Scoring.IOPS = true },
		})},
	{Name: "counts", Default: "newcomer", Summary: "whose change counts: newcomer (as printed), or both",
		set: oneOf(map[string]func(o *Options){
			"newcomer": func(o *Options) { o.Scoring.Both = false },
			"both":     func(o *Options) { o.Scoring.Both = true },
		})},
	{Name: "score", Default: "absolute", Summary: "absolute (as printed), or relative to the workload's performance in isolation",
		set: oneOf(map[string]func(o *Options){
			"absolute": func(o *Options) { o.Scoring.Ratio = false },
			"ratio":    func(o *Options) { o.Scoring.Ratio = true },
		})},
}

// mios takes the best place for each allocation in turn. Without a learnt response
// the tolerated scores say what co-runners cost. Cost: O(count · kinds of nodes).
type mios struct{ draft *predict.Draft }

func newMIOS(b *board.Board, o Options) *mios {
	return &mios{draft: predict.NewDraft(b, board.NewAlike(b), o.Scoring)}
}

// Select implements board.Selector.
func (s *mios) Select(b *board.Board, a *board.Request, _ *rand.Rand) board.Choice {
	s.draft.Clear()
	var c board.Choice
	for range a.Count {
		at, examined, ok := s.draft.Best(a)
		c.Examined += examined
		if !ok {
			break
		}
		s.draft.Put(a, at.Node)
		c.Replicas = append(c.Replicas, board.Replica{Node: at.Node, Size: a.Size, Predicted: predictedIsolated(a, b.Node(at.Node))})
	}
	if a.Gang && len(c.Replicas) < a.Count {
		c.Replicas = nil
	}
	c.Reaches = reaches(a, c.Replicas)
	return c
}
