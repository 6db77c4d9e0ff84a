package chaostest

import (
	"fmt"
	"strings"
)

// promise is one of those that the operator guide makes.
type promise int

const (
	noneHeld promise = iota
	noneGivenUp
	noneLost
	noneOverwritten
	noneDoubled
	oneWriter
	quietAtLast
	fewWrites
	promises
)

var promiseTexts = [promises]string{
	noneHeld:        "a held job is released by its deadline, or as soon as one agent is well",
	noneGivenUp:     "no job is left to Nomad before its deadline, whatever clocks say",
	noneLost:        "no job is stopped or removed but by its user",
	noneOverwritten: "a newer version of a user is never written over",
	noneDoubled:     "each version of a user is released once",
	oneWriter:       "only the agent that holds the lock writes as leader",
	quietAtLast:     "what is placed is not written again",
	fewWrites:       "a version costs a bounded number of writes",
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
