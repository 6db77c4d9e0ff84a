// Package rig is a real Nomad cluster with nomad-placer installed on it, as an
// operator would install it: access control on, the task driver in the
// clients' plugin folder, the hold pool, the least-privilege policy, and the
// agent as a system job with a workload identity. The demo, the end-to-end
// tests and the training measurements use it.
package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/hcl"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/rights"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/probe"
)

// The names of the installation.
const (
	HoldPool = nomadapi.DefaultHoldPool
	AgentJob = "nomad-placer"
)

// Options describe a rig.
type Options struct {
	Bin      string // folder of the two product binaries
	BasePort int
	RunID    string
	Clients  []cluster.Client // default: cluster.Topology of this machine
	// Described nodes tell the placer what they are: see cluster.Described.
	Described bool
	// Preferred, for measurements: see cluster.Config.
	Preferred bool
	KeepDir   bool
	// TLS: see cluster.Config.
	TLS bool
	// AgentConfig is the text of the agent's configuration file; default: the
	// demo's.
	AgentConfig string
	// RPCPort is where clients find the server: see cluster.Config.
	RPCPort int
	// HostVolumes are on every client: names and folders of this machine.
	HostVolumes map[string]string
	// DriverConfig is more text for the driver's configuration in the agents'
	// files.
	DriverConfig string
}

// Rig is a running cluster.
type Rig struct {
	*cluster.Cluster
	World *nomadapi.World // a management view, for submitting and measuring

	opts Options
}

// Start starts the cluster with the driver loaded. The placer itself is not
// installed yet.
func Start(ctx context.Context, o Options) (*Rig, error) {
	bin, err := filepath.Abs(o.Bin)
	if err != nil {
		return nil, err
	}
	o.Bin = bin
	plugins := filepath.Join(bin, "plugins")
	for _, f := range []string{filepath.Join(bin, "nomad-placer"), filepath.Join(bin, "workload"), filepath.Join(plugins, "nomad-driver-ibench")} {
		if _, err := os.Stat(f); err != nil {
			return nil, fmt.Errorf("%s is missing; run `make build workload` first: %w", f, err)
		}
	}
	if len(o.Clients) == 0 {
		cpus, err := cluster.AllowedCPUs(os.Getpid())
		if err != nil {
			return nil, err
		}
		o.Clients = cluster.Topology(cpus)
	}
	if o.Described {
		o.Clients = cluster.Described(o.Clients, cluster.CoreMHz("/"))
	}
	for i := range o.Clients {
		if o.HostVolumes != nil {
			o.Clients[i].HostVolumes = o.HostVolumes
		}
		o.Clients[i].HCL += driverHCL(o.RunID, o.Clients[i].Name, o.DriverConfig)
	}
	c, err := cluster.Start(ctx, cluster.Config{
		RunID: o.RunID, BasePort: o.BasePort, Clients: o.Clients, ACL: true, TLS: o.TLS, PluginDir: plugins, KeepDir: o.KeepDir, Preferred: o.Preferred,
		RPCPort:      o.RPCPort,
		ImageSources: []string{"http://127.0.0.1:*"},
	})
	if err != nil {
		return nil, err
	}
	world, err := nomadapi.New(nomadapi.Options{
		Address: c.Addr(), Token: c.Token(), Decode: Decode, Probe: probe.New,
		Configure: func(config *api.Config) {
			if tls := c.TLS(); tls != nil {
				config.TLSConfig = tls
			}
		},
	})
	if err != nil {
		return nil, errors.Join(err, c.Stop(context.WithoutCancel(ctx)))
	}
	return &Rig{Cluster: c, World: world, opts: o}, nil
}

// driverHCL loads the plugin; the nodes of a rig share one machine, so each has
// its own runtime folder. Jobs of measurements have kernels and pairs.
func driverHCL(run, node, more string) string {
	return fmt.Sprintf(`
plugin "nomad-driver-ibench" {
  config {
    enabled     = true
    allow       = ["kernels", "profile", "pairs", "lend"]
    runtime_dir = %q
    %s
  }
}
`, filepath.Join(cluster.DefaultDir(), run, node, "ibench"), more)
}

// Decode reads the text of a performance block.
func Decode(text, file string) (performance.Spec, []string, error) {
	return hcl.Options{Policies: policy.Names()}.Decode([]byte(text), file)
}

// demoAgentConfig allows what an operator may: the machine is the user's own.
const demoAgentConfig = `
exec_probes   = true
node_metadata = true

pools {
  hold = "placer"
  run  = "default"
}
`

// InstallPlacer installs the agent and waits until one instance leads.
func (r *Rig) InstallPlacer(ctx context.Context) error {
	if err := r.CreateHoldPool(); err != nil {
		return err
	}
	if err := r.applyPolicy(); err != nil {
		return err
	}
	config := r.opts.AgentConfig
	if config == "" {
		config = demoAgentConfig
	}
	// The clients of a rig share one machine, so no port is the same for all.
	job, err := r.Parse(agentJobHCL, map[string]string{"bin": r.opts.Bin, "config": config, "port": "0", "ip": "$${NOMAD_IP_http}"})
	if err != nil {
		return fmt.Errorf("agent job: %w", err)
	}
	if _, _, err := r.API().Jobs().Register(job, nil); err != nil {
		return fmt.Errorf("agent job: %w", err)
	}
	return r.waitLeader(ctx)
}

// CreateHoldPool creates the pool without nodes in which jobs wait.
func (r *Rig) CreateHoldPool() error {
	_, err := r.API().NodePools().Register(&api.NodePool{
		Name: HoldPool, Description: "nomad-placer: jobs wait here without nodes until they are placed",
	}, nil)
	if err != nil {
		return fmt.Errorf("hold pool: %w", err)
	}
	return nil
}

// applyPolicy attaches the least-privilege policy to the agent's job, so that
// its workload identity carries it.
func (r *Rig) applyPolicy() error {
	_, err := r.API().ACLPolicies().Upsert(&api.ACLPolicy{
		Name:        AgentJob,
		Description: "what the nomad-placer agent may do",
		Rules:       AgentPolicy().HCL(),
		JobACL:      &api.JobACL{Namespace: "default", JobID: AgentJob},
	}, nil)
	if err != nil {
		return fmt.Errorf("access policy: %w", err)
	}
	return nil
}

// AgentPolicy is that of an agent with all options, since the agents of a rig have them.
func AgentPolicy() rights.Policy {
	return rights.Policy{Role: rights.Leader, With: []rights.Option{rights.ExecProbes, rights.NodeMetadata}}
}

// waitLeader waits for the leader's lock to be held.
func (r *Rig) waitLeader(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		leader, err := r.World.Leader(ctx)
		if err == nil && leader.Address != "" {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("no placer agent took the lead: %w", errors.Join(ctx.Err(), err))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Parse turns a jobspec into a job, by Nomad's own parser.
func (r *Rig) Parse(text string, variables map[string]string) (*api.Job, error) {
	vars := ""
	for name, value := range variables {
		vars += fmt.Sprintf("%s = %q\n", name, value)
	}
	return r.API().Jobs().ParseHCLOpts(&api.JobsParseRequest{JobHCL: text, Variables: vars, Canonicalize: true})
}
