package driver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
	"github.com/nomad-placer/nomad-placer/driver/executor"
	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/driver/protocol"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// errTaskNotFound is compared as text by the agent.
var errTaskNotFound = errors.New("task not found for given id")

// Driver serves Nomad's base and driver protocols. It is safe for concurrent
// use, as the agent calls it.
type Driver struct {
	protocol.UnimplementedBasePluginServer
	protocol.UnimplementedDriverServer

	logger     hclog.Logger
	node       node
	nodeErr    error
	executable string
	procs      executor.Proc
	events     eventBus
	ctx        context.Context // of the plugin
	cancel     context.CancelFunc

	mu          sync.Mutex
	config      pluginConfig
	mhzPerCore  float64
	tasks       map[string]*handle
	lastWarning string

	metricsAddress string
	endMetrics     context.CancelFunc

	collecting sync.Once
}

// New returns a driver for the machine it runs on.
func New(logger hclog.Logger) *Driver {
	d := &Driver{logger: logger, tasks: map[string]*handle{}, procs: executor.Proc{Root: "/proc", Self: os.Getpid()}}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	d.node, d.nodeErr = readNode()
	executable, err := os.Executable()
	d.executable, d.nodeErr = executable, errors.Join(d.nodeErr, err)
	return d
}

// Close ends the plugin's own work. Tasks run on.
func (d *Driver) Close() { d.cancel() }

// PluginInfo tells what the plugin is.
func (d *Driver) PluginInfo(context.Context, *protocol.PluginInfoRequest) (*protocol.PluginInfoResponse, error) {
	return &protocol.PluginInfoResponse{
		Type: protocol.PluginType_DRIVER, Name: PluginName,
		PluginApiVersions: []string{pluginAPIVersion}, PluginVersion: PluginVersion,
	}, nil
}

// ConfigSchema tells how the plugin is configured.
func (d *Driver) ConfigSchema(context.Context, *protocol.ConfigSchemaRequest) (*protocol.ConfigSchemaResponse, error) {
	return &protocol.ConfigSchemaResponse{Spec: pluginSchema}, nil
}

// SetConfig takes the operator's configuration.
func (d *Driver) SetConfig(_ context.Context, r *protocol.SetConfigRequest) (*protocol.SetConfigResponse, error) {
	if d.nodeErr != nil {
		return nil, d.nodeErr
	}
	c, err := decodePluginConfig(r.GetMsgpackConfig())
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	d.config = c
	d.mhzPerCore = mhzPerCore(r.GetNomadConfig().GetDriver().GetTopology())
	d.mu.Unlock()
	go d.calibrate(d.ctx, c)
	go d.sweep(c.RuntimeDir)
	d.collecting.Do(func() { go d.collect() })
	d.exportMetrics(c.MetricsAddress)
	return &protocol.SetConfigResponse{}, nil
}

// exportMetrics serves the metrics at the address, and no longer at an earlier
// one; empty serves none.
func (d *Driver) exportMetrics(address string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if address == d.metricsAddress {
		return
	}
	d.metricsAddress = address
	if d.endMetrics != nil {
		d.endMetrics()
	}
	ctx, cancel := context.WithCancel(d.ctx)
	d.endMetrics = cancel
	if address != "" {
		go d.serveMetrics(ctx, address)
	}
}

// mhzPerCore is the mean speed of the agent's cores, 0 where it does not tell.
func mhzPerCore(t *protocol.ClientTopology) float64 {
	total, cores := 0.0, 0
	for _, c := range t.GetCores() {
		if c.GetDisable() {
			continue
		}
		total += float64(max(c.GetBaseSpeed(), c.GetGuessSpeed()))
		cores++
	}
	if t.GetOverrideTotalCompute() > 0 {
		total = float64(t.GetOverrideTotalCompute())
	}
	if cores == 0 {
		return 0
	}
	return total / float64(cores)
}

