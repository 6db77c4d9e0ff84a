package preflight

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/rights"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// State is what a check came to.
type State string

// The states. Unknown is what could not be looked at.
const (
	OK      State = "ok"
	Warning State = "warning"
	Failed  State = "failed"
	Unknown State = "unknown"
)

// Line is one finding of a check: a sentence, and what to do about it.
type Line struct {
	Check string   `json:"check"`
	State State    `json:"state"`
	Text  string   `json:"text"`
	Cure  string   `json:"cure,omitempty"`
	Names []string `json:"names,omitempty"` // the nodes or servers it is about
}

// Options say which cluster is looked at, and how it should be.
type Options struct {
	// Configure changes the configuration that the environment gives.
	Configure func(*api.Config)

	HoldPool, RunPool string
	Namespace         string          // of the agent's job and of the placer's Variables
	Version           string          // of this program; the driver's should be the same
	With              []rights.Option // what the agent is allowed besides

	// Hint says what helps against an error of the way to Nomad, "" if that is not known.
	Hint func(error) string
	Now  func() time.Time
}

func (o Options) withDefaults() Options {
	o.HoldPool = cmp.Or(o.HoldPool, nomadapi.DefaultHoldPool)
	o.RunPool = cmp.Or(o.RunPool, nomadapi.DefaultRunPool)
	o.Namespace = cmp.Or(o.Namespace, api.DefaultNamespace)
	if o.Hint == nil {
		o.Hint = func(error) string { return "" }
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Run makes every check. The error is of the options alone: whatever Nomad does
// is a line.
func Run(ctx context.Context, o Options) ([]Line, error) {
	n, err := newNomad(ctx, o.withDefaults())
	if err != nil {
		return nil, err
	}
	var all []Line
	for _, c := range checks {
		lines := c.lines(ctx, n, all)
		for i := range lines {
			lines[i].Check = c.name
		}
		all = append(all, lines...)
	}
	return all, ctx.Err()
}

func (c check) lines(ctx context.Context, n *nomad, before []Line) []Line {
	for _, need := range c.needs {
		if slices.ContainsFunc(before, func(l Line) bool { return l.Check == need && l.State == Failed }) {
			return []Line{{State: Unknown, Text: fmt.Sprintf("Not checked, because the check of the %s failed.", need)}}
		}
	}
	return c.run(ctx, n)
}

// Count is how many lines have the state.
func Count(lines []Line, s State) int {
	n := 0
	for _, l := range lines {
		if l.State == s {
			n++
		}
	}
	return n
}

// one is a check with a single line.
func one(s State, text, cure string) []Line { return []Line{{State: s, Text: text, Cure: cure}} }

// unread is the line of what Nomad did not tell.
func unread(n *nomad, what, right string, err error) Line {
	l := Line{State: Unknown, Text: fmt.Sprintf("%s cannot be read: %s.", what, reason(err)), Cure: sentence(n.o.Hint(err))}
	if isForbidden(err) {
		l.Text = fmt.Sprintf("%s cannot be read: Nomad refuses it to this token.", what)
		l.Cure = fmt.Sprintf("Give a token with -token or NOMAD_TOKEN whose policy has %s.", right)
	}
	return l
}

// sentence begins and ends a hint as one.
func sentence(hint string) string {
	if hint == "" || strings.HasSuffix(hint, "?") {
		return wording.Capital(hint)
	}
	return wording.Capital(hint) + "."
}

// grouped collects what is the same of many nodes into one line.
type grouped struct {
	order []string
	names map[string][]string
}

func (g *grouped) add(kind, name string) {
	if g.names == nil {
		g.names = map[string][]string{}
	}
	if _, known := g.names[kind]; !known {
		g.order = append(g.order, kind)
	}
	g.names[kind] = append(g.names[kind], name)
}
