package sequence

import (
	"math/rand/v2"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/predict/worth"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// reaction is how long it takes until advice reaches the run: the agent looks at it every
// half a second, and what it says goes through Nomad (chosen by us).
const reaction = 1.0

// advisor advises a run of a scene, as the lab does.
type advisor struct {
	scene   *scene
	adviser worth.Adviser
	board   *board.Board
	at      []board.Index
	later   []worth.Question
	pending []late
	errors  int
}

// late is advice that has not yet arrived.
type late struct {
	at     float64
	advice profile.Advice
}

func (s *scene) advisor(o worth.Options, laterWeight float64, seed uint64) *advisor {
	a := &advisor{
		scene: s, adviser: worth.Adviser{Options: o, Columns: columns, Able: columns, Slowdown: bound},
		board: board.FromSnapshot(s.now.snapshot, columns, s.workload().ID),
	}
	feasible := map[cluster.NodeID]bool{}
	for _, n := range s.now.feasible {
		feasible[n.ID] = true
	}
	for i := range a.board.Len() {
		if feasible[a.board.Node(board.Index(i)).ID] {
			a.at = append(a.at, board.Index(i))
		}
	}
	tolerated, caused := s.learnt.rows.Scores(columns)
	a.later = worth.Typical(tolerated, caused, worth.TypicalCount, laterWeight, rand.New(rand.NewPCG(seed, streamNoise)))
	return a
}

func (a *advisor) review(so profile.SoFar) profile.Advice {
	advice, err := a.adviser.Review(so, a.scene.learnt.models.Beliefs(&so.Profile, columns), a.questions(so))
	if err != nil {
		a.errors++
	} else {
		a.pending = append(a.pending, late{so.Seconds + reaction, advice})
	}
	var arrived profile.Advice
	for len(a.pending) > 0 && a.pending[0].at <= so.Seconds {
		arrived = a.pending[0].advice
		a.pending = a.pending[1:]
	}
	return arrived
}

func (a *advisor) questions(so profile.SoFar) []worth.Question {
	known := a.scene.learnt.know(&so.Profile).Speed
	speed := make([]float64, len(a.board.Configurations))
	for i, c := range a.board.Configurations {
		speed[i] = known[c].Value
	}
	now := worth.Question{Weight: 1, Places: worth.Places(a.board, a.at, speed)}
	if a.scene.target > 0 {
		// The run counts in units of its own, and its reference is the strongest configuration.
		now.Needs = a.scene.target / a.scene.newcomer.Isolated[0]
	}
	return append([]worth.Question{now}, a.later...)
}
