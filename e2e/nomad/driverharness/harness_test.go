package driverharness

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/nomad/helper/pluginutils/hclspecutils"
	"github.com/hashicorp/nomad/helper/pluginutils/hclutils"
	"github.com/hashicorp/nomad/helper/uuid"
	"github.com/hashicorp/nomad/nomad/structs"
	"github.com/hashicorp/nomad/plugins/base"
	"github.com/hashicorp/nomad/plugins/drivers"
	"github.com/hashicorp/nomad/plugins/drivers/testutils"
	"github.com/zclconf/go-cty/cty/msgpack"
)

// within bounds every wait; generous, for a loaded machine.
const within = 30 * time.Second

// pluginPath is what `make build` makes.
const pluginPath = "../../../bin/plugins/nomad-driver-ibench"

// start runs the plugin as the agent does and puts it under the harness.
func start(t *testing.T) *testutils.DriverHarness {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("the driver places kernels in control groups, which needs root")
	}
	path, err := filepath.Abs(pluginPath)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("run `make build` first: %v", err)
	}
	logger := hclog.NewNullLogger()
	client := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig: base.Handshake,
		Plugins: map[string]plugin.Plugin{
			base.PluginTypeBase:   &base.PluginBase{},
			base.PluginTypeDriver: drivers.NewDriverPlugin(nil, logger),
		},
		Cmd:              exec.Command(path),
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolGRPC},
		Logger:           logger,
	})
	t.Cleanup(client.Kill)
	protocol, err := client.Client()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := protocol.Dispense(base.PluginTypeDriver)
	if err != nil {
		t.Fatal(err)
	}
	h := testutils.NewDriverHarness(t, raw.(drivers.DriverPlugin))
	t.Cleanup(h.Kill)
	schema, err := h.ConfigSchema()
	if err != nil {
		t.Fatal(err)
	}
	spec, diagnostics := hclspecutils.Convert(schema)
	if diagnostics.HasErrors() {
		t.Fatal(diagnostics)
	}
	value, diagnostics, errs := hclutils.ParseHclInterface(map[string]any{"runtime_dir": t.TempDir(), "kill_switch": "", "allow": []string{"kernels"}}, spec, nil)
	if diagnostics.HasErrors() {
		t.Fatal(diagnostics, errs)
	}
	data, err := msgpack.Marshal(value, value.Type())
	if err != nil {
		t.Fatal(err)
	}
	if err := h.SetConfig(&base.Config{PluginConfig: data}); err != nil {
		t.Fatal(err)
	}
	return h
}

// newTask makes a task whose config block is HCL, decoded by the driver's own
// schema as the agent does.
func newTask(t *testing.T, h *testutils.DriverHarness, config string) *drivers.TaskConfig {
	t.Helper()
	task := &drivers.TaskConfig{
		ID: uuid.Generate(), AllocID: uuid.Generate(), Name: "noise",
		Resources: &drivers.Resources{NomadResources: &structs.AllocatedTaskResources{
			Cpu: structs.AllocatedCpuResources{CpuShares: 100}, Memory: structs.AllocatedMemoryResources{MemoryMB: 64},
		}},
	}
	schema, err := h.TaskConfigSchema()
	if err != nil {
		t.Fatal(err)
	}
	spec, diagnostics := hclspecutils.Convert(schema)
	if diagnostics.HasErrors() {
		t.Fatal(diagnostics)
	}
	value, diagnostics, errs := hclutils.ParseHclInterface(hclutils.HclConfigToInterface(t, config), spec, nil)
	if diagnostics.HasErrors() {
		t.Fatal(diagnostics, errs)
	}
	if err := task.EncodeDriverConfig(value); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir()) // the harness does not remove all of its folders
	t.Cleanup(h.MkAllocDir(task, true))
	return task
}

const quiet = `config {
  kernel {
    source    = "int"
    intensity = 5
  }
  max_duration = "1m"
}`