// TaskConfigSchema tells how a task is configured.
func (d *Driver) TaskConfigSchema(context.Context, *protocol.TaskConfigSchemaRequest) (*protocol.TaskConfigSchemaResponse, error) {
	return &protocol.TaskConfigSchemaResponse{Spec: taskSchema}, nil
}

// Capabilities tells what the driver can do.
func (d *Driver) Capabilities(context.Context, *protocol.CapabilitiesRequest) (*protocol.CapabilitiesResponse, error) {
	return &protocol.CapabilitiesResponse{Capabilities: capabilities}, nil
}

// StartTask starts a task. A bad configuration is an error that no restart
// mends, and says so to the agent.
func (d *Driver) StartTask(ctx context.Context, r *protocol.StartTaskRequest) (*protocol.StartTaskResponse, error) {
	task := r.GetTask()
	if _, err := d.task(task.GetId()); err == nil {
		return nil, fmt.Errorf("task %s is started already", task.GetId())
	}
	spec, err := d.spec(task)
	var later notNow
	if errors.As(err, &later) {
		return nil, err
	}
	if err != nil {
		return nil, fatal(err)
	}
	h, err := d.launch(ctx, task, spec)
	if err != nil {
		return nil, err
	}
	state, err := h.state.encode()
	if err != nil {
		return nil, err
	}
	d.adopt(h)
	return &protocol.StartTaskResponse{Handle: &protocol.TaskHandle{
		Version: stateVersion, Config: task, State: protocol.TaskState_RUNNING, DriverState: state,
	}}, nil
}

// notNow is a reason not to start a task that may pass: worth a restart.
type notNow struct{ error }

// fatal marks an error as not worth a restart.
func fatal(err error) error {
	s := status.New(codes.FailedPrecondition, err.Error())
	if detailed, err := s.WithDetails(&protocol.RecoverableError{Recoverable: false}); err == nil {
		s = detailed
	}
	return s.Err()
}

// spec turns a task into what its child is to do, or says what is wrong.
func (d *Driver) spec(task *protocol.TaskConfig) (executor.Spec, error) {
	c, err := decodeTaskConfig(task.GetMsgpackDriverConfig())
	if err != nil {
		return executor.Spec{}, err
	}
	d.mu.Lock()
	config := d.config
	d.mu.Unlock()
	if !config.Enabled {
		return executor.Spec{}, errors.New("the driver is disabled on this node")
	}
	if err := config.checkPermission(c.work()); err != nil {
		return executor.Spec{}, err
	}
	if err := config.checkSignature(task, c, time.Now()); err != nil {
		return executor.Spec{}, err
	}
	if reason := unhealthy(d.node, config); reason != "" {
		return executor.Spec{}, notNow{errors.New(reason)}
	}
	if c.Transfer != nil {
		return d.transferSpec(task, c, config)
	}
	if err := d.checkSources(c, config); err != nil {
		return executor.Spec{}, err
	}
	if c.Calibrate != nil {
		c.Calibrate.File, c.Calibrate.Path, c.Calibrate.Sources = config.CalibrationFile, config.StorageDir, config.Sources
		if c.Calibrate.File == "" {
			return executor.Spec{}, errors.New("calibrate: the operator of this node has no calibration_file in the plugin block, so nothing would be kept")
		}
	}
	duration, err := taskDuration(c, config)
	if err != nil {
		return executor.Spec{}, err
	}
	memory, err := d.memory(task, config)
	if err != nil {
		return executor.Spec{}, err
	}
	cpus, err := d.ownCPUs(task)
	if err != nil {
		return executor.Spec{}, err
	}
	spec := executor.Spec{
		Name: nameOf(task.GetId()), AllocID: task.GetAllocId(), AllocDir: task.GetAllocDir(), Task: task.GetName(),
		Kernels: c.Kernels, Domain: c.Domain, TargetTask: c.TargetTask, Profile: c.Profile, Pairs: c.Pairs, Calibrate: c.Calibrate, Traffic: c.Traffic,
		CPUs: cpus, Allowed: d.node.allowed, MaxDuration: duration, KillSwitch: config.KillSwitch,
		Storage: storageSpec(task, config), Peers: config.Peers, MaxBytes: memory,
		AllowPair: c.AllowPair, Seed: c.Seed,
	}
	if err := spec.CheckPaths(); err != nil {
		return executor.Spec{}, err
	}
	if d.calibration(config) != nil {
		spec.CalibrationFile = config.CalibrationFile
	}
	return spec, nil
}

