package chaostest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// promise is one of those that the operator guide makes.
type promise int

const (
	noneHeld promise = iota
	noneGivenUp
	noneLost
	noneOverwritten
	noneRevived
	noneDoubled
	oneWriter
	quietAtLast
	fewWrites
	noneChanged
	noneStopped
	noneLeft
	noneKept
	driverAsked
	answersTrue
	passedWhole
	recordsFollow
	noFalseAlarm
	promises
)

var promiseTexts = [promises]string{
	noneHeld:        "a held job is released by its deadline, or as soon as one agent is well",
	noneGivenUp:     "no job is left to Nomad before its deadline, whatever clocks say",
	noneLost:        "no job is stopped or removed but by its user",
	noneOverwritten: "a newer version of a user is never overwritten, or is put back",
	noneRevived:     "what its user stopped or purged stays so",
	noneDoubled:     "each version of a user is released once",
	oneWriter:       "only the agent that holds the lock writes as leader",
	quietAtLast:     "what is placed is not written again",
	fewWrites:       "a version costs a bounded number of writes",
	noneChanged:     "nothing of a job is changed but its placement, and its count where it has a target and its block allows that",
	noneStopped:     "nothing is stopped but best-effort work, for work with a target",
	noneLeft:        "no profiling run is left over, and no transfer without a recipient",
	noneKept:        "no record is left of a job that was purged",
	driverAsked:     "the driver takes what an agent signs, with clocks up to ten minutes apart",
	answersTrue:     "the proxy answers 200 for no registration that never happened",
	passedWhole:     "what passes the proxy is held, or placed by a decision, and else as it was sent",
	noFalseAlarm:    "no agent reports a failure where a job was replaced or stopped, or another agent leads",
	recordsFollow:   "no decision is recorded on a version that its agent found replaced",
}

// tally counts how often promises were tried, and broken.
type tally struct{ tried, broken [promises]int }

func (t *tally) add(o tally) {
	for p := range promises {
		t.tried[p] += o.tried[p]
		t.broken[p] += o.broken[p]
	}
}

// table is the tally as the security page shows it.
func (t *tally) table() string {
	var b strings.Builder
	b.WriteString("| promise | test | times tried | failures |\n| --- | --- | ---: | ---: |\n")
	for p := range promises {
		fmt.Fprintf(&b, "| %s | `TestPromises` | %d | %d |\n", promiseTexts[p], t.tried[p], t.broken[p])
	}
	return b.String()
}

// alarms judges what an agent reports as a failure.
type alarms struct {
	run   *run
	agent int
}

// Enabled implements slog.Handler.
func (alarms) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle implements slog.Handler.
func (a alarms) Handle(_ context.Context, said slog.Record) error {
	said.Attrs(func(attr slog.Attr) bool {
		err, ok := attr.Value.Any().(error)
		if !ok || !strings.HasPrefix(said.Message, "evaluation failed") && !strings.HasPrefix(said.Message, "placing the job failed") {
			return true
		}
		overtaken := errors.Is(err, cluster.ErrStale) || errors.Is(err, cluster.ErrGone) || errors.Is(err, cluster.ErrNotLeading)
		a.run.try(noFalseAlarm, !overtaken, "agent %d: %s: %v", a.agent, said.Message, err)
		return false
	})
	return nil
}

// WithAttrs implements slog.Handler.
func (a alarms) WithAttrs([]slog.Attr) slog.Handler { return a }

// WithGroup implements slog.Handler.
func (a alarms) WithGroup(string) slog.Handler { return a }
