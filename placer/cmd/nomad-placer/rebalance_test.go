package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/nomadtest"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/store/nomadvars"
)

const slowBlock = "target {\n rate = 100\n}\nprobe \"log\" {\n pattern = \"work (\\\\d+)\"\n}\nprofile {\n skip = true\n}\npolicy = \"least-loaded\"\n"

// slowJob is a job on alpha that was measured at half of its target.
func slowJob(t *testing.T, block string) *cliTest {
	t.Helper()
	c := newCLITest(t)
	c.nomad.Submit(nomadtest.Object{
		"ID": "slow", "Name": "slow", "Type": "service", "Datacenters": []any{"*"},
		"TaskGroups": []any{nomadtest.Object{
			"Name": "main", "Count": 1, "Meta": nomadtest.Object{"performance": block},
			"Tasks": []any{nomadtest.Object{"Name": "main", "Driver": "raw_exec", "Resources": nomadtest.Object{"CPU": 100, "MemoryMB": 64}}},
		}},
	}, "")
	c.nomad.AddNode(nomadtest.Node{ID: "22222222-0000-0000-0000-000000000002", Name: "omega", CPUMHz: 4000, MemoryMB: 4096, Drivers: []string{"raw_exec"}})
	config := api.DefaultConfig()
	config.Address = c.nomad.URL
	client, err := api.NewClient(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	s, err := nomadvars.New(client, nomadvars.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = journal.Book{Store: s}.AddObservations(t.Context(), cluster.WorkloadID{Namespace: "default", Job: "slow", Group: "main"}, []cluster.Observation{{
		Allocation: "00000000-0000-0000-0000-000000000001", At: c.now(), Window: 2 * time.Second, Measure: performance.Measure{RatePerSec: 50, Goodput: 50},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *cliTest) shortlist() string {
	return fmt.Sprint(c.nomad.Job("default", "slow")["TaskGroups"].([]any)[0].(nomadtest.Object)["Constraints"])
}

func TestRebalance(t *testing.T) {
	t.Parallel()
	c := slowJob(t, slowBlock+"move = true\n")
	out, code := c.run("rebalance", "-dry-run")
	if code != command.ExitDone || !strings.Contains(out, "slow / main  would be moved") || !strings.Contains(out, "it reaches 50 % of its target") {
		t.Fatalf("exit %d:\n%s", code, out)
	}
	if strings.Contains(c.shortlist(), "22222222") {
		t.Error("a dry run wrote the job")
	}
	out, code = c.run("rebalance", "-json")
	var moves []cluster.Relocation
	if err := json.Unmarshal([]byte(out), &moves); err != nil || code != command.ExitDone {
		t.Fatalf("exit %d, %v:\n%s", code, err, out)
	}
	if len(moves) != 1 || moves[0].Result != "done" || moves[0].FromName != "alpha" || moves[0].ToName != "omega" {
		t.Errorf("moves %+v", moves)
	}
	if s := c.shortlist(); !strings.Contains(s, "22222222") || strings.Contains(s, "11111111") {
		t.Errorf("constraints %s", s)
	}
}

func TestRebalanceOnlyAdvisesWhatMayNotMove(t *testing.T) {
	t.Parallel()
	c := slowJob(t, slowBlock)
	out, code := c.run("rebalance")
	if code != command.ExitDone || !strings.Contains(out, "advice: its performance block does not say move = true") {
		t.Errorf("exit %d:\n%s", code, out)
	}
	if strings.Contains(c.shortlist(), "22222222") {
		t.Error("it was moved")
	}
}