// storageSpec bounds storage kernels: to the operator's directory, else to the task's own.
func storageSpec(task *protocol.TaskConfig, config pluginConfig) executor.StorageSpec {
	s := executor.StorageSpec{
		Root: config.StorageDir, Dir: config.StorageDir,
		MaxBytes: config.StorageMaxBytes, ReserveBytes: config.DiskReserveBytes, UsedPercent: config.DiskUsedPercent,
	}
	if s.Root == "" {
		// What is below it others may have made; the allocation's directory itself is Nomad's.
		s.Root, s.Dir = task.GetAllocDir(), filepath.Join(task.GetAllocDir(), task.GetName(), "local")
	}
	return s
}

// checkSources refuses sources that this node or its operator does not offer.
func (d *Driver) checkSources(c taskConfig, config pluginConfig) error {
	for i, k := range c.Kernels {
		at := fmt.Sprintf("kernel[%d].source", i)
		if !config.allows(k.Source) {
			return fmt.Errorf("%s: %s is not among the sources the operator allows", at, k.Source)
		}
		if err := ibench.Supported(d.node.machine, k.Source); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
	}
	if c.Profile == nil {
		return nil
	}
	for _, s := range c.Profile.Sources {
		if !config.allows(s) {
			return fmt.Errorf("profile.request: sources: %s is not among the sources the operator allows", s)
		}
	}
	return nil
}

// taskDuration bounds the task: by its own word, by the profiling run's time,
// and always by the operator's.
func taskDuration(c taskConfig, config pluginConfig) (time.Duration, error) {
	limit := config.MaxDuration
	if c.MaxDuration > limit {
		return 0, fmt.Errorf("max_duration: %s is longer than the operator allows on this node, %s", c.MaxDuration, limit)
	}
	out := limit
	if c.Profile != nil {
		out = executor.ProfileDuration(*c.Profile)
	}
	if c.Pairs != nil {
		out = executor.PairsDuration(*c.Pairs)
	}
	if c.Calibrate != nil {
		out = executor.CalibrateDuration(c.Calibrate.Budget)
	}
	if c.MaxDuration > 0 {
		out = c.MaxDuration
	}
	return min(out, limit), nil
}

// memory bounds what a kernel may take: the task's own limit, and what the
// machine has left above the operator's reserve.
func (d *Driver) memory(task *protocol.TaskConfig, config pluginConfig) (int64, error) {
	machine, err := ibench.ReadMachine("/")
	if err != nil {
		return 0, fmt.Errorf("read the machine: %w", err)
	}
	room := machine.MemoryAvailableBytes - config.MemoryReserveBytes
	if room <= 0 {
		return 0, notNow{fmt.Errorf("this node has %d MiB of memory available, less than the reserve of %d MiB",
			machine.MemoryAvailableBytes>>20, config.MemoryReserveBytes>>20)}
	}
	memory := task.GetResources().GetAllocatedResources().GetMemory()
	if limit := max(memory.GetMemoryMb(), memory.GetMemoryMaxMb()) << 20; limit > 0 {
		room = min(room, limit)
	}
	return room, nil
}

