package main

import (
	"math"
	"os"
	"runtime/debug"
)

// garbagePercent is how much garbage there may be of what is in use before it is collected
// (chosen by us).
const garbagePercent = 400

// useMemory lets a process that has a limit (GOMEMLIMIT) use it. By default Go collects garbage
// as soon as there is as much of it as of what is in use, and an agent, whose decisions leave
// much of it behind, would look through all that it keeps several times a second with most
// of its memory free. GOGC is what it is told to be.
func useMemory() {
	const ask = -1
	if os.Getenv("GOGC") == "" && debug.SetMemoryLimit(ask) < math.MaxInt64 {
		debug.SetGCPercent(garbagePercent)
	}
}
