// Command nomad-driver-ibench is the Nomad task driver "ibench". Nomad runs it
// without arguments; the driver runs it as the process of a task and of a
// kernel; people ask it for its version and for a calibration.
package main

import (
	"os"

	"github.com/nomad-placer/nomad-placer/driver"
)

func main() { os.Exit(driver.Main(os.Args[1:], os.Stdout, os.Stderr)) }
