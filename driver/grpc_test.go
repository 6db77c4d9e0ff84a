package driver

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/nomad-placer/nomad-placer/driver/executor"
	"github.com/nomad-placer/nomad-placer/driver/protocol"
)

// These tests drive the plugin through its own protocol, as the agent does:
// real processes, real control groups, no Nomad.

const testTimeout = 60 * time.Second

// agent is the client's side of the plugin.
type agent struct {
	base   protocol.BasePluginClient
	driver protocol.DriverClient
	plugin *Driver
}

// startPlugin serves a new plugin that keeps its tasks in runtimeDir.
func startPlugin(t *testing.T, runtimeDir string, change func(m)) agent {
	t.Helper()
	d := New(hclog.NewNullLogger())
	if reason := unhealthy(d.node, pluginConfig{}); reason != "" || d.nodeErr != nil {
		t.Skipf("placing kernels needs root and cgroups: %s %v", reason, d.nodeErr)
	}
	listener := bufconn.Listen(1 << 20)
	server := grpc.NewServer()
	protocol.RegisterBasePluginServer(server, d)
	protocol.RegisterDriverServer(server, d)
	go func() { _ = server.Serve(listener) }() // ends with the listener
	conn, err := grpc.NewClient("passthrough:///plugin", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.Close()
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		server.Stop()
	})
	a := agent{protocol.NewBasePluginClient(conn), protocol.NewDriverClient(conn), d}
	config := defaults()
	config["runtime_dir"], config["allow"] = runtimeDir, textsOf(permissions)
	if change != nil {
		change(config)
	}
	if _, err := a.base.SetConfig(t.Context(), &protocol.SetConfigRequest{MsgpackConfig: pack(t, config)}); err != nil {
		t.Fatal(err)
	}
	return a
}

// newTask makes an allocation directory and a task in it.
func newTask(t *testing.T, config m) *protocol.TaskConfig {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "alloc")
	for _, d := range []string{"alloc/logs", "noise/local"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	id := "test-" + nameOf(dir)
	return &protocol.TaskConfig{
		Id: id + "/noise", Name: "noise", AllocId: id, AllocDir: dir,
		Env:                 map[string]string{"NOMAD_ALLOC_ID": id, "NOMAD_TASK_NAME": "noise"},
		MsgpackDriverConfig: pack(t, config),
	}
}

func quiet() m { return task(kernel(m{"source": "int", "intensity": 5})) }

func (a agent) start(ctx context.Context, t *testing.T, task *protocol.TaskConfig) *protocol.TaskHandle {
	t.Helper()
	r, err := a.driver.StartTask(ctx, &protocol.StartTaskRequest{Task: task})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// A test that failed half-way must not leave a kernel behind.
		if h, err := a.plugin.task(task.GetId()); err == nil {
			_ = h.kill(context.Background())
			_ = h.removeDir()
		}
	})
	return r.GetHandle()
}

