package validate

import (
	"bytes"
	_ "embed" // the page's template
	"fmt"
	"html/template"

	"github.com/nomad-placer/nomad-placer/driver/validate/plot"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

//go:embed report.html.tmpl
var pageText string

var pageTemplate = template.Must(template.New("report").Parse(pageText))

// page is what the template shows.
type page struct {
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
	p := page{Head: r.head(), Counts: r.counts(), Charts: r.charts(), Tables: r.tables()}
	var out bytes.Buffer
	if err := pageTemplate.Execute(&out, p); err != nil {
		return nil, fmt.Errorf("write the report: %w", err)
	}
	return out.Bytes(), nil
}

func (r Report) charts() []chartGroup {
	impact := chartGroup{Title: "Impact against intensity", Note: "After Delimitrou 2015, Fig. 5.2; its points are read off the figure."}
	for _, l := range r.Linearity {
		impact.Charts = append(impact.Charts, drawn(r.impactChart(l)))
	}
	victims := chartGroup{Title: "What victims lose", Note: "Median loss of paired windows with its interval; after Fig. 5.3."}
	for _, v := range r.Victims {
		victims.Charts = append(victims.Charts, drawn(v.chart()))
	}
	matrix := chartGroup{
		Title: "Cross-talk between kernels",
		Note:  fmt.Sprintf("Loss in percent of the kernel of the column at %d, by the kernel of the row at 100. Outlined: over the target, and not to be expected. Dashed: not measured.", observerPercent),
		Charts: []template.HTML{drawn(r.heat("cross-talk", func(from, to interference.Source) (PairLoss, bool) {
			c, ok := r.crossTalk(from, to)
			return c.PairLoss, ok
		}))},
	}
	off := chartGroup{
		Title: "Victims of other sources",
		Note:  "Loss in percent of the victim of the column's source, by the kernel of the row at 100.",
		Charts: []template.HTML{drawn(r.heat("off-target", func(from, to interference.Source) (PairLoss, bool) {
			for _, c := range r.OffTarget {
				if c.From == from && c.Victim == to {
					return c.PairLoss, true
				}
			}
			return PairLoss{}, false
		}))},
	}
	return []chartGroup{impact, victims, matrix, off}
}

// drawing is a picture of package plot, which escapes every text in it.
type drawing interface{ SVG() string }

func drawn(d drawing) template.HTML { return template.HTML(d.SVG()) } //nolint:gosec // package plot escapes every text

func (r Report) impactChart(l Linearity) plot.Lines {
	up, down := plot.Series{Name: "up", Colour: 0}, plot.Series{Name: "down", Colour: 1}
	for _, p := range l.Points {
		s := &up
		if p.Down {
			s = &down
		}
		s.X, s.Y = append(s.X, p.Intensity), append(s.Y, float64(p.Impact))
	}
	series := []plot.Series{up, down}
	if theirs := published[l.Source]; theirs != nil {
		series = append(series, plot.Series{Name: "published", X: publishedAt, Y: theirs, Dots: true, Colour: 2})
	}
	for _, d := range r.Displacements {
		if d.Source == l.Source && len(d.Points) > 0 {
			probe := plot.Series{Name: "displaced", Dashed: true, Colour: 3}
			for _, p := range d.Points {
				probe.X, probe.Y = append(probe.X, p.Intensity), append(probe.Y, float64(p.Impact))
			}
			series = append(series, probe)
		}
	}
	return plot.Lines{Title: titleOf(l.Source), XLabel: "intensity, %", YLabel: "impact, %", XMax: 100, YMax: 100, Diagonal: true, Series: series}
}

// titleOf names a source, short and in words.
func titleOf(s interference.Source) string {
	info, _ := interference.Info(s)
	return string(s) + ": " + info.Title
}

func (c VictimCurve) chart() plot.Lines {
	loss := plot.Series{Name: "loss of " + c.Victim}
	for _, p := range c.Points {
		loss.X, loss.Y = append(loss.X, p.Intensity), append(loss.Y, float64(p.Loss.Center))
		loss.Low, loss.High = append(loss.Low, float64(p.Loss.Low)), append(loss.High, float64(p.Loss.High))
	}
	return plot.Lines{
		Title: titleOf(c.Source), XLabel: "intensity, %", YLabel: "loss, %", XMax: 100, YMax: 100, Series: []plot.Series{loss},
	}
}

// heat draws a matrix over the sources measured.
func (r Report) heat(title string, of func(from, to interference.Source) (PairLoss, bool)) plot.Heat {
	sources := r.measured()
	h := plot.Heat{Title: title, Full: 100}
	for _, from := range sources {
		h.Rows, h.Columns = append(h.Rows, string(from)), append(h.Columns, string(from))
		var row []plot.HeatCell
		for _, to := range sources {
			p, ok := of(from, to)
			cell := plot.HeatCell{Value: float64(unknown), Note: fmt.Sprintf("%s on %s: not measured", from, to)}
			if ok {
				cell.Value = float64(p.Loss.Center)
				cell.Note = fmt.Sprintf("%s on %s, %s: %s %%", from, to, p.Placement, p.Loss.text("%.1f"))
			}
			if p.Verdict == VerdictMiss {
				cell.Class = "miss"
			}
			row = append(row, cell)
		}
		h.Cells = append(h.Cells, row)
	}
	return h
}
