package figures

import (
	"html/template"
	"math"

	"github.com/nomad-placer/nomad-placer/placer/sim/report"
	"github.com/nomad-placer/nomad-placer/profiler/chart"
)

// Plot is a picture of an experiment.
type Plot struct {
	Title string
	rows  []At
	draw  func(r *results, rows []At) template.HTML
}

// computedPicture is one that the computation has drawn.
func computedPicture(title string) Plot {
	return Plot{title, nil, func(r *results, _ []At) template.HTML { return r.table.pictures[title] }}
}

// lines are the rows that ran, with their names.
func (r *results) linesOf(rows []At) ([]report.Line, []string) {
	var lines []report.Line
	var names []string
	for _, a := range rows {
		if l, ok := r.line(a); ok {
			lines, names = append(lines, l), append(names, a.String())
		}
	}
	return lines, names
}

// sorted draws the performance of jobs from worst to best: the distribution of
// QoS as the papers draw it.
func sorted(rows ...At) Plot { return curves("Performance of jobs, from worst to best", false, rows) }

// sortedWithWait is the same from submission on.
func sortedWithWait(rows ...At) Plot {
	return curves("Performance of jobs from submission, from worst to best", true, rows)
}

func curves(title string, wait bool, rows []At) Plot {
	return Plot{title, rows, func(r *results, rows []At) template.HTML {
		lines, names := r.linesOf(rows)
		return report.CurvesPicture(lines, names, wait)
	}}
}

// usageOf draws used, allocated and reserved cores over time.
func usageOf(a At) Plot { return pictureOf("Cores over time, ", a, report.UsagePicture) }

// heatOf draws how busy nodes are over time.
func heatOf(a At) Plot { return pictureOf("Nodes over time, ", a, report.HeatPicture) }

// pictureOf is a picture of one row.
func pictureOf(title string, a At, draw func(l report.Line, name string) template.HTML) Plot {
	return Plot{title + a.String(), []At{a}, func(r *results, rows []At) template.HTML {
		l, ok := r.line(rows[0])
		if !ok {
			return ""
		}
		return draw(l, rows[0].String())
	}}
}

// maps are heat maps of several rows.
func maps(rows ...At) []Plot {
	var out []Plot
	for _, a := range rows {
		out = append(out, heatOf(a))
	}
	return out
}

// cdf draws a distribution over jobs: a Spread of report, times a factor.
func cdf(title, spread, below string, factor float64, log bool, rows ...At) Plot {
	return Plot{title, rows, func(r *results, rows []At) template.HTML {
		lines, names := r.linesOf(rows)
		return report.CDFPicture(lines, names, spread, below, factor, log)
	}}
}

// keptOfPlatforms and keptOfCoRunners are the two ways to lose speed.
func keptOfPlatforms(rows ...At) Plot {
	return cdf("Speed that the configuration leaves", report.SpreadPlatform, "of the best configuration's speed, %", 100, false, rows...)
}

func keptOfCoRunners(rows ...At) Plot {
	return cdf("Speed that co-runners leave", report.SpreadInterference, "of the speed in isolation, %", 100, false, rows...)
}

func decisionTimes(rows ...At) Plot {
	return cdf("Time of a job's decisions, by the stated cost model", report.SpreadDeciding, "time of decisions, ms", 1, true, rows...)
}

func waits(rows ...At) Plot {
	return cdf("Wait from ready to started", report.SpreadWait, "wait, s", 1, false, rows...)
}

// sweepLine is a quantity by one setting.
type sweepLine struct {
	name   string
	points []sweepPoint
}

type sweepPoint struct {
	x  float64
	at At
}

// sweep draws a quantity by one setting.
func sweep(title string, q Quantity, below, unit string, log bool, lines ...sweepLine) Plot {
	var rows []At
	for _, l := range lines {
		for _, p := range l.points {
			rows = append(rows, p.at)
		}
	}
	if unit != "" {
		below += ", " + unit
	}
	return Plot{title, rows, func(r *results, _ []At) template.HTML {
		var series []chart.Series
		for _, l := range lines {
			s := chart.Series{Name: l.name}
			for _, p := range l.points {
				if f, ok := q.of(r, p.at); ok {
					s.Points = append(s.Points, chart.Point{X: p.x, Y: f.Mean})
				}
			}
			series = append(series, s)
		}
		return report.Plot(title, chart.Axis{Title: below, Tight: true, Log: log}, chart.Axis{Title: q.Unit}, series)
	}}
}

// overLoads draws a quantity of policies by load.
func overLoads(title string, q Quantity, loads []float64, policies ...string) Plot {
	var lines []sweepLine
	for _, p := range policies {
		l := sweepLine{name: p}
		for _, load := range loads {
			l.points = append(l.points, sweepPoint{100 * load, of(p).load(load)})
		}
		lines = append(lines, l)
	}
	return sweep(title, q, "load", "%", false, lines...)
}

// byPart draws a quantity of rows as bars, with its interval over seeds: what each part that a row
// goes without, or knows better, makes of it.
func byPart(q Quantity, rows ...At) Plot {
	title := capital(q.Name) + ", by what is taken away or known better"
	return Plot{title, rows, func(r *results, rows []At) template.HTML {
		bars := chart.Bars{Label: title, Width: partsWidth, Axis: chart.Axis{Title: q.Unit}, Target: math.NaN()}
		for i, a := range rows {
			f, ok := q.of(r, a)
			if !ok {
				continue
			}
			bar := chart.Bar{Name: a.String(), Kind: chart.Colour(min(i, 1)), Value: f.Mean, Text: f.String() + " " + q.Unit}
			if f.Low != nil && f.High != nil {
				bar.Low, bar.High = max(0, *f.Low), *f.High
			}
			bars.Rows = append(bars.Rows, bar)
		}
		return bars.SVG()
	}}
}

const partsWidth = 760 // pixels
