// Package command is the frame of the project's command lines: programs with
// subcommands that share how they read options, print (as a page, as JSON, or
// through a template), explain themselves, complete words in a shell, and end.
//
// A program is a value of type Program in its main package; each subcommand is a
// Command. The frame knows none of them.
package command
