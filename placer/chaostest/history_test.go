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
	jobs   []submission
	acts   []act
	faults []injection
}

// submission is a job that a user submits.
type submission struct {
	at      time.Duration
	hold    time.Duration
	refused bool // Nomad never lets it be registered again
	large   bool // no node has room for it
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
	deeds
)

var deedNames = [deeds]string{"change", "stop", "purge", "kill", "pause", "lose node"}

type act struct {
	at, lasts time.Duration
	deed      deed
	target    int
}

// injection is a fault of the network of one agent.
type injection struct {
	at, lasts time.Duration
	fault     int
	agent     int
	every     int // request that it could strike: 1 strikes all
}

// histories draws what a seed says.
func histories() *rapid.Generator[history] {
	return rapid.Custom(func(t *rapid.T) history {
		h := history{agents: rapid.IntRange(2, 3).Draw(t, "agents")}
		seconds := func(from, to int, what string) time.Duration {
			return time.Duration(rapid.IntRange(from*10, to*10).Draw(t, what)) * 100 * time.Millisecond
		}
		for range rapid.IntRange(1, 4).Draw(t, "jobs") {
			h.jobs = append(h.jobs, submission{seconds(0, 25, "at"), seconds(12, 30, "hold"), rapid.IntRange(0, 5).Draw(t, "refused") == 0, rapid.IntRange(0, 2).Draw(t, "large") == 0})
		}
		for range rapid.IntRange(0, 5).Draw(t, "acts") {
			at := seconds(0, 35, "at")
			h.acts = append(h.acts, act{at, min(seconds(1, 25, "lasts"), calm-at), deed(rapid.IntRange(0, int(deeds)-1).Draw(t, "deed")), rapid.IntRange(0, 3).Draw(t, "target")})
		}
		for range rapid.IntRange(0, 6).Draw(t, "faults") {
			at := seconds(0, 35, "at")
			h.faults = append(h.faults, injection{at, min(seconds(1, 40, "lasts"), calm-at), rapid.IntRange(0, len(faults)-1).Draw(t, "fault"), rapid.IntRange(0, 2).Draw(t, "agent"), rapid.SampledFrom([]int{1, 1, 1, 2, 4}).Draw(t, "every")})
		}
		return h
	})
}

func (h history) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d agents", h.agents)
	for i, j := range h.jobs {
		fmt.Fprintf(&b, "\n  %5s job %d is submitted, hold %s%s", j.at, i, j.hold, map[bool]string{true: ", refused for good"}[j.refused]+map[bool]string{true: ", too large"}[j.large])
	}
	for _, a := range h.acts {
		fmt.Fprintf(&b, "\n  %5s %s %d for %s", a.at, deedNames[a.deed], a.target, a.lasts)
	}
	for _, f := range h.faults {
		fmt.Fprintf(&b, "\n  %5s agent %d: %s for %s, each of %d", f.at, f.agent, faults[f.fault].name, f.lasts, f.every)
	}
	return b.String()
}
