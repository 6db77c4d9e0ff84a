package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/authority"
)

// pollEvery is how often the cluster is asked whether it is ready.
const pollEvery = 50 * time.Millisecond

// Cluster is a running cluster. Its methods may be called by one goroutine at
// a time, except Stop, which may be called by any, repeatedly.
type Cluster struct {
	config      Config
	hierarchies hierarchies
	record      record
	authority   *authority.Authority // nil without TLS
	starter     *starter
	janitor     *os.File // closing it lets the janitor go to work
	awake       *os.File // keeps the CPUs awake while it is open; nil: nothing does
	server      *agent
	clients     []*agent
	nodeIDs     []string
	token       string
	api         *api.Client
}

// Start starts the cluster and returns when every node is ready. On failure
// nothing is left behind, and the error carries the end of the failed agent's log.
func Start(ctx context.Context, config Config) (*Cluster, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	if !reexecReady {
		return nil, errors.New("cluster: call cluster.Reexec first thing in main or TestMain")
	}
	if os.Geteuid() != 0 {
		return nil, errors.New("cluster: root is needed for control groups and namespaces")
	}
	if config.Nomad == "" {
		if config.Nomad, _, err = FindNomad(ctx, "."); err != nil {
			return nil, fmt.Errorf("cluster: %w", err)
		}
	}
	c := &Cluster{config: config}
	ctx, cancel := context.WithTimeout(ctx, config.StartTimeout)
	defer cancel()
	if err := c.prepare(ctx); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	if err := c.run(ctx); err != nil {
		// The caller's context may have ended; the clean-up must still happen.
		return nil, errors.Join(fmt.Errorf("cluster: %w", err), c.Stop(context.WithoutCancel(ctx)))
	}
	return c, nil
}

// prepare makes the run's folder and record, after removing a dead run of the
// same ID. Nothing exists if it fails.
func (c *Cluster) prepare(ctx context.Context) error {
	if err := c.checkPorts(); err != nil {
		return err
	}
	err := c.clearFolder(ctx)
	if err != nil {
		return err
	}
	if c.hierarchies, err = readHierarchies(); err != nil {
		return err
	}
	if c.record, err = newRecord(c.config, c.hierarchies); err != nil {
		return err
	}
	if err := os.MkdirAll(c.config.runDir(), 0o755); err != nil {
		return fmt.Errorf("make run folder: %w", err)
	}
	return c.record.write(c.config.runDir())
}

// clearFolder removes the dead or kept run of the same ID. It refuses a folder
// that is not a run's.
func (c *Cluster) clearFolder(ctx context.Context) error {
	dir := c.config.runDir()
	old, err := readRecord(dir)
	switch {
	case err == nil && old.ownerAlive():
		return fmt.Errorf("run %s is owned by process %d, which is alive", old.RunID, old.Owner)
	case err == nil:
		if err := CleanIn(ctx, c.config.Dir, c.config.RunID); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, keptFile)); err == nil {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("remove kept run: %w", err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("run folder: %w", err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("folder %s exists and is not a run's; remove it or choose another run ID", dir)
	}
	return nil
}

// checkPorts reports a port that is taken, which Nomad would only log.
func (c *Cluster) checkPorts() error {
	for agent := range len(c.config.Clients) + 1 {
		port := c.config.httpPort(agent)
		l, err := net.Listen("tcp", loopback(port))
		if err != nil {
			return fmt.Errorf("port %d (from base port %d): %w", port, c.config.BasePort, err)
		}
		if err := l.Close(); err != nil {
			return fmt.Errorf("port %d: %w", port, err)
		}
	}
	return nil
}

// run starts everything whose record prepare has written.
func (c *Cluster) run(ctx context.Context) error {
	c.starter = newStarter()
	if err := c.startJanitor(); err != nil {
		return err
	}
	preferred := c.config.Preferred && raise(c.record.Raised) == nil
	if err := c.hierarchies.createRun(c.config.RunID, preferred); err != nil {
		return err
	}
	if preferred {
		if err := c.keepAwake(); err != nil {
			return err
		}
	}
	if err := c.makeCertificates(); err != nil {
		return err
	}
	if err := c.makeAgents(); err != nil {
		return err
	}
	if err := c.startServer(ctx); err != nil {
		return c.withLog(err, c.server)
	}
	for i, a := range c.clients {
		if err := c.startClient(ctx, i); err != nil {
			return c.withLog(err, a)
		}
	}
	for i, a := range c.clients {
		if err := c.waitNode(ctx, i); err != nil {
			return c.withLog(err, a)
		}
	}
	return nil
}

// startJanitor starts the process that cleans up if this one dies.
func (c *Cluster) startJanitor() error {
	read, write, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("start janitor: %w", err)
	}
	defer read.Close()
	log, err := os.Create(filepath.Join(c.config.runDir(), "janitor.log"))
	if err != nil {
		return errors.Join(fmt.Errorf("start janitor: %w", err), write.Close())
	}
	defer log.Close()
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{janitorHelper, c.config.Dir, c.config.RunID}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{read} // janitorPipeFD
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return errors.Join(fmt.Errorf("start janitor: %w", err), write.Close())
	}
	go func() { _ = cmd.Wait() }() // how it ends is in its log; Wait only frees the process entry
	c.janitor = write
	return nil
}

