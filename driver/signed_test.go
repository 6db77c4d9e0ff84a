package driver

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/nomad-placer/nomad-placer/driver/protocol"
	"github.com/nomad-placer/nomad-placer/profiler/signing"
)

func signingKey(t *testing.T) signing.Key {
	t.Helper()
	key, err := signing.NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

const profileText = `{"format":2,"task":"web","seconds":1}`

// requestTask is a task with a profile or lend block of a job in Nomad.
func requestTask(t *testing.T, block, signature string) *protocol.TaskConfig {
	t.Helper()
	values := task()
	values["profile"] = m{"request": profileText, "signature": signature}
	if block == signing.Lend {
		values = transferBlock(func(b m) { b["signature"], b["time_slice"] = signature, "100us" })
	}
	out := newTask(t, values)
	out.Namespace, out.JobId, out.NodeId = "default", "placer-x", "n1"
	out.Resources = &protocol.Resources{AllocatedResources: &protocol.AllocatedTaskResources{
		Cpu: &protocol.AllocatedCpuResources{CpuShares: 100}, Memory: &protocol.AllocatedMemoryResources{MemoryMb: 64},
	}}
	return out
}

func requestOf(block string) signing.Request {
	r := signing.Request{
		Work: signing.Profile, Namespace: "default", Job: "placer-x", Node: "n1", Task: "noise", CPUMHz: 100, MemoryMB: 64,
		Terms: signing.ProfileTerms(profileText),
	}
	if block == signing.Lend {
		r.Work, r.Terms = signing.Lend, signing.LendTerms("a1", "web", 500, "100us")
	}
	return r
}

// With signers only what one of them has signed, as it is and where it is, is begun.
func TestOnlySignedRequestsAreTaken(t *testing.T) {
	t.Parallel()
	key := signingKey(t)
	a := startPlugin(t, t.TempDir(), func(c m) { c["signers"] = []string{signingKey(t).Signer().String(), key.Signer().String()} })
	later := time.Now().Add(time.Minute)
	for _, block := range []string{signing.Profile, signing.Lend} {
		good := key.Sign(requestOf(block), later)
		elsewhere := requestOf(block)
		elsewhere.Node = "n2"
		for name, c := range map[string]struct {
			signature string
			change    func(*protocol.TaskConfig)
			want      string
		}{
			"unsigned":          {"", nil, "the request is not signed; only the placer's agent may ask"},
			"a stranger's":      {signingKey(t).Sign(requestOf(block), later), nil, "by none of the signers"},
			"expired":           {key.Sign(requestOf(block), time.Now().Add(-time.Second)), nil, "the signature has expired"},
			"another node's":    {key.Sign(elsewhere, later), nil, "by none of the signers"},
			"another job":       {good, func(t *protocol.TaskConfig) { t.JobId = "placer-y" }, "by none of the signers"},
			"another tenant":    {good, func(t *protocol.TaskConfig) { t.Namespace = "theirs" }, "by none of the signers"},
			"more memory":       {good, func(t *protocol.TaskConfig) { t.Resources.AllocatedResources.Memory.MemoryMaxMb = 999 }, "by none of the signers"},
			"more CPU":          {good, func(t *protocol.TaskConfig) { t.Resources.AllocatedResources.Cpu.CpuShares = 999 }, "by none of the signers"},
			"the other block's": {key.Sign(requestOf(map[string]string{signing.Profile: signing.Lend, signing.Lend: signing.Profile}[block]), later), nil, "by none of the signers"},
		} {
			task := requestTask(t, block, c.signature)
			if c.change != nil {
				c.change(task)
			}
			_, err := a.driver.StartTask(t.Context(), &protocol.StartTaskRequest{Task: task})
			if s := status.Convert(err); s.Code() != codes.FailedPrecondition || !strings.Contains(s.Message(), block+": ") || !strings.Contains(s.Message(), c.want) {
				t.Errorf("%s, %s: %v, want %q", block, name, err, c.want)
			}
		}
		// One that is signed is judged further: here it fails for another reason, or runs.
		task := requestTask(t, block, good)
		if _, err := a.driver.StartTask(t.Context(), &protocol.StartTaskRequest{Task: task}); err != nil && !strings.Contains(err.Error(), "no allocation a1") {
			t.Errorf("%s, signed: %v", block, err)
		}
		if _, err := a.driver.DestroyTask(t.Context(), &protocol.DestroyTaskRequest{TaskId: task.GetId(), Force: true}); block == signing.Profile && err != nil {
			t.Error(err)
		}
	}
	a.start(t.Context(), t, newTask(t, quiet())) // kernels are their author's, and allowed
	got := a.plugin.fingerprint().GetAttributes()["driver.ibench.signers"].GetStringVal()
	if !strings.HasSuffix(got, ","+key.Signer().ID()) {
		t.Errorf("the node says that its signers are %q", got)
	}
}
