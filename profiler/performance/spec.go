package performance

import (
	"fmt"
	"strconv"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Kind says what sort of target a workload has.
type Kind string

// The kinds of target.
const (
	QPS          Kind = "qps"           // requests per second, under a latency bound
	FinishWithin Kind = "finish_within" // a deadline for the whole job
	Rate         Kind = "rate"          // units of work per second
	BestEffort   Kind = "best_effort"   // whatever is left over
)

// Latency bounds a percentile of the response time.
type Latency struct {
	Percentile float64       `json:"percentile"` // in (0, 100)
	Max        time.Duration `json:"max"`
}

// LatePercent is the share of requests that may take longer than the bound; 0 without one.
func (t Target) LatePercent() float64 {
	if t.Latency == nil {
		return 0
	}
	return 100 - t.Latency.Percentile
}

// Target is what a workload must achieve. Exactly the fields of its Kind are
// set; Latency is optional with QPS.
type Target struct {
	Kind         Kind          `json:"kind"`
	QPS          float64       `json:"qps,omitempty"` // requests/s, whole group
	Latency      *Latency      `json:"latency,omitempty"`
	FinishWithin time.Duration `json:"finish_within,omitempty"`
	Rate         float64       `json:"rate,omitempty"` // units/s, whole group
	Unit         string        `json:"unit,omitempty"` // of Rate, for people: "frames", "rows"
}

// Value returns the target as a number and its unit: requests/s, units/s, or
// seconds for a finish time. Best effort has no number.
func (t Target) Value() (value float64, unit string, ok bool) {
	switch t.Kind {
	case QPS:
		return t.QPS, "requests/s", true
	case Rate:
		return t.Rate, t.RateUnit(), true
	case FinishWithin:
		return t.FinishWithin.Seconds(), "s", true
	default:
		return 0, "", false
	}
}

// RateUnit is the unit a rate of work is printed in.
func (t Target) RateUnit() string {
	if t.Kind == QPS {
		return "requests/s"
	}
	if t.Unit == "" {
		return "units/s"
	}
	return t.Unit + "/s"
}

// String prints the target as a person would say it.
func (t Target) String() string {
	switch t.Kind {
	case QPS:
		s := number(t.QPS) + " requests/s"
		if t.Latency != nil {
			s += fmt.Sprintf(" with p%s ≤ %s", number(t.Latency.Percentile), t.Latency.Max)
		}
		return s
	case FinishWithin:
		return "finish within " + t.FinishWithin.String()
	case Rate:
		return number(t.Rate) + " " + t.RateUnit()
	default:
		return "best effort"
	}
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// ProbeMode says whether the number a probe reads is a running total of work
// or the present rate.
type ProbeMode string

// The probe modes.
const (
	ModeTotal ProbeMode = "total" // cumulative units of work
	ModeRate  ProbeMode = "rate"  // units per second, now
)

// ProbeSpec says how a running workload is measured. Type is the probe's name
// in the probe list; each probe uses its own fields and refuses others' at
// validation.
type ProbeSpec struct {
	Type    string        `json:"type"`
	Task    string        `json:"task,omitempty"`    // log, exec: the task read; default the group's first
	Port    string        `json:"port,omitempty"`    // prometheus: port label
	Path    string        `json:"path,omitempty"`    // prometheus: default /metrics
	Rate    string        `json:"rate,omitempty"`    // prometheus: counter of work
	Latency string        `json:"latency,omitempty"` // prometheus: histogram of seconds
	Pattern string        `json:"pattern,omitempty"` // log: regexp with one group, the number
	Stream  string        `json:"stream,omitempty"`  // log: stdout (default) or stderr
	Command []string      `json:"command,omitempty"` // exec: argv; prints one number
	Mode    ProbeMode     `json:"mode,omitempty"`    // log, exec: default total
	Work    float64       `json:"work,omitempty"`    // units in the whole job, with finish_within
	Timeout time.Duration `json:"timeout,omitempty"` // per reading; default 2 s
}

// ScaleSpec lists the sizes the workload may be given. Empty lists mean "as
// the job says".
type ScaleSpec struct {
	Count    []int `json:"count,omitempty"`
	Cores    []int `json:"cores,omitempty"`
	MemoryMB []int `json:"memory_mb,omitempty"`
}

// ProfileSpec limits the profiling run.
type ProfileSpec struct {
	Seconds int                   `json:"seconds,omitempty"` // whole profile, default 45
	Sources []interference.Source `json:"sources,omitempty"` // default: chosen by the placer
	Skip    bool                  `json:"skip,omitempty"`    // never profile; classify from others only
	When    When                  `json:"when,omitempty"`    // default: the agent's
	Allow   []Permission          `json:"allow,omitempty"`   // what a copy may have or do that reaches beyond it
}

// Permission names what a copy for profiling has or does only if the author of the job
// says so: it may reach what the running job, or another one, works with.
type Permission string

// The permissions.
const (
	AllowHostPaths  Permission = "host_paths" // directories, files and disk images of the host
	AllowHostPorts  Permission = "host_ports" // fixed ports of the host, and its network
	AllowPrivileges Permission = "privileges" // devices, capabilities and namespaces of the host
	AllowSecrets    Permission = "secrets"    // secrets, keys, variables, identities, and addresses of services
	AllowPrestart   Permission = "prestart"   // tasks that run to their end before the others
	AllowPoststart  Permission = "poststart"  // tasks that run to their end after the others have started
	AllowPoststop   Permission = "poststop"   // tasks that run after the others
)

// Permissions are all of them.
func Permissions() []Permission {
	return []Permission{AllowHostPaths, AllowHostPorts, AllowPrivileges, AllowSecrets, AllowPrestart, AllowPoststart, AllowPoststop}
}

// When a group that nothing is measured of is profiled.
type When string

// The times of a profile.
const (
	WhenBefore When = "before" // it is held until it is profiled
	WhenAfter  When = "after"  // it is placed by what is known of others, and profiled while it runs
	WhenQuiet  When = "quiet"  // after, where the cluster is quiet; before, where it is not
)

// Whens are all of them.
func Whens() []string { return []string{string(WhenBefore), string(WhenAfter), string(WhenQuiet)} }

// DiskSpec is what each allocation is promised of its node's disk.
type DiskSpec struct {
	BandwidthMBPerSec float64 `json:"bandwidth_mb_per_sec"` // MB are 10^6 bytes
	// MostPercent is up to which use of what the disk does, by all together, the allocation
	// keeps its bound on latencies (MB_i of Delimitrou 2015, §B.4.1).
	MostPercent float64 `json:"most_percent"`
	// Limit: the promise is also a limit, of what it reads and of what it writes.
	Limit bool `json:"limit,omitempty"`
}

// Spec is one decoded `performance` block.
type Spec struct {
	Target             Target        `json:"target"`
	Probe              *ProbeSpec    `json:"probe,omitempty"` // nil only for best effort
	Scale              ScaleSpec     `json:"scale"`
	Disk               *DiskSpec     `json:"disk,omitempty"`       // nil: nothing is promised
	SlowdownMaxPercent float64       `json:"slowdown_max_percent"` // the QoS bound, default 5
	Policy             string        `json:"policy,omitempty"`     // default: the agent's
	Hold               time.Duration `json:"hold,omitempty"`       // hold deadline, default: the agent's
	Profile            ProfileSpec   `json:"profile"`
	Move               bool          `json:"move,omitempty"` // may a running allocation be replaced
	Near               []string      `json:"near,omitempty"` // jobs, or job/group, of its namespace that it exchanges much with
}

// The defaults of a performance block.
const (
	DefaultSlowdownMaxPercent = 5.0 // Delimitrou 2015, §3.3.2: the 5 % QoS bound
	DefaultProfileSeconds     = 45  // chosen by us: two sources in a minute with start-up
	DefaultDiskMostPercent    = 100 // no bound but what the disk does
	DefaultHold               = 5 * time.Minute
	DefaultProbeTimeout       = 2 * time.Second
)
