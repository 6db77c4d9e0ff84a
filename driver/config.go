package driver

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agext/levenshtein"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/nomad-placer/nomad-placer/driver/executor"
	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/pairs"
	"github.com/nomad-placer/nomad-placer/profiler/signing"
	"github.com/nomad-placer/nomad-placer/profiler/workload/network/replay"
)

// pluginConfig is the configuration in the agent's file.
type pluginConfig struct {
	Enabled            bool
	CalibrationFile    string
	Calibrate          bool
	KillSwitch         string // no kernel runs while this file exists
	MaxDuration        time.Duration
	Allow              []permission          // what tasks may do
	Sources            []interference.Source // that tasks may use; empty is all
	StorageDir         string                // that storage kernels keep to; empty is the task's own directory
	StorageMaxBytes    int64                 // of disk that the storage kernels of a task take together
	DiskUsedPercent    float64               // up to which storage kernels may fill a disk
	Peers              []netip.Prefix        // that network kernels may send to
	Signers            []signing.Signer      // whose profiling runs and transfers are taken; empty is everybody
	MemoryReserveBytes int64                 // that kernels leave free
	DiskReserveBytes   int64                 // that storage kernels leave free
	RuntimeDir         string
	MetricsAddress     string // host:port or the path of a socket; empty serves none
}

// taskConfig is the configuration of one task.
type taskConfig struct {
	Kernels     []executor.KernelSpec
	Profile     *profiler.Request
	Pairs       *pairs.Request
	Calibrate   *executor.CalibrateSpec // without what the plugin's configuration says
	Transfer    *transfer
	Traffic     *replay.Request
	Domain      executor.Domain
	TargetTask  string
	MaxDuration time.Duration // 0: the plugin's
	AllowPair   bool
	Seed        uint64
	Signature   string   // of the profile or lend block
	SignedTerms []string // what of the block it is of
}

// attributes are decoded HCL attributes of one block; at is the block's path,
// for messages. Nomad has checked names and kinds against the schema. What is wrong
// with a value is kept in err, and the value is zero.
type attributes struct {
	at     string
	values map[string]any
	err    *error
}

func newAttributes(at string, values map[string]any) attributes {
	return attributes{at, values, new(error)}
}

func decode(data []byte) (attributes, error) {
	a := newAttributes("", map[string]any{})
	if len(data) == 0 {
		return a, nil
	}
	if err := msgpack.Unmarshal(data, &a.values); err != nil {
		return a, fmt.Errorf("configuration: %w", err)
	}
	return a, nil
}

// fail keeps an error; nil is none.
func (a attributes) fail(err error) { *a.err = errors.Join(*a.err, err) }

// wrong keeps what is wrong with an attribute.
func (a attributes) wrong(name, format string, args ...any) {
	a.fail(fmt.Errorf("%s: "+format, append([]any{a.name(name)}, args...)...))
}

func (a attributes) name(attribute string) string {
	if a.at == "" {
		return attribute
	}
	return a.at + "." + attribute
}

func (a attributes) has(name string) bool { return a.values[name] != nil }

// value reads an attribute of a type; absent is zero.
func value[T any](a attributes, name, kind string) T {
	v, ok := a.values[name].(T)
	if !ok && a.has(name) {
		a.wrong(name, "%v is %s", a.values[name], kind)
	}
	return v
}

func (a attributes) text(name string) string { return value[string](a, name, "not a string") }

func (a attributes) flag(name string) bool { return value[bool](a, name, "neither true nor false") }

func (a attributes) list(name string) []any { return value[[]any](a, name, "not a list") }

// number reads a number. Nomad hands over integers, floats, and, for decimals
// that no float holds exactly (0.3), text.
func (a attributes) number(name string) float64 {
	value := math.NaN()
	switch v := reflect.ValueOf(a.values[name]); {
	case !v.IsValid():
		return 0
	case v.CanInt():
		value = float64(v.Int())
	case v.CanUint():
		value = float64(v.Uint())
	case v.CanFloat():
		value = v.Float()
	case v.Kind() == reflect.String:
		if f, err := strconv.ParseFloat(v.String(), 64); err == nil {
			value = f
		}
	}
	if math.IsNaN(value) || math.IsInf(value, 0) {
		a.wrong(name, "%v is not a number", a.values[name])
		return 0
	}
	return value
}

