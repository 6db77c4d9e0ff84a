// Command nomad-placer-sim is for research: it compares placement policies on
// simulated clusters, reproduces what papers published, evaluates classifiers,
// and turns public measurements into profiles. It needs no Nomad.
//
// What a command is called, takes, prints and ends with is in its own help, and
// all of it in placer/docs/cli-sim.md.
package main

func main() { simulator().Main() }
