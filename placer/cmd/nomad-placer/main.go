// Command nomad-placer places Nomad jobs by what they must achieve: it is the
// agent that runs as a system job, and the command line around it.
//
// What a command is called, takes, prints and ends with is in its own help, and
// all of it in placer/docs/cli.md.
package main

func main() { nomadPlacer().Main() }
