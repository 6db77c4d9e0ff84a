package cluster

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/nomad/api"
)

// The files of a node that joined, in its folder.
const (
	joinedFile = "joined.json" // what it is; written first, and removed last
	pidFile    = "pid"         // its process; missing: it was not started to the end
)

// enterWithin bounds how long a helper takes to enter its namespaces.
const enterWithin = 15 * time.Second

// Joined adds nodes to a run from another process than its owner's, and takes them away again:
// what a provider of rented machines does. The nodes outlive the process that added them, and are
// known by their folders, so that another process finds them; they go with the run at the latest.
// Who adds and removes at a time is for the callers to agree on.
type Joined struct {
	record record
	dir    string // of the run
}

// Join finds a run that lives by its folder (Cluster.Dir). The program must call Reexec.
func Join(dir string) (*Joined, error) {
	if !reexecReady {
		return nil, errors.New("cluster: call cluster.Reexec first thing in main")
	}
	return join(dir)
}

func join(dir string) (*Joined, error) {
	r, err := readRecord(dir)
	if err != nil {
		return nil, fmt.Errorf("cluster: no run to join: %w", err)
	}
	if !r.ownerAlive() {
		return nil, fmt.Errorf("cluster: run %s to join has no owner", r.RunID)
	}
	return &Joined{r, dir}, nil
}

// API is a client of the run's server.
func (j *Joined) API(token string) (*api.Client, error) {
	c := j.record.Config
	return api.NewClient(&api.Config{Address: c.scheme() + "://" + loopback(c.httpPort(0)), SecretID: token, TLSConfig: c.callerTLS()})
}

// Rented is a node that joined a run.
type Rented struct {
	Name  string `json:"name"`
	Class string `json:"class"`
	// Port is the first of those that the node uses.
	Port int `json:"port"`
	// PID is the process that is, or becomes, the node's agent; 0: there is none.
	PID int `json:"-"`
}

// Nodes lists the nodes of a class that joined, by name, those that ended or were never started
// to the end included.
func (j *Joined) Nodes(class string) ([]Rented, error) {
	files, err := filepath.Glob(filepath.Join(j.dir, "*", joinedFile))
	if err != nil {
		return nil, fmt.Errorf("list nodes that joined: %w", err)
	}
	var nodes []Rented
	for _, file := range files { // Glob sorts
		text, err := os.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was removed meanwhile
		}
		var n Rented
		if err == nil {
			err = json.Unmarshal(text, &n)
		}
		if err != nil {
			return nil, fmt.Errorf("list nodes that joined: %s: %w", file, err)
		}
		if n.Class == class {
			n.PID = readPID(filepath.Join(filepath.Dir(file), pidFile))
			nodes = append(nodes, n)
		}
	}
	return nodes, nil
}

// Add starts a node, whose ports are the n-th block from a base on, with a Nomad of its own or that
// of the run. It comes after a delay; Add does not wait for it.
func (j *Joined) Add(client Client, nomad string, basePort, n int, delay time.Duration) error {
	if err := client.validate(); err != nil {
		return err
	}
	config := j.configFor(client, basePort, n)
	a := &agent{name: client.Name, dir: filepath.Join(j.dir, client.Name)}
	// Before all else, so that whatever is made can be found and removed.
	if err := j.write(a, Rented{Name: client.Name, Class: client.Class, Port: config.httpPort(n + 1)}); err != nil {
		return err
	}
	var err error
	if a.group, err = j.record.Hierarchies.createAgent(j.record.RunID, client); err != nil {
		return fmt.Errorf("node %s: %w", client.Name, err)
	}
	if err := a.writeConfig(clientHCL(config, n, a.dataDir()), config.ClientHCL, client.HCL); err != nil {
		return err
	}
	file := filepath.Join(a.dir, pidFile)
	cmd, log, err := a.command(agentSpec{Hierarchies: j.record.Hierarchies, Group: a.group, Argv: a.argv(cmp.Or(nomad, j.record.Config.Nomad)), PIDFile: file, Delay: delay})
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start node %s: %w", client.Name, err)
	}
	a.process = watch(cmd)
	if err := a.waitPID(file); err != nil {
		return err
	}
	if err := j.record.Hierarchies.limitTasks(a.group, client); err != nil {
		return fmt.Errorf("node %s: %w", client.Name, err)
	}
	return nil
}

// configFor is the run's configuration as the client n of it, whose ports are elsewhere.
func (j *Joined) configFor(client Client, basePort, n int) Config {
	config := j.record.Config
	config.RPCPort = config.rpcPort()
	config.BasePort = basePort - portsPerAgent // that of the server, which is not started
	config.Clients = make([]Client, n+1)
	config.Clients[n] = client
	return config
}

func (j *Joined) write(a *agent, n Rented) error {
	text, err := json.Marshal(n)
	if err == nil {
		err = errors.Join(os.MkdirAll(a.dir, 0o755), writeWhole(filepath.Join(a.dir, joinedFile), text))
	}
	if err != nil {
		return fmt.Errorf("node %s: %w", n.Name, err)
	}
	return nil
}

// writeWhole has a file be there as a whole or not at all.
func writeWhole(file string, text []byte) error {
	return errors.Join(os.WriteFile(file+".new", text, 0o644), os.Rename(file+".new", file))
}

// waitPID waits until the helper has entered its group and namespaces.
func (a *agent) waitPID(file string) error {
	for deadline := time.Now().Add(enterWithin); readPID(file) == 0; time.Sleep(killPause) {
		if err := a.failed(); err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("node %s did not enter its namespaces within %s", a.name, enterWithin)
		}
	}
	return nil
}

// Remove ends every process on a node, has it forgotten elsewhere, and removes all that is left of
// it. What was removed in part is a node without a process, and is removed by another call.
func (j *Joined) Remove(name string, forget func() error) error {
	dir := filepath.Join(j.dir, name)
	if _, err := os.Stat(filepath.Join(dir, joinedFile)); err != nil {
		return fmt.Errorf("remove node %s: %w", name, err)
	}
	err := j.record.Hierarchies.removeGroup(filepath.Join(runGroup(j.record.RunID), name))
	if err = errors.Join(err, unmountBelow(dir)); err == nil {
		err = forget()
	}
	if err != nil {
		return fmt.Errorf("remove node %s: %w", name, err)
	}
	// What says that there is something to remove goes last.
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != joinedFile {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
		return fmt.Errorf("remove node %s: %w", name, err)
	}
	return nil
}

// writePID says which process this is: its number may be given to another one later, so its start
// goes with it.
func writePID(file string) error {
	start, err := startTicks(os.Getpid())
	if err != nil {
		return err
	}
	if err := writeWhole(file, fmt.Appendf(nil, "%d %d\n", os.Getpid(), start)); err != nil {
		return fmt.Errorf("write process ID: %w", err)
	}
	return nil
}

// readPID is the process of which writePID wrote; 0: it ended, or was never written.
func readPID(file string) int {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) != 2 {
		return 0
	}
	pid, err := strconv.Atoi(fields[0])
	if err != nil {
		return 0
	}
	start, err := startTicks(pid)
	if err != nil || strconv.FormatUint(start, 10) != fields[1] || zombie(pid) {
		return 0
	}
	return pid
}

// zombie reports whether a process has ended and only waits for its parent.
func zombie(pid int) bool {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return true
	}
	fields := strings.Fields(string(text[strings.LastIndex(string(text), ")")+1:]))
	return len(fields) == 0 || slices.Contains([]string{"Z", "X"}, fields[0])
}
