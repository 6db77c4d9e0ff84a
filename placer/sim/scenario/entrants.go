package scenario

import (
	"cmp"
	"fmt"
	"os"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/policy"
)

// Entrant is a policy with what it is paired with, to be put into scenarios that
// do not name it.
type Entrant struct {
	Name      string `json:"name"`
	Selector  string `json:"selector"`
	Admission string `json:"admission,omitempty"` // fifo
	Adapter   string `json:"adapter,omitempty"`   // none
	Sizing    string `json:"sizing,omitempty"`    // reservation
	// StartBelow is the share of the cores asked for below which a job starts before it is
	// profiled, where no job has a target.
	StartBelow float64 `json:"start_below,omitempty"`
	Moves      bool    `json:"moves,omitempty"`

	Knowledge   string            `json:"knowledge,omitempty"` // planned
	Options     map[string]string `json:"options,omitempty"`
	FreeProfile bool              `json:"free_profile,omitempty"` // a profile takes no time
	FreeMoves   bool              `json:"free_moves,omitempty"`   // nor does a move
}

// What the decision of an entrant takes, whatever its policy: what the live engine was measured
// to take for a known job on 1,000 and on 5,000 nodes on 2026-11-23 (9.7 ms, 27 ms; what it takes
// now is in placer/docs/scale.md). It stays, so that leagues of several dates can be compared.
const (
	EntrantDecision        = 5400 * time.Microsecond
	EntrantDecisionPerNode = 4300 * time.Nanosecond
)

// WithEntrants is the same scenario with other policies. Those that want profiles know
// what the live engine would (knowledge = "planned"); each has as many agents as
// the file gives to the policy with most.
func (s *Scenario) WithEntrants(entrants []Entrant) (*Scenario, error) {
	out := *s
	out.file.Policies = nil
	agents := 0
	for _, p := range s.file.Policies {
		agents = max(agents, p.Agents)
	}
	known := "planned"
	switch {
	case s.file.Colocation != nil:
		known = "nlm" // the best of its models
	case len(s.file.Deadlines) > 0: // nothing is profiled of its tasks
		known = "none"
	case len(s.file.Traces) > 0 && len(s.file.Traces[0].Classes) == 0:
		known = "none"
	}
	for _, e := range entrants {
		d, err := policy.LookupSelector(e.Selector)
		if err != nil {
			return nil, fmt.Errorf("scenario: %s: %w", e.Name, err)
		}
		p := policyBlock{Name: e.Name, Selector: e.Selector, Admission: e.Admission, Adapter: e.Adapter, Sizing: e.Sizing, StartBelow: e.StartBelow, Moves: e.Moves, Agents: agents, Knowledge: "none"}
		if d.NeedsProfile {
			p.Knowledge = known
			if e.Knowledge == "oracle" && known != "none" || known == "planned" {
				p.Knowledge = cmp.Or(e.Knowledge, known)
			}
		}
		p.Options, p.FreeProfile, p.FreeMoves = e.Options, e.FreeProfile, e.FreeMoves
		out.file.Policies = append(out.file.Policies, p)
	}
	out.file.chargeAlike()
	c := checker{file: &out.file, body: s.body}
	c.policies()
	if len(c.problems) > 0 {
		return nil, asError(c.problems)
	}
	return &out, nil
}

// chargeAlike makes decisions and profiles cost what they cost live.
func (f *file) chargeAlike() {
	world, profiling := worldBlock{}, f.profiling()
	if f.World != nil {
		world = *f.World
	}
	if !world.Instant {
		world.Decision, world.PerNode = EntrantDecision.String(), EntrantDecisionPerNode.String()
	}
	profiling.Recurring = true
	f.World, f.Profiling = &world, &profiling
}

// Absent is the path of data the scenario replays or takes its nodes from that is
// not there; empty where all is.
func (s *Scenario) Absent() string {
	var paths []string
	if s.file.Cluster.Nodes != "" {
		paths = append(paths, s.file.Cluster.Nodes)
	}
	for _, t := range s.file.Traces {
		paths = append(paths, t.Path)
	}
	if j := s.file.JobClasses; j != nil && j.Trace != nil {
		paths = append(paths, j.Trace.Path)
	}
	for _, p := range paths {
		if _, err := os.Stat(s.path(p)); err != nil {
			return p
		}
	}
	return ""
}
