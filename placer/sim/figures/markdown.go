package figures

import (
	"fmt"
	"io"
	"strings"

	"github.com/nomad-placer/nomad-placer/profiler/chart"
)

// page is text being written.
type page struct{ strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(&p.Builder, format+"\n", args...) }

// missedFile lists all that is missed.
const missedFile = "missed.md"

// Files are the pages of Markdown and their pictures by name: an index, one per paper that has
// experiments in the report, and a list of what is missed. They hold nothing that depends on the
// host or the day.
func (r *Report) Files() map[string]string {
	out := map[string]string{"README.md": r.index(), missedFile: r.missedPage()}
	for _, p := range papersOf(r) {
		out[p.Name+".md"] = paperPage(p)
		if o := find(p.Outcomes, digests[p.Name].picture); o != nil && len(o.Pictures()) > 0 {
			out[pictureFile(p.Name)] = chart.Standalone(o.Pictures()[0].SVG)
		}
		for i := range p.Outcomes {
			if o := &p.Outcomes[i]; o.causes() && len(o.Pictures()) > 0 {
				out[pictureFile(o.ID)] = chart.Standalone(o.Pictures()[0].SVG)
			}
		}
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
	p.line("What papers on placement published, and what the same policies give in our simulator (`placer/sim`) under the scenarios of `examples/sim`: for each paper one picture, a few numbers, what reproduces, what does not and why, and what to use. "+
		"The page of a paper has all tables; [one page](%s) lists what is missed.\n", missedFile)
	p.line("%s\n", r.worldText())
	p.line("| paper | requirements that can be reached | met | with planned profiles | not reachable | in the world of measured rows, met |")
	p.line("| --- | ---: | ---: | ---: | ---: | ---: |")
	var sum Tally
	for _, f := range r.Counts {
		p.tally(fmt.Sprintf("[%s](%s.md)", title(f.Paper), f.Paper), f.Requirements)
		sum = sum.plus(f.Requirements)
	}
	p.tally("all", sum)
	p.line("")
	p.line("All policies next to each other, in all these scenarios and in replayed traces: [the league](league.md), [the same with programs of measured rows](league-measured.md), and [where points are lost](headroom.md).\n")
	for _, paper := range papersOf(r) {
		p.digested(r, paper)
	}
	p.words()
	return strings.TrimRight(p.String(), "\n") + "\n"
}

// words says what the words of the tables mean.
func (p *page) words() {
	p.line("## What the words mean\n")
	p.line("- *A requirement* is what a reproduction must show: an order, a gap or a bound that the paper states. It is decided on means over seeds.")
	p.line("- *Met*: by policies that know of jobs what their papers would have them know: two random entries, completed by the papers' collaborative filtering.")
	p.line("- *With planned profiles*: by the same policies when they know what the live engine would (`knowledge = \"planned\"`: the two most informative entries, completed by the engine's own classifier).")
	p.line("- *Not reachable*: the same policies miss it, too, when they know the truth of every program. The world is not that of the paper there, and no policy could tell; it counts as neither met nor missed. Where a scenario has no policy that knows the truth, nothing is said to be out of reach.")
	p.line("- *Not judged*: an order of waits or queues where nobody waits worth mentioning (less than a second, less than a job more each hour).")
	p.line("- *Experiments that end in -causes* take parts away from a system, or have it know them better, one at a time. Nothing of them is published; what is required follows from what the paper claims of its parts.")
	p.line("- *In the world of measured rows*: the programs are those of `profiler/training`, which we measured on today's machines. Services and jobs with targets have no place in it.\n")
	p.line("± is half the 95 %% interval over seeds. Performance is the ideal time over the real one; a job that was killed or had not ended counts as 0. " +
		"Nothing is tuned until a number appears: what is missed is reported as missed, with the causes we see. `nomad-placer-sim figures -out DIR` makes these pages; the same program gives the same bytes.\n")
}

// missedPage lists verdicts by paper, and every requirement that is missed.
func (r *Report) missedPage() string {
	var p page
	p.line("# What is missed\n")
	p.line("An experiment is met when all its requirements are that can be carried, judged and reached. [What the words mean](README.md#what-the-words-mean).\n")
	p.line("| paper | experiments | met | with planned profiles | missed | not reachable | not judged | not carried by the simulator | not run |")
	p.line("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, f := range r.Counts {
		p.line("| [%s](%s.md) | %d | %d | %d | %d | %d | %d | %d | %d |", title(f.Paper), f.Paper, f.all(), f.Met, f.Planned, f.Missed, f.Unreachable, f.NotJudged, f.NotCarried, f.NotRun)
	}
	p.line("")
	missed := false
	for i := range r.Outcomes {
		missed = p.missed(&r.Outcomes[i]) || missed
	}
	if !missed {
		p.line("Nothing.")
	}
	return p.String()
}

// worldText says what programs the pages are of.
func (r *Report) worldText() string {
	if r.World == "" {
		return "The programs are drawn as each scenario says."
	}
	return worldText(r.World) + " Scenarios of which nothing is drawn are as they are."
}

func (p *page) tally(name string, t Tally) {
	there := "–"
	if t.Measured > 0 {
		there = fmt.Sprintf("%d of %d", t.MetThere, t.Measured)
	}
	p.line("| %s | %d | %s | %s | %d | %s |", name, t.Reachable, shareOfText(t.Met, t.Reachable), shareOfText(t.Planned, t.Reachable), t.Beyond, there)
}

func shareOfText(n, of int) string {
	if of == 0 {
		return "–"
	}
	return fmt.Sprintf("%d (%.0f %%)", n, 100*float64(n)/float64(of))
}

// missed lists what an experiment missed; false if nothing.
func (p *page) missed(o *Outcome) bool {
	if o.Verdict != Missed {
		return false
	}
	p.line("- [%s](%s.md#%s)", o.heading(), o.Paper, o.anchor())
	for _, c := range o.Required {
		if c.Verdict == Missed {
			p.line("  - %s. Ours: %s.%s", sentence(c.Text), c.Found, c.othersText())
		}
	}
	return true
}

// othersText has the answers with other knowledge, and in the world of measured rows, as sentences,
// with a space in front.
func (c Checked) othersText() string {
	var out strings.Builder
	for _, o := range []struct {
		with   string
		answer *Checked
	}{{"With planned profiles", c.Planned}, {"With the truth", c.Oracle}, {"In the world of measured rows", c.Measured}} {
		if o.answer != nil {
			fmt.Fprintf(&out, " %s %s: %s.", o.with, o.answer.Verdict, o.answer.Found)
		}
	}
	return out.String()
}

func (f PaperFact) all() int {
	return f.Met + f.Missed + f.NotCarried + f.NotRun + f.NotJudged + f.Unreachable
}

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
	p.line("%s. Published next to ours; [what the words mean](README.md#what-the-words-mean).\n", paper.Source)
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
	if pictures := o.Pictures(); o.causes() && len(pictures) > 0 {
		p.line("![%s](%s)\n", escaped(pictures[0].Title), pictureFile(o.ID))
	}
	if len(o.Rows) > 0 {
		p.table(o)
	}
	for _, c := range o.Required {
		switch c.Verdict {
		case NotCarried:
			p.line("- not carried: %s. %s.", sentence(c.Text), sentence(capital(c.Found)))
		default:
			p.line("- %s: %s. Ours: %s.%s", c.Verdict, sentence(c.Text), c.Found, c.othersText())
		}
	}
	p.line("")
	if gap := o.Gap(); gap != "" {
		p.line("%s\n", gap)
	}
	p.line("%s: %s", o.WhyTitle(), o.Why)
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
