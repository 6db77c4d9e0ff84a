package main

import (
	"errors"
	"flag"
	"fmt"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/hcl"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/probe"
)

// nomadFlags name the Nomad to talk to, as Nomad's own command line does. What
// is empty comes from Nomad's environment variables.
type nomadFlags struct {
	address, token, namespace, region string
	tls                               api.TLSConfig
	holdPool, runPool                 string
}

func (n *nomadFlags) add(f *flag.FlagSet) {
	f.StringVar(&n.address, "address", "", "Nomad's `address`. Also NOMAD_ADDR; else http://127.0.0.1:4646.")
	f.StringVar(&n.token, "token", "", "ACL `token`. Also NOMAD_TOKEN.")
	f.StringVar(&n.namespace, "namespace", "", "The job's `namespace`. Also NOMAD_NAMESPACE; else default.")
	f.StringVar(&n.region, "region", "", "Nomad `region`. Also NOMAD_REGION; else that of the server.")
	f.StringVar(&n.tls.CACert, "ca-cert", "", "Trust the authority in this PEM `file`. Also NOMAD_CACERT.")
	f.StringVar(&n.tls.CAPath, "ca-path", "", "Trust the authorities in this `folder` of PEM files. Also NOMAD_CAPATH.")
	f.StringVar(&n.tls.ClientCert, "client-cert", "", "Client certificate, a PEM `file`. Also NOMAD_CLIENT_CERT.")
	f.StringVar(&n.tls.ClientKey, "client-key", "", "The certificate's key, a PEM `file`. Also NOMAD_CLIENT_KEY.")
	f.StringVar(&n.tls.TLSServerName, "tls-server-name", "", "The `name` that Nomad's certificate must have, where it is not that of the address. Also NOMAD_TLS_SERVER_NAME.")
	f.BoolVar(&n.tls.Insecure, "tls-skip-verify", false, "Do not check Nomad's certificate: anyone on the network path can read and change everything. Also NOMAD_SKIP_VERIFY.")
}

func (n *nomadFlags) addPools(f *flag.FlagSet) {
	f.StringVar(&n.holdPool, "hold-pool", nomadapi.DefaultHoldPool, "Node `pool` without nodes in which jobs wait.")
	f.StringVar(&n.runPool, "run-pool", nomadapi.DefaultRunPool, "Node `pool` that held jobs are released into.")
}

// configure puts the flags over the environment's configuration. The namespace
// is left alone: it is that of one job, and not of all that is read.
func (n *nomadFlags) configure(c *api.Config) {
	set(&c.Address, n.address)
	set(&c.SecretID, n.token)
	set(&c.Region, n.region)
	set(&c.TLSConfig.CACert, n.tls.CACert)
	set(&c.TLSConfig.CAPath, n.tls.CAPath)
	set(&c.TLSConfig.ClientCert, n.tls.ClientCert)
	set(&c.TLSConfig.ClientKey, n.tls.ClientKey)
	set(&c.TLSConfig.TLSServerName, n.tls.TLSServerName)
	c.TLSConfig.Insecure = c.TLSConfig.Insecure || n.tls.Insecure
}

// client opens Nomad's API.
func (n *nomadFlags) client() (*api.Client, error) {
	c := api.DefaultConfig()
	n.configure(c)
	set(&c.Namespace, n.namespace)
	client, err := api.NewClient(c)
	if err != nil {
		return nil, fmt.Errorf("nomad at %s: %w", c.Address, err)
	}
	return client, nil
}

func set(to *string, v string) {
	if v != "" {
		*to = v
	}
}

// jobNamespace is the namespace a job is looked for in.
func (n *nomadFlags) jobNamespace(s *command.Shell) string {
	for _, v := range []string{n.namespace, s.Getenv("NOMAD_NAMESPACE")} {
		if v != "" && v != api.AllNamespacesNamespace {
			return v
		}
	}
	return api.DefaultNamespace
}

// world opens the same view of Nomad that the agent has.
func (n *nomadFlags) world() (*nomadapi.World, error) { return n.worldWith("") }

// worldWith looks for the leader in a namespace.
func (n *nomadFlags) worldWith(records string) (*nomadapi.World, error) {
	return nomadapi.New(n.worldOptions(records))
}

func (n *nomadFlags) worldOptions(records string) nomadapi.Options {
	return nomadapi.Options{
		Configure: n.configure, RecordsNamespace: records,
		HoldPool: n.holdPool, RunPool: n.runPool,
		Decode: decodeBlock, Probe: newProbe,
	}
}

// blockOptions tell the reader of performance blocks which policies there are,
// and let the probes check what only they know.
func blockOptions() hcl.Options {
	return hcl.Options{Policies: policy.Names(), Strategies: provision.StrategyNames(), Mappings: provision.MappingNames(), ValidateProbe: validateProbe}
}

func validateProbe(spec performance.ProbeSpec, target performance.Target) error {
	d, ok := probe.Lookup(spec.Type)
	if !ok {
		return fmt.Errorf("unknown probe %q; known: %s", spec.Type, probe.Names())
	}
	return d.Validate(spec, target)
}

// decodeBlock is how the agent reads a performance text out of a job.
func decodeBlock(text, file string) (performance.Spec, []string, error) {
	return blockOptions().Decode([]byte(text), file)
}

func newProbe(spec performance.ProbeSpec, reach probe.Reach, task string) (probe.Probe, error) {
	d, ok := probe.Lookup(spec.Type)
	if !ok {
		return nil, fmt.Errorf("unknown probe %q; known: %s", spec.Type, probe.Names())
	}
	return d.New(spec, reach, task)
}

// isNotFound reports that Nomad has no such thing.
func isNotFound(err error) bool {
	var answer api.UnexpectedResponseError
	return errors.As(err, &answer) && answer.HasStatusCode() && answer.StatusCode() == 404
}
