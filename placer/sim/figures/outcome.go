package figures

import (
	"fmt"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/sim/report"
)

// Report is the outcome of the chosen experiments.
type Report struct {
	Format   int         `json:"format"`
	World    string      `json:"world,omitempty"` // that scenarios are in where they can be; their own where empty
	Outcomes []Outcome   `json:"experiments"`
	Counts   []PaperFact `json:"papers"`

	host []hostRow
}

// ReportFormat is the version of the JSON form.
const ReportFormat = 1

// Outcome is an experiment with its numbers.
type Outcome struct {
	ID         string    `json:"id"`
	Paper      string    `json:"paper"`
	Where      string    `json:"where"`
	Title      string    `json:"title"`
	Verdict    Verdict   `json:"verdict"`
	Planned    Verdict   `json:"planned,omitempty"` // with what the live engine would know; empty where no row has it
	Scenarios  []string  `json:"scenarios,omitempty"`
	Seeds      int       `json:"seeds,omitempty"`
	Quantities []Column  `json:"quantities,omitempty"`
	Rows       []Row     `json:"rows,omitempty"`
	Summary    []Row     `json:"summary,omitempty"` // the first quantity of what the paper proposes and of the yardsticks
	Required   []Checked `json:"required,omitempty"`
	Notes      []string  `json:"notes,omitempty"` // of the scenarios or the data
	Why        string    `json:"why,omitempty"`
	Missing    string    `json:"missing,omitempty"`

	plots   []Plot
	results *results
}

// causes reports whether it says what the outcome owes to which part.
func (o *Outcome) causes() bool { return strings.HasSuffix(o.ID, causesSuffix) }

const causesSuffix = "-causes"

// WhyTitle is what the last text of an experiment is about.
func (o *Outcome) WhyTitle() string {
	if o.causes() {
		return "What it teaches"
	}
	return "Why we differ"
}

// Column is a quantity.
type Column struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
}

// Row is what a row of the table has of each quantity.
type Row struct {
	Name  string `json:"name"`
	Cells []Cell `json:"cells"`
}

// Cell is published and ours; each may be missing.
type Cell struct {
	Published *Number        `json:"published,omitempty"`
	Ours      *report.Figure `json:"ours,omitempty"`
}

// PaperFact counts the verdicts on a paper's experiments.
type PaperFact struct {
	Paper      string `json:"paper"`
	Met        int    `json:"met"`
	Planned    int    `json:"planned"` // met where policies know what the live engine would
	Missed     int    `json:"missed"`
	NotCarried int    `json:"not_carried"`
	NotRun     int    `json:"not_run"`
	NotJudged  int    `json:"not_judged"`

	Unreachable  int   `json:"unreachable"` // missed with the truth, too, and nothing else missed
	Requirements Tally `json:"requirements"`
}

// Tally counts requirements that the simulator can carry.
type Tally struct {
	Reachable int `json:"reachable"` // all but those that the same policies miss with the truth, too
	Met       int `json:"met"`
	Planned   int `json:"planned"` // met where policies know what the live engine would

	Beyond   int `json:"unreachable"`
	Measured int `json:"measured"`     // asked in the world of measured rows
	MetThere int `json:"met_measured"` // and met there
}

func (t *Tally) add(c Checked) {
	switch c.Verdict {
	case Met, Missed:
		t.Reachable++
	case Unreachable:
		t.Beyond++
	default:
		return
	}
	if c.Verdict == Met {
		t.Met++
	}
	if c.Planned != nil && c.Planned.Verdict == Met || c.Planned == nil && c.Verdict == Met {
		t.Planned++
	}
	if c.Measured != nil {
		t.Measured++
		if c.Measured.Verdict == Met {
			t.MetThere++
		}
	}
}

// plus is both together.
func (t Tally) plus(o Tally) Tally {
	return Tally{t.Reachable + o.Reachable, t.Met + o.Met, t.Planned + o.Planned, t.Beyond + o.Beyond, t.Measured + o.Measured, t.MetThere + o.MetThere}
}

