package driver

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/protocol"
	"github.com/nomad-placer/nomad-placer/profiler/signing"
)

// decodeSigners reads whose requests are taken; none is everybody's.
func decodeSigners(a attributes) []signing.Signer {
	var out []signing.Signer
	for _, text := range a.texts("signers") {
		s, err := signing.ParseSigner(text)
		if err != nil {
			a.wrong("signers", "%q is %v", text, err)
			return nil
		}
		out = append(out, s)
	}
	if a.has("signers") && len(out) == 0 {
		a.wrong("signers", "the list is empty: leave it out to take everybody's requests, or allow nothing")
	}
	return out
}

// signersAttribute is what the node says of its signers; empty where it has none.
func (c pluginConfig) signersAttribute() string {
	var ids []string
	for _, s := range c.Signers {
		ids = append(ids, s.ID())
	}
	return strings.Join(ids, ",")
}

// decodeSignature reads the signature of a profile or lend block, and what of the block it
// is of. The block was decoded before, without an error.
func decodeSignature(a attributes) (signature string, terms []string) {
	if b, ok := a.block(signing.Profile); ok {
		return b.text("signature"), signing.ProfileTerms(b.text("request"))
	}
	if b, ok := a.block(signing.Lend); ok {
		return b.text("signature"), signing.LendTerms(b.text("allocation"), b.text("task"), int64(b.number("cpu_mhz")), b.text("time_slice"))
	}
	return "", nil
}

// checkSignature takes profiling runs and transfers of the operator's signers only, where
// there are any. Kernels and pairs are their author's own, where the operator allows them.
func (c pluginConfig) checkSignature(task *protocol.TaskConfig, t taskConfig, now time.Time) error {
	work := t.work()
	if len(c.Signers) == 0 || work != permitProfile && work != permitTransfer {
		return nil
	}
	held := task.GetResources().GetAllocatedResources()
	err := signing.Verify(c.Signers, signing.Request{
		Work: string(work), Namespace: task.GetNamespace(), Job: task.GetJobId(), Node: task.GetNodeId(), Task: task.GetName(),
		CPUMHz: held.GetCpu().GetCpuShares(), MemoryMB: max(held.GetMemory().GetMemoryMb(), held.GetMemory().GetMemoryMaxMb()),
		Terms: t.SignedTerms,
	}, t.Signature, now)
	if err == nil {
		return nil
	}
	hint := "only the placer's agent may ask for this here, with a key that is among the signers in the plugin block"
	if errors.Is(err, signing.ErrExpired) {
		hint = "the task was started late or again, or the clocks differ; the agent signs each request anew"
	}
	return fmt.Errorf("%s: %w; %s", work.block(), err, hint)
}