// ownCPUs are the CPUs Nomad gives the task, within the plugin's own.
func (d *Driver) ownCPUs(task *protocol.TaskConfig) (cgroup.CPUs, error) {
	cpus, err := cgroup.ParseCPUs(task.GetResources().GetLinuxResources().GetCpusetCpus())
	if err != nil {
		return nil, err
	}
	if own := cpus.And(d.node.allowed); len(own) > 0 {
		return own, nil
	}
	return d.node.allowed, nil
}

// launch starts the child of a spec.
func (d *Driver) launch(ctx context.Context, task *protocol.TaskConfig, spec executor.Spec) (*handle, error) {
	d.mu.Lock()
	dir := filepath.Join(d.config.RuntimeDir, spec.Name)
	d.mu.Unlock()
	h := d.handle(task, taskState{Dir: dir, Name: spec.Name, BootID: bootID(), StartedAt: time.Now()})
	// What an earlier start of the same task left is of no use, but for a transfer that
	// cannot be given back yet: this start takes it over.
	if err := h.giveBack(); err != nil && !errors.Is(err, cgroup.ErrMemoryInUse) {
		return nil, err
	}
	if err := executor.RemoveDir(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("runtime directory: %w", err)
	}
	if err := executor.WriteSpec(dir, spec); err != nil {
		return nil, errors.Join(err, h.removeDir())
	}
	if err := start(ctx, h, d.executable, weightOf(spec)); err != nil {
		return nil, errors.Join(err, h.clean(), h.removeDir())
	}
	return h, nil
}

// sweep removes what tasks left that were destroyed, or whose allocation is gone: the agent
// that would have destroyed them lost its data, or was killed with them.
func (d *Driver) sweep(runtimeDir string) {
	entries, err := os.ReadDir(runtimeDir)
	if err != nil {
		return // none was ever made
	}
	for _, e := range entries {
		dir := filepath.Join(runtimeDir, e.Name())
		if !executor.Abandoned(dir) && !(isName(e.Name()) && executor.WithoutSpec(dir, time.Now())) {
			continue
		}
		h := d.handle(nil, taskState{Dir: dir, Name: e.Name()})
		if err := errors.Join(h.clean(), h.removeDir()); err != nil {
			d.logger.Error("cannot remove the files of a lost task", "dir", dir, "error", err)
			continue
		}
		d.logger.Info("removed the files of a lost task", "dir", dir)
	}
}

// collectEvery is how often memory that was in use when a transfer ended is asked back:
// each time the kernel looks for some that it can take.
const collectEvery = time.Minute

// collect gives back what ended tasks had transferred and could not give back at once, and
// removes what else of them could not be removed then.
func (d *Driver) collect() {
	if d.node.tree == nil {
		return
	}
	ticker := time.NewTicker(collectEvery)
	defer ticker.Stop()
	for {
		select {
		case <-d.ctx.Done():
			return
		case <-ticker.C:
		}
		d.mu.Lock()
		dir := d.config.RuntimeDir
		d.mu.Unlock()
		if err := executor.ReturnLeft(*d.node.tree, dir); err != nil {
			d.logger.Warn("a reservation transfer that has ended is not undone yet", "error", err)
		}
		d.sweep(dir)
	}
}

func (d *Driver) handle(task *protocol.TaskConfig, state taskState) *handle {
	return &handle{task: task, state: state, tree: d.node.tree, procs: d.procs, done: make(chan struct{})}
}

// adopt keeps a task and passes its events on.
func (d *Driver) adopt(h *handle) {
	d.mu.Lock()
	d.tasks[h.task.GetId()] = h
	d.mu.Unlock()
	go d.forward(h)
}

