package figures

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/sim/report"
	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
)

// headroomSteps lead from stock Nomad to what could be had at most: each changes one thing of
// the one before it, which is what that thing is worth. The order counts: what two of them
// gain together is put down to the first.
func headroomSteps() []step {
	free := func(e scenario.Entrant) scenario.Entrant {
		e.FreeProfile = true
		return moving(e)
	}
	return []step{
		{scenario.Entrant{Name: "stock", Selector: "nomad-spread", Admission: "none"}, "", "stock Nomad, `spread`"},
		{scenario.Entrant{Name: "estimated", Selector: "expected", Admission: "none", Knowledge: "estimated", Options: map[string]string{"accept": "0"}}, "scores", "`expected`, which takes the best node there is; two random entries of a job are known, completed as in the papers"},
		{scenario.Entrant{Name: "planned", Selector: "expected", Admission: "none", Options: map[string]string{"accept": "0"}}, "plan", "the most informative entries, completed by the engine's classifier"},
		{scenario.Entrant{Name: "waits", Selector: "expected", Admission: "patient"}, "waiting", "it waits for a better node"},
		{moving(scenario.Entrant{Name: "moves"}), "moves", "what runs is moved and sized where that pays"},
		{moving(scenario.Entrant{Name: "expected", StartBelow: expectedStartBelow}), "early start", "where no job has a target, a job starts before its profile on a quiet cluster: the policy as it is in the league"},
		{free(scenario.Entrant{Name: "free"}), "profiling", "a profile takes no time, and every job has one before it starts"},
		{free(scenario.Entrant{Name: "perfect", Knowledge: "oracle"}), "knowledge", "all scores and speeds are known exactly"},
		{free(scenario.Entrant{Name: "bound", Knowledge: "oracle", FreeMoves: true}), "free moves", "and moves take no time: the clairvoyant bound, which is greedy and so no optimum"},
	}
}

// useless is the policy as it is in the league, where all that it knows of a job was measured
// of another.
var useless = moving(scenario.Entrant{Name: "useless", StartBelow: expectedStartBelow, Knowledge: "useless"})

// moving gives an entrant all that the policy does.
func moving(e scenario.Entrant) scenario.Entrant {
	e.Selector, e.Admission, e.Adapter, e.Sizing, e.Moves = "expected", "patient", "expected", "policy", true
	return e
}

// step is an entrant, and what the thing is called that it changes.
type step struct {
	scenario.Entrant
	changes, says string
}

// RunHeadroom plays every scenario with every step, and with Paragon.
func RunHeadroom(ctx context.Context, o LeagueOptions) (*Headroom, error) {
	entrants := []scenario.Entrant{{Name: "paragon", Selector: "paragon"}, useless}
	for _, s := range headroomSteps() {
		entrants = append(entrants, s.Entrant)
	}
	l, err := play(ctx, o, entrants)
	if err != nil {
		return nil, err
	}
	return &Headroom{League: *l}, nil
}

// Headroom is a league of the steps from stock Nomad to the clairvoyant bound.
type Headroom struct{ League }

// Markdown is the headroom as a page.
func (h *Headroom) Markdown() string {
	steps := headroomSteps()
	var p page
	p.line("# Headroom\n")
	p.line("Where the points between stock Nomad and what could be had are lost: every scenario of [the league](league.md) with the policy `expected`, one thing changed at a time. `nomad-placer-sim headroom -out FILE` makes this page; the same program and data give the same bytes.\n")
	p.line("%s\n", worldText(h.World))
	p.line("A score is that of the league: mean performance from submission on, %% of the ideal. What a step is worth is the difference from the one before it; where two gain together it is put down to the first. %s.\n", seedsText(h.Seeds))
	p.row([]string{"name", "what it changes", "points of", "mean"})
	p.row([]string{"---", "---", "---", "---:"})
	for _, s := range steps {
		p.row([]string{s.Name, s.says, s.changes, report.Decimal(h.mean(s.Name))})
	}
	p.row([]string{"useless", "`expected`, where all that it knows of a job but how long it runs was measured of another one, drawn for it", "", report.Decimal(h.mean("useless"))})
	p.row([]string{"paragon", "Paragon as published, for comparison", "", report.Decimal(h.mean("paragon"))})
	p.line("")
	p.line("## What each is worth\n")
	h.gains(&p, steps)
	p.line("## By scenario\n")
	h.byScenario(&p, steps)
	return strings.TrimRight(p.String(), "\n") + "\n"
}

// complete are the games that every step could play.
func (h *Headroom) complete() []Game {
	var out []Game
	for _, g := range h.Games {
		ok := g.Absent == ""
		for _, e := range h.Entrants {
			s, played := g.Scores[e.Name]
			ok = ok && played && s.Failed == ""
		}
		if ok {
			out = append(out, g)
		}
	}
	return out
}

func (h *Headroom) mean(name string) float64 {
	sum, games := 0.0, h.complete()
	for _, g := range games {
		sum += g.Scores[name].WithWait
	}
	return sum / float64(len(games))
}

// gains are the mean differences of steps, with their standard errors over the scenarios.
func (h *Headroom) gains(p *page, steps []step) {
	games := h.complete()
	p.line("Mean over %d scenarios, with the standard error over them.\n", len(games))
	p.row([]string{"points of", "mean", "standard error", "gains in", "loses in"})
	p.row([]string{"---", "---:", "---:", "---:", "---:"})
	for i := 1; i < len(steps); i++ {
		sum, squares, up, down := 0.0, 0.0, 0, 0
		for _, g := range games {
			d := g.Scores[steps[i].Name].WithWait - g.Scores[steps[i-1].Name].WithWait
			sum, squares = sum+d, squares+d*d
			if d > tie {
				up++
			} else if d < -tie {
				down++
			}
		}
		n := float64(len(games))
		mean := sum / n
		p.row([]string{steps[i].changes, fmt.Sprintf("%+.1f", mean), report.Decimal(math.Sqrt(max(0, squares/n-mean*mean) / max(1, n-1))), fmt.Sprint(up), fmt.Sprint(down)})
	}
	p.line("")
}

// leastHeadroom below which a share of it says nothing, in points.
const leastHeadroom = 5

// byScenario has the scores, and the share of the distance from stock to the bound that the
// policy makes up for.
func (h *Headroom) byScenario(p *page, steps []step) {
	header, rule := []string{"scenario", "paragon", "useless"}, []string{"---", "---:", "---:"}
	for _, s := range steps {
		header, rule = append(header, s.Name), append(rule, "---:")
	}
	p.row(append(header, "of the headroom"))
	p.row(append(rule, "---:"))
	for _, g := range h.complete() {
		cells := []string{g.Scenario, report.Decimal(g.Scores["paragon"].WithWait), report.Decimal(g.Scores["useless"].WithWait)}
		for _, s := range steps {
			cells = append(cells, report.Decimal(g.Scores[s.Name].WithWait))
		}
		stock, bound := g.Scores["stock"].WithWait, g.Scores["bound"].WithWait
		share := "–"
		if bound-stock > leastHeadroom {
			share = fmt.Sprintf("%.0f %%", 100*(g.Scores["expected"].WithWait-stock)/(bound-stock))
		}
		p.row(append(cells, share))
	}
	p.line("")
	for _, g := range h.Games {
		if g.Absent != "" {
			p.line("- %s was not run: %s", g.Scenario, g.Absent)
		}
		for _, e := range h.Entrants {
			if s := g.Scores[e.Name]; s.Failed != "" {
				p.line("- %s cannot be run in %s: %s", e.Name, g.Scenario, escaped(s.Failed))
			}
		}
	}
}
