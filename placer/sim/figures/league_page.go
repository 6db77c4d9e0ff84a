package figures

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/sim/report"
	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
)

// Markdown is the league as a page: the table, then the games by family.
func (l *League) Markdown() string {
	var p page
	p.line("# League of policies\n")
	p.line("%s in every scenario of `examples/sim`, those of the papers and the replayed traces, but for those that are said not to be run. `nomad-placer-sim league -out FILE` makes this page; the same program and data give the same bytes.\n", played(len(l.Entrants)))
	p.line("%s\n", worldText(l.World))
	p.line("Policies that want profiles know what the live engine would: the two most informative entries of a job, completed by the engine's own classifier. "+
		"Each has what its paper pairs it with (below), and as many agents as the scenario gives its own policies. "+
		"Every decision takes what one of the live engine's was measured to take (%s and %s a node of the cluster, by `make scale` of 2026-11-23; [what it is now](../scale.md)), whichever policy makes it, and a job of an application that was profiled before is not profiled again. "+
		"A score is the mean performance of the jobs from their submission on: the ideal time over the one it took, waiting and profiling counted, in %%; a job that was killed or had not ended counts as 0. "+
		"Where some jobs have targets and others take what is left, only the former are counted. "+
		"Where the scenario has several loads it is the mean over them. A rank is shared by those within %g points. %s.\n", scenario.EntrantDecision, scenario.EntrantDecisionPerNode, tie, seedsText(l.Seeds))
	p.standings(l)
	p.verdict(l)
	for _, f := range families(l.Games) {
		p.family(l, f)
	}
	p.pairs(l.Entrants)
	return strings.TrimRight(p.String(), "\n") + "\n"
}

// played says how many of the policies there are.
func played(n int) string {
	if all := len(Entrants()); n < all {
		return fmt.Sprintf("%d of %d policies", n, all)
	}
	return "Every policy"
}

func seedsText(seeds []uint64) string {
	if len(seeds) == 1 {
		return fmt.Sprintf("One seed (%d): differences of a point or two are chance; the pages of the papers have the intervals", seeds[0])
	}
	var list []string
	for _, s := range seeds {
		list = append(list, fmt.Sprint(s))
	}
	return "Seeds " + strings.Join(list, ", ")
}

// worldText says what programs the jobs are.
func worldText(world string) string {
	switch world {
	case "":
		return "The programs are drawn as each scenario says."
	case scenario.MeasuredWorld:
		return "The programs are those of the measured rows and pairs of `profiler/training`, in the scenarios' places, whatever classes these name: every third row teaches the classifiers, the others are submitted. How fast a configuration of the scenario's cluster is for each is drawn, for they were measured on one machine."
	default:
		return fmt.Sprintf("The programs are drawn from the world `%s`, which is fitted to what papers publish of theirs (decision 0058).", world)
	}
}

func (p *page) standings(l *League) {
	p.row([]string{"policy", "mean rank", "first places", "scenarios", "performance from submission on, %", "performance while running, %", "jobs within 5 % while running, %", "5 % of the jobs fall short of, while running, %"})
	p.row([]string{"---", "---:", "---:", "---:", "---:", "---:", "---:", "---:"})
	for _, e := range l.Table {
		p.row([]string{e.Entrant, report.Decimal(e.Rank), report.Decimal(e.Wins), fmt.Sprint(e.Games), report.Decimal(e.Mean.WithWait), report.Decimal(e.Mean.Performance), report.Decimal(e.Mean.QoS), report.Decimal(e.Mean.Worst5)})
	}
	p.line("")
}

// ours is the policy that no paper has, and the default, compared with what a job gets without the
// placer, and with Paragon.
const (
	ours        = "expected"
	withoutUs   = "nomad-spread"
	ofThePapers = "paragon"
)

// behindMost is how far behind the best published policy ours may be without being listed, in points.
const behindMost = 2

