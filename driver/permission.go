package driver

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
)

// permission is a kind of work that the operator may allow tasks on a node.
type permission string

// The permissions, by the names that the operator writes.
const (
	permitKernels   permission = "kernels"   // kernel blocks of a job's author
	permitProfile   permission = "profile"   // profiling runs, which the placer asks for
	permitPairs     permission = "pairs"     // measuring the other tasks of the allocation in pairs
	permitCalibrate permission = "calibrate" // calibrating the kernels of the node, which replaces what is known of them
	permitTransfer  permission = "lend"      // reservation transfers, which the placer asks for
	permitTraffic   permission = "traffic"   // sending the traffic of a model to other tasks of the job
)

// permissions are all of them, and permittedByDefault those that the placer needs. What
// an author may do to the other jobs of a node is the operator's word.
var (
	permissions        = []permission{permitKernels, permitProfile, permitPairs, permitCalibrate, permitTransfer, permitTraffic}
	permittedByDefault = []permission{permitProfile, permitTransfer}
)

// decodeAllow reads what tasks may do. A list that is there and empty allows nothing.
func decodeAllow(a attributes) []permission {
	if !a.has("allow") {
		return permittedByDefault
	}
	var out []permission
	for _, name := range a.texts("allow") {
		p := permission(name)
		if !slices.Contains(permissions, p) {
			a.wrong("allow", "unknown kind of work %q%s; known: %s", name, suggest(name, textsOf(permissions)), strings.Join(textsOf(permissions), ", "))
			return nil
		}
		out = append(out, p)
	}
	return out
}

// loopback are the peers of network kernels where the operator names none. A profiling run
// needs no other: its kernel sends to a sink of its own.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// decodePeers reads the networks that network kernels may send to.
func decodePeers(a attributes) []netip.Prefix {
	if !a.has("peers") {
		return loopback
	}
	var out []netip.Prefix
	for _, text := range a.texts("peers") {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			a.wrong("peers", "%q is not a network such as \"10.1.0.0/16\"; one host is \"10.1.2.3/32\"", text)
			return nil
		}
		out = append(out, p.Masked())
	}
	return out
}

func textsOf(list []permission) []string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = string(p)
	}
	return out
}

// work is what a task does.
func (c taskConfig) work() permission {
	switch {
	case c.Transfer != nil:
		return permitTransfer
	case c.Profile != nil:
		return permitProfile
	case c.Pairs != nil:
		return permitPairs
	case c.Calibrate != nil:
		return permitCalibrate
	case c.Traffic != nil:
		return permitTraffic
	}
	return permitKernels
}

// block is the name of the block that asks for the work.
func (p permission) block() string {
	if p == permitKernels {
		return "kernel"
	}
	return string(p)
}

// checkPermission refuses work that the operator has not allowed here.
func (c pluginConfig) checkPermission(p permission) error {
	if slices.Contains(c.Allow, p) {
		return nil
	}
	return fmt.Errorf("%s: the operator of this node does not allow it; to allow it, add %q to allow in the block plugin %q of the client's agent file and restart the agent",
		p.block(), p, pluginFile)
}

// pluginFile is the name of the program, by which the operator's block is called.
const pluginFile = "nomad-driver-ibench"

// allowAttribute is what the node says of its permissions.
func (c pluginConfig) allowAttribute() string {
	if len(c.Allow) == 0 {
		return "none"
	}
	return strings.Join(textsOf(c.Allow), ",")
}
