package preflight

import (
	"context"
	"fmt"

	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// checkCalibration wants the kernels of every node with a healthy driver to be
// calibrated: the driver then says of which machine the calibration is.
func checkCalibration(_ context.Context, n *nomad) []Line {
	nodes, err := n.nodes()
	if err != nil {
		return []Line{unread(n, "The calibrations of the nodes", `node { policy = "read" }`, err)}
	}
	calibrated := 0
	var missing []string
	for _, c := range nodes {
		switch driver := c.Drivers[nomadapi.KernelDriver]; {
		case !c.ready() || !driver.Detected || !driver.Healthy:
		case c.Attributes[nomadapi.DriverCalibration] == "":
			missing = append(missing, c.Name)
		default:
			calibrated++
		}
	}
	var lines []Line
	if len(missing) > 0 {
		lines = append(lines, Line{
			State: Warning, Names: missing, Cure: "While the node is quiet, run there: nomad-driver-ibench calibrate -storage-dir /var/lib/nomad. Or have idle nodes do it: nomad-placer fleet calibrate.",
			Text: wording.Capital(wording.List("node", missing)) + ": the kernels are not calibrated, so each measures its peak when it starts, on whatever the node does then.",
		})
	}
	if calibrated > 0 {
		lines = append(lines, Line{State: OK, Text: fmt.Sprintf("The kernels are calibrated on %s.", wording.Count(calibrated, "node"))})
	}
	if lines == nil {
		lines = one(Unknown, "No node has a healthy driver ibench, so no calibration can be looked at.", "See the lines of the driver.")
	}
	return lines
}
