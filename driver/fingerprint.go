package driver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
	"github.com/nomad-placer/nomad-placer/driver/executor"
	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/driver/protocol"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// node is what the plugin knows of the machine; tests decide what it has.
type node struct {
	machine ibench.Machine
	allowed cgroup.CPUs  // that this plugin may use
	tree    *cgroup.Tree // nil where the machine has no control groups
	root    bool         // runs as root
	build   string       // checksum of this program
	noCount error        // why the instructions of tasks cannot be counted; nil if they can
}

// readNode reads the running machine.
func readNode() (node, error) {
	machine, err := ibench.ReadMachine("/")
	if err != nil {
		return node{}, fmt.Errorf("read the machine: %w", err)
	}
	cpus, err := ibench.AllowedCPUs()
	if err != nil {
		return node{}, err
	}
	build, err := executor.Build()
	if err != nil {
		return node{}, err
	}
	n := node{machine: machine, allowed: cpus, root: os.Geteuid() == 0, build: build, noCount: cgroup.CanCount(cgroup.Instructions)}
	tree, err := cgroup.Detect("/proc/self/mountinfo")
	if errors.Is(err, cgroup.ErrNoCgroups) {
		return n, nil
	}
	if err != nil {
		return node{}, err
	}
	n.tree = &tree
	if cpus, ok := tree.CPUs(); ok {
		n.allowed = n.allowed.And(cpus)
	}
	return n, nil
}

// attributePrefix starts every node attribute of the driver.
const attributePrefix = "driver." + PluginName + "."

// fingerprint says what the node can do. It is a pure function of the machine,
// the configuration and the calibration, so that tests decide all three.
func fingerprint(n node, c pluginConfig, calibration *ibench.Calibration) *protocol.FingerprintResponse {
	out := &protocol.FingerprintResponse{Health: protocol.FingerprintResponse_HEALTHY, HealthDescription: "Healthy"}
	if reason := unhealthy(n, c); reason != "" {
		out.Health, out.HealthDescription = protocol.FingerprintResponse_UNHEALTHY, reason
	}
	if !c.Enabled {
		out.Health, out.HealthDescription = protocol.FingerprintResponse_UNDETECTED, "disabled in the plugin's configuration"
		return out
	}
	out.Attributes = map[string]*protocol.Attribute{
		attributePrefix + "version": text(PluginVersion),
		attributePrefix + "build":   text(n.build),
		attributePrefix + "virtual": boolean(n.machine.Virtual),
		attributePrefix + "cpus":    text(n.allowed.String()),
		attributePrefix + "allow":   text(c.allowAttribute()),
		"driver." + PluginName:      boolean(true),
	}
	if signers := c.signersAttribute(); signers != "" {
		out.Attributes[attributePrefix+"signers"] = text(signers)
	}
	out.Attributes[attributePrefix+"probe.instructions"] = text(string(ibench.StatusSupported))
	if n.noCount != nil {
		out.Attributes[attributePrefix+"probe.instructions"] = text(string(ibench.StatusUnsupported))
		out.Attributes[attributePrefix+"probe.instructions.reason"] = text(n.noCount.Error())
	}
	for name, value := range sources(n, c, calibration) {
		out.Attributes[attributePrefix+name] = text(value)
	}
	return out
}

// sources are the attributes of the sources: measured ones where there is a
// calibration, else what the machine alone tells.
func sources(n node, c pluginConfig, calibration *ibench.Calibration) map[string]string {
	out := ibench.SupportAttributes(n.machine)
	if calibration != nil {
		out = calibration.Attributes()
	}
	ruleOut := func(s interference.Source, reason string) {
		name := "soi." + string(s)
		delete(out, name+".peak")
		out[name], out[name+".reason"] = string(ibench.StatusUnsupported), reason
	}
	if len(n.allowed) < 2 {
		ruleOut(interference.Interconnect, "it needs one CPU of the target and another one, and this agent has only one")
	}
	for _, s := range allSources() {
		if !c.allows(s) {
			ruleOut(s, "not among the sources the operator allows")
		}
	}
	return out
}

// unhealthy says why no kernel can run here at present; empty if one can.
func unhealthy(n node, c pluginConfig) string {
	switch {
	case !n.root:
		return "the agent must run as root to place kernels and read other tasks"
	case n.tree == nil:
		return "no usable cgroup hierarchy is mounted"
	case len(n.allowed) == 0:
		return "no CPU is allowed to this agent"
	case c.stopped():
		return "the kill switch is on: " + c.KillSwitch + " exists"
	}
	return ""
}

// stopped reports whether the operator's kill switch is on.
func (c pluginConfig) stopped() bool {
	if c.KillSwitch == "" {
		return false
	}
	_, err := os.Stat(c.KillSwitch)
	return err == nil
}

func text(v string) *protocol.Attribute {
	return &protocol.Attribute{Value: &protocol.Attribute_StringVal{StringVal: v}}
}

func boolean(v bool) *protocol.Attribute {
	return &protocol.Attribute{Value: &protocol.Attribute_BoolVal{BoolVal: v}}
}

// fingerprintPeriod is how soon a change shows: the kill switch, a calibration.
const fingerprintPeriod = 5 * time.Second

// Fingerprint streams what the node can do, at once and on each change.
func (d *Driver) Fingerprint(_ *protocol.FingerprintRequest, stream protocol.Driver_FingerprintServer) error {
	ticker := time.NewTicker(fingerprintPeriod)
	defer ticker.Stop()
	var last *protocol.FingerprintResponse
	for {
		if now := d.fingerprint(); !reflect.DeepEqual(now, last) {
			if err := stream.Send(now); err != nil {
				return err
			}
			last = now
		}
		select {
		case <-stream.Context().Done():
			return nil
		case <-d.ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func (d *Driver) fingerprint() *protocol.FingerprintResponse {
	d.mu.Lock()
	config := d.config
	d.mu.Unlock()
	return fingerprint(d.node, config, d.calibration(config))
}

// calibration reads the cache; a file that is not there yet, or not of this
// machine, is as good as none.
func (d *Driver) calibration(c pluginConfig) *ibench.Calibration {
	if c.CalibrationFile == "" {
		return nil
	}
	out, err := ibench.LoadCalibration(c.CalibrationFile, ibench.KeyOf(d.node.machine, d.node.allowed))
	if err != nil {
		if !errors.Is(err, ibench.ErrNoCalibration) {
			d.warnOnce(err)
		}
		return nil
	}
	return &out
}

// warnOnce logs an error unless it is the one logged last.
func (d *Driver) warnOnce(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lastWarning != err.Error() {
		d.lastWarning = err.Error()
		d.logger.Warn("calibration not used", "error", err)
	}
}

// calibrate measures the kernels' peaks in the background, if the operator
// asks for it and no calibration of this machine is there.
func (d *Driver) calibrate(ctx context.Context, c pluginConfig) {
	if !c.Calibrate || c.CalibrationFile == "" || d.calibration(c) != nil || unhealthy(d.node, c) != "" {
		return
	}
	d.logger.Info("calibrating the kernels; this takes up to a minute and a half and loads the CPUs")
	spec := ibench.CalibrateSpec{Executable: d.executable, Machine: d.node.machine, CPUs: d.node.allowed, Path: c.StorageDir}
	out, err := ibench.Calibrate(ctx, spec, nil)
	if err == nil {
		err = out.Save(c.CalibrationFile)
	}
	if err != nil {
		d.logger.Error("calibration failed", "error", err)
		return
	}
	d.logger.Info("calibrated", "id", out.Key.ID())
}