func (a attributes) percent(name string) float64 {
	v := a.number(name)
	if v < 0 || v > 100 {
		a.wrong(name, "%v is outside 0 to 100 percent", v)
	}
	return v
}

// duration reads a positive duration; absent is 0.
func (a attributes) duration(name string) time.Duration {
	text := a.text(name)
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		a.wrong(name, "%q is not a duration such as \"90s\" or \"10m\"", text)
	case d <= 0:
		a.wrong(name, "%s is not positive", text)
	}
	return d
}

// seed reads a non-negative integer.
func (a attributes) seed(name string) uint64 {
	v := a.number(name)
	if v < 0 || v != math.Trunc(v) || v > 1<<53 {
		a.wrong(name, "%v is not an integer from 0 to 2^53", v)
	}
	return uint64(max(v, 0))
}

func (a attributes) texts(name string) []string {
	var out []string
	for _, v := range a.list(name) {
		s, ok := v.(string)
		if !ok {
			a.wrong(name, "%v is not a string", v)
			return nil
		}
		out = append(out, s)
	}
	return out
}

// block returns a nested block, if it is there. What is wrong in it is kept in its own
// err.
func (a attributes) block(name string) (attributes, bool) {
	v := value[map[string]any](a, name, "not a block")
	return newAttributes(a.name(name), v), v != nil
}

func decodePluginConfig(data []byte) (pluginConfig, error) {
	a, err := decode(data)
	if err != nil {
		return pluginConfig{}, err
	}
	a.version()
	c := pluginConfig{
		Enabled:            a.flag("enabled"),
		CalibrationFile:    a.path("calibration_file"),
		Calibrate:          a.flag("calibrate"),
		KillSwitch:         a.path("kill_switch"),
		MaxDuration:        a.duration("max_duration"),
		StorageDir:         a.path("storage_dir"),
		StorageMaxBytes:    a.mebibytes("storage_max_mb"),
		DiskUsedPercent:    a.percent("disk_used_percent"),
		Peers:              decodePeers(a),
		MemoryReserveBytes: a.mebibytes("memory_reserve_mb"),
		DiskReserveBytes:   a.mebibytes("disk_reserve_mb"),
		RuntimeDir:         a.path("runtime_dir"),
		MetricsAddress:     a.listenAddress("metrics_address"),
		Allow:              decodeAllow(a),
		Signers:            decodeSigners(a),
	}
	for _, name := range a.texts("sources") {
		s, err := source("sources", name)
		a.fail(err)
		c.Sources = append(c.Sources, s)
	}
	return c, *a.err
}

// configVersion is the newest version of a configuration this release reads.
const configVersion = 1

// version refuses a configuration that is written for a later release; absent
// is the present version.
func (a attributes) version() {
	v := a.number("config_version")
	if a.has("config_version") && (v != math.Trunc(v) || v < 1 || v > configVersion) {
		a.fail(fmt.Errorf("config_version: %v is not known to this release (%s), which reads version %d", v, PluginVersion, configVersion))
	}
}

// mebibytes reads a size in MiB, as Nomad writes sizes, and returns bytes.
func (a attributes) mebibytes(name string) int64 {
	v := a.number(name)
	if v < 0 || v > 1<<40 {
		a.wrong(name, "%v is not a size in MiB", v)
	}
	return int64(v * (1 << 20))
}

// bytes reads a positive size in bytes; absent is 0.
func (a attributes) bytes(name string) int64 {
	v := a.number(name)
	if a.has(name) && !(v >= 1 && v <= 1<<60) {
		a.wrong(name, "%v is not a size in bytes", v)
	}
	return int64(v)
}

