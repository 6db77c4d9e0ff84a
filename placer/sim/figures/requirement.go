package figures

import (
	"fmt"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/sim/report"
)

// Requirement is what a reproduction must show. Whether it does is decided on
// means over seeds.
type Requirement struct {
	Text string

	why   string // the simulator cannot carry it
	uses  []use
	worth float64 // nothing is judged where all values are below it
	check func(v []float64) bool
}

// use is a quantity of a row that a check needs.
type use struct {
	quantity Quantity
	at       At
}

// Verdict is the answer to a requirement, or to all of an experiment.
type Verdict string

// The verdicts.
const (
	Met        Verdict = "met"
	Missed     Verdict = "missed"
	NotCarried Verdict = "not carried"
	NotRun     Verdict = "not run" // its data is not here, or a number is not known
	// Unreachable: the same policies miss it when they know the truth, too.
	Unreachable Verdict = "not reachable in this world"
	// NotJudged: all values are too small to be told apart.
	NotJudged Verdict = "not judged"
)

// Checked is a requirement with its answer.
type Checked struct {
	Text    string  `json:"text"`
	Verdict Verdict `json:"verdict"`
	Found   string  `json:"found"`
	// Planned is the answer of the same policies with what the live engine would
	// know, Oracle of those that know the truth; nil where no row of the scenario is one.
	Planned *Checked `json:"planned,omitempty"`
	Oracle  *Checked `json:"oracle,omitempty"`
	// Measured is the answer in the world of measured rows; nil where the scenario cannot be in it.
	Measured *Checked `json:"measured,omitempty"`
}

// What ends the name of a policy that runs with other knowledge than its paper's.
const (
	plannedSuffix = "-planned"
	oracleSuffix  = "-oracle"
)

// knowing is the requirement with rows of such knowledge in place of the same policies with what
// their papers would know; false where there is none.
func (q *Requirement) knowing(suffix string, r *results) (Requirement, bool) {
	out, found := *q, false
	out.uses = nil
	for _, u := range q.uses {
		at := u.at
		at.Policy += suffix
		if len(r.lines[r.whole(at)]) > 0 {
			u.at, found = at, true
		}
		out.uses = append(out.uses, u)
	}
	return out, found
}

// answers checks the requirement with each knowledge, and in the world of measured rows; measured
// is nil where there is none. What the truth does not help to reach is neither met nor missed.
func (q *Requirement) answers(r, measured *results) Checked {
	out := q.answer(r)
	if out.Verdict != Met && out.Verdict != Missed {
		return out
	}
	for suffix, to := range map[string]**Checked{plannedSuffix: &out.Planned, oracleSuffix: &out.Oracle} {
		if k, ok := q.knowing(suffix, r); ok {
			answer := k.answer(r)
			*to = &answer
		}
	}
	if measured != nil {
		if answer := q.answer(measured); answer.Verdict == Met || answer.Verdict == Missed {
			out.Measured = &answer
		}
	}
	if out.Verdict == Missed && out.Oracle != nil && out.Oracle.Verdict == Missed {
		out.Verdict = Unreachable
	}
	return out
}

// answer checks the requirement.
func (q *Requirement) answer(r *results) Checked {
	out := Checked{Text: q.Text}
	switch {
	case q.why != "":
		out.Verdict, out.Found = NotCarried, q.why
		return out
	case r.absent != "":
		out.Verdict, out.Found = NotRun, r.absent
		return out
	}
	var values []float64
	var found []string
	for _, u := range q.uses {
		f, ok := u.quantity.of(r, u.at)
		if !ok || !finite(f.Mean) {
			out.Verdict, out.Found = NotRun, fmt.Sprintf("%s of %s is not known", u.quantity.Name, u.at)
			return out
		}
		values = append(values, f.Mean)
		name := u.at.String()
		if q.mixed() {
			name += ": " + u.quantity.Name
		}
		found = append(found, name+" "+report.Decimal(f.Mean))
	}
	out.Verdict, out.Found = Missed, strings.Join(found, "; ")
	switch {
	case q.worth > 0 && most(values) < q.worth:
		out.Verdict = NotJudged
	case q.check(values):
		out.Verdict = Met
	}
	return out
}

