package nomadapi

import (
	"crypto/rand"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/nomadtest"
	"github.com/nomad-placer/nomad-placer/profiler/signing"
)

func withKey(t *testing.T, w *World) signing.Signer {
	t.Helper()
	key, err := signing.NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	w.opts.SigningKey = &key
	return key.Signer()
}

// verify checks every request of a job as the driver does.
func verify(t *testing.T, job object, node cluster.NodeID, s signing.Signer, now time.Time) (signed int) {
	t.Helper()
	eachRequest(job, node, func(string) bool { return true }, func(r signing.Request, block object) {
		err := signing.Verify([]signing.Signer{s}, r, block.text("signature"), now)
		switch {
		case err == nil:
			signed++
		case block.text("signature") != "":
			t.Errorf("task %s: %v", r.Task, err)
		}
	})
	return signed
}

// A profiling run is signed, and nothing of the user's in it.
func TestAProfilingRunIsSigned(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	signer := withKey(t, w)
	server.Submit(testJob("web", "ok"), "")
	server.AddNode(nomadtest.Node{ID: "n1", Name: "alpha", Pool: "prod", CPUMHz: 4000, MemoryMB: 4096, Drivers: []string{"exec", KernelDriver}, Attributes: map[string]string{driverSigners: signer.ID()}})
	job := mustJob(t, w, ctx, "web")
	user, err := w.nomad.rawJob(ctx, job.ID)
	if err != nil {
		t.Fatal(err)
	}
	own := object{"Name": "noise", "Driver": KernelDriver, "Config": map[string]any{"profile": []any{map[string]any{"request": "{}"}}}, "Resources": map[string]any{}}
	group := findGroup(user, job.Workloads[0].ID.Group)
	group.setList("Tasks", append(group.objects("Tasks"), own))
	lab, err := labJob(user, cluster.ProfileRequest{ID: "1", Job: job, Workload: job.Workloads[0], Node: cluster.Node{ID: "n1"}, Seconds: 10}, DefaultOwner)
	if err != nil {
		t.Fatal(err)
	}
	now := w.serverTime.Now()
	w.sign(lab, "n1", now.Add(time.Minute), func(task string) bool { return task == labTask })
	if n := verify(t, lab, "n1", signer, now.Add(signedBeyond)); n != 1 {
		t.Errorf("%d requests are signed, want that of the profiler alone", n)
	}
}

// A transfer is signed for its node; what others made of its job in Nomad is not signed again.
func TestATransferIsSigned(t *testing.T) {
	t.Parallel()
	w, server, ctx, id := transferWorld(t)
	signer := withKey(t, w)
	if err := w.Resize(ctx, id, recipientID, cluster.Resources{CPUMHz: 150, MemoryMB: 164, DiskMB: 300}); err != nil {
		t.Fatal(err)
	}
	job := object(server.Job("default", transferID.ID))
	now := w.serverTime.Now()
	if n := verify(t, job, "n1", signer, now); n != 1 {
		t.Fatalf("%d requests are signed", n)
	}
	block := transferTasks(job)[0].object("Config").objects("lend")[0]
	old := block.text("signature")
	w.signAgain(job, "n1", now.Add(time.Hour))
	if block.text("signature") == old || verify(t, job, "n1", signer, now.Add(time.Hour)) != 1 {
		t.Error("the signature was not renewed")
	}
	renewed := block.text("signature")
	block["allocation"] = "of-somebody-else"
	w.signAgain(job, "n1", now.Add(2*time.Hour))
	if block.text("signature") != renewed {
		t.Error("what was changed in Nomad was signed")
	}
}

// A client's clock goes with the servers', so a signature holds there, however far behind the
// clock of the agent's machine is.
func TestATransferIsSignedByTheServersClock(t *testing.T) {
	t.Parallel()
	w, server, ctx, id := transferWorld(t)
	signer := withKey(t, w)
	now := w.serverTime.steady().Add(20 * time.Minute)
	w.serverTime.stamped(now.UnixNano(), 1, w.serverTime.steady())
	if err := w.Resize(ctx, id, recipientID, cluster.Resources{CPUMHz: 150, MemoryMB: 164, DiskMB: 300}); err != nil {
		t.Fatal(err)
	}
	if n := verify(t, object(server.Job("default", transferID.ID)), "n1", signer, now); n != 1 {
		t.Errorf("%d requests are signed", n)
	}
}

// A node that does not take the agent's key is not asked.
func TestANodeWithOtherSigners(t *testing.T) {
	t.Parallel()
	for _, key := range []bool{false, true} {
		w, server, ctx, id := transferWorld(t)
		want := "this agent has no key: give it signing_key_file"
		if key {
			want = "the key of this agent is " + withKey(t, w).ID() + ": add it to signers"
		}
		server.AddNode(nomadtest.Node{ID: "n1", Name: "alpha", Pool: "prod", CPUMHz: 4000, MemoryMB: 4096, Drivers: []string{"exec", KernelDriver}, Attributes: map[string]string{driverSigners: "0badf00d"}})
		if err := w.Resize(ctx, id, recipientID, cluster.Resources{CPUMHz: 150, MemoryMB: 164, DiskMB: 300}); !errors.Is(err, cluster.ErrImpossible) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		s, err := w.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		job := mustJob(t, w, ctx, "web")
		request := cluster.ProfileRequest{ID: "1", Job: job, Workload: job.Workloads[0], Node: *s.Nodes[0], Seconds: 10}
		if _, err := w.Profile(ctx, request); !errors.Is(err, cluster.ErrNoKernels) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
