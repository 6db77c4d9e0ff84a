package figures

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/sim/report"
)

var askedFor = regexp.MustCompile(`{{ours "([^"]*)" "([^"]*)" "([^"]*)"}}`)

// What the index says of a paper is of experiments, quantities and rows that are there.
func TestDigestsAreOfTheTables(t *testing.T) {
	t.Parallel()
	every := Experiments()
	for _, paper := range Papers() {
		d, ok := digests[paper.Name]
		if !ok {
			t.Errorf("%s: the index says nothing of it", paper.Name)
			continue
		}
		var numbers [][3]string
		for _, text := range []string{d.holds, d.fails, d.use} {
			if strings.Count(text, "{{") != len(askedFor.FindAllString(text, -1)) {
				t.Errorf("%s: not all of its numbers are looked up: %s", paper.Name, text)
			}
			for _, m := range askedFor.FindAllStringSubmatch(text, -1) {
				numbers = append(numbers, [3]string(m[1:]))
			}
		}
		for _, l := range d.lines {
			numbers = append(numbers, [3]string{l.experiment, l.quantity, l.row})
			if l.stock != "" {
				numbers = append(numbers, [3]string{l.experiment, l.quantity, l.stock})
			}
		}
		for _, n := range numbers {
			hasNumber(t, every, n)
		}
		if i := slices.IndexFunc(every, func(e Experiment) bool { return e.ID == d.picture }); i < 0 || every[i].Paper != paper.Name || len(every[i].Plots) == 0 {
			t.Errorf("%s: %s has no picture", paper.Name, d.picture)
		}
	}
}

func hasNumber(t *testing.T, every []Experiment, n [3]string) {
	t.Helper()
	i := slices.IndexFunc(every, func(e Experiment) bool { return e.ID == n[0] })
	if i < 0 {
		t.Errorf("no experiment %q", n[0])
		return
	}
	e := &every[i]
	if !slices.ContainsFunc(e.Quantities, func(q Quantity) bool { return q.Name == n[1] }) {
		t.Errorf("%s has no quantity %q", n[0], n[1])
	}
	// Without rows they are those of the scenario, or of what is computed.
	if len(e.Rows) > 0 && !slices.ContainsFunc(e.Rows, func(a At) bool { return a.String() == n[2] }) {
		t.Errorf("%s has no row %q", n[0], n[2])
	}
}

// A number that was not made is unknown, and not an empty word.
func TestUnknownNumbersOfADigest(t *testing.T) {
	t.Parallel()
	if got := (&Report{}).told(`it is {{ours "none" "of" "these"}} s`); got != "it is unknown s" {
		t.Errorf("%q", got)
	}
}

// What is drawn does not depend on how often it was drawn before: a page and a summary have the
// same pictures.
func TestPlotsAreDrawnTheSameAgain(t *testing.T) {
	t.Parallel()
	p := sweep("speed", metric("speed", "%", "speed"), "error", "%", false, sweepLine{"ours", []sweepPoint{{1, of("a")}, {2, of("b")}}})
	r := &results{table: &Table{Rows: []TableRow{{"a", map[string]report.Figure{"speed": {Mean: 1}}}, {"b", map[string]report.Figure{"speed": {Mean: 2}}}}}}
	if first, again := p.draw(r, nil), p.draw(r, nil); first != again || !strings.Contains(string(first), "error, %<") {
		t.Errorf("drawn\n%s\nand then\n%s", first, again)
	}
}
