package main

import (
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
)

func jobReleaseCommand() *command.Command {
	return jobEdit{
		edit: (*nomadapi.World).ReleaseJob,
		done: "Job %s is released", unchanged: "Job %s is not held; nothing was changed",
	}.command(command.Command{
		Name: "job release", Synopsis: "Release a held job under stock rules",
		About:   "Moves a held job into the run pool as it is, so that stock Nomad places it at once. It needs no running agent. A job that is not held stays as it is.",
		Example: "nomad-placer job release cache",
	})
}
