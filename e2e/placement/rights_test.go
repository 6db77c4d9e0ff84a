//go:build e2e

package placement

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	placer "github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/rights"
)

// allRights are the options with which an agent has every right of the list.
var allRights = []rights.Option{rights.ExecProbes, rights.NodeMetadata, rights.CreateHoldPool}

// TestEachRightIsNeeded takes each right out of the policy and makes a request that needs
// it: Nomad refuses it, and refuses nothing with the whole policy.
func TestEachRightIsNeeded(t *testing.T) {
	ctx := t.Context()
	task := api.NewTask("main", "raw_exec").SetConfig("command", "/bin/sleep").SetConfig("args", []string{"1000"}).
		Require(&api.Resources{CPU: ptr(20), MemoryMB: ptr(16)})
	submit(ctx, t, api.NewServiceJob("each-right", "each-right", "global", 50).AddTaskGroup(api.NewTaskGroup("main", 1).AddTask(task)))
	if err := shared.WaitRunning(ctx, "each-right"); err != nil {
		t.Fatal(err)
	}
	allocs, _, err := shared.API().Jobs().Allocations("each-right", false, nil)
	if err != nil || len(allocs) != 1 {
		t.Fatalf("%d allocations, %v", len(allocs), err)
	}
	whole := tokenFor(t, "whole", rights.Policy{Role: rights.Leader, With: allRights})
	for _, r := range rights.Of(rights.Leader, allRights...) {
		if r.Capability == "alloc-lifecycle" {
			continue // it ends the allocation: last
		}
		needed(ctx, t, r, whole, allocs[0])
	}
	for _, r := range rights.Of(rights.Leader) {
		if r.Capability == "alloc-lifecycle" {
			needed(ctx, t, r, whole, allocs[0])
		}
	}
}

func needed(ctx context.Context, t *testing.T, r rights.Right, whole string, alloc *api.AllocationListStub) {
	t.Helper()
	p := rights.Policy{Role: rights.Leader, With: allRights}
	if r.Name() == "node read" || r.Name() == "node_pool read" {
		p.With = nil // writing includes it
	}
	p.Without = func(_ string, other rights.Right) bool { return other.Name() == r.Name() }
	without := tokenFor(t, strings.NewReplacer(" ", "-", "_", "-").Replace(r.Name()), p)
	if err := use(ctx, r, without, alloc); !errors.Is(err, errRefused) {
		t.Errorf("without %q Nomad answers %v, want a refusal: is it needed?", r.Name(), err)
	}
	if err := use(ctx, r, whole, alloc); errors.Is(err, errRefused) {
		t.Errorf("%q is not enough: %v", r.Name(), err)
	}
}

