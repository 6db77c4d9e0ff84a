package cluster

import (
	"fmt"
	"path/filepath"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/authority"
)

// The certificates of a run with TLS. Nomad's agents know each other by these names
// of roles.
const (
	serverRole = "server.global.nomad"
	clientRole = "client.global.nomad"
	personRole = "cli.global.nomad" // of whoever calls the API
)

func (c Config) scheme() string {
	if c.TLS {
		return "https"
	}
	return "http"
}

func (c Config) tlsDir() string        { return filepath.Join(c.runDir(), "tls") }
func (c Config) authorityFile() string { return filepath.Join(c.tlsDir(), "ca.pem") }

func (c Config) certificate(role string) authority.Pair {
	return authority.Pair{Cert: filepath.Join(c.tlsDir(), role+".pem"), Key: filepath.Join(c.tlsDir(), role+"-key.pem")}
}

// makeCertificates makes those of all agents and one for callers.
func (c *Cluster) makeCertificates() error {
	if !c.config.TLS {
		return nil
	}
	var err error
	if c.authority, err = authority.New(c.config.tlsDir(), "ca"); err != nil {
		return fmt.Errorf("certificates: %w", err)
	}
	for _, role := range []string{serverRole, clientRole, personRole} {
		if _, err := c.authority.Issue(role, role); err != nil {
			return fmt.Errorf("certificates: %w", err)
		}
	}
	return nil
}

// Authority signs for the run, nil without TLS. Its File is what Nomad's ca_file
// names; the folder goes with the run.
func (c *Cluster) Authority() *authority.Authority { return c.authority }

// TLS is how the API is reached: with the run's authority and a certificate for
// callers. It is nil without TLS.
func (c *Cluster) TLS() *api.TLSConfig { return c.config.callerTLS() }

func (c Config) callerTLS() *api.TLSConfig {
	if !c.TLS {
		return nil
	}
	person := c.certificate(personRole)
	return &api.TLSConfig{CACert: c.authorityFile(), ClientCert: person.Cert, ClientKey: person.Key}
}
