package figures

import (
	"fmt"
	"strconv"
)

// Experiment is one row, table or figure of a paper.
type Experiment struct {
	// ID is its name on the command line and in the page of its paper: that of its
	// scenario, with a word more where several experiments have it; of one without a
	// scenario the figure, or what it shows. One that says what the outcome owes to
	// which part of a system ends in -causes.
	ID    string
	Paper string // a name of Papers, and of its page
	Where string // section, table or figure
	Title string

	// Scenarios are names of examples/sim, without their ending; rows without a
	// scenario are of the first.
	Scenarios []string
	// Compute takes the place of scenarios where the table is not one of the
	// simulated world.
	Compute *Computation
	// Missing says why the simulator cannot carry it, and where else it is
	// checked; then there are neither scenarios nor requirements.
	Missing string

	Headline At // the row of the summary: what the paper proposes
	// Rows of the table; empty: every policy of the first scenario.
	Rows []At
	// Quantities are the columns; the first is in the summary.
	Quantities []Quantity
	Requires   []Requirement
	Why        string // why we differ, or what it teaches; a template as those of digests
	Plots      []Plot
}

// At is a row: a policy of a scenario at a load.
type At struct {
	Scenario string // empty: the first of the experiment
	Policy   string
	Load     float64 // 0 where the scenario has no loads
}

func of(policy string) At { return At{Policy: policy} }

func (a At) in(scenario string) At { a.Scenario = scenario; return a }
func (a At) load(v float64) At     { a.Load = v; return a }

// String is how the row is called, and the key of what was published for it.
func (a At) String() string {
	out := a.Policy
	if a.Load != 0 {
		out += " at " + strconv.FormatFloat(a.Load, 'g', -1, 64)
	}
	if a.Scenario != "" {
		out += ", " + a.Scenario
	}
	return out
}

// all are rows of one scenario.
func all(policies ...string) []At {
	var out []At
	for _, p := range policies {
		out = append(out, of(p))
	}
	return out
}

// across are rows of several scenarios.
func across(scenarios []string, policies ...string) []At {
	var out []At
	for _, s := range scenarios {
		for _, p := range policies {
			out = append(out, of(p).in(s))
		}
	}
	return out
}

// loaded are rows at several loads.
func loaded(loads []float64, policies ...string) []At {
	var out []At
	for _, p := range policies {
		for _, l := range loads {
			out = append(out, of(p).load(l))
		}
	}
	return out
}

// Number is what a paper states.
type Number struct {
	Value float64 `json:"value"`
	High  float64 `json:"high,omitempty"` // of a range
	Sign  string  `json:"sign,omitempty"` // "<", ">" or "about"
	// Figure: there is a picture and no number.
	Figure bool `json:"figure_only,omitempty"`
}

func n(v float64) Number     { return Number{Value: v} }
func below(v float64) Number { return Number{Value: v, Sign: "<"} }
func above(v float64) Number { return Number{Value: v, Sign: ">"} }
func about(v float64) Number { return Number{Value: v, Sign: "about"} }

// between is a range.
func between(low, high float64) Number { return Number{Value: low, High: high} }

// pictured is a result of which there is a picture only.
var pictured = Number{Figure: true}

// String is the number as it is printed.
func (v Number) String() string {
	switch {
	case v.Figure:
		return "figure only"
	case v.High != 0:
		return plain(v.Value) + " to " + plain(v.High)
	case v.Sign == "":
		return plain(v.Value)
	default:
		return v.Sign + " " + plain(v.Value)
	}
}

// plain is a number with the digits that it was stated with.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// published is what a paper states of a quantity, by row.
type published map[string]Number

// check says what is wrong with an experiment by itself.
func (e *Experiment) check() error {
	carriers := 0
	for _, is := range []bool{len(e.Scenarios) > 0, e.Compute != nil, e.Missing != ""} {
		if is {
			carriers++
		}
	}
	switch {
	case e.ID == "" || e.Paper == "" || e.Where == "" || e.Title == "":
		return fmt.Errorf("figures: experiment %q has no name, paper, place or title", e.ID)
	case carriers != 1:
		return fmt.Errorf("figures: %s has %d of scenarios, a computation and a reason why not", e.ID, carriers)
	case e.Missing == "" && (len(e.Quantities) == 0 || len(e.Requires) == 0 || e.Why == ""):
		return fmt.Errorf("figures: %s has %d quantities, %d requirements, and %q as the reason of differences", e.ID, len(e.Quantities), len(e.Requires), e.Why)
	}
	return nil
}

// atLoad puts rows at a load.
func atLoad(load float64, rows []At) []At {
	for i := range rows {
		rows[i].Load = load
	}
	return rows
}