// tokenFor makes a token with a policy of its own: clients remember policies for a while.
func tokenFor(t *testing.T, name string, p rights.Policy) string {
	t.Helper()
	name = "each-right-" + name
	if _, err := shared.API().ACLPolicies().Upsert(&api.ACLPolicy{Name: name, Rules: p.HCL()}, nil); err != nil {
		t.Fatal(err)
	}
	token, _, err := shared.API().ACLTokens().Create(&api.ACLToken{Name: name, Type: "client", Policies: []string{name}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return token.SecretID
}

var errRefused = errors.New("refused")

// use makes the first call of a right in a way that changes nothing, but that an
// allocation is stopped.
func use(ctx context.Context, r rights.Right, token string, alloc *api.AllocationListStub) error {
	volume := func(kind, access, attachment string) map[string]any {
		group := map[string]any{"Name": "main", "Tasks": []any{map[string]any{"Name": "main", "Driver": "raw_exec", "Config": map[string]any{"command": "/bin/true"}}}}
		group["Volumes"] = map[string]any{"data": map[string]any{"Name": "data", "Type": kind, "Source": "data", "AccessMode": access, "AttachmentMode": attachment}}
		job := map[string]any{"ID": "no-such-job", "Name": "no-such-job", "Type": "service", "Datacenters": []any{"*"}, "TaskGroups": []any{group}}
		return map[string]any{"Job": job, "EnforceIndex": true, "JobModifyIndex": 1} // there is no such version
	}
	csi := func() error {
		return call(ctx, http.MethodPut, "/v1/job/no-such-job", token, volume("csi", "single-node-writer", "file-system"))
	}
	switch r.Name() {
	case "everywhere read-job":
		return call(ctx, http.MethodGet, "/v1/job/each-right", token, nil)
	case "served list-jobs":
		return call(ctx, http.MethodGet, "/v1/jobs", token, nil)
	case "served submit-job":
		return call(ctx, http.MethodPut, "/v1/job/no-such-job/scale", token, map[string]any{"Target": map[string]string{"Group": "main"}, "Message": "none"})
	case "served dispatch-job":
		return call(ctx, http.MethodPut, "/v1/job/no-such-job/dispatch", token, map[string]any{})
	case "served read-fs":
		return call(ctx, http.MethodGet, "/v1/client/fs/ls/"+alloc.ID+"?path=/alloc", token, nil)
	case "served alloc-lifecycle":
		return call(ctx, http.MethodPut, "/v1/allocation/"+alloc.ID+"/stop", token, nil)
	case "served csi-mount-volume", "plugin read":
		return csi()
	case "served alloc-exec", "served alloc-node-exec":
		return run(ctx, token, alloc)
	case "variables read":
		return call(ctx, http.MethodGet, "/v1/var/nomad-placer/leader", token, nil)
	case "variables write":
		return call(ctx, http.MethodPut, "/v1/var/nomad-placer/each-right?cas=1", token, map[string]any{"Path": "nomad-placer/each-right", "Items": map[string]string{"a": "b"}})
	case "variables destroy":
		return call(ctx, http.MethodDelete, "/v1/var/nomad-placer/each-right?cas=1", token, nil)
	case "node read":
		return call(ctx, http.MethodGet, "/v1/nodes", token, nil)
	case "node write":
		return call(ctx, http.MethodPost, "/v1/client/metadata", token, map[string]any{"NodeID": alloc.NodeID, "Meta": map[string]any{"each_right": nil}})
	case "node_pool read":
		return call(ctx, http.MethodGet, "/v1/node/pool/placer", token, nil)
	case "node_pool write":
		return call(ctx, http.MethodPut, "/v1/node/pools", token, map[string]any{"Name": "placer", "Description": "jobs wait here"})
	case "host_volume mount-readwrite":
		return call(ctx, http.MethodPut, "/v1/job/no-such-job", token, volume("host", "", ""))
	default:
		return fmt.Errorf("this test has no request for %q", r.Name())
	}
}

func call(ctx context.Context, method, path, token string, in any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, shared.Addr()+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("X-Nomad-Token", token)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	switch {
	case answer.StatusCode == http.StatusForbidden:
		return fmt.Errorf("%s %s: %w", method, path, errRefused)
	case answer.StatusCode != http.StatusOK:
		return fmt.Errorf("%s %s: %s: %s", method, path, answer.Status, text)
	}
	return err
}

// run runs a command in the allocation's task.
func run(ctx context.Context, token string, stub *api.AllocationListStub) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	alloc := &api.Allocation{ID: stub.ID, NodeID: stub.NodeID, Namespace: "default"}
	q := (&api.QueryOptions{AuthToken: token}).WithContext(ctx)
	code, err := shared.API().Allocations().Exec(ctx, alloc, "main", false, []string{"/bin/true"}, strings.NewReader(""), io.Discard, io.Discard, nil, q)
	if err != nil && strings.Contains(err.Error(), "Permission denied") {
		return errors.Join(errRefused, err)
	}
	if err == nil && code != 0 {
		return fmt.Errorf("exit code %d", code)
	}
	return err
}

// TestAnExecProbeIsRead has a running job measured by a command in its task.
func TestAnExecProbeIsRead(t *testing.T) {
	ctx := t.Context()
	const block = "target {\n rate = 0.5\n}\nprobe \"exec\" {\n command = [\"/bin/date\", \"+%s\"]\n}\nprofile {\n skip = true\n}\npolicy = \"least-loaded\"\n"
	submit(ctx, t, held("by-command", block, "sleep 1000"))
	released(ctx, t, "by-command", time.Minute)
	eventually(ctx, t, "the command's number is on record", time.Minute, func() bool {
		list, err := book(t).Observations(ctx, workload("by-command"))
		return err == nil && slices.ContainsFunc(list, measured)
	})
}

func measured(o placer.Observation) bool { return o.Unavailable == "" && o.Measure.RatePerSec > 0.5 }
