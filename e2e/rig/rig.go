// Package rig is a real Nomad cluster with nomad-placer installed on it, as an
// operator would install it: access control on, the task driver in the
// clients' plugin folder, the hold pool, the least-privilege policy, and the
// agent as a system job with a workload identity. The demo, the end-to-end
// tests and the training measurements use it.
package rig

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/examples/install"
	"github.com/nomad-placer/nomad-placer/hcl"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/rights"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/probe"
	"github.com/nomad-placer/nomad-placer/profiler/signing"
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
	// Signed: the agents have a key, and the drivers take what it has signed only.
	Signed bool
	// DriverConfig is more text for the driver's configuration in the agents'
	// files.
	DriverConfig string
}

// Rig is a running cluster.
type Rig struct {
	*cluster.Cluster
	World *nomadapi.World // a management view, for submitting and measuring

	opts Options
	key  *signing.Key // of the agents; nil leaves requests unsigned
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
	var key *signing.Key
	if o.Signed {
		k, err := signing.NewKey(rand.Reader)
		if err != nil {
			return nil, err
		}
		key = &k
		o.DriverConfig += fmt.Sprintf("\n    signers = [%q]", k.Signer())
	}
	for i := range o.Clients {
		if o.HostVolumes != nil {
			o.Clients[i].HostVolumes = o.HostVolumes
		}
		o.Clients[i].HCL += DriverHCL(o.RunID, o.Clients[i].Name, o.DriverConfig)
	}
	c, err := cluster.Start(ctx, cluster.Config{
		RunID: o.RunID, BasePort: o.BasePort, Clients: o.Clients, ACL: true, TLS: o.TLS, PluginDir: plugins, KeepDir: o.KeepDir, Preferred: o.Preferred,
		RPCPort:      o.RPCPort,
		ImageSources: []string{"http://127.0.0.1:*"},
	})
	if err != nil {
		return nil, err
	}
	r := &Rig{Cluster: c, opts: o, key: key}
	if err := r.open(); err != nil {
		return nil, errors.Join(err, c.Stop(context.WithoutCancel(ctx)))
	}
	return r, nil
}

func (r *Rig) open() (err error) {
	if r.key != nil {
		if err := r.key.Save(r.keyFile()); err != nil {
			return err
		}
	}
	r.World, err = r.RecordsIn("")
	return err
}

// keyFile is where the agents find their key.
func (r *Rig) keyFile() string {
	return filepath.Join(cluster.DefaultDir(), r.opts.RunID, "signing.key")
}

// RecordsIn is a management view, which looks for the leader in a namespace.
func (r *Rig) RecordsIn(records string) (*nomadapi.World, error) {
	return nomadapi.New(nomadapi.Options{
		Address: r.Addr(), Token: r.Token(), RecordsNamespace: records, Decode: Decode, Probe: probe.New, SigningKey: r.key,
		Configure: func(config *api.Config) {
			if tls := r.TLS(); tls != nil {
				config.TLSConfig = tls
			}
		},
	})
}

// DriverHCL loads the plugin; the nodes of a rig share one machine, so each has
// its own runtime folder. Jobs of measurements have kernels and pairs, and calibrate.
func DriverHCL(run, node, more string) string {
	return fmt.Sprintf(`
plugin "nomad-driver-ibench" {
  config {
    enabled     = true
    allow       = ["kernels", "profile", "pairs", "calibrate", "lend"]
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

// InstallPlacer installs the agent as a system job, with more flags if need be, and waits until
// one instance leads.
func (r *Rig) InstallPlacer(ctx context.Context, flags ...string) error {
	config := r.opts.AgentConfig
	if config == "" {
		config = demoAgentConfig
	}
	text := install.AgentJob
	for _, f := range flags {
		text = strings.Replace(text, `"agent",`, fmt.Sprintf(`"agent", %q,`, f), 1)
	}
	return r.Install(ctx, Installation{Text: text, Config: config, Policy: AgentPolicy()})
}

// Installation is a job of the placer with its policy.
type Installation struct {
	Text      string // of the job
	Variables map[string]string
	Config    string // of the agent; default: the job's
	Policy    rights.Policy
}

// Install installs a job of the placer, and waits until one that may lead does.
func (r *Rig) Install(ctx context.Context, i Installation) error {
	if err := r.CreateHoldPool(); err != nil {
		return err
	}
	namespace := cmp.Or(i.Policy.Namespace, api.DefaultNamespace)
	if namespace != api.DefaultNamespace {
		if _, err := r.API().Namespaces().Register(&api.Namespace{Name: namespace}, nil); err != nil {
			return fmt.Errorf("namespace %s: %w", namespace, err)
		}
	}
	world, err := r.RecordsIn(namespace)
	if err != nil {
		return err
	}
	before, err := world.Leader(ctx)
	if err != nil {
		return err
	}
	// The clients of a rig share one machine, so no port is the same for all.
	variables := map[string]string{"bin": r.opts.Bin, "port": "0", "ip": "$${NOMAD_IP_http}", "namespace": namespace}
	maps.Copy(variables, i.Variables)
	if r.key != nil {
		i.Config += fmt.Sprintf("signing_key_file = %q\n", r.keyFile())
	}
	if i.Config != "" {
		variables["config"] = i.Config
	}
	job, err := r.Parse(i.Text, variables)
	if err != nil {
		return fmt.Errorf("agent job: %w", err)
	}
	_, err = r.API().ACLPolicies().Upsert(&api.ACLPolicy{
		Name: namespace + "-" + *job.ID, Rules: i.Policy.HCL(), JobACL: &api.JobACL{Namespace: namespace, JobID: *job.ID},
	}, nil)
	if err != nil {
		return fmt.Errorf("access policy: %w", err)
	}
	if _, _, err := r.API().Jobs().Register(job, &api.WriteOptions{Namespace: namespace}); err != nil {
		return fmt.Errorf("agent job: %w", err)
	}
	if i.Policy.Role != rights.Leader {
		return nil
	}
	if err := WaitLeader(ctx, world, before); err != nil {
		return errors.Join(err, r.agentsSay(context.WithoutCancel(ctx), namespace, *job.ID))
	}
	return nil
}

// mostSaid bounds what is repeated of an agent's log.
const mostSaid = 2000

// agentsSay is the end of what each agent has written, for an error.
func (r *Rig) agentsSay(ctx context.Context, namespace, job string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	stubs, _, err := r.API().Jobs().Allocations(job, false, (&api.QueryOptions{Namespace: namespace}).WithContext(ctx))
	said := []error{err}
	for _, a := range stubs {
		for task := range a.TaskStates {
			log, err := r.Log(ctx, &api.Allocation{ID: a.ID, NodeID: a.NodeID, Namespace: a.Namespace}, task, "stderr")
			said = append(said, err, fmt.Errorf("the agent on %s, %s, said: %s", a.NodeName, a.ClientStatus, log[max(0, len(log)-mostSaid):]))
		}
	}
	return errors.Join(said...)
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

// AgentPolicy is that of an agent with all options, since the agents of a rig have them.
func AgentPolicy() rights.Policy {
	return rights.Policy{Role: rights.Leader, With: []rights.Option{rights.ExecProbes, rights.NodeMetadata}}
}

// WaitLeader waits for another leader than the one before.
func WaitLeader(ctx context.Context, world *nomadapi.World, before nomadapi.Leader) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		leader, err := world.Leader(ctx)
		if err == nil && leader.Address != "" && leader != before {
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
