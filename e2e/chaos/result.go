package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"
)

// The promises that a campaign tries, as the operator guide makes them.
const (
	promiseDeadline = "A job is not held past its deadline and 5 s while an agent can release it"
	promiseNewest   = "Each job runs as its user asked last: once, complete, stopped or purged"
	promiseNothing  = "Nothing of the placer's is left: processes, control groups, mounts, files, jobs, records"
	promiseEnds     = "The programs recover from what is killed, frozen, cut off or full, without help"
)

var promises = []string{promiseDeadline, promiseNewest, promiseNothing, promiseEnds}

// Result is what a campaign did and found. Part of it is written every few seconds.
type Result struct {
	Seed    uint64    `json:"seed"`
	Began   time.Time `json:"began"`
	Seconds float64   `json:"seconds"`
	Done    bool      `json:"done"` // the end was checked
	// Earlier counts the runs that this one went on from.
	Earlier int `json:"earlier_runs"`

	Kills   int            `json:"kills"`
	KillsOf map[string]int `json:"kills_of"`
	KillsIn map[string]int `json:"kills_in_step"`
	Aimed   map[string]int `json:"aimed_kills_in_step"`
	Missed  map[string]int `json:"missed_aims"`
	Faults  map[string]int `json:"lasting_faults"`
	Actions map[string]int `json:"actions_of_users"`

	Jobs   int `json:"jobs"`
	Looks  int `json:"looks_at_held_jobs"`
	GaveUp int `json:"users_gave_up"`
	Lost   int `json:"processes_nomad_lost"`

	Tried  map[string]int `json:"tried"`
	Broken []Broken       `json:"broken"`
}

// Broken is a promise that was not kept.
type Broken struct {
	Promise string  `json:"promise"`
	Job     string  `json:"job,omitempty"`
	What    string  `json:"what"`
	At      string  `json:"at"`
	History []event `json:"history,omitempty"`
}

func newResult(seed uint64) Result {
	return Result{
		Seed: seed, Began: time.Now(), KillsOf: map[string]int{}, KillsIn: map[string]int{}, Aimed: map[string]int{}, Missed: map[string]int{},
		Faults: map[string]int{}, Actions: map[string]int{}, Tried: map[string]int{},
	}
}

// readResult reads what an earlier run wrote.
func readResult(file string) (Result, error) {
	r := newResult(0)
	text, err := os.ReadFile(file)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("%s: %w", file, err)
	}
	return r, nil
}

func (r *Result) write(file string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	// Whoever reads it while it is written reads the one before.
	if err := os.WriteFile(file+".new", append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// print writes the counts and the rows of the security page.
func (r *Result) print(w io.Writer) {
	fmt.Fprintf(w, "\nseed %d: %d kills in %.0f s, %d jobs\n", r.Seed, r.Kills, r.Seconds, r.Jobs)
	for _, part := range []struct {
		title  string
		counts map[string]int
	}{
		{"killed", r.KillsOf}, {"killed in step", r.KillsIn}, {"lasting faults", r.Faults}, {"users", r.Actions},
	} {
		fmt.Fprintf(w, "  %s:", part.title)
		for _, k := range slices.Sorted(maps.Keys(part.counts)) {
			fmt.Fprintf(w, " %s %d,", k, part.counts[k])
		}
		fmt.Fprintln(w)
	}
	if r.Lost > 0 {
		fmt.Fprintf(w, "  Nomad started %d tasks twice, whose client agent was killed and had not written down, in time or for want of disk space, that they run\n", r.Lost)
	}
	fmt.Fprintf(w, "\n| step | leading agent killed in it, aimed | aims missed | all kills in it |\n| --- | ---: | ---: | ---: |\n")
	for _, step := range allSteps {
		fmt.Fprintf(w, "| %s | %d | %d | %d |\n", step, r.Aimed[step], r.Missed[step], r.KillsIn[step])
	}
	fmt.Fprintf(w, "\n| promise | test | times tried | failures |\n| --- | --- | --- | --- |\n")
	for _, p := range promises {
		fmt.Fprintf(w, "| %s | `make chaos-live` | %s | %d |\n", p, r.triedOf(p), r.failures(p))
	}
	for _, b := range r.Broken {
		fmt.Fprintf(w, "\nBROKEN (seed %d): %s\n  %s %s\n", r.Seed, b.Promise, b.Job, b.What)
		for _, e := range b.History {
			fmt.Fprintf(w, "    %s %s\n", e.At.Format("15:04:05.000"), e.What)
		}
	}
}

// unhit are the steps that no aimed kill has fallen into.
func (r Result) unhit() []string {
	return slices.DeleteFunc(slices.Clone(allSteps), func(step string) bool { return r.Aimed[step] > 0 })
}

func (r *Result) triedOf(promise string) string {
	switch promise {
	case promiseDeadline:
		return fmt.Sprintf("%d looks at held jobs", r.Looks)
	case promiseNewest:
		return fmt.Sprintf("%d jobs, %d kills", r.Jobs, r.Kills)
	case promiseNothing:
		return fmt.Sprintf("%d removals of everything", r.Tried[promise])
	default:
		sum := r.Kills
		for _, n := range r.Faults {
			sum += n
		}
		return fmt.Sprintf("%d kills and faults", sum)
	}
}

func (r *Result) failures(promise string) int {
	n := 0
	for _, b := range r.Broken {
		if b.Promise == promise {
			n++
		}
	}
	return n
}
