// Command nomad-placer-sim is for research: it compares placement policies on
// simulated clusters, reproduces what papers published, evaluates classifiers,
// and turns public measurements into profiles. It needs no Nomad.
//
// What a command is called, takes, prints and ends with is in its own help, and
// all of it in placer/docs/cli-sim.md.
package main

import (
	"os"
	"runtime/debug"
)

// garbagePercent is how much garbage there may be of what is in use before it is collected (chosen by us): a
// run of HCloud takes a tenth less of the processor than with 100, which is the default of Go, and with 400 a
// month of Google's jobs took 3.4 GB in place of 1.4, no sooner.
const garbagePercent = 200

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	simulator().Main()
}