// listenAddress reads host:port or the absolute path of a unix socket.
func (a attributes) listenAddress(name string) string {
	text := a.text(name)
	if text == "" || filepath.IsAbs(text) {
		return text
	}
	if _, port, err := net.SplitHostPort(text); err != nil || port == "" {
		a.wrong(name, "%q is neither host:port nor the absolute path of a socket", text)
	}
	return text
}

// path reads an absolute path; absent is empty.
func (a attributes) path(name string) string {
	p := a.text(name)
	if p != "" && !filepath.IsAbs(p) {
		a.wrong(name, "%q is not an absolute path", p)
	}
	return p
}

func decodeTaskConfig(data []byte) (taskConfig, error) {
	a, err := decode(data)
	if err != nil {
		return taskConfig{}, err
	}
	var c taskConfig
	c.Kernels, err = decodeKernels(a)
	a.fail(err)
	c.Profile, err = decodeProfile(a)
	a.fail(err)
	c.Domain, err = decodeDomain(a.text("domain"))
	a.fail(err)
	c.TargetTask = a.text("target_task")
	c.MaxDuration = a.duration("max_duration")
	c.Seed = a.seed("seed")
	c.AllowPair = a.flag("allow_pair")
	a.version()
	c.Pairs, err = decodePairs(a)
	a.fail(err)
	c.Calibrate, err = decodeCalibrate(a)
	a.fail(err)
	c.Transfer, err = decodeTransfer(a)
	a.fail(err)
	c.Traffic, err = decodeTraffic(a)
	a.fail(err)
	c.Signature, c.SignedTerms = decodeSignature(a)
	if *a.err != nil {
		return taskConfig{}, *a.err
	}
	return c, c.check()
}

// check refuses combinations that make no sense.
func (c taskConfig) check() error {
	switch {
	case c.Transfer != nil && (len(c.Kernels) > 0 || c.Profile != nil || c.Pairs != nil || c.TargetTask != "" || c.Domain != executor.DomainAuto):
		return errors.New("lend: a task with a lend block has no kernels, profile, pairs, target_task or domain")
	case c.Traffic != nil && (len(c.Kernels) > 0 || c.Profile != nil || c.Pairs != nil || c.Transfer != nil || c.TargetTask != "" || c.Domain != executor.DomainAuto):
		return errors.New("traffic: a task with a traffic block has no kernels, profile, pairs, lend, target_task or domain")
	case c.Calibrate != nil && (len(c.Kernels) > 0 || c.Profile != nil || c.Pairs != nil || c.Transfer != nil || c.Traffic != nil || c.TargetTask != "" || c.Domain != executor.DomainAuto):
		return errors.New("calibrate: a task with a calibrate block has no kernels, profile, pairs, lend, traffic, target_task or domain")
	case c.Transfer != nil, c.Traffic != nil, c.Calibrate != nil:
		return nil
	case len(c.Kernels) > 0 && c.Profile != nil:
		return errors.New("kernel, profile: a task has kernel blocks or a profile block, not both")
	case c.Pairs != nil && (len(c.Kernels) > 0 || c.Profile != nil || c.TargetTask != "" || c.Domain != executor.DomainAuto):
		return errors.New("pairs: a task that measures pairs has no kernels, profile, target_task or domain")
	case c.Pairs != nil:
		return nil
	case len(c.Kernels) == 0 && c.Profile == nil:
		return errors.New("kernel: a task needs at least one kernel block, or a profile, pairs, calibrate, lend or traffic block")
	case c.Profile != nil && c.TargetTask != "":
		return errors.New("target_task: a profile block names its tasks in the request")
	case c.Profile != nil && c.Domain != executor.DomainAuto:
		return errors.New("domain: a profiling run places its kernels by itself")
	case c.Domain != executor.DomainAuto && c.TargetTask == "":
		return fmt.Errorf("domain: %q is relative to a target_task, and there is none", c.Domain)
	}
	return nil
}