// forward passes a task's events on to the agent until it ends, and says why
// it ended.
func (d *Driver) forward(h *handle) {
	t := &throttle{send: func(at time.Time, message string) { d.events.emit(h.task, at, message) }}
	defer t.close()
	ctx, cancel := context.WithCancel(d.ctx)
	defer cancel()
	go func() {
		select {
		case <-h.done:
			cancel()
		case <-ctx.Done():
		}
	}()
	var last time.Time
	for ctx.Err() == nil {
		err := executor.Events(ctx, h.socket(), func(e executor.Event) {
			if e.At.After(last) { // a new connection begins with the newest event
				last = e.At
				t.offer(e.At, e.Message)
			}
		})
		if err != nil && ctx.Err() == nil {
			d.logger.Debug("connecting to a task's events again", "task", h.task.GetId(), "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(reconnectPause):
		}
	}
	if d.ctx.Err() == nil {
		d.sayEnd(h)
	}
}

// reconnectPause is the time between two tries to reach a child.
const reconnectPause = 200 * time.Millisecond

func (d *Driver) sayEnd(h *handle) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reason != "" {
		d.events.emit(h.task, h.completed, "ended: "+h.reason)
	}
	if h.cleanErr != nil {
		d.logger.Error("a task left something behind", "task", h.task.GetId(), "error", h.cleanErr)
	}
}

// RecoverTask finds a task again after a restart of the plugin or the agent.
func (d *Driver) RecoverTask(_ context.Context, r *protocol.RecoverTaskRequest) (*protocol.RecoverTaskResponse, error) {
	if _, err := d.task(r.GetTaskId()); err == nil {
		return &protocol.RecoverTaskResponse{}, nil
	}
	if r.GetHandle().GetConfig() == nil {
		return nil, errors.New("recover: the handle is empty")
	}
	state, err := decodeState(r.GetHandle().GetVersion(), r.GetHandle().GetDriverState())
	if err != nil {
		return nil, err
	}
	h := d.handle(r.GetHandle().GetConfig(), state)
	if err := attach(h); err != nil {
		return nil, fmt.Errorf("recover: %w", err)
	}
	d.adopt(h)
	return &protocol.RecoverTaskResponse{}, nil
}

// WaitTask blocks until the task has ended.
func (d *Driver) WaitTask(ctx context.Context, r *protocol.WaitTaskRequest) (*protocol.WaitTaskResponse, error) {
	h, err := d.task(r.GetTaskId())
	if err != nil {
		return nil, err
	}
	select {
	case <-h.done:
		return &protocol.WaitTaskResponse{Result: h.exit}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-d.ctx.Done():
		return nil, d.ctx.Err()
	}
}

// StopTask ends a task, gently first.
func (d *Driver) StopTask(ctx context.Context, r *protocol.StopTaskRequest) (*protocol.StopTaskResponse, error) {
	h, err := d.task(r.GetTaskId())
	if err != nil {
		return nil, err
	}
	// A kill_signal of the job that means something else to a kernel still
	// stops the task: only the unstoppable one is taken at its word.
	s := unix.SIGTERM
	if strings.EqualFold(strings.TrimPrefix(r.GetSignal(), "SIG"), "KILL") {
		s = unix.SIGKILL
	}
	if err := h.stop(ctx, s, r.GetTimeout().AsDuration()); err != nil {
		return nil, err
	}
	return &protocol.StopTaskResponse{}, nil
}

// DestroyTask forgets a task that has ended, and removes what it left.
func (d *Driver) DestroyTask(ctx context.Context, r *protocol.DestroyTaskRequest) (*protocol.DestroyTaskResponse, error) {
	h, err := d.task(r.GetTaskId())
	if err != nil {
		return nil, err
	}
	if h.running() {
		if !r.GetForce() {
			return nil, errors.New("cannot destroy a running task")
		}
		if err := h.kill(ctx); err != nil {
			return nil, err
		}
	}
	if err := h.removeDir(); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.tasks, r.GetTaskId())
	return &protocol.DestroyTaskResponse{}, nil
}