// makeAgents makes the folders, config files and control groups.
func (c *Cluster) makeAgents() error {
	var err error
	c.server, err = c.makeAgent(0, Client{Name: serverName})
	if err != nil {
		return err
	}
	if err := c.server.writeConfig(serverHCL(c.config, c.server.dataDir()), c.config.ServerHCL); err != nil {
		return err
	}
	for i, client := range c.config.Clients {
		a, err := c.makeAgent(i+1, client)
		if err != nil {
			return err
		}
		c.clients = append(c.clients, a)
		if err := mountData(a.dataDir(), client.DataMB); err != nil {
			return fmt.Errorf("agent %s: %w", client.Name, err)
		}
		if err := a.writeConfig(clientHCL(c.config, i, a.dataDir()), c.config.ClientHCL, client.HCL); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) makeAgent(number int, client Client) (*agent, error) {
	group, err := c.hierarchies.createAgent(c.config.RunID, client)
	if err != nil {
		return nil, fmt.Errorf("agent %s: %w", client.Name, err)
	}
	return &agent{
		name: client.Name, dir: filepath.Join(c.config.runDir(), client.Name), group: group,
		addr: c.config.scheme() + "://" + loopback(c.config.httpPort(number)),
	}, nil
}

// startServer starts the server and waits until clients can register. A client
// that comes earlier is refused, and tries again only after some 15 s.
func (c *Cluster) startServer(ctx context.Context) error {
	err := c.server.start(c.starter, c.hierarchies, c.config.Nomad)
	if err != nil {
		return err
	}
	if c.api, err = api.NewClient(&api.Config{Address: c.server.addr, TLSConfig: c.TLS()}); err != nil {
		return fmt.Errorf("server API: %w", err)
	}
	err = poll(ctx, "a leader", func(context.Context) (bool, error) {
		leader, err := c.api.Status().Leader()
		// An error means that the server is not up yet, unless it ended.
		return err == nil && leader != "", c.server.failed()
	})
	if err != nil {
		return err
	}
	if err := c.bootstrap(ctx); err != nil {
		return err
	}
	return poll(ctx, "the keys that sign node identities", func(ctx context.Context) (bool, error) {
		keys, _, err := c.api.Keyring().List((&api.QueryOptions{}).WithContext(ctx))
		return err == nil && len(keys) > 0, c.server.failed()
	})
}

// startClient starts client i and sets its CPU quota once it is in its group.
func (c *Cluster) startClient(ctx context.Context, i int) error {
	a := c.clients[i]
	if err := a.start(c.starter, c.hierarchies, c.config.Nomad); err != nil {
		return err
	}
	err := poll(ctx, "the agent to enter its namespaces", func(context.Context) (bool, error) {
		if err := a.failed(); err != nil {
			return false, err
		}
		return a.becameNomad(c.config.Nomad), nil
	})
	if err != nil {
		return err
	}
	if err := a.keepNamespaces(); err != nil {
		return err
	}
	if err := c.hierarchies.limitTasks(a.group, c.config.Clients[i]); err != nil {
		return fmt.Errorf("agent %s: %w", a.name, err)
	}
	return nil
}

// becameNomad reports whether the helper has turned into the agent.
func (a *agent) becameNomad(nomad string) bool {
	exe, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(a.current().pid), "exe"))
	if err != nil {
		return false
	}
	real, err := filepath.EvalSymlinks(nomad)
	return err == nil && exe == real
}

// poll asks until the answer is yes, an error, or the context ends.
func poll(ctx context.Context, what string, ready func(context.Context) (bool, error)) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		ok, err := ready(ctx)
		if err != nil || ok {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, ctx.Err())
		case <-tick.C:
		}
	}
}

// withLog adds the end of an agent's log, if the agent lives; the error of a
// dead one carries it already.
func (c *Cluster) withLog(err error, a *agent) error {
	if a.failed() != nil {
		return err
	}
	return fmt.Errorf("%w; the end of the log of %s:\n%s", err, a.name, a.logTail())
}

func (c *Cluster) bootstrap(ctx context.Context) error {
	if !c.config.ACL {
		return nil
	}
	return poll(ctx, "the management token", func(ctx context.Context) (bool, error) {
		token, _, err := c.api.ACLTokens().Bootstrap((&api.WriteOptions{}).WithContext(ctx))
		if err != nil {
			return false, c.server.failed() // a new leader needs a moment
		}
		c.token = token.SecretID
		c.api.SetSecretID(c.token)
		return true, nil
	})
}

// waitNode waits until client i is ready and can run tasks.
func (c *Cluster) waitNode(ctx context.Context, i int) error {
	name := c.config.Clients[i].Name
	return poll(ctx, "node "+name, func(ctx context.Context) (bool, error) {
		// Not the other clients: they may have been killed on purpose.
		if err := errors.Join(c.server.failed(), c.clients[i].failed()); err != nil {
			return false, err
		}
		// A failed question leaves no nodes, and is asked again until the deadline.
		nodes, _, _ := c.api.Nodes().List((&api.QueryOptions{}).WithContext(ctx))
		at := slices.IndexFunc(nodes, func(n *api.NodeListStub) bool { return n.Name == name && n.Status == api.NodeStatusReady })
		if at < 0 || nodes[at].Drivers["raw_exec"] == nil || !nodes[at].Drivers["raw_exec"].Healthy {
			return false, nil
		}
		if len(c.nodeIDs) == i {
			c.nodeIDs = append(c.nodeIDs, nodes[at].ID)
		}
		return true, nil
	})
}

// Stop ends everything the cluster runs, detached tasks included, and removes
// what it made. It may be called again.
func (c *Cluster) Stop(ctx context.Context) error {
	for _, a := range append([]*agent{c.server}, c.clients...) {
		if a != nil {
			a.closeNamespaces()
		}
	}
	err := CleanIn(ctx, c.config.Dir, c.config.RunID)
	if c.starter != nil {
		c.starter.close()
	}
	if c.awake != nil {
		_ = c.awake.Close() // the request ends with it, whatever it says
	}
	// Last: the janitor tries once more whatever failed.
	if c.janitor != nil {
		_ = c.janitor.Close() // nothing was written to it
	}
	return err
}
