package driver

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
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
)

// pluginConfig is the configuration in the agent's file.
type pluginConfig struct {
	Enabled            bool
	CalibrationFile    string
	Calibrate          bool
	KillSwitch         string // no kernel runs while this file exists
	MaxDuration        time.Duration
	Sources            []interference.Source // that tasks may use; empty is all
	StorageDir         string                // default of storage kernels; empty is the task's own directory
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
	Transfer    *transfer
	Domain      executor.Domain
	TargetTask  string
	MaxDuration time.Duration // 0: the plugin's
	AllowPair   bool
	Seed        uint64
}

// attributes are decoded HCL attributes of one block; at is the block's path,
// for messages. Nomad has checked names and kinds against the schema.
type attributes struct {
	at     string
	values map[string]any
}

func decode(data []byte) (attributes, error) {
	a := attributes{values: map[string]any{}}
	if len(data) == 0 {
		return a, nil
	}
	if err := msgpack.Unmarshal(data, &a.values); err != nil {
		return a, fmt.Errorf("configuration: %w", err)
	}
	return a, nil
}

func (a attributes) name(attribute string) string {
	if a.at == "" {
		return attribute
	}
	return a.at + "." + attribute
}

func (a attributes) has(name string) bool { return a.values[name] != nil }

func (a attributes) text(name string) (string, error) {
	switch v := a.values[name].(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	default:
		return "", fmt.Errorf("%s: %v is not a string", a.name(name), v)
	}
}

func (a attributes) flag(name string) (bool, error) {
	switch v := a.values[name].(type) {
	case nil:
		return false, nil
	case bool:
		return v, nil
	default:
		return false, fmt.Errorf("%s: %v is neither true nor false", a.name(name), v)
	}
}

// number reads a number. Nomad hands over integers, floats, and, for decimals
// that no float holds exactly (0.3), text.
func (a attributes) number(name string) (float64, error) {
	value := math.NaN()
	switch v := reflect.ValueOf(a.values[name]); {
	case !v.IsValid():
		return 0, nil
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
		return 0, fmt.Errorf("%s: %v is not a number", a.name(name), a.values[name])
	}
	return value, nil
}

func (a attributes) percent(name string) (float64, error) {
	v, err := a.number(name)
	if err == nil && (v < 0 || v > 100) {
		err = fmt.Errorf("%s: %v is outside 0 to 100 percent", a.name(name), v)
	}
	return v, err
}

// duration reads a positive duration; absent is 0.
func (a attributes) duration(name string) (time.Duration, error) {
	text, err := a.text(name)
	if err != nil || text == "" {
		return 0, err
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%s: %q is not a duration such as \"90s\" or \"10m\"", a.name(name), text)
	}
	if d <= 0 {
		return 0, fmt.Errorf("%s: %s is not positive", a.name(name), text)
	}
	return d, nil
}

// seed reads a non-negative integer.
func (a attributes) seed(name string) (uint64, error) {
	v, err := a.number(name)
	if err == nil && (v < 0 || v != math.Trunc(v) || v > 1<<53) {
		err = fmt.Errorf("%s: %v is not an integer from 0 to 2^53", a.name(name), v)
	}
	return uint64(max(v, 0)), err
}

func (a attributes) texts(name string) ([]string, error) {
	list, err := a.list(name)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("%s: %v is not a string", a.name(name), v)
		}
		out = append(out, s)
	}
	return out, nil
}

func (a attributes) list(name string) ([]any, error) {
	switch v := a.values[name].(type) {
	case nil:
		return nil, nil
	case []any:
		return v, nil
	default:
		return nil, fmt.Errorf("%s: %v is not a list", a.name(name), v)
	}
}

// block returns a nested block, if it is there.
func (a attributes) block(name string) (attributes, bool, error) {
	switch v := a.values[name].(type) {
	case nil:
		return attributes{}, false, nil
	case map[string]any:
		return attributes{a.name(name), v}, true, nil
	default:
		return attributes{}, false, fmt.Errorf("%s: %v is not a block", a.name(name), v)
	}
}

