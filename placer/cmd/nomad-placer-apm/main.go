// Command nomad-placer-apm is a plugin of hashicorp/nomad-autoscaler (APM). It answers how many
// nodes of a type there are to be now, as the placer's agent has decided, so that the strategy
// `pass-through` and any target rent them. The autoscaler starts it, without arguments.
package main

import (
	"time"

	"github.com/nomad-placer/nomad-placer/placer/autoscaler"
)

// name of the plugin: the autoscaler's configuration has it as `driver`, and looks for a program
// of that name in its plugin_dir.
const name = "nomad-placer-apm"

func main() {
	log := autoscaler.Logger(name)
	p := &apm{log: log, now: time.Now, within: answersWithin}
	autoscaler.ServeAPM(log, p, p)
}
