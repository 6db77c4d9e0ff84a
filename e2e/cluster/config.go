package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"
)

// Defaults of a Config.
const (
	defaultStartTimeout = 90 * time.Second

	// portsPerAgent is the distance between the port blocks of two agents: http,
	// rpc and serf, and room to read the numbers by eye.
	portsPerAgent = 10
	// dynamicPortOffset is where the clients' dynamic ports begin, counted from
	// the base port; each client has dynamicPorts of them, for all clients share
	// one network namespace.
	dynamicPortOffset = 300
	dynamicPorts      = 100
)

// Config describes a cluster. The zero value of a field is its default.
type Config struct {
	// RunID names the run in control groups and folders: letters, digits and
	// dashes. Default: the base port and the process ID.
	RunID string
	// BasePort is the server's HTTP port; the cluster uses the ports up to
	// BasePort+300+100·clients. Required.
	BasePort int
	// Dir is where the run's folder is made. Default: placer in
	// the temporary directory, the only place where Clean and CleanDead look.
	Dir string
	// Nomad is the binary. Default: what FindNomad finds.
	Nomad string
	// Clients are the nodes. Required, see Topology, unless ServerOnly.
	Clients []Client
	// ServerOnly says that there are to be no clients: others bring the nodes.
	ServerOnly bool
	// ACL turns access control on and bootstraps a management token.
	ACL bool
	// TLS encrypts the HTTP and RPC of all agents, which then talk only to who has a
	// certificate of the run's own authority (Cluster.Authority).
	TLS bool
	// PluginDir is the clients' plugin folder, for the task driver under test.
	PluginDir string
	// ImageSources are more origins the Nomad UI may load images from, for
	// example "http://127.0.0.1:9646".
	ImageSources []string
	// RPCPort is where clients find the server's RPC, for example a relay before it.
	// Default: the server's own port.
	RPCPort int
	// ServerHCL and ClientHCL are merged over the generated agent files.
	ServerHCL, ClientHCL string
	// Preferred gives the cluster its CPU time before whatever else runs on the
	// machine, as far as that may be: nodes of their own would be rid of it. The
	// kernel's threads that such a weight would keep from running get a priority
	// above processes for as long; where that is not allowed, nothing is preferred.
	// A preferred run also keeps the CPUs awake: see keepAwake.
	Preferred bool
	// LogLevel of the agents. Default: INFO.
	LogLevel string
	// KeepDir keeps the run's folder (agent logs, data) after Stop.
	KeepDir bool
	// StartTimeout bounds Start. Default: 90 s.
	StartTimeout time.Duration
}

// Client describes one Nomad client.
type Client struct {
	Name       string
	Class      string // node class; may be empty
	Pool       string // node pool; empty is Nomad's "default"
	Datacenter string // empty is Nomad's "dc1"
	Meta       map[string]string
	// CPUs are the machine's logical CPUs the node consists of; empty is all.
	CPUs []int
	// CPUQuota is the share of the time of its CPUs that all tasks of the node
	// together may use, 0 < q ≤ 1: an emulated slower machine. 0 is no limit.
	CPUQuota float64
	// CPUMHz and MemoryMB replace what the client would fingerprint; 0 keeps the
	// fingerprint. They say what the scheduler may count on, and limit nothing.
	CPUMHz   int
	MemoryMB int
	// DataMB gives the client's data a file system of its own of that size, which can be
	// filled up: see FillDisk. It takes memory only for what is in it. 0 is none.
	DataMB int
	// HostVolumes maps a volume name to a folder of this machine.
	HostVolumes map[string]string
	// ChrootEnv replaces what the exec driver links into a task's root. The
	// default is small, so that an exec task starts quickly.
	ChrootEnv map[string]string
	// HCL is merged over the generated agent file of this client only.
	HCL string
}

// validName is what may become part of a control group's and a folder's name.
var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*$`)

// withDefaults returns the configuration completed, or every mistake in it.
func (c Config) withDefaults() (Config, error) {
	if c.RunID == "" {
		c.RunID = fmt.Sprintf("%d-%d", c.BasePort, os.Getpid())
	}
	if c.Dir == "" {
		c.Dir = DefaultDir()
	}
	if c.LogLevel == "" {
		c.LogLevel = "INFO"
	}
	if c.StartTimeout == 0 {
		c.StartTimeout = defaultStartTimeout
	}
	return c, c.validate()
}

func (c Config) validate() error {
	var errs []error
	if !validName.MatchString(c.RunID) {
		errs = append(errs, fmt.Errorf("run ID %q: want letters, digits and dashes", c.RunID))
	}
	if last := c.dynamicPort(len(c.Clients)); c.BasePort < 1024 || last > 65535 {
		errs = append(errs, fmt.Errorf("base port %d: ports %d–%d do not fit in 1024–65535", c.BasePort, c.BasePort, last))
	}
	if len(c.Clients) == 0 && !c.ServerOnly {
		errs = append(errs, errors.New("no clients"))
	}
	if most := dynamicPortOffset/portsPerAgent - 1; len(c.Clients) > most {
		errs = append(errs, fmt.Errorf("%d clients: at most %d fit in the port plan", len(c.Clients), most))
	}
	names := []string{serverName}
	for _, client := range c.Clients {
		if slices.Contains(names, client.Name) {
			errs = append(errs, fmt.Errorf("client name %q is taken", client.Name))
		}
		names = append(names, client.Name)
		errs = append(errs, client.validate())
	}
	return errors.Join(errs...)
}

func (c Client) validate() error {
	var errs []error
	if !validName.MatchString(c.Name) {
		errs = append(errs, fmt.Errorf("client name %q: want letters, digits and dashes", c.Name))
	}
	if c.DataMB < 0 {
		errs = append(errs, fmt.Errorf("client %s: %d MB of data: want 0 (no limit) or more", c.Name, c.DataMB))
	}
	if c.CPUQuota < 0 || c.CPUQuota > 1 {
		errs = append(errs, fmt.Errorf("client %s: CPU quota %g: want 0 (none) to 1", c.Name, c.CPUQuota))
	}
	for _, cpu := range c.CPUs {
		if cpu < 0 {
			errs = append(errs, fmt.Errorf("client %s: CPU %d is negative", c.Name, cpu))
		}
	}
	return errors.Join(errs...)
}

// httpPort is the HTTP port of an agent; 0 is the server, i+1 is client i.
func (c Config) httpPort(agent int) int { return c.BasePort + portsPerAgent*agent }

// rpcPort is where clients find the server.
func (c Config) rpcPort() int { return cmp.Or(c.RPCPort, c.httpPort(0)+1) }

// dynamicPort is the first dynamic port of a client.
func (c Config) dynamicPort(client int) int {
	return c.BasePort + dynamicPortOffset + dynamicPorts*client
}

// runDir is the folder of the run.
func (c Config) runDir() string { return filepath.Join(c.Dir, c.RunID) }

// DefaultDir is where runs are kept unless the caller says otherwise. It is
// short because the task API's socket lies 70 bytes below a run's folder, and a
// socket's path has at most 107.
func DefaultDir() string { return filepath.Join(os.TempDir(), "placer") }
