//go:build e2e

package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/rig"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/training"
)

const (
	basePort = 28000
	binDir   = "../../bin"
	runID    = "fleet"
	// calibrateSeconds are too few for a calibration that is worth something, and enough for one that
	// is whole.
	calibrateSeconds = "5"
)

func TestMain(m *testing.M) {
	cluster.Reexec()
	os.Exit(m.Run())
}

// site is the cluster, and a user of it.
type site struct {
	*cluster.Cluster
	t       *testing.T
	program string
	token   string
	work    string
}

func start(t *testing.T) *site {
	t.Helper()
	bin, err := filepath.Abs(binDir)
	if err != nil {
		t.Fatal(err)
	}
	var clients []cluster.Client
	calibrations := t.TempDir()
	for cpu, name := range []string{"alpha", "beta"} {
		// Some kernels, so that a calibration takes seconds.
		more := fmt.Sprintf("sources = [\"int\", \"fp\", \"l1d\"]\n    calibration_file = %q", filepath.Join(calibrations, name, "calibration.json"))
		clients = append(clients, cluster.Client{Name: name, Class: "small", CPUs: []int{cpu}, MemoryMB: 2048, HCL: rig.DriverHCL(runID, name, more)})
	}
	c, err := cluster.Start(t.Context(), cluster.Config{
		Nomad: filepath.Join(bin, "nomad"), BasePort: basePort, RunID: runID, ACL: true, PluginDir: filepath.Join(bin, "plugins"), Clients: clients,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(context.Background()); err != nil {
			t.Error("stopping the cluster:", err)
		}
	})
	s := &site{Cluster: c, t: t, program: filepath.Join(bin, "nomad-placer"), work: t.TempDir()}
	s.token = s.newToken("campaign", `namespace "default" { capabilities = ["submit-job", "read-job", "list-jobs", "read-fs", "parse-job"] }
namespace "*" { capabilities = ["read-job"] }
node { policy = "read" }`)
	return s
}

// newToken has those rights, and no others.
func (s *site) newToken(name, rules string) string {
	s.t.Helper()
	if _, err := s.API().ACLPolicies().Upsert(&api.ACLPolicy{Name: name, Rules: rules}, nil); err != nil {
		s.t.Fatal(err)
	}
	made, _, err := s.API().ACLTokens().Create(&api.ACLToken{Name: name, Type: "client", Policies: []string{name}}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return made.SecretID
}

func (s *site) command(words ...string) (cmd *exec.Cmd, out, said *bytes.Buffer) {
	words = append([]string{"fleet", words[0], "-work", s.work, "-json", "-token", s.token}, words[1:]...)
	cmd = exec.CommandContext(s.t.Context(), s.program, words...)
	cmd.Env = s.Env(os.Environ())
	out, said = &bytes.Buffer{}, &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = out, said
	return cmd, out, said
}

// fleet runs a campaign to its end, which has that exit code, and reads what it prints.
func (s *site) fleet(exit int, words ...string) (report report, said string) {
	s.t.Helper()
	cmd, out, errors := s.command(words...)
	begun := time.Now()
	err := cmd.Run()
	if cmd.ProcessState.ExitCode() != exit {
		s.t.Fatalf("fleet %s: %v\n%s%s", strings.Join(words, " "), err, out, errors)
	}
	s.t.Logf("fleet %s: %.0f s\n%s", strings.Join(words, " "), time.Since(begun).Seconds(), errors)
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &report); err != nil {
			s.t.Fatal(err)
		}
	}
	return report, errors.String()
}

// report is what is looked at of what a campaign prints.
type report struct {
	Units []struct{ Unit, State, Why, Node string }
	Nodes []struct {
		Node        string
		Calibration struct {
			Kernels []struct {
				Source string
				Peak   float64 `json:"peak_ops_per_sec"`
			}
		}
	}
	Spreads []struct {
		Source       string
		ApartPercent float64 `json:"apart_percent"`
	}
}