// outcome puts an experiment's results into its tables.
func (e *Experiment) outcome(r, measured *results, rows []At, notes []string) Outcome {
	out := Outcome{
		ID: e.ID, Paper: e.Paper, Where: e.Where, Title: e.Title, Scenarios: e.Scenarios, Notes: notes, Why: strings.TrimSpace(e.Why), Missing: e.Missing,
		plots: e.Plots, results: r,
	}
	if e.Missing != "" {
		out.Verdict = NotCarried
		return out
	}
	for _, lines := range r.lines {
		out.Seeds = max(out.Seeds, len(lines))
	}
	if r.table != nil {
		out.Seeds, out.Notes = r.table.Seeds, append(out.Notes, r.table.Notes...)
	}
	for _, q := range e.Quantities {
		out.Quantities = append(out.Quantities, Column{q.Name, q.Unit})
	}
	for _, a := range rows {
		row := Row{Name: a.String()}
		for i := range e.Quantities {
			row.Cells = append(row.Cells, e.Quantities[i].cell(r, a))
		}
		out.Rows = append(out.Rows, row)
	}
	out.Summary = e.summary(r, rows)
	for i := range e.Requires {
		out.Required = append(out.Required, e.Requires[i].answers(r, measured))
	}
	out.Verdict = verdictOf(out.Required)
	out.Planned = plannedVerdict(out.Required)
	return out
}

func (q *Quantity) cell(r *results, a At) Cell {
	var c Cell
	if p, ok := q.Published[a.String()]; ok {
		c.Published = &p
	}
	if f, ok := q.of(r, a); ok && finite(f.Mean) {
		f.Name = ""
		c.Ours = &f
	}
	return c
}

// The yardsticks of the summary, next to what a paper proposes.
var yardsticks = []string{"nomad-binpack", "nomad-spread", "least-loaded", "oracle"}

// summary is the first quantity of the headline, and of each yardstick in the
// same scenario and load. The oracle is the first policy whose name ends so. A
// yardstick that the scenario has not has an empty cell.
func (e *Experiment) summary(r *results, rows []At) []Row {
	q := &e.Quantities[0]
	ours := q.cell(r, e.Headline)
	if p, ok := q.Published[thePaper]; ok && e.Compute != nil {
		ours.Published = &p
	}
	out := []Row{{Name: "ours", Cells: []Cell{ours}}}
	for _, name := range yardsticks {
		row := Row{Name: name, Cells: []Cell{{}}}
		for _, a := range rows {
			if a.Scenario == e.Headline.Scenario && a.Load == e.Headline.Load && (a.Policy == name || name == "oracle" && strings.HasSuffix(a.Policy, "-oracle")) {
				row.Cells[0] = q.cell(r, a)
				break
			}
		}
		out = append(out, row)
	}
	return out
}

// Gap says how much of the difference is due to what the policy does not know:
// the same policy is run with the truth. Empty where there is no such run, or no
// number to compare with.
func (o Outcome) Gap() string {
	if len(o.Summary) == 0 {
		return ""
	}
	ours, oracle := o.Summary[0].Cells[0], o.Summary[len(o.Summary)-1].Cells[0]
	if ours.Ours == nil || oracle.Ours == nil || ours.Published == nil || ours.Published.Figure {
		return ""
	}
	return fmt.Sprintf("%s: published %s, ours %s; the same policy with the truth instead of estimates %s.", o.Quantities[0].Name, ours.Published, ours.Ours, oracle.Ours)
}

// verdictOf all requirements: one missed is enough, and so is one that could not
// be answered; those that cannot be carried, judged or reached do not count where others are.
func verdictOf(all []Checked) Verdict {
	out := NotCarried
	for _, c := range all {
		switch c.Verdict {
		case Missed:
			return Missed
		case NotRun:
			out = NotRun
		case Met:
			if out != NotRun {
				out = Met
			}
		case Unreachable, NotJudged:
			if out == NotCarried {
				out = c.Verdict
			}
		}
	}
	return out
}

// plannedVerdict is that of all requirements, each checked with planned knowledge
// where a row has it; empty where none has.
func plannedVerdict(all []Checked) Verdict {
	found := false
	instead := make([]Checked, len(all))
	for i, c := range all {
		instead[i] = c
		if c.Planned != nil {
			instead[i], found = *c.Planned, true
		}
	}
	if !found {
		return ""
	}
	return verdictOf(instead)
}

// count the verdicts by paper, in the order of Papers.
func count(outcomes []Outcome) []PaperFact {
	var facts []PaperFact
	for _, p := range Papers() {
		f := PaperFact{Paper: p.Name}
		n := 0
		for _, o := range outcomes {
			if o.Paper != p.Name {
				continue
			}
			n++
			if o.Planned == Met || o.Planned == "" && o.Verdict == Met {
				f.Planned++
			}
			switch o.Verdict {
			case Met:
				f.Met++
			case Missed:
				f.Missed++
			case NotCarried:
				f.NotCarried++
			case NotRun:
				f.NotRun++
			case NotJudged:
				f.NotJudged++
			case Unreachable:
				f.Unreachable++
			}
			for _, c := range o.Required {
				f.Requirements.add(c)
			}
		}
		if n > 0 {
			facts = append(facts, f)
		}
	}
	return facts
}