func decodeDomain(text string) (executor.Domain, error) {
	if text == "" {
		return executor.DomainAuto, nil
	}
	var names []string
	for _, d := range executor.Domains() {
		if string(d) == text {
			return d, nil
		}
		names = append(names, string(d))
	}
	return "", fmt.Errorf("domain: unknown domain %q%s; known: %s", text, suggest(text, names), strings.Join(names, ", "))
}

// maxKernels bounds the kernels of a task, and so its processes and metrics.
const maxKernels = 32

func decodeKernels(a attributes) ([]executor.KernelSpec, error) {
	list := a.list("kernel")
	if len(list) > maxKernels {
		return nil, fmt.Errorf("kernel: %d blocks, a task has %d at most", len(list), maxKernels)
	}
	var out []executor.KernelSpec
	for i, v := range list {
		values, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("kernel: %v is not a block", v)
		}
		k, err := decodeKernel(newAttributes(fmt.Sprintf("kernel[%d]", i), values))
		if err != nil {
			return nil, err
		}
		out = append(out, k)
	}
	return out, nil
}

func decodeKernel(a attributes) (executor.KernelSpec, error) {
	name := a.text("source")
	k := executor.KernelSpec{
		IntensityPercent: a.percent("intensity"), Path: a.path("path"), Peer: a.text("peer"),
		Ramp: decodeRamp(a),
	}
	var err error
	k.Source, err = source(a.name("source"), name)
	a.fail(err)
	k.Variant, k.Duration, k.MaxBytes = a.text("variant"), a.duration("duration"), a.bytes("max_bytes")
	switch {
	case *a.err != nil:
	case k.Ramp != nil && a.has("intensity"):
		a.fail(fmt.Errorf("%s: a kernel has an intensity or a ramp, not both", a.at))
	case k.Ramp == nil && !a.has("intensity"):
		a.fail(fmt.Errorf("%s: a kernel needs an intensity or a ramp", a.at))
	default:
		checkScope(a, k)
		checkVariant(a, k)
	}
	return k, *a.err
}

// checkVariant refuses a variant that the source does not have.
func checkVariant(a attributes, k executor.KernelSpec) {
	d, err := ibench.Describe(k.Source)
	switch {
	case err != nil || k.Variant == "" || slices.Contains(d.Variants, k.Variant):
		// A source without a kernel is refused where the machine is known.
	case len(d.Variants) == 0:
		a.wrong("variant", "%s has no variants", k.Source)
	default:
		a.wrong("variant", "%s has no variant %q%s; known: %s", k.Source, k.Variant, suggest(k.Variant, d.Variants), strings.Join(d.Variants, ", "))
	}
}

// checkScope refuses options of other kernels.
func checkScope(a attributes, k executor.KernelSpec) {
	_, _, err := net.SplitHostPort(k.Peer)
	switch {
	case k.Path != "" && !k.Storage():
		a.wrong("path", "only storage kernels have a path, %s has none", k.Source)
	case k.Peer == "":
	case k.Source != interference.NetworkBandwidth:
		a.wrong("peer", "only %s has a peer, %s has none", interference.NetworkBandwidth, k.Source)
	case err != nil:
		a.wrong("peer", "%q is not host:port", k.Peer)
	}
}

func decodeRamp(a attributes) *executor.Ramp {
	b, ok := a.block("ramp")
	if !ok {
		return nil
	}
	r := executor.Ramp{
		FromPercent: b.percent("from"), ToPercent: b.percent("to"), StepPercent: b.percent("step"), Dwell: b.duration("dwell"),
	}
	if *b.err == nil {
		if err := r.Check(); err != nil {
			b.fail(fmt.Errorf("%s.%w", b.at, err))
		}
	}
	a.fail(*b.err)
	return &r
}

func decodeProfile(a attributes) (*profiler.Request, error) {
	var r profiler.Request
	if ok, err := decodeRequest(a, "profile", &r); err != nil || !ok {
		return nil, err
	}
	return &r, checkRequest(r)
}