// InspectTask describes a task.
func (d *Driver) InspectTask(ctx context.Context, r *protocol.InspectTaskRequest) (*protocol.InspectTaskResponse, error) {
	h, err := d.task(r.GetTaskId())
	if err != nil {
		return nil, err
	}
	out := &protocol.TaskStatus{
		Id: h.task.GetId(), Name: h.task.GetName(), State: protocol.TaskState_RUNNING,
		StartedAt: timestamppb.New(h.state.StartedAt),
		// The agent reads both, also of a task that runs, and falls over nil.
		CompletedAt: timestamppb.New(time.Time{}), Result: &protocol.ExitResult{},
	}
	attributes := map[string]string{"pid": strconv.Itoa(h.state.PID)}
	if h.running() {
		maps.Copy(attributes, h.kernels(ctx))
	} else {
		out.State, out.Result, out.CompletedAt = protocol.TaskState_EXITED, h.exit, timestamppb.New(h.completed)
		attributes["reason"] = h.reason
	}
	return &protocol.InspectTaskResponse{Task: out, Driver: &protocol.TaskDriverStatus{Attributes: attributes}}, nil
}

// kernels describes the kernels of a task, one attribute each, its transfer, or what
// it sends; none
// where the task does not answer at once.
func (h *handle) kernels(ctx context.Context) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, scrapeTimeout)
	defer cancel()
	out := map[string]string{}
	answer, err := executor.Call(ctx, h.socket(), executor.Request{Command: executor.CommandStats})
	if err != nil {
		return out
	}
	for i, k := range answer.Kernels {
		out["kernel."+strconv.Itoa(i)] = kernelLine(k)
	}
	if answer.Transfer != nil {
		out["loan"] = answer.Transfer.String()
	}
	if answer.Traffic != nil {
		out["traffic"] = answer.Traffic.String()
	}
	return out
}

// statsPeriod is used where the agent names none.
const statsPeriod = time.Second

// TaskStats streams CPU and memory use until the task ends.
func (d *Driver) TaskStats(r *protocol.TaskStatsRequest, stream protocol.Driver_TaskStatsServer) error {
	h, err := d.task(r.GetTaskId())
	if err != nil {
		return err
	}
	period := r.GetCollectionInterval().AsDuration()
	if period <= 0 {
		period = statsPeriod
	}
	d.mu.Lock()
	s := sampler{mhzPerCore: d.mhzPerCore}
	d.mu.Unlock()
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for {
		groups, err := h.groups()
		if err != nil {
			return err
		}
		if err := stream.Send(&protocol.TaskStatsResponse{Stats: s.sample(r.GetTaskId(), groups, time.Now())}); err != nil {
			return err
		}
		select {
		case <-stream.Context().Done():
			return nil
		case <-d.ctx.Done():
			return nil
		case <-h.done:
			return nil
		case <-ticker.C:
		}
	}
}

// TaskEvents streams the events of all tasks.
func (d *Driver) TaskEvents(_ *protocol.TaskEventsRequest, stream protocol.Driver_TaskEventsServer) error {
	events, end := d.events.listen()
	defer end()
	for {
		select {
		case e := <-events:
			if err := stream.Send(e); err != nil {
				return err
			}
		case <-stream.Context().Done():
			return nil
		case <-d.ctx.Done():
			return nil
		}
	}
}

// SignalTask changes the intensity: see parseSignal.
func (d *Driver) SignalTask(ctx context.Context, r *protocol.SignalTaskRequest) (*protocol.SignalTaskResponse, error) {
	h, err := d.task(r.GetTaskId())
	if err != nil {
		return nil, err
	}
	request, err := parseSignal(r.GetSignal())
	if err != nil {
		return nil, err
	}
	if _, err := executor.Call(ctx, h.socket(), request); err != nil {
		return nil, err
	}
	return &protocol.SignalTaskResponse{}, nil
}