// above is the requirement, not judged where all values are below a bound.
func (q Requirement) above(worth float64) Requirement {
	q.worth = worth
	return q
}

// mixed reports that the values are not all of one quantity.
func (q *Requirement) mixed() bool {
	for _, u := range q.uses {
		if u.quantity.Name != q.uses[0].quantity.Name {
			return true
		}
	}
	return false
}

func uses(q Quantity, rows ...At) []use {
	var out []use
	for _, a := range rows {
		out = append(out, use{q, a})
	}
	return out
}

// cannot is a requirement that the simulator cannot carry.
func cannot(text, why string) Requirement { return Requirement{Text: text, why: why} }

// atLeast is a bound from below.
func atLeast(text string, q Quantity, bound float64, rows ...At) Requirement {
	return Requirement{Text: text, uses: uses(q, rows...), check: func(v []float64) bool { return least(v) >= bound }}
}

// atMost is a bound from above.
func atMost(text string, q Quantity, bound float64, rows ...At) Requirement {
	return Requirement{Text: text, uses: uses(q, rows...), check: func(v []float64) bool { return most(v) <= bound }}
}

// falling: each row has less than the one in front of it.
func falling(text string, q Quantity, rows ...At) Requirement {
	return Requirement{Text: text, uses: uses(q, rows...), check: func(v []float64) bool {
		for i := 1; i < len(v); i++ {
			if v[i] >= v[i-1] {
				return false
			}
		}
		return true
	}}
}

// neverFalling: no row has less than the one in front of it, but for a tolerance.
func neverFalling(text string, q Quantity, tolerance float64, rows ...At) Requirement {
	return Requirement{Text: text, uses: uses(q, rows...), check: func(v []float64) bool {
		for i := 1; i < len(v); i++ {
			if v[i] < v[i-1]-tolerance {
				return false
			}
		}
		return true
	}}
}

// ahead: the first row has some more than every other.
func ahead(text string, q Quantity, by float64, first At, others ...At) Requirement {
	return Requirement{Text: text, uses: uses(q, append([]At{first}, others...)...), check: func(v []float64) bool {
		return v[0]-most(v[1:]) >= by
	}}
}

// behind: the first row has some less than every other.
func behind(text string, q Quantity, by float64, first At, others ...At) Requirement {
	return Requirement{Text: text, uses: uses(q, append([]At{first}, others...)...), check: func(v []float64) bool {
		return least(v[1:])-v[0] >= by
	}}
}

// allAhead: each of some rows has more than each of the others.
func allAhead(text string, q Quantity, rows, others []At) Requirement {
	return Requirement{Text: text, uses: uses(q, append(append([]At{}, rows...), others...)...), check: func(v []float64) bool {
		return least(v[:len(rows)]) > most(v[len(rows):])
	}}
}

// multiple: the first row has so many times as much as every other.
func multiple(text string, q Quantity, times float64, first At, others ...At) Requirement {
	return Requirement{Text: text, uses: uses(q, append([]At{first}, others...)...), check: func(v []float64) bool {
		return v[0] > 0 && v[0] >= times*most(v[1:])
	}}
}

// alike: no two rows are further apart.
func alike(text string, q Quantity, apart float64, rows ...At) Requirement {
	return Requirement{Text: text, uses: uses(q, rows...), check: func(v []float64) bool { return most(v)-least(v) <= apart }}
}

// compared checks values of several quantities, in the order given.
func compared(text string, check func(v []float64) bool, of ...use) Requirement {
	return Requirement{Text: text, uses: of, check: check}
}

// gainsAtMost: none of the other values is so much more than the first.
func gainsAtMost(by float64) func(v []float64) bool {
	return func(v []float64) bool { return most(v[1:]) <= v[0]+by }
}

func least(v []float64) float64 {
	out := v[0]
	for _, x := range v {
		out = min(out, x)
	}
	return out
}

func most(v []float64) float64 {
	out := v[0]
	for _, x := range v {
		out = max(out, x)
	}
	return out
}
