package figures

import (
	"fmt"
	"io"
	"strings"
)

// page is text being written.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(&p.Builder, format+"\n", args...) }

// Files are the pages of Markdown by name: an index, and one per paper that has
// experiments in the report. They hold nothing that depends on the host or the
// day.
func (r *Report) Files() map[string]string {
	out := map[string]string{"README.md": r.index()}
	for _, p := range papersOf(r) {
		out[p.Name+".md"] = paperPage(p)
	}
	return out
}

// Markdown writes all of it as one text.
func (r *Report) Markdown(w io.Writer) error {
	files := r.Files()
	if _, err := io.WriteString(w, files["README.md"]); err != nil {
		return fmt.Errorf("figures: %w", err)
	}
	for _, p := range Papers() {
		if text, ok := files[p.Name+".md"]; ok {
			if _, err := io.WriteString(w, "\n"+text); err != nil {
				return fmt.Errorf("figures: %w", err)
			}
		}
	}
	return nil
}

func (r *Report) index() string {
	var p page
	p.line("# Published results and ours\n")
	p.line("What the papers published, and what the same policies give in the simulated world (`placer/sim`), under the scenarios of `examples/sim`. " +
		"`nomad-placer-sim figures -out DIR` makes these pages; the same program gives the same bytes. Nothing is tuned until a number appears: " +
		"what is missed is reported as missed, with the causes we see.\n")
	p.line("| paper | experiments | met | met with planned profiles | missed | not carried by the simulator | not run |")
	p.line("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
	var sum PaperFact
	for _, f := range r.Counts {
		p.line("| [%s](%s.md) | %d | %d | %d | %d | %d | %d |", title(f.Paper), f.Paper, f.all(), f.Met, f.Planned, f.Missed, f.NotCarried, f.NotRun)
		sum.Planned += f.Planned
		sum.Met, sum.Missed, sum.NotCarried, sum.NotRun = sum.Met+f.Met, sum.Missed+f.Missed, sum.NotCarried+f.NotCarried, sum.NotRun+f.NotRun
	}
	p.line("| all | %d | %d | %d | %d | %d | %d |\n", sum.all(), sum.Met, sum.Planned, sum.Missed, sum.NotCarried, sum.NotRun)
	one, planned, of := r.requirements()
	p.line("Of %d requirements that the simulator can carry %d are met, with planned profiles %d.\n", of, one, planned)
	p.line("An experiment is met when all its requirements are that the simulator can carry. Requirements are about order, gaps and bounds, decided on means over seeds; " +
		"± is half the 95 %% interval over seeds. Performance is the ideal time over the real one; a job that was killed or had not ended counts as 0.\n")
	p.line("Requirements are checked on policies that know of jobs what their papers would have them know: two random entries, completed by the papers' collaborative filtering. " +
		"Met with planned profiles is what the same policies meet when they know what the live engine would (`knowledge = \"planned\"`: " +
		"the two most informative entries, completed by the engine's own classifier).\n")
	p.line("All policies side by side, in all these scenarios and in replayed traces: [the league](league.md).\n")
	p.line("## Missed\n")
	missed := false
	for i := range r.Outcomes {
		missed = p.missed(&r.Outcomes[i]) || missed
	}
	if !missed {
		p.line("Nothing.")
	}
	return p.String()
}

// requirements counts those that were answered: met, and met with planned profiles.
func (r *Report) requirements() (met, planned, all int) {
	for i := range r.Outcomes {
		for _, c := range r.Outcomes[i].Required {
			if c.Verdict != Met && c.Verdict != Missed {
				continue
			}
			all++
			if c.Verdict == Met {
				met++
			}
			if c.Planned != nil && c.Planned.Verdict == Met || c.Planned == nil && c.Verdict == Met {
				planned++
			}
		}
	}
	return met, planned, all
}

// missed lists what an experiment missed; false if nothing.
func (p *page) missed(o *Outcome) bool {
	if o.Verdict != Missed {
		return false
	}
	p.line("- [%s](%s.md#%s)", o.heading(), o.Paper, o.anchor())
	for _, c := range o.Required {
		if c.Verdict == Missed {
			p.line("  - %s. Ours: %s.%s", sentence(c.Text), c.Found, c.plannedText())
		}
	}
	return true
}

// plannedText is the answer with planned knowledge as a sentence, with a space in
// front.
func (c Checked) plannedText() string {
	if c.Planned == nil {
		return ""
	}
	return fmt.Sprintf(" With planned profiles %s: %s.", c.Planned.Verdict, c.Planned.Found)
}

func (f PaperFact) all() int { return f.Met + f.Missed + f.NotCarried + f.NotRun }

func title(paper string) string {
	for _, p := range Papers() {
		if p.Name == paper {
			return p.Title
		}
	}
	return paper
}

// anchor is how a heading of Markdown is linked to.
func (o *Outcome) anchor() string {
	var b strings.Builder
	for _, c := range strings.ToLower(o.heading()) {
		switch {
		case c == ' ':
			b.WriteByte('-')
		case c == '-' || c == '_' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c > 127 && c != '§':
			b.WriteRune(c)
		}
	}
	return b.String()
}

func (o *Outcome) heading() string { return o.ID + " " + o.Title }

// sentence takes the stop off.
func sentence(s string) string { return strings.TrimSuffix(s, ".") }

func paperPage(paper paperOutcomes) string {
	var p page
	p.line("# %s\n", paper.Title)
	p.line("%s. Published next to ours; [what the words mean](README.md).\n", paper.Source)
	p.summary(paper.Outcomes)
	for i := range paper.Outcomes {
		p.outcome(&paper.Outcomes[i])
	}
	return strings.TrimRight(p.String(), "\n") + "\n"
}

// summary has a row per experiment that ran.
func (p *page) summary(outcomes []Outcome) {
	p.line("| experiment | quantity | published | ours | Nomad binpack | Nomad spread | least-loaded | oracle | requirement |")
	p.line("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
	for i := range outcomes {
		o := &outcomes[i]
		cells := []string{fmt.Sprintf("[%s](#%s)", escaped(o.heading()), o.anchor())}
		if len(o.Quantities) == 0 {
			cells = append(cells, "", "", "", "", "", "", "")
		} else {
			cells = append(cells, escaped(o.Quantities[0].String()), escaped(o.Summary[0].Cells[0].PublishedText()))
			for _, row := range o.Summary {
				cells = append(cells, row.Cells[0].OursText())
			}
		}
		p.row(append(cells, string(o.Verdict)))
	}
	p.line("")
}

func (p *page) row(cells []string) { p.line("| %s |", strings.Join(cells, " | ")) }

// String is a quantity with its unit, where its name does not say that.
func (c Column) String() string {
	if c.Unit == "%" && strings.Contains(c.Name, "%") {
		return c.Name
	}
	return c.Name + ", " + c.Unit
}

// PublishedText and OursText are a cell as it is printed.
func (c Cell) PublishedText() string {
	if c.Published == nil {
		return "–"
	}
	return c.Published.String()
}

// OursText implements the other half.
func (c Cell) OursText() string {
	if c.Ours == nil {
		return "–"
	}
	return c.Ours.String()
}

// escaped keeps a text inside its cell.
func escaped(s string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;").Replace(s)
}

func (p *page) outcome(o *Outcome) {
	p.line("## %s\n", o.heading())
	p.line("%s. **%s**.%s\n", o.Where, capital(string(o.Verdict)), o.made())
	if o.Missing != "" {
		p.line("Not carried by the simulator: %s\n", o.Missing)
		return
	}
	if len(o.Rows) > 0 {
		p.table(o)
	}
	for _, c := range o.Required {
		switch c.Verdict {
		case NotCarried:
			p.line("- not carried: %s. %s.", sentence(c.Text), sentence(capital(c.Found)))
		default:
			p.line("- %s: %s. Ours: %s.%s", c.Verdict, sentence(c.Text), c.Found, c.plannedText())
		}
	}
	p.line("")
	if gap := o.Gap(); gap != "" {
		p.line("%s\n", gap)
	}
	p.line("Why we differ: %s", o.Why)
	for _, n := range o.Notes {
		p.line("- %s", n)
	}
	p.line("")
}

// made says of what.
func (o *Outcome) made() string {
	if o.Missing != "" {
		return ""
	}
	out := ""
	if len(o.Scenarios) > 0 {
		var files []string
		for _, s := range o.Scenarios {
			files = append(files, "`"+s+".hcl`")
		}
		out = " " + strings.Join(files, ", ") + ";"
	}
	if o.Seeds == 1 {
		return out + " 1 seed."
	}
	return fmt.Sprintf("%s %d seeds.", out, o.Seeds)
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// table has two columns per quantity that was published, and one per other.
func (p *page) table(o *Outcome) {
	header, rule := []string{""}, []string{"---"}
	both := make([]bool, len(o.Quantities))
	for k, q := range o.Quantities {
		if both[k] = bothColumns(*o, k); both[k] {
			header, rule = append(header, escaped(q.String())+": published", "ours"), append(rule, "---:", "---:")
		} else {
			header, rule = append(header, escaped(q.String())), append(rule, "---:")
		}
	}
	p.row(header)
	p.row(rule)
	for _, row := range o.Rows {
		cells := []string{escaped(row.Name)}
		for k, c := range row.Cells {
			if both[k] {
				cells = append(cells, escaped(c.PublishedText()))
			}
			cells = append(cells, c.OursText())
		}
		p.row(cells)
	}
	p.line("")
}
