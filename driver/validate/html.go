package validate

import (
	"bytes"
	_ "embed" // the page's template
	"fmt"
	"html/template"

	"github.com/nomad-placer/nomad-placer/profiler/chart"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

//go:embed report.html.tmpl
var pageText string

var pageTemplate = template.Must(template.New("report").Parse(pageText))

// page is what the template shows.
type page struct {
	Style  template.CSS
	Head   [][2]string
	Counts table
	Charts []chartGroup
	Tables []table
}

type chartGroup struct {
	Title, Note string
	Charts      []template.HTML
}

// HTML is the report as one page that needs nothing else.
func (r Report) HTML() ([]byte, error) {
	p := page{Style: chart.CSS(), Head: r.head(), Counts: r.counts(), Charts: r.charts(), Tables: r.tables()}
	var out bytes.Buffer
	if err := pageTemplate.Execute(&out, p); err != nil {
		return nil, fmt.Errorf("write the report: %w", err)
	}
	return out.Bytes(), nil
}

func (r Report) charts() []chartGroup {
	impact := chartGroup{Title: "Impact against intensity", Note: "After Delimitrou 2015, Fig. 5.2; its points are read off the figure."}
	for _, l := range r.Linearity {
		impact.Charts = append(impact.Charts, r.impactChart(l))
	}
	victims := chartGroup{Title: "What victims lose", Note: "Median loss of paired windows with its interval; after Fig. 5.3."}
	for _, v := range r.Victims {
		victims.Charts = append(victims.Charts, v.chart())
	}
	matrix := chartGroup{
		Title: "Cross-talk between kernels",
		Note:  fmt.Sprintf("Loss in percent of the kernel of the column at %d, by the kernel of the row at 100. Outlined: over the target, and not to be expected. Dashed: not measured.", observerPercent),
		Charts: []template.HTML{r.heat("cross-talk", func(from, to interference.Source) (PairLoss, bool) {
			c, ok := r.crossTalk(from, to)
			return c.PairLoss, ok
		})},
	}
	off := chartGroup{
		Title: "Victims of other sources",
		Note:  "Loss in percent of the victim of the column's source, by the kernel of the row at 100.",
		Charts: []template.HTML{r.heat("off-target", func(from, to interference.Source) (PairLoss, bool) {
			for _, c := range r.OffTarget {
				if c.From == from && c.Victim == to {
					return c.PairLoss, true
				}
			}
			return PairLoss{}, false
		})},
	}
	return []chartGroup{impact, victims, matrix, off}
}

// percent is the axis of intensities, impacts and losses.
func percent(title string) chart.Axis { return chart.Axis{Title: title, High: 100} }

// The size of a curve in pixels.
const (
	curveWidth  = 420
	curveHeight = 258
)

func (r Report) impactChart(l Linearity) template.HTML {
	up, down := chart.Series{Name: "up", Style: chart.LineAndDots}, chart.Series{Name: "down", Style: chart.LineAndDots}
	for _, p := range l.Points {
		s := &up
		if p.Down {
			s = &down
		}
		s.Points = append(s.Points, chart.Point{X: p.Intensity, Y: float64(p.Impact)})
	}
	series := []chart.Series{up, down}
	if theirs := published[l.Source]; theirs != nil {
		series = append(series, chart.Series{Name: "published", Kind: chart.Colour(2), Style: chart.Dots, Points: chart.Points(publishedAt, theirs)})
	}
	for _, d := range r.Displacements {
		if d.Source == l.Source && len(d.Points) > 0 {
			probe := chart.Series{Name: "displaced", Kind: chart.Colour(3), Style: chart.LineAndDots}
			for _, p := range d.Points {
				probe.Points = append(probe.Points, chart.Point{X: p.Intensity, Y: float64(p.Impact)})
			}
			series = append(series, probe)
		}
	}
	title := titleOf(l.Source)
	return chart.Plot{
		Label: title, Title: title, Width: curveWidth, Height: curveHeight,
		X: percent("intensity, %"), Y: percent("impact, %"), Diagonal: true, Series: series,
	}.SVG()
}

// titleOf names a source, short and in words.
func titleOf(s interference.Source) string {
	info, _ := interference.Info(s)
	return string(s) + ": " + info.Title
}

func (c VictimCurve) chart() template.HTML {
	loss := chart.Series{Name: "loss of " + c.Victim, Style: chart.LineAndDots}
	for _, p := range c.Points {
		loss.Points = append(loss.Points, chart.Point{
			X: p.Intensity, Y: float64(p.Loss.Center), Low: float64(p.Loss.Low), High: float64(p.Loss.High),
			Note: fmt.Sprintf("intensity %.0f: %s %%", p.Intensity, p.Loss.text("%.1f")),
		})
	}
	title := titleOf(c.Source)
	return chart.Plot{
		Label: title, Title: title, Width: curveWidth, Height: curveHeight,
		X: percent("intensity, %"), Y: percent("loss, %"), Series: []chart.Series{loss},
	}.SVG()
}

// heat draws a matrix over the sources measured.
func (r Report) heat(label string, of func(from, to interference.Source) (PairLoss, bool)) template.HTML {
	sources := r.measured()
	h := chart.Heat{Label: label, Full: 100, Unit: " %"}
	for _, from := range sources {
		h.Rows, h.Columns = append(h.Rows, string(from)), append(h.Columns, string(from))
		var row []chart.Cell
		for _, to := range sources {
			p, ok := of(from, to)
			cell := chart.Cell{Value: float64(unknown), Flagged: p.Verdict == VerdictMiss, Note: fmt.Sprintf("%s on %s: not measured", from, to)}
			if ok {
				cell.Value = float64(p.Loss.Center)
				cell.Note = fmt.Sprintf("%s on %s, %s: %s %%", from, to, p.Placement, p.Loss.text("%.1f"))
			}
			row = append(row, cell)
		}
		h.Cells = append(h.Cells, row)
	}
	return h.SVG()
}
