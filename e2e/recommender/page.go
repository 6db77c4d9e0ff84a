package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/numeric/student"
	"github.com/nomad-placer/nomad-placer/placer/sim/evaluate"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// made says how a page was made.
type made struct {
	When, Machine, Command, Version string
	Seeds                           []uint64
}

// The targets of predictions.
const (
	mostErrorPoints = 5.3  // Delimitrou 2015, table 3.2
	belowOthers     = 0.75 // of the error of the mean of others
	nearFloor       = 1.3  // times what repeating a measurement errs by
)

// asked are the targets of intervals by level: how many of the cells they may hold, percent.
var asked = map[int][2]float64{50: {42, 58}, 80: {74, 86}, 95: {90, 98}}

// theDefault is what an agent predicts with.
const theDefault = evaluate.PairClassifier

// write makes the page.
func write(w io.Writer, o outcome, m made) error {
	p := &page{w: w}
	p.line("# How well predictions agree with measurements")
	p.line("")
	p.line("Written by `%s` on %s, %s, %s; draws of seeds %s. The same program gives the same numbers. What the methods are, and why targets are missed, is in [classification](classification.md).", m.Command, m.When, m.Machine, m.Version, strings.Trim(fmt.Sprint(m.Seeds), "[]"))
	p.verdicts(o)
	p.rows(o)
	p.intervals(o)
	p.curves(o)
	p.pairs(o)
	p.repeats(o)
	if len(o.Left) > 0 {
		p.head("Not evaluated")
		p.line("")
		for _, l := range o.Left {
			p.line("- %s", l)
		}
	}
	return p.err
}

type page struct {
	w   io.Writer
	err error
}

func (p *page) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func (p *page) head(title string) {
	p.line("")
	p.line("## %s", title)
}

func (p *page) table(header []string, rows [][]string) {
	p.line("")
	p.line("| %s |", strings.Join(header, " | "))
	p.line("|%s", strings.Repeat(" --- |", len(header)))
	for _, r := range rows {
		p.line("| %s |", strings.Join(r, " | "))
	}
}

// of the reports of a part.
func (o outcome) of(part string) []evaluate.Report {
	var out []evaluate.Report
	for _, j := range o.Rows {
		if j.Part == part {
			out = append(out, j.Report)
		}
	}
	return out
}

func (o outcome) set(part, name string) *evaluate.Report {
	for _, r := range o.of(part) {
		if r.Set == name {
			return &r
		}
	}
	return nil
}

func lineOf(r evaluate.Report, name string) *evaluate.Line {
	for i := range r.Lines {
		if r.Lines[i].Classifier == name {
			return &r.Lines[i]
		}
	}
	return nil
}

// figure of a method; ok is false where it has none.
func figure(r evaluate.Report, method, metric string) (evaluate.Figure, bool) {
	l := lineOf(r, method)
	if l == nil {
		return evaluate.Figure{}, false
	}
	f, ok := l.Figures[metric]
	return f, ok
}

func text(f evaluate.Figure, ok bool) string {
	switch {
	case !ok:
		return "–"
	case f.Low != nil:
		return fmt.Sprintf("%.1f ±%.1f", f.Mean, f.Mean-*f.Low)
	default:
		return fmt.Sprintf("%.1f", f.Mean)
	}
}

func met(ok bool) string {
	if ok {
		return "met"
	}
	return "**missed**"
}

// difference of two methods draw by draw, with half its 95 % interval.
func difference(r evaluate.Report, a, b string) (mean, half float64, ok bool) {
	x, y := lineOf(r, a), lineOf(r, b)
	if x == nil || y == nil || len(x.BySeed) != len(y.BySeed) || len(x.BySeed) < 2 {
		return 0, 0, false
	}
	each := make([]float64, len(x.BySeed))
	for i := range each {
		each[i] = x.BySeed[i] - y.BySeed[i]
	}
	mean, half = student.Mean(each)
	return mean, half, true
}