// ExecTask runs a virtual command: see usage.
func (d *Driver) ExecTask(ctx context.Context, r *protocol.ExecTaskRequest) (*protocol.ExecTaskResponse, error) {
	stdout, stderr, code, err := d.execute(ctx, r.GetTaskId(), r.GetCommand())
	if err != nil {
		return nil, err
	}
	return &protocol.ExecTaskResponse{Stdout: []byte(stdout), Stderr: []byte(stderr), Result: &protocol.ExitResult{ExitCode: code}}, nil
}

// ExecTaskStreaming runs a virtual command for nomad alloc exec. Its input is
// not read.
func (d *Driver) ExecTaskStreaming(stream protocol.Driver_ExecTaskStreamingServer) error {
	first, err := stream.Recv()
	if errors.Is(err, io.EOF) || err == nil && first.GetSetup() == nil {
		return errors.New("exec: the first message must say what to run")
	}
	if err != nil {
		return err
	}
	defer inputEnds(stream)()
	setup := first.GetSetup()
	stdout, stderr, code, err := d.execute(stream.Context(), setup.GetTaskId(), setup.GetCommand())
	if err != nil {
		return err
	}
	if setup.GetTty() {
		// A terminal in raw mode needs the carriage return, too.
		stdout, stderr = strings.ReplaceAll(stdout, "\n", "\r\n"), strings.ReplaceAll(stderr, "\n", "\r\n")
	}
	for _, m := range []*protocol.ExecTaskStreamingResponse{
		{Stdout: &protocol.ExecTaskStreamingIOOperation{Data: []byte(stdout)}},
		{Stderr: &protocol.ExecTaskStreamingIOOperation{Data: []byte(stderr)}},
		{Stdout: &protocol.ExecTaskStreamingIOOperation{Close: true}},
		{Stderr: &protocol.ExecTaskStreamingIOOperation{Close: true}},
		{Exited: true, Result: &protocol.ExitResult{ExitCode: code}},
	} {
		if err := stream.Send(m); err != nil {
			return err
		}
	}
	return nil
}

// inputWithin is how long a stream is kept open for input that does not end, such as a terminal's.
const inputWithin = 250 * time.Millisecond

// inputEnds reads what a client sends, and returns what waits for its end, for a moment at most.
// Nomad (1.11, plugins/drivers/client.go) takes it for a failure of the command if the stream ends
// while it still sends, and drops the answer.
func inputEnds(stream protocol.Driver_ExecTaskStreamingServer) (wait func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			if m, err := stream.Recv(); err != nil || m.GetStdin().GetClose() {
				return
			}
		}
	}()
	return func() {
		select {
		case <-ended:
		case <-time.After(inputWithin):
		}
	}
}

// execute carries a virtual command out. A command that fails is an answer,
// not an error.
func (d *Driver) execute(ctx context.Context, taskID string, words []string) (stdout, stderr string, code int32, err error) {
	h, err := d.task(taskID)
	if err != nil {
		return "", "", 0, err
	}
	v, err := parseCommand(words)
	if err != nil {
		return "", err.Error() + "\n" + usage, exitUsage, nil
	}
	if v.help {
		return usage, "", exitOK, nil
	}
	answer, err := executor.Call(ctx, h.socket(), v.request)
	var gone *net.OpError
	if errors.As(err, &gone) && !h.running() {
		err = errors.New("the task has ended")
	}
	if err != nil {
		return "", err.Error() + "\n", exitError, nil
	}
	text, err := render(answer, v.json)
	if err != nil {
		return "", "", 0, err
	}
	return text, "", exitOK, nil
}

func (d *Driver) task(id string) (*handle, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if h, ok := d.tasks[id]; ok {
		return h, nil
	}
	return nil, errTaskNotFound
}

// Tasks lists the ids of the tasks the driver knows, sorted.
func (d *Driver) Tasks() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.tasks))
}

func allSources() []interference.Source {
	var out []interference.Source
	for _, s := range interference.Sources() {
		out = append(out, s.Source)
	}
	return out
}
