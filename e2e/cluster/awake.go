package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// wakeUpFile takes how many microseconds a CPU may take to wake up, for as long as it is open
// (Linux, Documentation/power/pm_qos_interface.rst).
const wakeUpFile = "/dev/cpu_dma_latency"

// keepAwake keeps the CPUs from halting as long as the cluster runs: with nothing to do they look
// for work. A CPU of a virtual machine that halts may get no time from its host for milliseconds
// once work comes, which latencies on machines of their own do not show. Without such a file, or
// a driver that heeds it, CPUs halt as ever.
func (c *Cluster) keepAwake() error {
	f, err := os.OpenFile(wakeUpFile, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("keep CPUs awake: %w", err)
	}
	c.awake = f
	if err := binary.Write(f, binary.NativeEndian, int32(0)); err != nil {
		return fmt.Errorf("keep CPUs awake: %w", err)
	}
	return nil
}