func decodePluginConfig(data []byte) (pluginConfig, error) {
	a, err := decode(data)
	if err != nil {
		return pluginConfig{}, err
	}
	var c pluginConfig
	var errs [13]error
	var sources []string
	errs[0] = a.version()
	c.Enabled, errs[1] = a.flag("enabled")
	c.CalibrationFile, errs[2] = a.path("calibration_file")
	c.Calibrate, errs[3] = a.flag("calibrate")
	c.KillSwitch, errs[4] = a.path("kill_switch")
	c.MaxDuration, errs[5] = a.duration("max_duration")
	c.StorageDir, errs[6] = a.path("storage_dir")
	c.MemoryReserveBytes, errs[7] = a.mebibytes("memory_reserve_mb")
	c.DiskReserveBytes, errs[8] = a.mebibytes("disk_reserve_mb")
	c.RuntimeDir, errs[9] = a.path("runtime_dir")
	c.MetricsAddress, errs[10] = a.listenAddress("metrics_address")
	sources, errs[11] = a.texts("sources")
	for _, name := range sources {
		s, err := source("sources", name)
		errs[12] = errors.Join(errs[12], err)
		c.Sources = append(c.Sources, s)
	}
	return c, errors.Join(errs[:]...)
}

// configVersion is the newest version of a configuration this release reads.
const configVersion = 1

// version refuses a configuration that is written for a later release; absent
// is the present version.
func (a attributes) version() error {
	v, err := a.number("config_version")
	if err != nil || !a.has("config_version") {
		return err
	}
	if v != math.Trunc(v) || v < 1 || v > configVersion {
		return fmt.Errorf("config_version: %v is not known to this release (%s), which reads version %d", v, PluginVersion, configVersion)
	}
	return nil
}

// mebibytes reads a size in MiB, as Nomad writes sizes, and returns bytes.
func (a attributes) mebibytes(name string) (int64, error) {
	v, err := a.number(name)
	if err == nil && (v < 0 || v > 1<<40) {
		err = fmt.Errorf("%s: %v is not a size in MiB", a.name(name), v)
	}
	return int64(v * (1 << 20)), err
}

// bytes reads a positive size in bytes; absent is 0.
func (a attributes) bytes(name string) (int64, error) {
	v, err := a.number(name)
	if err == nil && a.has(name) && !(v >= 1 && v <= 1<<60) {
		err = fmt.Errorf("%s: %v is not a size in bytes", a.name(name), v)
	}
	return int64(v), err
}

// listenAddress reads host:port or the absolute path of a unix socket.
func (a attributes) listenAddress(name string) (string, error) {
	text, err := a.text(name)
	if err != nil || text == "" || filepath.IsAbs(text) {
		return text, err
	}
	if _, port, err := net.SplitHostPort(text); err != nil || port == "" {
		return "", fmt.Errorf("%s: %q is neither host:port nor the absolute path of a socket", a.name(name), text)
	}
	return text, nil
}

// path reads an absolute path; absent is empty.
func (a attributes) path(name string) (string, error) {
	p, err := a.text(name)
	if err == nil && p != "" && !filepath.IsAbs(p) {
		err = fmt.Errorf("%s: %q is not an absolute path", a.name(name), p)
	}
	return p, err
}

func decodeTaskConfig(data []byte) (taskConfig, error) {
	a, err := decode(data)
	if err != nil {
		return taskConfig{}, err
	}
	var c taskConfig
	var errs [11]error
	var domain string
	c.Kernels, errs[0] = decodeKernels(a)
	c.Profile, errs[1] = decodeProfile(a)
	domain, errs[2] = a.text("domain")
	c.TargetTask, errs[3] = a.text("target_task")
	c.MaxDuration, errs[4] = a.duration("max_duration")
	c.Seed, errs[5] = a.seed("seed")
	c.Domain, errs[6] = decodeDomain(domain)
	c.AllowPair, errs[7] = a.flag("allow_pair")
	errs[8] = a.version()
	c.Pairs, errs[9] = decodePairs(a)
	c.Transfer, errs[10] = decodeTransfer(a)
	if err := errors.Join(errs[:]...); err != nil {
		return taskConfig{}, err
	}
	return c, c.check()
}