// decodePairs reads a request for pairs of tasks of the same allocation.
func decodePairs(a attributes) (*pairs.Request, error) {
	var r pairs.Request
	if ok, err := decodeRequest(a, "pairs", &r); err != nil || !ok {
		return nil, err
	}
	r, err := r.WithDefaults()
	if err != nil {
		return nil, fmt.Errorf("pairs.request: %w", err)
	}
	return &r, nil
}

// calibrateLongest bounds how long a task may calibrate, in seconds (chosen by us): after that more
// time tells little more.
const calibrateLongest = 600

// decodeCalibrate reads how long a calibration should take.
func decodeCalibrate(a attributes) (*executor.CalibrateSpec, error) {
	b, ok := a.block("calibrate")
	seconds := b.number("seconds")
	if !ok || *b.err != nil {
		return nil, *b.err
	}
	if seconds < 0 || seconds > calibrateLongest {
		return nil, fmt.Errorf("%s: %v is not a number of seconds from 0 to %d", b.name("seconds"), seconds, calibrateLongest)
	}
	return &executor.CalibrateSpec{Budget: time.Duration(seconds * float64(time.Second))}, nil
}

// decodeTraffic reads a request to send the traffic of a model.
func decodeTraffic(a attributes) (*replay.Request, error) {
	var r replay.Request
	if ok, err := decodeRequest(a, "traffic", &r); err != nil || !ok {
		return nil, err
	}
	if _, err := r.Part(); err != nil {
		return nil, fmt.Errorf("traffic.request: %w", err)
	}
	return &r, nil
}

// decodeRequest reads the request of a block that programs write; ok is false where
// there is no such block.
func decodeRequest(a attributes, block string, into any) (ok bool, err error) {
	b, ok := a.block(block)
	text := b.text("request")
	if !ok || *b.err != nil {
		return false, *b.err
	}
	in := json.NewDecoder(strings.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(into); err != nil {
		return false, fmt.Errorf("%s: %w", b.name("request"), err)
	}
	return true, nil
}

func checkRequest(r profiler.Request) error {
	switch {
	case r.Format != profiler.RequestFormat:
		return fmt.Errorf("profile.request: format %d, this release of the driver (%s) reads %d: run nomad-placer and nomad-driver-ibench of one release", r.Format, PluginVersion, profiler.RequestFormat)
	case r.Machine && (r.Task != "" || len(r.Tasks) > 0 || r.Probe != nil):
		return errors.New("profile.request: machine: a run without a workload has no task and no probe")
	case r.Machine && len(r.Sources) == 0:
		return errors.New("profile.request: sources: a run without a workload needs some")
	case !r.Machine && r.Task == "" && len(r.Tasks) == 0:
		return errors.New("profile.request: it names no task")
	case r.Seconds <= 0:
		return fmt.Errorf("profile.request: seconds: %d is not positive", r.Seconds)
	}
	for _, s := range r.Sources {
		if _, err := source("profile.request: sources", string(s)); err != nil {
			return err
		}
	}
	return nil
}

// source reads the name of a source; an unknown one names the nearest.
func source(attribute, name string) (interference.Source, error) {
	if s, err := interference.ParseSource(name); err == nil {
		return s, nil
	}
	var names []string
	for _, s := range interference.Sources() {
		names = append(names, string(s.Source))
	}
	return "", fmt.Errorf("%s: unknown source of interference %q%s; known: %s", attribute, name, suggest(name, names), strings.Join(names, ", "))
}

// suggest names the known word nearest to a wrong one, if one is near: at most
// half its letters differ.
func suggest(wrong string, known []string) string {
	best, bestDistance := "", len(wrong)/2+1
	for _, k := range known {
		if d := levenshtein.Distance(strings.ToLower(wrong), k, nil); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

// allows reports whether the operator lets tasks use the source.
func (c pluginConfig) allows(s interference.Source) bool {
	return len(c.Sources) == 0 || slices.Contains(c.Sources, s)
}
