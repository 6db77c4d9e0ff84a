//go:build !linux

package load

import (
	"os"
	"os/exec"
)

// ownGroup does nothing where there are no process groups: the command itself
// ends with the context.
func ownGroup(*exec.Cmd) {}

// endGroup does nothing: see ownGroup.
func endGroup(*exec.Cmd) {}

// sizePipe does nothing: pipes keep the system's size.
func sizePipe(*os.File, int) {}