// check refuses combinations that make no sense.
func (c taskConfig) check() error {
	switch {
	case c.Transfer != nil && (len(c.Kernels) > 0 || c.Profile != nil || c.Pairs != nil || c.TargetTask != "" || c.Domain != executor.DomainAuto):
		return errors.New("lend: a task with a lend block has no kernels, profile, pairs, target_task or domain")
	case c.Transfer != nil:
		return nil
	case len(c.Kernels) > 0 && c.Profile != nil:
		return errors.New("kernel, profile: a task has kernel blocks or a profile block, not both")
	case c.Pairs != nil && (len(c.Kernels) > 0 || c.Profile != nil || c.TargetTask != "" || c.Domain != executor.DomainAuto):
		return errors.New("pairs: a task that measures pairs has no kernels, profile, target_task or domain")
	case c.Pairs != nil:
		return nil
	case len(c.Kernels) == 0 && c.Profile == nil:
		return errors.New("kernel: a task needs at least one kernel block, or a profile, pairs or lend block")
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
	list, err := a.list("kernel")
	if err != nil {
		return nil, err
	}
	if len(list) > maxKernels {
		return nil, fmt.Errorf("kernel: %d blocks, a task has %d at most", len(list), maxKernels)
	}
	var out []executor.KernelSpec
	for i, v := range list {
		values, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("kernel: %v is not a block", v)
		}
		k, err := decodeKernel(attributes{fmt.Sprintf("kernel[%d]", i), values})
		if err != nil {
			return nil, err
		}
		out = append(out, k)
	}
	return out, nil
}

func decodeKernel(a attributes) (executor.KernelSpec, error) {
	var k executor.KernelSpec
	var errs [9]error
	var name string
	name, errs[0] = a.text("source")
	k.IntensityPercent, errs[1] = a.percent("intensity")
	k.Path, errs[2] = a.path("path")
	k.Peer, errs[3] = a.text("peer")
	k.Ramp, errs[4] = decodeRamp(a)
	k.Source, errs[5] = source(a.name("source"), name)
	k.Variant, errs[6] = a.text("variant")
	k.Duration, errs[7] = a.duration("duration")
	k.MaxBytes, errs[8] = a.bytes("max_bytes")
	if err := errors.Join(errs[:]...); err != nil {
		return k, err
	}
	if k.Ramp != nil && a.has("intensity") {
		return k, fmt.Errorf("%s: a kernel has an intensity or a ramp, not both", a.at)
	}
	if k.Ramp == nil && !a.has("intensity") {
		return k, fmt.Errorf("%s: a kernel needs an intensity or a ramp", a.at)
	}
	return k, errors.Join(checkScope(a, k), checkVariant(a, k))
}

// checkVariant refuses a variant that the source does not have.
func checkVariant(a attributes, k executor.KernelSpec) error {
	d, err := ibench.Describe(k.Source)
	if err != nil || k.Variant == "" || slices.Contains(d.Variants, k.Variant) {
		return nil // a source without a kernel is refused where the machine is known
	}
	if len(d.Variants) == 0 {
		return fmt.Errorf("%s: %s has no variants", a.name("variant"), k.Source)
	}
	return fmt.Errorf("%s: %s has no variant %q%s; known: %s",
		a.name("variant"), k.Source, k.Variant, suggest(k.Variant, d.Variants), strings.Join(d.Variants, ", "))
}

// checkScope refuses options of other kernels.
func checkScope(a attributes, k executor.KernelSpec) error {
	if k.Path != "" && !k.Storage() {
		return fmt.Errorf("%s: only storage kernels have a path, %s has none", a.name("path"), k.Source)
	}
	if k.Peer == "" {
		return nil
	}
	if k.Source != interference.NetworkBandwidth {
		return fmt.Errorf("%s: only %s has a peer, %s has none", a.name("peer"), interference.NetworkBandwidth, k.Source)
	}
	if _, _, err := net.SplitHostPort(k.Peer); err != nil {
		return fmt.Errorf("%s: %q is not host:port", a.name("peer"), k.Peer)
	}
	return nil
}

func decodeRamp(a attributes) (*executor.Ramp, error) {
	b, ok, err := a.block("ramp")
	if err != nil || !ok {
		return nil, err
	}
	var r executor.Ramp
	var errs [4]error
	r.FromPercent, errs[0] = b.percent("from")
	r.ToPercent, errs[1] = b.percent("to")
	r.StepPercent, errs[2] = b.percent("step")
	r.Dwell, errs[3] = b.duration("dwell")
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	if err := r.Check(); err != nil {
		return nil, fmt.Errorf("%s.%w", b.at, err)
	}
	return &r, nil
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

// decodeRequest reads the request of a block that programs write; ok is false where
// there is no such block.
func decodeRequest(a attributes, block string, into any) (ok bool, err error) {
	b, ok, err := a.block(block)
	if err != nil || !ok {
		return false, err
	}
	text, err := b.text("request")
	if err != nil {
		return false, err
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
		return fmt.Errorf("profile.request: format %d, this release reads %d", r.Format, profiler.RequestFormat)
	case r.Task == "" && len(r.Tasks) == 0:
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
