package profiling

import (
	"math/rand/v2"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/predict/worth"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// adviser follows a profiling run: what is worth measuring depends on the nodes that are
// candidates and what runs there.
type adviser struct {
	inner          worth.Adviser
	estimator      *Estimator
	learnt         *learnt
	columns        []interference.Source
	configurations []string
	target         performance.Spec
	count          int
	board          *board.Board
	at             []board.Index
	later          []worth.Question
}

var _ cluster.Reviewer = (*adviser)(nil)

// advise lets a run be told what to measure next where runs are adaptive, unless the job or the operator names the
// sources: then these are measured in full.
func (k *Estimator) advise(r *cluster.ProfileRequest, s *cluster.Snapshot) {
	if !k.cfg.Adaptive || len(r.Workload.Spec.Profile.Sources) > 0 || len(k.cfg.ProfileSources) > 0 || len(r.Sources) == 0 {
		return
	}
	a := &adviser{
		estimator: k, learnt: k.by(r.Workload.ID.Namespace), columns: k.Columns(), configurations: configurationsOf(s),
		target: r.Workload.Spec, count: max(1, r.Workload.Count),
	}
	a.board = board.FromSnapshot(s, a.columns, r.Workload.ID)
	fit, _, _ := cluster.Feasible(s, &r.Workload, r.Job.RunPool)
	for i, n := range s.Nodes {
		if slices.Contains(fit, n) {
			a.at = append(a.at, board.Index(i))
		}
	}
	var able []interference.Source
	for _, c := range a.columns {
		if supports(&r.Node, c) {
			able = append(able, c)
		}
	}
	a.inner = worth.Adviser{Options: worth.Default(), Columns: a.columns, Able: able, Slowdown: slowdownOf(r.Workload.Spec) / 100}
	tolerated, caused := a.learnt.rows.Scores(a.columns)
	a.later = worth.Typical(tolerated, caused, worth.TypicalCount, worth.LaterWeight, rand.New(rand.NewPCG(Seed(r.Job, r.Workload), 2)))
	r.Further = slices.DeleteFunc(able, func(c interference.Source) bool { return slices.Contains(r.Sources, c) })
	r.Reviewer = a
}

func slowdownOf(spec performance.Spec) float64 {
	if s := spec.SlowdownMaxPercent; s > 0 && s < 100 {
		return s
	}
	return performance.DefaultSlowdownMaxPercent
}

// Review implements cluster.Reviewer. What cannot be judged goes on as it was asked to.
func (a *adviser) Review(now profile.SoFar) profile.Advice {
	advice, err := a.inner.Review(now, a.learnt.models.Beliefs(&now.Profile, a.columns), a.questions(now))
	if err != nil {
		a.estimator.cfg.Log.Warn("a profiling run is not advised", "workload", now.Profile.Workload, "error", err)
		return profile.Advice{}
	}
	return advice
}

// Ended implements cluster.Reviewer.
func (a *adviser) Ended() string { return a.inner.Ended() }

// questions are the decision that the profile is taken for, by what is known of the speeds
// now, and typical later ones.
func (a *adviser) questions(now profile.SoFar) []worth.Question {
	known := classify.Knowledge(&now.Profile, a.learnt.models, a.columns, a.configurations)
	speed, top := make([]float64, len(a.board.Configurations)), 0.0
	for i, c := range a.board.Configurations {
		speed[i] = known.Speed[c].Value
		top = max(top, speed[i])
	}
	q := worth.Question{Weight: 1, Places: worth.Places(a.board, a.at, speed)}
	if needs := a.target.RequiredFraction(a.count, top); needs != nil {
		q.Needs = *needs
	}
	return append([]worth.Question{q}, a.later...)
}
