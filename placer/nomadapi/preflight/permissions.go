package preflight

import (
	"context"
	"fmt"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// needed is what the placer asks of the driver, and what is not done where it is refused.
var needed = []struct{ work, without string }{
	{nomadapi.DriverProfile, "nothing is profiled there"},
	{nomadapi.DriverTransfer, "no allocation there is resized in place"},
}

// checkPermissions wants every healthy driver to take what the placer asks of it.
func checkPermissions(_ context.Context, n *nomad) []Line {
	nodes, err := n.nodes()
	if err != nil {
		return []Line{unread(n, "The permissions of the drivers", `node { policy = "read" }`, err)}
	}
	var refused, signers grouped
	allowing := 0
	for _, c := range nodes {
		driver := c.Drivers[nomadapi.KernelDriver]
		if !c.ready() || !driver.Detected || !driver.Healthy {
			continue // the driver's check names it
		}
		signers.add(strings.Join(nomadapi.DriverSigners(cluster.NewAttributes(c.Attributes)), " or "), c.Name)
		whole := true
		for _, need := range needed {
			if !nomadapi.DriverAllows(cluster.NewAttributes(c.Attributes), need.work) {
				refused.add(need.work, c.Name)
				whole = false
			}
		}
		if whole {
			allowing++
		}
	}
	var lines []Line
	for _, need := range needed {
		if names := refused.names[need.work]; len(names) > 0 {
			lines = append(lines, Line{
				State: Warning, Names: names,
				Text: fmt.Sprintf("%s: the operator does not allow %q to tasks of the driver ibench, so %s.", wording.Capital(wording.List("node", names)), need.work, need.without),
				Cure: fmt.Sprintf("Add %q to allow in the block of nomad-driver-ibench in the client's agent file and restart the agent.", need.work),
			})
		}
	}
	if allowing > 0 {
		lines = append(lines, Line{State: OK, Text: fmt.Sprintf("The driver ibench may profile and transfer reservations on %s.", wording.Count(allowing, "node"))})
	}
	lines = append(lines, signerLines(signers)...)
	if lines == nil {
		lines = one(Unknown, "No node has a healthy driver ibench, so its permissions cannot be looked at.", "See the lines of the driver.")
	}
	return lines
}

// signerLines say whose requests the drivers take. That no node asks for a signature is a
// choice; that some do is half of one.
func signerLines(signers grouped) []Line {
	var lines []Line
	for _, keys := range signers.order {
		names := signers.names[keys]
		switch {
		case keys != "":
			lines = append(lines, Line{State: OK, Text: fmt.Sprintf("The drivers of %s take requests signed by %s only.", wording.Count(len(names), "node"), keys)})
		case len(signers.order) > 1:
			lines = append(lines, Line{
				State: Warning, Names: names,
				Text: fmt.Sprintf("%s: the driver takes unsigned requests, so that everybody who may submit jobs may profile and transfer there.", wording.Capital(wording.List("node", names))),
				Cure: "Add the signers of the other nodes to the block of nomad-driver-ibench in the client's agent file and restart the agent.",
			})
		}
	}
	return lines
}
