package chaostest

import (
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"
)

// calm is when the last fault is over, at the latest.
const calm = 40 * time.Second

// history is what happens to a cluster.
type history struct {
	agents int
	adapts bool // what runs is measured, and corrected
	jobs   []submission
	acts   []act
	faults []injection
	driver []answer // what it makes of its requests, in turn
}

// kind is what sort of job a user submits.
type kind int

const (
	bestEffort    kind = iota
	parameterized      // its children are dispatched
	targeted           // it has a target: it is profiled, measured and corrected
	kinds
)

var kindNames = [kinds]string{"", ", parameterized", ", with a target"}

// submission is a job that a user submits.
type submission struct {
	at      time.Duration
	hold    time.Duration
	refused bool // Nomad never lets it be registered again
	large   bool // no node has room for it
	kind    kind
	proxied bool // its user goes through the proxy
	alike   bool // it is the same workload as others with a target
}

// deed is what a user, an operator or fate does.
type deed int

const (
	change deed = iota // a new version of a job
	stop
	purge
	kill  // an agent; another one starts later
	pause // an agent, as by SIGSTOP
	loseNode
	removeNode // it comes back later
	dispatch   // some children of a job at once
	stepAgent  // the clock of an agent's machine is set
	stepServers
	killProxy
	overtake // a user acts when Nomad has compared the next write of an agent to a job
	deeds
)

var deedNames = [deeds]string{
	"change", "stop", "purge", "kill", "pause", "lose node", "remove node", "dispatch", "step the clock of agent", "step the servers' clock by", "kill the proxy", "overtake the next write to job",
}

type act struct {
	at, lasts time.Duration
	deed      deed
	target    int
}

// step is by how much an act sets a clock.
func (a act) step() time.Duration {
	if a.target%2 == 0 {
		return clockStep
	}
	return -clockStep
}

const clockStep = 10 * time.Minute

// injection is a fault of the network of one agent, or of the proxy.
type injection struct {
	at, lasts time.Duration
	fault     int
	agent     int
	every     int // request that it could strike: 1 strikes all
}

// histories draws what a seed says.
func histories() *rapid.Generator[history] {
	return rapid.Custom(func(t *rapid.T) history {
		h := history{agents: rapid.IntRange(2, 3).Draw(t, "agents"), adapts: oneIn(t, 5, "adapts")}
		seconds := func(from, to int, what string) time.Duration {
			return time.Duration(rapid.IntRange(from*10, to*10).Draw(t, what)) * 100 * time.Millisecond
		}
		for range rapid.IntRange(1, 4).Draw(t, "jobs") {
			s := submission{at: seconds(0, 25, "at"), hold: seconds(12, 30, "hold"), refused: oneIn(t, 6, "refused"), large: oneIn(t, 3, "large")}
			s.kind = rapid.SampledFrom([]kind{bestEffort, bestEffort, bestEffort, parameterized, targeted, targeted}).Draw(t, "kind")
			s.proxied, s.alike = oneIn(t, 3, "proxied"), oneIn(t, 2, "alike")
			if s.kind == targeted && !oneIn(t, 4, "large with a target") {
				s.large = false
			}
			h.jobs = append(h.jobs, s)
		}
		for range rapid.IntRange(0, 6).Draw(t, "acts") {
			at := seconds(0, 35, "at")
			h.acts = append(h.acts, act{at, min(seconds(1, 25, "lasts"), calm-at), deed(rapid.IntRange(0, int(deeds)-1).Draw(t, "deed")), rapid.IntRange(0, 5).Draw(t, "target")})
		}
		for range rapid.IntRange(0, 6).Draw(t, "faults") {
			at := seconds(0, 35, "at")
			h.faults = append(h.faults, injection{at, min(seconds(1, 40, "lasts"), calm-at), rapid.IntRange(0, len(faults)-1).Draw(t, "fault"), rapid.IntRange(0, 3).Draw(t, "agent"), rapid.SampledFrom([]int{1, 1, 1, 2, 4}).Draw(t, "every")})
		}
		for range rapid.IntRange(1, 4).Draw(t, "answers") {
			h.driver = append(h.driver, answer(rapid.IntRange(0, int(answers)-1).Draw(t, "answer")))
		}
		return h
	})
}

func oneIn(t *rapid.T, n int, what string) bool { return rapid.IntRange(0, n-1).Draw(t, what) == n-1 }

// agentOf is the agent whose network a fault is of; the proxy's is the last.
func (h history) agentOf(f injection) int { return f.agent % (h.agents + 1) }

// has reports whether something happens in the history.
func (h history) has(d deed) bool {
	for _, a := range h.acts {
		if a.deed == d {
			return true
		}
	}
	return false
}

func (h history) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d agents%s", h.agents, map[bool]string{true: ", what runs is corrected"}[h.adapts])
	for i, j := range h.jobs {
		said := map[bool]string{true: ", refused for good"}[j.refused] + map[bool]string{true: ", too large"}[j.large] + kindNames[j.kind] + map[bool]string{true: ", by the proxy"}[j.proxied]
		fmt.Fprintf(&b, "\n  %5s job %d is submitted, hold %s%s%s", j.at, i, j.hold, said, map[bool]string{true: ", like others"}[j.alike && j.kind == targeted])
	}
	for _, a := range h.acts {
		fmt.Fprintf(&b, "\n  %5s %s %d for %s", a.at, deedNames[a.deed], a.target, a.lasts)
	}
	for _, f := range h.faults {
		fmt.Fprintf(&b, "\n  %5s agent %d: %s for %s, each of %d", f.at, h.agentOf(f), faults[f.fault].name, f.lasts, f.every)
	}
	for i, a := range h.driver {
		fmt.Fprintf(&b, "\n  the driver's answer %d: %s", i, answerNames[a])
	}
	return b.String()
}
