package main

import (
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
)

func jobStripCommand() *command.Command {
	return jobEdit{
		edit: (*nomadapi.World).StripJob,
		done: "Job %s is stripped", unchanged: "The placer has added nothing to job %s",
	}.command(command.Command{
		Name: "job strip", Synopsis: "Remove what the placer added to a job",
		About:   "Removes the constraints, affinities and the page that the placer added to a job; the user's own stay. Nomad may then move its allocations at the next update.",
		Example: "nomad-placer job strip cache",
	})
}
