package figures

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"github.com/nomad-placer/nomad-placer/placer/sim/report"
)

//go:embed page.html.tmpl
var pageText string

var htmlPage = template.Must(template.New("page").Funcs(template.FuncMap{
	"style": report.Style, "both": bothColumns, "class": verdictClass, "papers": papersOf,
}).Parse(pageText))

// HTML writes the report as one page that loads nothing: the tables, the
// pictures, and what the runs took on the host.
func (r *Report) HTML(w io.Writer) error {
	if err := htmlPage.Execute(w, r); err != nil {
		return fmt.Errorf("figures: page: %w", err)
	}
	return nil
}

// paperOutcomes are the experiments of a paper.
type paperOutcomes struct {
	Paper
	Outcomes []Outcome
}

func papersOf(r *Report) []paperOutcomes {
	var out []paperOutcomes
	for _, p := range Papers() {
		own := paperOutcomes{Paper: p}
		for _, o := range r.Outcomes {
			if o.Paper == p.Name {
				own.Outcomes = append(own.Outcomes, o)
			}
		}
		if len(own.Outcomes) > 0 {
			out = append(out, own)
		}
	}
	return out
}

// Pictures are the drawn plots of an experiment that ran.
func (o Outcome) Pictures() []Picture {
	var out []Picture
	if o.results == nil || o.results.absent != "" {
		return nil
	}
	for _, p := range o.plots {
		out = append(out, Picture{p.Title, p.draw(o.results, p.rows)})
	}
	return out
}

// Picture is a drawing with its title.
type Picture struct {
	Title string
	SVG   template.HTML
}

// Host is what the runs took on the host, a row per scenario and policy.
func (r *Report) Host() []HostRow {
	var out []HostRow
	for _, h := range r.host {
		row := HostRow{Scenario: h.Scenario, Policy: h.Policy, Runs: h.Runs, Events: h.Events, Seconds: h.Seconds}
		if h.Seconds > 0 {
			row.EventsPerSecond = float64(h.Events) / h.Seconds
		}
		if h.Decisions > 0 {
			row.MicrosecondsPerDecision = 1e6 * h.Seconds / float64(h.Decisions)
		}
		out = append(out, row)
	}
	return out
}

// HostRow is what runs took on the host: all of the world, not only the policy.
type HostRow struct {
	Scenario, Policy        string
	Runs, Events            int
	Seconds                 float64
	EventsPerSecond         float64
	MicrosecondsPerDecision float64
}

// bothColumns: something was published of the k-th quantity, so it has two columns.
func bothColumns(o Outcome, k int) bool {
	for _, row := range o.Rows {
		if row.Cells[k].Published != nil {
			return true
		}
	}
	return false
}

func verdictClass(v Verdict) string {
	switch v {
	case Met:
		return "met"
	case Missed:
		return "missed"
	default:
		return "open"
	}
}
