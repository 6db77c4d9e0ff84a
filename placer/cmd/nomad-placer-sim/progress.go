package main

import (
	"fmt"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/sim/figures"
)

// figuresProgress shows the progress of many runs; name is that of the command.
func figuresProgress(p *command.Progress, name string) func(figures.Progress) {
	return func(now figures.Progress) {
		line := fmt.Sprintf("%s: %d of %d runs, %d of them kept", name, now.Done, now.Total, now.Kept)
		if now.Left > 0 {
			line += ", " + now.Left.Round(time.Second).String() + " left"
		}
		p.Show(line + " (" + now.What + ")")
	}
}
