package preflight

import (
	"context"
	"fmt"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// maxClockDifference is how far clocks may be apart, chosen by us: deadlines of held
// jobs are compared with times that servers wrote, and are minutes.
const maxClockDifference = 10 * time.Second

// checkClocks compares the clock of every agent with ours, by the date of its
// answers.
func checkClocks(_ context.Context, n *nomad) []Line {
	var lines []Line
	if _, err := n.servers(); err != nil {
		lines = append(lines, unread(n, "The clocks of the servers", `node { policy = "read" }`, err))
	}
	if _, err := n.nodes(); err != nil {
		lines = append(lines, unread(n, "The clocks of the nodes", `node { policy = "read" }`, err))
	}
	compared := 0
	var most time.Duration
	var silent grouped
	for _, a := range n.heard() {
		switch {
		case a.err != nil || !a.answer.dated:
			silent.add(a.what, a.name)
		case a.answer.difference.surely() > maxClockDifference:
			lines = append(lines, clockLine(a))
		default:
			compared++
			most = max(most, a.answer.difference.atMost())
		}
	}
	for _, what := range silent.order {
		names := silent.names[what]
		lines = append(lines, Line{
			State: Unknown, Names: names, Cure: "Run nomad-placer check on a machine that reaches the HTTP address of the agent, or compare the clocks by hand.",
			Text: fmt.Sprintf("The %s of %s not known: no answer came from its HTTP address.", map[bool]string{true: "clock", false: "clocks"}[len(names) == 1], wording.List(what, names)+verb(len(names))),
		})
	}
	if compared > 0 {
		lines = append(lines, Line{State: OK, Text: fmt.Sprintf("The clocks of %s differ from this machine's by at most %s; %s are allowed.", wording.Count(compared, "agent"), most.Round(100*time.Millisecond), maxClockDifference)})
	}
	return lines
}

func clockLine(a asked) Line {
	direction, by := "ahead of", a.answer.difference.least
	if by < 0 {
		direction, by = "behind", -a.answer.difference.most
	}
	return Line{
		State: Failed, Names: []string{a.name}, Cure: "Let one time service set both clocks, for example chrony; if every line says so, this machine's clock is wrong.",
		Text: fmt.Sprintf("The clock of %s %s is at least %s %s this machine's; %s are allowed.", a.what, a.name, by.Round(time.Second), direction, maxClockDifference),
	}
}