// exec runs a virtual command until it succeeds: the kernels take a moment.
func (a agent) exec(ctx context.Context, t *testing.T, id string, words ...string) string {
	t.Helper()
	for {
		r, err := a.driver.ExecTask(ctx, &protocol.ExecTaskRequest{TaskId: id, Command: words})
		if err != nil {
			t.Fatal(err)
		}
		if r.GetResult().GetExitCode() == exitOK {
			return string(r.GetStdout())
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%q: %s", words, r.GetStderr())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (a agent) wait(ctx context.Context, t *testing.T, id string) *protocol.ExitResult {
	t.Helper()
	r, err := a.driver.WaitTask(ctx, &protocol.WaitTaskRequest{TaskId: id})
	if err != nil {
		t.Fatal(err)
	}
	return r.GetResult()
}

// clean destroys the task and checks that nothing of it is left.
func (a agent) clean(ctx context.Context, t *testing.T, task *protocol.TaskConfig, runtimeDir string) {
	t.Helper()
	if _, err := a.driver.DestroyTask(ctx, &protocol.DestroyTaskRequest{TaskId: task.GetId()}); err != nil {
		t.Fatal(err)
	}
	name := nameOf(task.GetId())
	if _, err := os.Stat(filepath.Join(runtimeDir, name)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("runtime directory left: %v", err)
	}
	groups, err := a.plugin.node.tree.Named(executor.GroupPrefix + name)
	if err != nil || len(groups) != 0 {
		t.Errorf("control groups left: %v, %v", groups, err)
	}
	if _, err := a.driver.InspectTask(ctx, &protocol.InspectTaskRequest{TaskId: task.GetId()}); err == nil || !strings.Contains(err.Error(), errTaskNotFound.Error()) {
		t.Errorf("the task is still known: %v", err)
	}
}

func TestPluginDescribesItself(t *testing.T) {
	t.Parallel()
	a := startPlugin(t, t.TempDir(), nil)
	info, err := a.base.PluginInfo(t.Context(), &protocol.PluginInfoRequest{})
	if err != nil || info.GetName() != "ibench" || info.GetType() != protocol.PluginType_DRIVER {
		t.Errorf("%v, %v", info, err)
	}
	schema, err := a.driver.TaskConfigSchema(t.Context(), &protocol.TaskConfigSchemaRequest{})
	if err != nil || schema.GetSpec().GetObject().GetAttributes()["kernel"] == nil {
		t.Errorf("task schema: %v, %v", schema, err)
	}
	can, err := a.driver.Capabilities(t.Context(), &protocol.CapabilitiesRequest{})
	if err != nil || !can.GetCapabilities().GetExec() || !can.GetCapabilities().GetSendSignals() {
		t.Errorf("capabilities: %v, %v", can, err)
	}
	prints, err := a.driver.Fingerprint(t.Context(), &protocol.FingerprintRequest{})
	if err != nil {
		t.Fatal(err)
	}
	first, err := prints.Recv()
	if err != nil || first.GetHealth() != protocol.FingerprintResponse_HEALTHY || first.GetAttributes()["driver.ibench.soi.int"] == nil {
		t.Errorf("fingerprint: %v, %v", first, err)
	}
}

func TestKernelTask(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	dir := t.TempDir()
	a := startPlugin(t, dir, nil)
	events, err := a.driver.TaskEvents(ctx, &protocol.TaskEventsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	task := newTask(t, quiet())
	id := task.GetId()
	a.start(ctx, t, task)
	if out := a.exec(ctx, t, id, "stats"); !strings.HasPrefix(out, "int: 5 %") {
		t.Errorf("stats: %q", out)
	}
	if out := a.exec(ctx, t, id, "set", "12"); !strings.HasPrefix(out, "int: 12 %") {
		t.Errorf("set: %q", out)
	}
	if _, err := a.driver.SignalTask(ctx, &protocol.SignalTaskRequest{TaskId: id, Signal: "SIGUSR1"}); err != nil {
		t.Error(err)
	}
	if out := a.stream(ctx, t, id, "stats", "-json"); !strings.Contains(out, `"intensity_percent": 22`) {
		t.Errorf("after a signal of +10: %s", out)
	}
	if _, err := a.driver.SignalTask(ctx, &protocol.SignalTaskRequest{TaskId: id, Signal: "SIGHUP"}); err == nil {
		t.Error("SIGHUP was accepted")
	}
	a.checkStats(ctx, t, id)
	if r, err := a.driver.InspectTask(ctx, &protocol.InspectTaskRequest{TaskId: id}); err != nil ||
		r.GetTask().GetCompletedAt() == nil || r.GetTask().GetResult() == nil || !strings.HasPrefix(r.GetDriver().GetAttributes()["kernel.0"], "int: 22 %") {
		t.Errorf("inspect while it runs: %v, %v", r, err)
	}
	if e, err := events.Recv(); err != nil || !strings.HasPrefix(e.GetMessage(), "int: ") || e.GetTaskId() != id {
		t.Errorf("first event: %v, %v", e, err)
	}
	if _, err := a.driver.DestroyTask(ctx, &protocol.DestroyTaskRequest{TaskId: id}); err == nil {
		t.Error("a running task was destroyed without force")
	}
	if _, err := a.driver.StopTask(ctx, &protocol.StopTaskRequest{TaskId: id, Timeout: durationpb.New(20 * time.Second)}); err != nil {
		t.Fatal(err)
	}
	if r := a.wait(ctx, t, id); r.GetExitCode() != 0 {
		t.Errorf("a stopped task ended with %v", r)
	}
	inspected, err := a.driver.InspectTask(ctx, &protocol.InspectTaskRequest{TaskId: id})
	if err != nil || inspected.GetTask().GetState() != protocol.TaskState_EXITED || inspected.GetDriver().GetAttributes()["reason"] != "stopped" {
		t.Errorf("inspect: %v, %v", inspected, err)
	}
	a.clean(ctx, t, task, dir)
}

// stream runs a virtual command over the streaming call, as nomad alloc exec.
func (a agent) stream(ctx context.Context, t *testing.T, id string, words ...string) string {
	t.Helper()
	s, err := a.driver.ExecTaskStreaming(ctx)
	if err != nil {
		t.Fatal(err)
	}
	setup := &protocol.ExecTaskStreamingRequest_Setup{TaskId: id, Command: words}
	if err := s.Send(&protocol.ExecTaskStreamingRequest{Setup: setup}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond) // the end of the input comes when the command is done, as with a slow client
	if err := s.Send(&protocol.ExecTaskStreamingRequest{Stdin: &protocol.ExecTaskStreamingIOOperation{Close: true}}); err != nil {
		t.Fatalf("%q: the stream ended before its input, which Nomad takes for a failure: %v", words, err)
	}
	var out strings.Builder
	for {
		r, err := s.Recv()
		if err != nil {
			t.Fatal(err)
		}
		out.Write(r.GetStdout().GetData())
		if r.GetExited() {
			if r.GetResult().GetExitCode() != exitOK {
				t.Errorf("%q: exit code %d", words, r.GetResult().GetExitCode())
			}
			return out.String()
		}
	}
}

func (a agent) checkStats(ctx context.Context, t *testing.T, id string) {
	t.Helper()
	s, err := a.driver.TaskStats(ctx, &protocol.TaskStatsRequest{TaskId: id, CollectionInterval: durationpb.New(100 * time.Millisecond)})
	if err != nil {
		t.Fatal(err)
	}
	var last *protocol.TaskResourceUsage
	for range 3 {
		r, err := s.Recv()
		if err != nil {
			t.Fatal(err)
		}
		last = r.GetStats().GetAggResourceUsage()
	}
	if last.GetMemory().GetUsage() == 0 || len(last.GetCpu().GetMeasuredFields()) == 0 {
		t.Errorf("use: %v", last)
	}
}

// A plugin that is replaced finds the task again; the task ends by itself when
// its allocation is gone.
func TestRecover(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	dir := t.TempDir()
	first := startPlugin(t, dir, nil)
	task := newTask(t, quiet())
	id := task.GetId()
	handle := first.start(ctx, t, task)
	first.exec(ctx, t, id, "set", "7")
	second := startPlugin(t, dir, nil)
	for range 2 { // recovering what is known already is fine
		if _, err := second.driver.RecoverTask(ctx, &protocol.RecoverTaskRequest{TaskId: id, Handle: handle}); err != nil {
			t.Fatal(err)
		}
	}
	if out := second.exec(ctx, t, id, "stats"); !strings.HasPrefix(out, "int: 7 %") {
		t.Errorf("the intensity was lost: %q", out)
	}
	if err := os.RemoveAll(task.GetAllocDir()); err != nil {
		t.Fatal(err)
	}
	if r := second.wait(ctx, t, id); r.GetExitCode() != 0 {
		t.Errorf("ended with %v", r)
	}
	second.clean(ctx, t, task, dir)
}

func TestRecoverGone(t *testing.T) {
	t.Parallel()
	a := startPlugin(t, t.TempDir(), nil)
	task := newTask(t, quiet())
	state := taskState{Dir: t.TempDir(), Name: nameOf(task.GetId()), PID: 1 << 22, StartTicks: 1, BootID: bootID()}
	recycled := state
	recycled.PID = os.Getpid() // a process that runs, but started at another time
	for _, s := range []taskState{state, recycled} {
		data, err := s.encode()
		if err != nil {
			t.Fatal(err)
		}
		for version, want := range map[int32]string{stateVersion: errGone.Error(), stateVersion + 1: "version"} {
			h := &protocol.TaskHandle{Version: version, Config: task, DriverState: data}
			_, err := a.driver.RecoverTask(t.Context(), &protocol.RecoverTaskRequest{TaskId: task.GetId(), Handle: h})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("version %d: error %v does not say %q", version, err, want)
			}
		}
	}
}

// A child that is killed takes its kernels with it, and the driver clears what
// it could not.
func TestKilledChild(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	dir := t.TempDir()
	a := startPlugin(t, dir, nil)
	task := newTask(t, quiet())
	a.start(ctx, t, task)
	a.exec(ctx, t, task.GetId(), "stats")
	h, err := a.plugin.task(task.GetId())
	if err != nil {
		t.Fatal(err)
	}
	if err := h.signal(unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if r := a.wait(ctx, t, task.GetId()); r.GetSignal() != int32(unix.SIGKILL) {
		t.Errorf("ended with %v", r)
	}
	a.clean(ctx, t, task, dir)
}

// The kill switch ends running tasks and refuses new ones.
func TestKillSwitch(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	dir, killSwitch := t.TempDir(), filepath.Join(t.TempDir(), "stop")
	a := startPlugin(t, dir, func(c m) { c["kill_switch"] = killSwitch })
	task := newTask(t, quiet())
	a.start(ctx, t, task)
	if err := os.WriteFile(killSwitch, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := a.wait(ctx, t, task.GetId()); r.GetExitCode() != executor.CodeFailed {
		t.Errorf("ended with %v", r)
	}
	a.clean(ctx, t, task, dir)
	_, err := a.driver.StartTask(ctx, &protocol.StartTaskRequest{Task: newTask(t, quiet())})
	if err == nil || !strings.Contains(err.Error(), killSwitch) {
		t.Errorf("started in spite of the kill switch: %v", err)
	}
	if status.Code(err) == codes.FailedPrecondition {
		t.Error("a kill switch that may be taken away again is not worth a restart?")
	}
}

// A bad configuration is an error that says it is not worth a restart.
func TestBadTaskIsFatal(t *testing.T) {
	t.Parallel()
	a := startPlugin(t, t.TempDir(), func(c m) { c["sources"] = []string{"int"} })
	long := quiet()
	long["max_duration"] = "2h"
	for _, c := range []struct {
		config m
		want   string
	}{
		{task(kernel(m{"intensity": 130})), "kernel[0].intensity"},
		{task(kernel(m{"source": "tlb"})), "kernel[0].source: tlb is not among"},
		{long, "max_duration: 2h0m0s is longer than the operator allows"},
	} {
		_, err := a.driver.StartTask(t.Context(), &protocol.StartTaskRequest{Task: newTask(t, c.config)})
		s := status.Convert(err)
		if s.Code() != codes.FailedPrecondition || !strings.Contains(s.Message(), c.want) {
			t.Errorf("error %v does not say %q", err, c.want)
		}
		for _, d := range s.Details() {
			if r, ok := d.(*protocol.RecoverableError); !ok || r.GetRecoverable() {
				t.Errorf("detail %v: want not recoverable", d)
			}
		}
		if len(s.Details()) != 1 {
			t.Errorf("%d details, want one", len(s.Details()))
		}
	}
}

// What the operator has not allowed is refused for good, with what to write where.
func TestWorkThatIsNotAllowed(t *testing.T) {
	t.Parallel()
	a := startPlugin(t, t.TempDir(), func(c m) { c["allow"] = nil })
	b := startPlugin(t, t.TempDir(), func(c m) { c["allow"] = []string{"kernels"} })
	profile := task()
	profile["profile"] = m{"request": `{"format":2,"task":"web","seconds":1}`}
	calibrate := task()
	calibrate["calibrate"] = m{"seconds": 5}
	c := startPlugin(t, t.TempDir(), func(c m) { c["allow"], c["calibration_file"] = []string{"calibrate"}, "" })
	for _, c := range []struct {
		plugin agent
		config m
		want   string
	}{
		{a, quiet(), `kernel: the operator of this node does not allow it; to allow it, add "kernels" to allow in the block plugin "nomad-driver-ibench"`},
		{b, profile, `profile: the operator of this node does not allow it; to allow it, add "profile"`},
		{a, calibrate, `calibrate: the operator of this node does not allow it; to allow it, add "calibrate"`},
		{c, calibrate, `calibrate: the operator of this node has no calibration_file in the plugin block`},
		{b, transferBlock(nil), `lend: the operator of this node does not allow it; to allow it, add "lend"`},
	} {
		_, err := c.plugin.driver.StartTask(t.Context(), &protocol.StartTaskRequest{Task: newTask(t, c.config)})
		if s := status.Convert(err); s.Code() != codes.FailedPrecondition || !strings.Contains(s.Message(), c.want) {
			t.Errorf("error %v does not say %q", err, c.want)
		}
	}
	_, err := b.driver.StartTask(t.Context(), &protocol.StartTaskRequest{Task: newTask(t, task(kernel(m{"source": "storage_bw", "path": "/srv"})))})
	if s := status.Convert(err); s.Code() != codes.FailedPrecondition || !strings.Contains(s.Message(), "kernel[0].path: /srv is not below") {
		t.Errorf("a path elsewhere: %v", err)
	}
	if v := a.plugin.fingerprint().GetAttributes()["driver.ibench.allow"].GetStringVal(); v != "profile,lend" {
		t.Errorf("the node says that it allows %q", v)
	}
}

// A ramp goes to its last level and stays there.
func TestRamp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	dir := t.TempDir()
	a := startPlugin(t, dir, nil)
	ramp := task(kernel(m{"source": "int", "intensity": nil, "ramp": m{"from": 0, "to": 3, "step": 1, "dwell": "20ms"}}))
	task := newTask(t, ramp)
	a.start(ctx, t, task)
	for !strings.HasPrefix(a.exec(ctx, t, task.GetId(), "stats"), "int: 3 %") {
		time.Sleep(20 * time.Millisecond)
	}
	if _, err := a.driver.DestroyTask(ctx, &protocol.DestroyTaskRequest{TaskId: task.GetId(), Force: true}); err != nil {
		t.Fatal(err)
	}
	groups, err := a.plugin.node.tree.Named(executor.GroupPrefix + nameOf(task.GetId()))
	if err != nil || len(groups) != 0 {
		t.Errorf("control groups left: %v, %v", groups, err)
	}
}

// A plugin that starts removes what a lost task left, and only that.
func TestSweep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	lost, kept := filepath.Join(dir, "lost"), filepath.Join(dir, "kept")
	for path, allocDir := range map[string]string{lost: filepath.Join(dir, "gone"), kept: dir} {
		if err := errors.Join(os.Mkdir(path, 0o700), executor.WriteSpec(path, executor.Spec{AllocDir: allocDir})); err != nil {
			t.Fatal(err)
		}
	}
	startPlugin(t, dir, nil)
	for end := time.Now().Add(testTimeout); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(lost); errors.Is(err, fs.ErrNotExist) {
			break
		}
		if time.Now().After(end) {
			t.Fatal("what a lost task left is still there")
		}
	}
	if _, err := os.Stat(kept); err != nil {
		t.Errorf("removed of a task whose allocation is there: %v", err)
	}
}