// states are those of the units, in their order.
func (r report) states() string {
	var out []string
	for _, u := range r.Units {
		out = append(out, u.Unit+" "+u.State)
	}
	return strings.Join(out, ", ")
}

// running waits until an allocation runs on a node.
func (s *site) running(ctx context.Context, node string) (*api.AllocationListStub, error) {
	for ctx.Err() == nil {
		all, _, err := s.API().Allocations().List((&api.QueryOptions{}).WithContext(ctx))
		if err != nil {
			return nil, err
		}
		for _, a := range all {
			if a.NodeName == node && a.ClientStatus == api.AllocClientStatusRunning {
				return a, nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return nil, ctx.Err()
}

// left are the jobs on the cluster.
func (s *site) left(want ...string) {
	s.t.Helper()
	jobs, _, err := s.API().Jobs().List(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	var got []string
	for _, j := range jobs {
		got = append(got, j.ID)
	}
	if !slices.Equal(got, want) {
		s.t.Errorf("jobs on the cluster: %q, want %q", got, want)
	}
}

// TestFleet is one story, since a cluster takes a while to start.
func TestFleet(t *testing.T) {
	s := start(t)
	s.calibrate()
	s.left()
	s.refused()
	s.profile()
	s.pair()
	s.left()
	s.interrupted()
	s.left()
	s.tenant()
}

// calibrate: a node is lost on the way and costs its unit only; when it is back, the same command
// measures that unit and no other.
func (s *site) calibrate() {
	lost := make(chan error, 1)
	go func() {
		_, err := s.running(s.t.Context(), "beta")
		if err == nil {
			err = s.LoseClient(s.t.Context(), 1)
		}
		lost <- err
	}()
	words := []string{"calibrate", "-class", "small", "-seconds", calibrateSeconds}
	first, _ := s.fleet(1, words...)
	if err := <-lost; err != nil {
		s.t.Fatal(err)
	}
	if got := first.states(); got != "alpha measured, beta left out" {
		s.t.Errorf("with a node lost: %s", got)
	}
	if err := s.RestartClient(s.t.Context(), 1); err != nil {
		s.t.Fatal(err)
	}
	second, _ := s.fleet(0, append(words, "-wait", "1m")...)
	if got := second.states(); got != "alpha kept, beta measured" {
		s.t.Errorf("when it is back: %s", got)
	}
	for _, n := range second.Nodes {
		peaks := 0
		for _, k := range n.Calibration.Kernels {
			if k.Peak > 0 {
				peaks++
			}
		}
		if peaks == 0 {
			s.t.Errorf("%s has no kernel with a peak", n.Node)
		}
	}
	if len(second.Nodes) != 2 || len(second.Spreads) == 0 {
		s.t.Errorf("%d nodes, %d comparisons", len(second.Nodes), len(second.Spreads))
	}
}

// refused: who may not submit jobs is told which rights are needed.
func (s *site) refused() {
	token := s.token
	defer func() { s.token = token }()
	s.token = s.newToken("reader", `namespace "*" { policy = "read" }
node { policy = "read" }`)
	if _, said := s.fleet(1, "calibrate", "-again", "-node", "alpha"); !strings.Contains(said, "403") || !strings.Contains(said, "submit-job") {
		s.t.Errorf("said %q", said)
	}
}

// jobFile is a loop that counts lines, finely enough to be measured in windows of a fifth of a second.
func (s *site) jobFile(name string) string {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), name+".nomad.hcl")
	text := fmt.Sprintf(`job %[1]q {
  group "loop" {
    network {
      port "%[1]s" {}
    }
    performance {
      target {
        rate = 100
        unit = "lines"
      }
      probe "prometheus" {
        port = %[1]q
        rate = "loop_units_total"
      }
    }
    task %[1]q {
      driver = "raw_exec"
      config {
        command = %[2]q
        args    = ["loop", "-lines", "-listen", "127.0.0.1:$${NOMAD_PORT_%[1]s}", "--", "/bin/sh", "-c", "while :; do i=0; while [ $i -lt 1000 ]; do i=$((i+1)); done; echo; done"]
      }
      resources {
        cpu    = 100
        memory = 64
      }
    }
  }
}
`, name, filepath.Join(filepath.Dir(s.program), "workload"))
	text = strings.ReplaceAll(text, "$${", "${")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
	return path
}

func (s *site) profile() {
	words := []string{"profile", "-workload", s.jobFile("one"), "-sources", "int", "-seconds-per-source", "6"}
	if got, _ := s.fleet(0, words...); got.states() != "one/loop measured" {
		s.t.Error(got.states())
	}
	if got, _ := s.fleet(0, words...); got.states() != "one/loop kept" {
		s.t.Error(got.states())
	}
	data, err := os.ReadFile(filepath.Join(s.work, "rows.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	var rows []profile.Profile
	if err := json.Unmarshal(data, &rows); err != nil {
		s.t.Fatal(err)
	}
	if len(rows) != 1 || len(rows[0].Ramp) == 0 || !rows[0].Complete || rows[0].Check() != nil || rows[0].Provenance == nil {
		s.t.Errorf("rows %s", data)
	}
}

func (s *site) pair() {
	words := []string{"pairs", "-workload", s.jobFile("one"), "-workload", s.jobFile("two"), "-placement", "same"}
	if got, _ := s.fleet(0, words...); got.states() != "one/loop + two/loop measured" {
		s.t.Error(got.states())
	}
	list, err := training.LoadPairsFrom(filepath.Join(s.work, training.PairsFile))
	if err != nil || len(list) != 1 {
		s.t.Fatalf("%d pairs, %v", len(list), err)
	}
	if p := list[0]; p.A.Ratio <= 0 || p.B.Ratio <= 0 || p.A.Ratio+p.B.Ratio > 1.5 {
		s.t.Errorf("two loops on one CPU keep %.2f and %.2f of their speed", p.A.Ratio, p.B.Ratio)
	}
}

// interrupted: what runs is removed.
func (s *site) interrupted() {
	cmd, _, said := s.command("calibrate", "-again", "-node", "alpha")
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.running(s.t.Context(), "alpha"); err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		s.t.Fatal(err)
	}
	err := cmd.Wait()
	if exit := new(exec.ExitError); !errors.As(err, &exit) || exit.ExitCode() != 130 {
		s.t.Errorf("interrupted: %v\n%s", err, said)
	}
	if !strings.Contains(said.String(), "the same command goes on there") {
		s.t.Errorf("said %q", said)
	}
}

// tenant: a node on which somebody runs is left alone.
func (s *site) tenant() {
	task := api.NewTask("sleep", "raw_exec").SetConfig("command", "/bin/sleep").SetConfig("args", []string{"600"})
	job := api.NewServiceJob("tenant", "tenant", "", 50).AddDatacenter("*").
		AddTaskGroup(api.NewTaskGroup("sleep", 1).AddTask(task)).Constrain(api.NewConstraint("${node.unique.name}", "=", "alpha"))
	if _, _, err := s.API().Jobs().Register(job, nil); err != nil {
		s.t.Fatal(err)
	}
	before, err := s.tenantRuns()
	if err != nil {
		s.t.Fatal(err)
	}
	got, _ := s.fleet(1, "calibrate", "-again", "-node", "alpha")
	if got.states() != "alpha left out" || !strings.Contains(got.Units[0].Why, "1 allocation of others run there") {
		s.t.Errorf("%+v", got.Units)
	}
	if after, err := s.tenantRuns(); err != nil || after != before {
		s.t.Errorf("the tenant ran as %s, and then as %s, %v", before, after, err)
	}
	s.left("tenant")
}

// tenantRuns waits until it does.
func (s *site) tenantRuns() (string, error) {
	for s.t.Context().Err() == nil {
		all, _, err := s.API().Jobs().Allocations("tenant", false, nil)
		if err != nil {
			return "", err
		}
		if len(all) == 1 && all[0].ClientStatus == api.AllocClientStatusRunning {
			return all[0].ID, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return "", s.t.Context().Err()
}