func (p *page) verdicts(o outcome) {
	p.head("Targets")
	var rows [][]string
	add := func(what, wanted, seen string, ok bool) { rows = append(rows, []string{what, wanted, seen, met(ok)}) }
	if r := o.set(partRows, "tolerated scores"); r != nil {
		f, _ := figure(*r, theDefault, evaluate.MeanError)
		mean, half, ok := difference(*r, theDefault, compared[0])
		add("tolerated scores, two cells shown: mean error", "≤ 5.3 points", text(f, true), f.Mean <= mostErrorPoints)
		add("… less that of the mean of the others", "below 0 by more than the draws' spread", fmt.Sprintf("%+.1f ±%.1f", mean, half), ok && mean+half < 0)
	}
	if r := o.set(partRows, "caused scores"); r != nil && r.Floor != nil {
		f, _ := figure(*r, theDefault, evaluate.MeanError)
		floor := r.Floor.Figures[evaluate.MeanError].Mean
		add("caused scores, two cells shown: mean error", "≤ 5.3 points, or ≤ 1.3 times the floor", fmt.Sprintf("%s; floor %.1f", text(f, true), floor), f.Mean <= max(mostErrorPoints, nearFloor*floor))
	}
	worse, sets := []string{}, 0
	for _, part := range []string{partRows, partPrograms} {
		for _, r := range o.of(part) {
			if mean, half, ok := difference(r, theDefault, "ridge"); ok {
				sets++
				if mean-half > 0 {
					worse = append(worse, fmt.Sprintf("%s (%s left out): %+.1f ±%.1f", r.Set, left(r), mean, half))
				}
			}
		}
	}
	if sets > 0 {
		seen := fmt.Sprintf("in none of %d", sets)
		if len(worse) > 0 {
			seen = fmt.Sprintf("in %d of %d: %s", len(worse), sets, strings.Join(worse, "; "))
		}
		add("`"+theDefault+"` has a larger error than `ridge` by more than the draws' spread", "never", seen, len(worse) == 0)
	}
	for _, level := range evaluate.IntervalLevels {
		inside, n := 0, 0
		for _, part := range []string{partRows, partPrograms, partClusters} {
			for _, r := range o.of(part) {
				if f, ok := figure(r, theDefault, metricOf(level)); ok {
					n++
					if within(level, f.Mean) {
						inside++
					}
				}
			}
		}
		if n > 0 {
			a := asked[level]
			add(fmt.Sprintf("intervals of %d %%, set by set", level), fmt.Sprintf("hold %.0f to %.0f %% of the cells", a[0], a[1]), fmt.Sprintf("in %d of %d", inside, n), inside == n)
		}
	}
	if r, ok := o.Pairs[allSources]; ok {
		if best, others := pairLine(r, r.Chosen), pairLine(r, evaluate.MeanOfOthers); best != nil && others != nil {
			f, mean := best.Figures["known"], others.Figures["known"]
			add("slowdown of pairs predicted before they met: mean error", "≤ 5.3 points", fmt.Sprintf("%.1f (`%s`)", f.MeanError, r.Chosen), f.MeanError <= mostErrorPoints)
			add("… below that of the mean of other pairs", "by ≥ 25 %", fmt.Sprintf("%.0f %% (%.1f)", 100*(1-f.MeanError/mean.MeanError), mean.MeanError), f.MeanError <= belowOthers*mean.MeanError)
			add("… its 95 % intervals", "hold 90 to 98 %", fmt.Sprintf("%.0f %%", f.Holds["95"]), within(95, f.Holds["95"]))
		}
	}
	if n := len(o.Repeats); n > 0 && o.Repeats[n-1].Known > 0 {
		all := o.Repeats[n-1]
		add("rows measured twice: median difference, 90th percentile", "≤ 5, ≤ 15 points", fmt.Sprintf("%.1f, %.1f", all.Median, all.P90), all.Median <= 5 && all.P90 <= 15)
		add("… scores inside the interval of the other run", "≥ 90 %", fmt.Sprintf("%.0f %%", 100*all.Covered), all.Covered >= 0.9)
	}
	p.table([]string{"what", "wanted", "seen", ""}, rows)
}

func metricOf(level int) string {
	return map[int]string{50: evaluate.Holds50, 80: evaluate.Holds80, 95: evaluate.Covered}[level]
}

func within(level int, v float64) bool { return v >= asked[level][0] && v <= asked[level][1] }

func left(r evaluate.Report) string {
	switch {
	case r.Train != "":
		return "learnt from " + r.Train
	case r.Leave == evaluate.LeaveGroup:
		return "programs"
	default:
		return "workloads"
	}
}