// verdict has what the policy of our own is worth beyond the published ones, scenario by scenario.
func (p *page) verdict(l *League) {
	for _, name := range []string{ours, withoutUs, ofThePapers} {
		if !slices.ContainsFunc(l.Table, func(e Place) bool { return e.Entrant == name }) {
			return
		}
	}
	var games, ahead int
	var over, overPublished float64
	var behind []string
	for _, g := range l.Games {
		own, ok := g.Scores[ours]
		if !ok || own.Failed != "" {
			continue
		}
		games++
		over += own.WithWait - g.Scores[withoutUs].WithWait
		overPublished += own.WithWait - g.Scores[ofThePapers].WithWait
		name, best := bestOthers(g.Scores)
		switch d := own.WithWait - best; {
		case d > tie:
			ahead++
		case d < -behindMost:
			behind = append(behind, fmt.Sprintf("%s (%s %+.1f)", g.Scenario, name, -d))
		}
	}
	n := float64(games)
	p.line("## `%s`, which no paper has\n", ours)
	p.line("- Ahead of every other policy in %d of %d scenarios (%.0f %%), of whichever is best in each.", ahead, games, 100*float64(ahead)/n)
	p.line("- %+.1f points over `%s` on average, %+.1f over `%s`.", over/n, withoutUs, overPublished/n, ofThePapers)
	if len(behind) > 0 {
		p.line("- More than %d points behind the best in %d: %s.", behindMost, len(behind), strings.Join(behind, ", "))
	} else {
		p.line("- Nowhere more than %d points behind the best.", behindMost)
	}
	p.line("")
}

// bestOthers is the best entrant but ours.
func bestOthers(scores map[string]Score) (name string, best float64) {
	for entrant, s := range scores {
		if entrant != ours && s.Failed == "" && (name == "" || s.WithWait > best || s.WithWait == best && entrant < name) {
			name, best = entrant, s.WithWait
		}
	}
	return name, best
}

// family is the games whose names begin alike.
type family struct {
	name  string
	games []Game
}

func families(games []Game) []family {
	var out []family
	for _, g := range games {
		name, _, _ := strings.Cut(g.Scenario, "-")
		at := slices.IndexFunc(out, func(f family) bool { return f.name == name })
		if at < 0 {
			at, out = len(out), append(out, family{name: name})
		}
		out[at].games = append(out[at].games, g)
	}
	return out
}

// family has a row per policy, best first over all games, and a column per game.
func (p *page) family(l *League, f family) {
	p.line("## Scenarios %s\n", f.name)
	header, rule := []string{""}, []string{"---"}
	var played []Game
	for _, g := range f.games {
		if g.Absent != "" {
			p.line("- %s was not run: %s\n", g.Scenario, g.Absent)
			continue
		}
		played = append(played, g)
		header, rule = append(header, strings.TrimPrefix(g.Scenario, f.name+"-")), append(rule, "---:")
	}
	if len(played) == 0 {
		return
	}
	p.row(header)
	p.row(rule)
	for _, e := range l.Table {
		cells := []string{e.Entrant}
		for _, g := range played {
			cells = append(cells, scoreText(g.Scores, e.Entrant))
		}
		p.row(cells)
	}
	p.line("")
	for _, g := range played {
		for _, e := range l.Entrants {
			if s := g.Scores[e.Name]; s.Failed != "" {
				p.line("- %s cannot be run in %s: %s", e.Name, g.Scenario, escaped(s.Failed))
			}
		}
	}
	p.line("")
}

// scoreText is bold for who came first.
func scoreText(scores map[string]Score, entrant string) string {
	s, ok := scores[entrant]
	switch {
	case !ok || s.Failed != "":
		return "–"
	case won(scores, s) > 0:
		return "**" + report.Decimal(s.WithWait) + "**"
	default:
		return report.Decimal(s.WithWait)
	}
}

// pairs says who plays with what.
func (p *page) pairs(entrants []scenario.Entrant) {
	p.line("## What each is paired with\n")
	p.row([]string{"name", "policy", "admission", "adapter", "sizes", "starts before it is profiled"})
	p.row([]string{"---", "---", "---", "---", "---", "---"})
	for _, e := range entrants {
		starts := "never"
		if e.StartBelow > 0 {
			starts = fmt.Sprintf("below %g %% of the cores, where no job has a target", 100*e.StartBelow)
		}
		p.row([]string{e.Name, e.Selector, orWord(e.Admission, "fifo"), orWord(e.Adapter, "none"), orWord(e.Sizing, "reservation"), starts})
	}
	p.line("")
}

func orWord(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}