func TestDescribesItself(t *testing.T) {
	h := start(t)
	info, err := h.PluginInfo()
	if err != nil || info.Name != "ibench" || info.Type != base.PluginTypeDriver {
		t.Errorf("%+v, %v", info, err)
	}
	can, err := h.Capabilities()
	if err != nil || !can.SendSignals || !can.Exec || can.FSIsolation != "none" {
		t.Errorf("capabilities %+v, %v", can, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	prints, err := h.Fingerprint(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if p := <-prints; p.Health != drivers.HealthStateHealthy || p.Attributes["driver.ibench.soi.int"] == nil {
		t.Errorf("fingerprint %+v", p)
	}
}

// One task from its start to its end, through every call of the interface.
func TestLifeOfTask(t *testing.T) {
	h := start(t)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	task := newTask(t, h, quiet)
	events, err := h.TaskEvents(ctx)
	if err != nil {
		t.Fatal(err)
	}
	handle, network, err := h.StartTask(task)
	if err != nil || network != nil {
		t.Fatal(network, err)
	}
	if _, _, err := h.StartTask(task); err == nil {
		t.Error("started twice")
	}
	if err := h.WaitUntilStarted(task.ID, within); err != nil {
		t.Fatal(err)
	}
	if e := <-events; e.TaskID != task.ID || !strings.HasPrefix(e.Message, "int: 5 %") {
		t.Errorf("event %+v", e)
	}
	if r, err := h.ExecTask(task.ID, []string{"stats"}, within); err != nil || r.ExitResult.ExitCode != 0 || !strings.HasPrefix(string(r.Stdout), "int: 5 %") {
		t.Errorf("exec: %+v, %v", r, err)
	}
	if r, err := h.ExecTask(task.ID, []string{"set", "200"}, within); err != nil || r.ExitResult.ExitCode == 0 || len(r.Stderr) == 0 {
		t.Errorf("a bad command: %+v, %v", r, err)
	}
	if err := h.SignalTask(task.ID, "SIGUSR1"); err != nil {
		t.Error(err)
	}
	if err := h.SignalTask(task.ID, "SIGHUP"); err == nil || !strings.Contains(err.Error(), "SIGUSR1") {
		t.Errorf("an unknown signal: %v", err)
	}
	checkStats(ctx, t, h, task.ID)
	if err := h.RecoverTask(handle); err != nil {
		t.Errorf("recovering a task that is known: %v", err)
	}
	if err := h.DestroyTask(task.ID, false); err == nil {
		t.Error("a running task was destroyed")
	}
	exit, err := h.WaitTask(ctx, task.ID)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.StopTask(task.ID, within, ""); err != nil {
		t.Error(err)
	}
	if r := <-exit; r == nil || !r.Successful() {
		t.Errorf("ended with %+v", r)
	}
	if s, err := h.InspectTask(task.ID); err != nil || s.State != drivers.TaskStateExited || s.CompletedAt.IsZero() {
		t.Errorf("inspect: %+v, %v", s, err)
	}
	if err := h.DestroyTask(task.ID, false); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{
		"inspect": second(h.InspectTask(task.ID)), "signal": h.SignalTask(task.ID, "SIGUSR1"),
		"stop": h.StopTask(task.ID, 0, ""), "destroy": h.DestroyTask(task.ID, true),
	} {
		if err == nil || !strings.Contains(err.Error(), drivers.ErrTaskNotFound.Error()) {
			t.Errorf("%s of a task that is gone: %v", what, err)
		}
	}
	checkLog(t, task)
}

func second[T any](_ T, err error) error { return err }

func checkStats(ctx context.Context, t *testing.T, h *testutils.DriverHarness, id string) {
	t.Helper()
	stats, err := h.TaskStats(ctx, id, 100*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	<-stats
	if s := <-stats; s.ResourceUsage.MemoryStats.Usage == 0 || s.ResourceUsage.CpuStats.Percent <= 0 || len(s.Pids) < 2 {
		t.Errorf("stats %+v, by process %v", s.ResourceUsage, s.Pids)
	}
}

// checkLog finds the task's own words in the file of Nomad's log collector.
func checkLog(t *testing.T, task *drivers.TaskConfig) {
	t.Helper()
	file := filepath.Join(task.TaskDir().LogDir, "noise.stdout.0")
	for deadline := time.Now().Add(within); ; time.Sleep(50 * time.Millisecond) {
		text, err := os.ReadFile(file)
		if strings.Contains(string(text), "int: 5 % → 15 %") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("log %q, %v", text, err)
		}
	}
}

// A second plugin process takes over what the first one started.
func TestRecover(t *testing.T) {
	first := start(t)
	task := newTask(t, first, quiet)
	handle, _, err := first.StartTask(task)
	if err != nil {
		t.Fatal(err)
	}
	h := start(t)
	if err := h.RecoverTask(handle); err != nil {
		t.Fatal(err)
	}
	if s, err := h.InspectTask(task.ID); err != nil || s.State != drivers.TaskStateRunning {
		t.Errorf("inspect: %+v, %v", s, err)
	}
	if err := h.DestroyTask(task.ID, true); err != nil {
		t.Error(err)
	}
	if err := h.RecoverTask(handle); err == nil {
		t.Error("a task that was destroyed was recovered")
	}
}

// What no restart mends says so to the agent.
func TestBadConfig(t *testing.T) {
	h := start(t)
	task := newTask(t, h, strings.Replace(quiet, "= 5", "= 130", 1))
	_, _, err := h.StartTask(task)
	if err == nil || !strings.Contains(err.Error(), "kernel[0].intensity: 130 is outside 0 to 100 percent") {
		t.Errorf("error %v", err)
	}
	if structs.IsRecoverable(err) {
		t.Error("worth a restart?")
	}
}