func (p *page) rows(o outcome) {
	for _, part := range []struct{ name, title, about string }{
		{partRows, "One workload left out", "Each workload in turn is new: two of its cells, drawn at random, are shown, and the rest is compared with what was measured. Mean error of a cell, in percent of the true speed or in points of a score; ± is half the 95 % interval over the draws."},
		{partPrograms, "Whole programs left out", "As before, but no other input or size of the same program is learnt from."},
		{partClusters, "Another cluster", "Learnt on one cluster, tested on another: other GPUs, the same machine types at another date, or machines of other owners. What is tested is not learnt from."},
	} {
		reports := o.of(part.name)
		if len(reports) == 0 {
			continue
		}
		p.head(part.title)
		p.line("")
		p.line("%s", part.about)
		methods := append(slices.Clone(compared), "extra-trees")
		header := append([]string{"set", "workloads × columns"}, methods...)
		var rows [][]string
		for _, r := range reports {
			name := r.Set
			if r.Train != "" {
				name += ", learnt from " + r.Train
			}
			row := []string{name, fmt.Sprintf("%d × %d", r.Rows, r.Columns)}
			least := leastOf(r, methods)
			for _, m := range methods {
				f, ok := figure(r, m, evaluate.MeanError)
				cell := text(f, ok)
				if m == least {
					cell = "**" + cell + "**"
				}
				row = append(row, cell)
			}
			rows = append(rows, append(row, boundText(r.Others), boundText(r.Floor)))
		}
		p.table(append(header, "others", "oracle"), rows)
	}
	p.line("")
	p.line("`average` is the mean of the column whatever is shown, `mean` the same scaled to the shown cells, `knn` five nearest neighbours, `ridge` a regression in closed form, `cf` collaborative filtering as published (Delimitrou 2015, §3.2), `extra-trees` scikit-learn's extremely randomised trees, `others` the best linear completion of each cell from *all* others of its row, and the oracle knows every cell but for the spread of its own measurements. `%s` is what an agent predicts with.", theDefault)
}

func leastOf(r evaluate.Report, methods []string) string {
	best, least := "", math.Inf(1)
	for _, m := range methods {
		if f, ok := figure(r, m, evaluate.MeanError); ok && f.Mean < least {
			best, least = m, f.Mean
		}
	}
	return best
}

func boundText(l *evaluate.Line) string {
	if l == nil {
		return "–"
	}
	f, ok := l.Figures[evaluate.MeanError]
	if !ok {
		return "–"
	}
	return fmt.Sprintf("%.1f", f.Mean)
}

// fewestCells is how many cells of a column say whether its intervals hold (chosen by us:
// the share of fewer is known to 8 points only).
const fewestCells = 40

func (p *page) intervals(o outcome) {
	p.head("Intervals")
	p.line("")
	p.line("Of `%s`: how many of the cells that were not shown lie inside their interval, and how many columns (of those with %d such cells or more) are within the target at each level. Targets: 50 %% hold 42 to 58, 80 %% hold 74 to 86, 95 %% hold 90 to 98.", theDefault, fewestCells)
	var rows [][]string
	for _, part := range []string{partRows, partPrograms, partClusters} {
		for _, r := range o.of(part) {
			l := lineOf(r, theDefault)
			if l == nil || len(l.Intervals) == 0 {
				continue
			}
			row := []string{r.Set, left(r)}
			for _, level := range evaluate.IntervalLevels {
				f, ok := l.Figures[metricOf(level)]
				cell := "–"
				if ok {
					cell = fmt.Sprintf("%.0f", f.Mean)
					if !within(level, f.Mean) {
						cell = "**" + cell + "**"
					}
				}
				row = append(row, cell)
			}
			rows = append(rows, append(row, columnsText(l)))
		}
	}
	p.table([]string{"set", "left out", "50 %", "80 %", "95 %", "columns within the target at 50, 80, 95 %; the worst at 95 %"}, rows)
}

func columnsText(l *evaluate.Line) string {
	names := make([]string, 0, len(l.Intervals))
	for name := range l.Intervals {
		names = append(names, name)
	}
	sort.Strings(names)
	inside, n := [len(evaluate.IntervalLevels)]int{}, 0
	worst, away := "", -1.0
	for _, name := range names {
		held := l.Intervals[name]
		if held[0].Cells < fewestCells {
			continue
		}
		n++
		for k, h := range held {
			if within(h.Level, h.Inside) {
				inside[k]++
			}
		}
		last := held[len(held)-1]
		if d := math.Abs(last.Inside - float64(last.Level)); d > away {
			worst, away = fmt.Sprintf("%s %.0f %%", name, last.Inside), d
		}
	}
	if n == 0 {
		return "too few cells"
	}
	return fmt.Sprintf("%d, %d, %d of %d; %s", inside[0], inside[1], inside[2], n, worst)
}

