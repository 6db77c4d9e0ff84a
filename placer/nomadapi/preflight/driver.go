package preflight

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/go-version"

	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// driverPrefix begins the attributes of the driver on a node.
const driverPrefix = "driver." + nomadapi.KernelDriver + "."

// checkDriver wants the driver on every node that is ready, healthy, and of this
// program's version.
func checkDriver(_ context.Context, n *nomad) []Line {
	nodes, err := n.nodes()
	if err != nil {
		return []Line{unread(n, "The drivers of the nodes", `node { policy = "read" }`, err)}
	}
	var with int
	var without, sick, other, down grouped
	for _, c := range nodes {
		driver := c.Drivers[nomadapi.KernelDriver]
		has := c.Attributes[driverPrefix+"version"]
		switch {
		case c.NodePool == n.o.HoldPool: // the pools' check names it
		case !c.ready():
			down.add(c.Status, c.Name)
		case !driver.Detected:
			without.add("", c.Name)
		case !driver.Healthy:
			sick.add(driver.HealthDescription, c.Name)
		case !sameRelease(has, n.o.Version):
			other.add(has, c.Name)
		default:
			with++
		}
	}
	return driverLines(with, without, sick, other, down, n.o.Version)
}

// driverLines: some nodes without a driver are a choice, no node with one is not.
func driverLines(with int, without, sick, other, down grouped, want string) []Line {
	var lines []Line
	add := func(g grouped, s State, cure string, text func(who, kind string) string) {
		for _, kind := range g.order {
			lines = append(lines, Line{State: s, Names: g.names[kind], Text: text(wording.Capital(wording.List("node", g.names[kind])), kind), Cure: cure})
		}
	}
	nobody := Warning
	if with == 0 && len(sick.order)+len(other.order) == 0 {
		nobody = Failed
	}
	add(without, nobody, "Copy nomad-driver-ibench into the plugin_dir of the client, add examples/install/client.hcl to its agent's files and restart the agent.", func(who, _ string) string {
		return who + ": the driver ibench is missing, so nothing is profiled there."
	})
	add(sick, Failed, "Remove the reason; nomad node status -verbose NODE shows when it is gone.", func(who, why string) string {
		return fmt.Sprintf("%s: the driver ibench is not healthy: %s.", who, strings.TrimSuffix(why, "."))
	})
	add(other, Failed, "Replace nomad-driver-ibench in the plugin_dir of the client by the one of this release and restart the agent; kernels that run survive it.", func(who, has string) string {
		if has == "" {
			has = "an unknown version"
		}
		return fmt.Sprintf("%s: the driver ibench is %s, and this program is %s.", who, has, want)
	})
	add(down, Unknown, "Start the client again; nomad system gc removes a node that is gone for good.", func(who, status string) string {
		return fmt.Sprintf("%s: the driver is not known, because the status is %s.", who, status)
	})
	if with > 0 {
		lines = append(lines, Line{State: OK, Text: fmt.Sprintf("The driver ibench is healthy and of this release on %s.", wording.Count(with, "node"))})
	}
	if lines == nil {
		lines = one(Failed, "There is no node that could have the driver ibench.", "Start clients in the run pool.")
	}
	return lines
}

// sameRelease compares without what a build adds to the number.
func sameRelease(a, b string) bool {
	va, errA := version.NewVersion(a)
	vb, errB := version.NewVersion(b)
	return errA == nil && errB == nil && va.Core().Equal(vb.Core())
}
