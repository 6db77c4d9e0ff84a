package figures

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
	"github.com/nomad-placer/nomad-placer/placer/sim/report"
	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
)

// inOrder are the policies whose papers place jobs in strict order of arrival (Delimitrou 2015,
// §3.4 with its baselines; Chiang and Huang 2011, §3.2).
var inOrder = []string{"least-loaded", "mios", "nh", "ni", "paragon", "paragon-statistical"}

// expectedStartBelow was chosen on seeds 1 to 3 of eight scenarios (decision 0045).
const expectedStartBelow = 0.3

// paired is what a policy is paired with, where that is not its admission alone: no adaptation,
// and the size that was asked for.
var paired = map[string]scenario.Entrant{
	"expected":  {Admission: "patient", Adapter: "expected", Sizing: "policy", StartBelow: expectedStartBelow, Moves: true},
	"quasar":    {Adapter: "quasar", Sizing: "policy"},
	"autoscale": {Sizing: "policy"},
}

// Entrants are all policies that choose nodes, each with what its paper pairs it
// with (a controller of its own name, where there is one; no queue, where it has none), and
// ARQ, which is an admission in front of Paragon.
func Entrants() []scenario.Entrant {
	out := []scenario.Entrant{{Name: "arq", Selector: "paragon", Admission: "arq"}}
	for _, d := range policy.Selectors() {
		e := paired[d.Name]
		e.Name, e.Selector = d.Name, d.Name
		if _, err := admission.Lookup(d.Name); err == nil {
			e.Admission = d.Name
		} else if e.Admission == "" && !slices.Contains(inOrder, d.Name) {
			e.Admission = "none"
		}
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b scenario.Entrant) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// League is every policy in every scenario, under one seed unless more are asked
// for.
type League struct {
	Format   int                `json:"format"`
	World    string             `json:"world,omitempty"` // that of the scenarios where empty
	Seeds    []uint64           `json:"seeds"`
	Entrants []scenario.Entrant `json:"entrants"`
	Games    []Game             `json:"games"`
	Table    []Place            `json:"table"`
}

// Game is one scenario.
type Game struct {
	Scenario string `json:"scenario"`
	Title    string `json:"title"`
	// Absent says why it was not run.
	Absent string           `json:"absent,omitempty"`
	Scores map[string]Score `json:"scores,omitempty"` // by entrant
}

// Score is how one policy did with the jobs that have a target, with all jobs where
// none has, as a mean over loads and seeds.
type Score struct {
	WithWait    float64 `json:"performance_with_wait"` // percent of the ideal, from submission on
	Performance float64 `json:"performance"`           // percent of the ideal while running
	QoS         float64 `json:"qos"`                   // percent of jobs that kept 95 % while running
	Worst5      float64 `json:"worst_5"`               // percent of the ideal that 5 % of all jobs fall short of while running
	Rank        float64 `json:"rank"`                  // by WithWait; those that are equal share it
	Failed      string  `json:"failed,omitempty"`      // then there is nothing else
}

// Place is an entrant over all games.
type Place struct {
	Entrant string  `json:"entrant"`
	Games   int     `json:"games"`
	Wins    float64 `json:"wins"` // a shared first place is a part of one
	Rank    float64 `json:"rank"` // mean
	Mean    Score   `json:"mean"`
}

// Errors of what is asked for.
var (
	ErrScenario = errors.New("no such scenario")
	ErrEntrant  = errors.New("no such entrant")
)

// playing are the entrants of those names.
func playing(only []string) ([]scenario.Entrant, error) {
	all := Entrants()
	if len(only) == 0 {
		return all, nil
	}
	for _, name := range only {
		if !slices.ContainsFunc(all, func(e scenario.Entrant) bool { return e.Name == name }) {
			return nil, fmt.Errorf("%w: %q", ErrEntrant, name)
		}
	}
	return slices.DeleteFunc(all, func(e scenario.Entrant) bool { return !slices.Contains(only, e.Name) }), nil
}

// leagueSeeds are those of a league where none are asked for: it is wide, and the
// experiments have the depth.
var leagueSeeds = []uint64{1}

// LeagueOptions are those of a league.
type LeagueOptions struct {
	Options
	Except []string // scenarios that are left out, and said to be
	Only   []string // entrants that play; none: all
}

// RunLeague plays every scenario with every entrant.
func RunLeague(ctx context.Context, o LeagueOptions) (*League, error) {
	entrants, err := playing(o.Only)
	if err != nil {
		return nil, err
	}
	return play(ctx, o, entrants)
}

func play(ctx context.Context, o LeagueOptions, entrants []scenario.Entrant) (*League, error) {
	r, err := newRunner(o.Options)
	if err != nil {
		return nil, err
	}
	out := &League{Format: ReportFormat, World: o.World, Seeds: o.Seeds, Entrants: entrants}
	if len(out.Seeds) == 0 {
		out.Seeds = leagueSeeds
	}
	paths, err := scenario.Files(o.Scenarios)
	if err != nil {
		return nil, fmt.Errorf("figures: %w", err)
	}
	for _, name := range o.Except {
		if !slices.Contains(paths, name+".hcl") {
			return nil, fmt.Errorf("%w: %q", ErrScenario, name)
		}
	}
	for _, path := range paths {
		g, err := r.enter(path, o, out)
		if err != nil {
			return nil, err
		}
		out.Games = append(out.Games, g)
	}
	r.list()
	if err := r.mark(ctx); err != nil {
		return nil, err
	}
	if err := r.all(ctx); err != nil {
		return nil, err
	}
	for i := range out.Games {
		r.score(&out.Games[i], out.Entrants)
	}
	out.Table = places(out)
	return out, nil
}

// enter puts the entrants into a scenario.
func (r *runner) enter(path string, o LeagueOptions, l *League) (Game, error) {
	name := strings.TrimSuffix(path, ".hcl")
	s, err := scenario.Open(r.options.Scenarios, path, o.Folder)
	if err != nil {
		return Game{}, err
	}
	g := Game{Scenario: name, Title: s.Title}
	if slices.Contains(o.Except, name) {
		g.Absent = "left out"
		return g, nil
	}
	if absent := s.Absent(); absent != "" {
		g.Absent = absentData(absent)
		return g, nil
	}
	if o.World != "" {
		if s, err = s.InWorld(o.World); errors.Is(err, scenario.ErrScenario) {
			g.Absent = fmt.Sprintf("not in the world %q: %s", o.World, strings.TrimPrefix(err.Error(), scenario.ErrScenario.Error()+": "))
			return g, nil
		} else if err != nil {
			return g, err
		}
	}
	if s, err = s.WithEntrants(l.Entrants); err != nil {
		return g, err
	}
	r.files[name] = &input{scenario: s, seeds: l.Seeds, tolerant: true, file: path, folder: o.Folder, world: o.World, entrants: l.Entrants}
	r.names = append(r.names, name)
	return g, nil
}

// score reads what a game gave.
func (r *runner) score(g *Game, entrants []scenario.Entrant) {
	if g.Absent != "" {
		return
	}
	g.Scores = map[string]Score{}
	for _, e := range entrants {
		if why := r.failed(g.Scenario, e.Name); why != "" {
			g.Scores[e.Name] = Score{Failed: why}
			continue
		}
		var s Score
		n := 0.0
		for at, lines := range r.lines {
			if at.Scenario != g.Scenario || at.Policy != e.Name {
				continue
			}
			merged := report.Merge(lines)
			for metric, to := range map[string]*float64{"wanted_with_wait": &s.WithWait, "wanted": &s.Performance, "wanted_qos": &s.QoS, "worst_5": &s.Worst5} {
				if f, ok := merged.Figure(metric); ok {
					*to += f.Mean
				}
			}
			n++
		}
		if n > 0 {
			s.WithWait, s.Performance, s.QoS, s.Worst5 = s.WithWait/n, s.Performance/n, s.QoS/n, s.Worst5/n
			g.Scores[e.Name] = s
		}
	}
	rank(g.Scores)
}

// failed says why a policy could not play; empty where it did.
func (r *runner) failed(name, entrant string) string {
	for i, j := range r.jobs {
		if j.scenario == name && j.policy == entrant && r.ended[i].Failed != "" {
			return r.ended[i].Failed
		}
	}
	return ""
}

// tie is the difference up to which two scores count as equal, in percent of the ideal.
const tie = 0.05

// rank gives places; those that are equal share the mean of theirs.
func rank(scores map[string]Score) {
	names := make([]string, 0, len(scores))
	for name, s := range scores {
		if s.Failed == "" {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(-cmp.Compare(scores[a].WithWait, scores[b].WithWait), cmp.Compare(a, b))
	})
	for i := 0; i < len(names); {
		n := i + 1
		for n < len(names) && scores[names[i]].WithWait-scores[names[n]].WithWait <= tie {
			n++
		}
		for _, name := range names[i:n] {
			s := scores[name]
			s.Rank = float64(i+1+n) / 2
			scores[name] = s
		}
		i = n
	}
}

// places are the entrants, best first.
func places(l *League) []Place {
	var out []Place
	for _, e := range l.Entrants {
		p := Place{Entrant: e.Name}
		for _, g := range l.Games {
			s, ok := g.Scores[e.Name]
			if !ok || s.Failed != "" {
				continue
			}
			p.Games++
			p.Rank += s.Rank
			p.Mean.WithWait += s.WithWait
			p.Mean.Performance += s.Performance
			p.Mean.QoS += s.QoS
			p.Mean.Worst5 += s.Worst5
			p.Wins += won(g.Scores, s)
		}
		if n := float64(p.Games); n > 0 {
			p.Rank /= n
			p.Mean.WithWait, p.Mean.Performance, p.Mean.QoS, p.Mean.Worst5, p.Mean.Rank = p.Mean.WithWait/n, p.Mean.Performance/n, p.Mean.QoS/n, p.Mean.Worst5/n, p.Rank
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b Place) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Entrant, b.Entrant))
	})
	return out
}

// won is the part of a first place.
func won(scores map[string]Score, s Score) float64 {
	first := 0
	for _, o := range scores {
		if o.Failed == "" && o.Rank == s.Rank {
			first++
		}
	}
	if s.Rank != float64(1+first)/2 {
		return 0
	}
	return 1 / float64(first)
}

// tolerated is what a policy may end with in a scenario that is not its own; false
// is a fault of ours or the end of our time.
func tolerated(ctx context.Context, err error) bool {
	return ctx.Err() == nil && !errors.Is(err, context.Canceled)
}