func (p *page) curves(o outcome) {
	reports := o.of(partShown)
	if len(reports) == 0 {
		return
	}
	p.head("Error against what was measured")
	p.line("")
	p.line("Mean error by the number of shown cells, drawn at random; a profile spends the same time on each. In brackets: cells inside the 95 %% interval.")
	for _, r := range o.of(partRows) {
		if slices.Contains(curves, r.Set) {
			reports = append(reports, r)
		}
	}
	slices.SortStableFunc(reports, func(a, b evaluate.Report) int {
		if c := slices.Index(curves, a.Set) - slices.Index(curves, b.Set); c != 0 {
			return c
		}
		return a.Entries - b.Entries
	})
	methods := []string{"average", "ridge", "local", "stack"}
	var rows [][]string
	for _, r := range reports {
		row := []string{r.Set, fmt.Sprint(r.Entries)}
		for _, m := range methods {
			f, ok := figure(r, m, evaluate.MeanError)
			cell := text(f, ok)
			if c, ok := figure(r, m, evaluate.Covered); ok {
				cell += fmt.Sprintf(" (%.0f)", c.Mean)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	p.table(append([]string{"set", "shown"}, methods...), rows)
}

func pairLine(r evaluate.PairReport, name string) *evaluate.PairLine {
	for i := range r.Lines {
		if r.Lines[i].Predictor == name {
			return &r.Lines[i]
		}
	}
	return nil
}

func (p *page) pairs(o outcome) {
	for _, shown := range []string{allSources, twoSources} {
		r, ok := o.Pairs[shown]
		if !ok {
			continue
		}
		if shown == allSources {
			p.head("Pairs")
			p.line("")
			p.line("Two applications ran at once, %d pairs of %d applications, on one CPU (they share its time and all inside it) or on neighbouring CPUs (contention alone). What each would keep of its speed in isolation is predicted from what was measured of the two before they met; nothing is learnt from pairs or rows of either. Of %d pairs both applications had been measured. Published: 5.3 points (Paragon), 1.7 %% (Gsight, with hardware counters).", r.Pairs, r.Applications, r.Known)
		}
		p.line("")
		if shown == allSources {
			p.line("All sources of each measured:")
		} else {
			p.line("%d sources of each measured, the others predicted:", r.Sources)
		}
		var rows [][]string
		for _, l := range r.Lines {
			name := "`" + l.Predictor + "`"
			if l.Predictor == r.Chosen {
				name = "**" + name + "**"
			}
			row := []string{name, l.Summary}
			for _, part := range []string{"known", "same", "beside"} {
				f := l.Figures[part]
				cell := "–"
				if f.Sides > 0 {
					cell = fmt.Sprintf("%.1f", f.MeanError)
				}
				row = append(row, cell)
			}
			f := l.Figures["known"]
			held := "–"
			if len(f.Holds) > 0 {
				held = fmt.Sprintf("%.0f, %.0f, %.0f", f.Holds["50"], f.Holds["80"], f.Holds["95"])
			}
			rows = append(rows, append(row, fmt.Sprintf("%.0f", f.Within5), held))
		}
		p.table([]string{"predictor", "what it does", "mean error, points", "on one CPU", "on neighbouring CPUs", "within 5 points, %", "intervals of 50, 80, 95 % hold"}, rows)
	}
}

func (p *page) repeats(o outcome) {
	if len(o.Repeats) == 0 {
		return
	}
	p.head("Rows measured twice")
	p.line("")
	p.line("No prediction can be nearer to a measurement than another measurement. Differences in points; covered: scores inside the interval of the other run (`make repeatability`).")
	var rows [][]string
	for _, a := range o.Repeats {
		name := "all"
		if info, ok := interference.Info(a.Source); ok {
			name = info.Title
		}
		number := func(v float64) string {
			if math.IsNaN(v) {
				return "–"
			}
			return fmt.Sprintf("%.1f", v)
		}
		rows = append(rows, []string{name, fmt.Sprintf("%d of %d", a.Known, a.Scores), number(a.Median), number(a.P90), number(100 * a.Covered)})
	}
	p.table([]string{"source", "known both times", "median", "90th percentile", "covered, %"}, rows)
}
