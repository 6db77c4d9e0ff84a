package nomadapi

import (
	"slices"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/signing"
)

// How long a signature holds beyond what is known of the run's time, and at the most. The
// first is how much the clocks of an agent and a client may differ.
const (
	signedBeyond = 10 * time.Minute
	signedAtMost = 2 * time.Hour
)

// driverSigners is the node attribute with the IDs of the keys whose requests are taken.
const driverSigners = "driver." + KernelDriver + ".signers"

// DriverSigners are the IDs of the keys whose requests the driver of a node takes; none is
// everybody's.
func DriverSigners(attributes cluster.Attributes) []string {
	list := attributes.Text(driverSigners)
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// refusesKey says why the driver of a node will not take what this world asks; empty where
// it will.
func (w *World) refusesKey(n *cluster.Node) string {
	signers := DriverSigners(n.Attributes)
	key := w.opts.SigningKey
	switch {
	case len(signers) == 0 || key != nil && slices.Contains(signers, key.Signer().ID()):
		return ""
	case key == nil:
		return "the driver of node " + n.Name + " takes signed requests only, and this agent has no key: give it signing_key_file"
	}
	return "the driver of node " + n.Name + " takes requests signed by " + strings.Join(signers, " or ") + " only, and the key of this agent is " +
		key.Signer().ID() + ": add it to signers in the plugin block"
}

// sign signs what tasks of ours ask of the driver: those whose names ours answers to, in a job
// that was made here.
func (w *World) sign(job object, node cluster.NodeID, until time.Time, ours func(task string) bool) {
	if w.opts.SigningKey == nil {
		return
	}
	expires := w.signedUntil(until)
	eachRequest(job, node, ours, func(r signing.Request, block object) {
		block["signature"] = w.opts.SigningKey.Sign(r, expires)
	})
}

// signAgain renews signatures of ours in a job that was read back from Nomad. What others
// have changed in it does not get any.
func (w *World) signAgain(job object, node cluster.NodeID, until time.Time) {
	key := w.opts.SigningKey
	if key == nil {
		return
	}
	expires := w.signedUntil(until)
	eachRequest(job, node, func(string) bool { return true }, func(r signing.Request, block object) {
		before := time.Time{} // any time will do: whose it is counts, not when it expired
		if signing.Verify([]signing.Signer{key.Signer()}, r, block.text("signature"), before) == nil {
			block["signature"] = key.Sign(r, expires)
		}
	})
}

// signedUntil counts by the servers' clock: this machine's may be anything.
func (w *World) signedUntil(until time.Time) time.Time {
	now := w.serverTime.Now()
	return now.Add(min(max(until.Sub(now), 0)+signedBeyond, signedAtMost))
}

// eachRequest calls do with every request to the driver in a job, and its block.
func eachRequest(job object, node cluster.NodeID, ours func(task string) bool, do func(signing.Request, object)) {
	for _, group := range job.objects("TaskGroups") {
		for _, task := range group.objects("Tasks") {
			if task.text("Driver") != KernelDriver || !ours(task.text("Name")) {
				continue
			}
			resources, config := task.object("Resources"), task.object("Config")
			r := signing.Request{
				Namespace: job.text("Namespace"), Job: job.text("ID"), Node: string(node), Task: task.text("Name"),
				CPUMHz: resources.number("CPU"), MemoryMB: max(resources.number("MemoryMB"), resources.number("MemoryMaxMB")),
			}
			for _, b := range config.objects(signing.Profile) {
				r.Work, r.Terms = signing.Profile, signing.ProfileTerms(b.text("request"))
				do(r, b)
			}
			for _, b := range config.objects(signing.Lend) {
				r.Work, r.Terms = signing.Lend, signing.LendTerms(b.text("allocation"), b.text("task"), b.number("cpu_mhz"), b.text("time_slice"))
				do(r, b)
			}
		}
	}
}
