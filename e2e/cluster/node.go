package cluster

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/hashicorp/nomad/api"
)

// Node is what is known of one client of a running cluster.
type Node struct {
	Client        // as configured
	ID     string // Nomad's node ID
	Addr   string // http://127.0.0.1:port of the client agent, https with TLS
	Log    string // the agent's log file
}

// Addr is the server's HTTP address: NOMAD_ADDR, and the web UI under /ui.
func (c *Cluster) Addr() string { return c.server.addr }

// Token is the management token, or empty without access control.
func (c *Cluster) Token() string { return c.token }

// API is a client of the server's API that carries the token.
func (c *Cluster) API() *api.Client { return c.api }

// ServerPID is the process of the server's agent.
func (c *Cluster) ServerPID() int { return c.server.current().pid }

// Nomad is the path of the binary in use.
func (c *Cluster) Nomad() string { return c.config.Nomad }

// Dir is the run's folder: <agent>/agent.log, <agent>/data, <agent>/config.
func (c *Cluster) Dir() string { return c.config.runDir() }

// RunID names the run for Clean.
func (c *Cluster) RunID() string { return c.config.RunID }

// Env returns an environment in which the nomad command line talks to the
// cluster: the given one without other Nomad settings.
func (c *Cluster) Env(base []string) []string {
	env := append(agentEnv(base), "NOMAD_ADDR="+c.Addr())
	if c.token != "" {
		env = append(env, "NOMAD_TOKEN="+c.token)
	}
	if tls := c.TLS(); tls != nil {
		env = append(env, "NOMAD_CACERT="+tls.CACert, "NOMAD_CLIENT_CERT="+tls.ClientCert, "NOMAD_CLIENT_KEY="+tls.ClientKey)
	}
	return env
}

// Clients is the number of clients.
func (c *Cluster) Clients() int { return len(c.clients) }

// Client describes client i, in the order of Config.Clients.
func (c *Cluster) Client(i int) Node {
	a := c.clients[i]
	return Node{Client: c.config.Clients[i], ID: c.nodeIDs[i], Addr: a.addr, Log: a.logFile()}
}

// ClientNamed returns the number of the client with a name.
func (c *Cluster) ClientNamed(name string) (int, bool) {
	i := slices.IndexFunc(c.config.Clients, func(cl Client) bool { return cl.Name == name })
	return i, i >= 0
}

// TaskGroup is the control group, as seen from outside the node, below which
// Nomad puts the tasks of client i, for a v1 controller (ignored under v2).
func (c *Cluster) TaskGroup(i int, controller string) string {
	return filepath.Join(c.hierarchies.path(controller, c.clients[i].group), c.hierarchies.tasksGroup())
}

// Processes lists the processes on client i: the agent, its plugins, the tasks.
func (c *Cluster) Processes(i int) ([]int, error) {
	return c.hierarchies.processes(c.clients[i].group)
}

// StopClient shuts the agent of client i down in order. Its tasks run on.
func (c *Cluster) StopClient(ctx context.Context, i int) error {
	return c.clients[i].signal(ctx, syscall.SIGINT)
}

// KillClient kills the agent of client i. Its tasks run on.
func (c *Cluster) KillClient(ctx context.Context, i int) error {
	return c.clients[i].signal(ctx, syscall.SIGKILL)
}

// ClientPID is the process of client i's agent.
func (c *Cluster) ClientPID(i int) int { return c.clients[i].current().pid }

// KillServer kills the server's agent.
func (c *Cluster) KillServer(ctx context.Context) error {
	return c.server.signal(ctx, syscall.SIGKILL)
}

// RestartServer starts the server's agent again, over the same data, and waits until it
// leads. A running one is stopped first.
func (c *Cluster) RestartServer(ctx context.Context) error {
	if err := c.server.signal(ctx, syscall.SIGINT); err != nil {
		return err
	}
	if err := c.server.start(c.starter, c.hierarchies, c.config.Nomad); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.config.StartTimeout)
	defer cancel()
	err := poll(ctx, "a leader", func(context.Context) (bool, error) {
		leader, err := c.api.Status().Leader()
		return err == nil && leader != "", c.server.failed()
	})
	if err != nil {
		return c.withLog(err, c.server)
	}
	return nil
}

// LoseClient ends everything on client i at once, as if its power failed.
func (c *Cluster) LoseClient(ctx context.Context, i int) error {
	a := c.clients[i]
	if err := a.signal(ctx, syscall.SIGKILL); err != nil {
		return err
	}
	if err := c.hierarchies.killGroup(a.group); err != nil {
		return fmt.Errorf("lose client %s: %w", a.name, err)
	}
	return nil
}

// StartClient starts the agent of client i again, over the same data and in the same
// namespaces, and does not wait for the node. A running agent is stopped first.
func (c *Cluster) StartClient(ctx context.Context, i int) error {
	if err := c.StopClient(ctx, i); err != nil {
		return err
	}
	return c.clients[i].start(c.starter, c.hierarchies, c.config.Nomad)
}

// ClientEnded says why client i's agent ended, and is nil while it runs; ServerEnded is
// the same of the server's.
func (c *Cluster) ClientEnded(i int) error { return c.clients[i].failed() }

// ServerEnded says why the server's agent ended.
func (c *Cluster) ServerEnded() error { return c.server.failed() }

// RestartClient starts the agent of client i as StartClient does, and waits until the
// node is ready.
func (c *Cluster) RestartClient(ctx context.Context, i int) error {
	a := c.clients[i]
	if err := c.StartClient(ctx, i); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.config.StartTimeout)
	defer cancel()
	if err := a.waitAnswer(ctx, c.TLS()); err != nil {
		return c.withLog(err, a)
	}
	return c.waitNode(ctx, i)
}

// waitAnswer waits until the agent's own HTTP API answers: until then the server
// may still believe in the agent's former life.
func (a *agent) waitAnswer(ctx context.Context, tls *api.TLSConfig) error {
	client, err := api.NewClient(&api.Config{Address: a.addr, TLSConfig: tls})
	if err != nil {
		return fmt.Errorf("agent %s: %w", a.name, err)
	}
	return poll(ctx, "agent "+a.name, func(ctx context.Context) (bool, error) {
		if err := a.failed(); err != nil {
			return false, err
		}
		_, err := client.Agent().Health()
		return err == nil, nil
	})
}
