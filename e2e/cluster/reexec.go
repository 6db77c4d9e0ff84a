package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// The names under which the package starts its own executable. They are the
// process's argv[0], so a process listing shows what it is.
const (
	agentHelper   = "placer-cluster-agent"
	janitorHelper = "placer-cluster-janitor"
)

// File descriptors of the helpers' inherited files; 3 is the first after the
// standard ones.
const (
	janitorPipeFD = 3
	mountNSFD     = 3
	cgroupNSFD    = 4
)

// reexecReady says that Reexec ran, so that starting ourselves again reaches
// a helper and not the caller's main once more.
var reexecReady bool

// Reexec turns the process into a helper of this package if it was started as
// one, and does not return then. Call it first thing in main or TestMain.
func Reexec() {
	reexecReady = true
	var err error
	switch os.Args[0] {
	case agentHelper:
		err = enterAndRun(os.Args[1])
	case janitorHelper:
		err = waitAndClean(os.Args[1], os.Args[2])
	default:
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, os.Args[0]+":", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// agentSpec tells the agent helper what to enter and what to become.
type agentSpec struct {
	Hierarchies hierarchies `json:"hierarchies"`
	Group       string      `json:"group"`
	Argv        []string    `json:"argv"`
	// Rejoin says that the node's namespaces exist and are inherited as files:
	// the agent is restarted next to tasks whose mounts live in them.
	Rejoin bool `json:"rejoin"`
	// Parent is the process with which the agent is to end; 0: it lives on.
	Parent int `json:"parent,omitempty"`
	// PIDFile is where the helper writes which process the agent is, before it is one.
	PIDFile string `json:"pid_file,omitempty"`
	// Delay is how long the helper waits then: a rented machine that starts.
	Delay time.Duration `json:"delay_ns,omitempty"`
}

// enterAndRun enters the agent's control group and namespaces, then becomes the
// agent. It returns only on failure.
func enterAndRun(spec string) error {
	var s agentSpec
	if err := json.Unmarshal([]byte(spec), &s); err != nil {
		return fmt.Errorf("read agent spec: %w", err)
	}
	// Namespaces and the death signal belong to a thread; the one that calls
	// exec takes its own along.
	runtime.LockOSThread()
	if err := dieWith(s.Parent); err != nil {
		return err
	}
	if err := s.Hierarchies.enter(s.Group, s.Rejoin); err != nil {
		return err
	}
	join := s.Hierarchies.unshare
	if s.Rejoin {
		join = rejoin
	}
	if err := join(s.Group); err != nil {
		return err
	}
	if s.PIDFile != "" {
		if err := writePID(s.PIDFile); err != nil {
			return err
		}
	}
	time.Sleep(s.Delay)
	return fmt.Errorf("run %s: %w", s.Argv[0], unix.Exec(s.Argv[0], s.Argv, os.Environ()))
}

// dieWith has the kernel kill this process when its parent ends, unless it is to live on.
func dieWith(parent int) error {
	if parent == 0 {
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("set death signal: %w", err)
	}
	if os.Getppid() != parent {
		return errors.New("the starting process is gone")
	}
	return nil
}

// unshare makes the cgroup and mount namespaces, in which /sys/fs/cgroup is the
// agent's group. The process must be in the group already: it becomes the
// root of the namespace.
func (h hierarchies) unshare(group string) error {
	if err := unix.Unshare(unix.CLONE_NEWCGROUP | unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("make namespaces (root is needed): %w", err)
	}
	// Private, so that nothing mounted here, by us or by Nomad, shows outside.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if h.Version == 2 {
		if err := h.enter(group, true); err != nil {
			return err
		}
	}
	if err := unix.Unmount(cgroupMount, unix.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount %s: %w", cgroupMount, err)
	}
	if h.Version == 2 {
		return mountAt("cgroup2", cgroupMount, "")
	}
	return h.mountV1()
}

func (h hierarchies) mountV1() error {
	if err := mountAt("tmpfs", cgroupMount, "mode=755"); err != nil {
		return err
	}
	for _, one := range h.List {
		dir := filepath.Join(cgroupMount, one.Name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			return fmt.Errorf("mount control groups: %w", err)
		}
		if err := mountAt("cgroup", dir, one.Name); err != nil {
			return err
		}
		if len(one.Controllers) == 1 {
			continue
		}
		// "cpu,cpuacct" is also known as cpu and as cpuacct.
		for _, c := range one.Controllers {
			if err := os.Symlink(one.Name, filepath.Join(cgroupMount, c)); err != nil {
				return fmt.Errorf("mount control groups: %w", err)
			}
		}
	}
	return nil
}

func mountAt(fstype, dir, options string) error {
	if err := unix.Mount(fstype, dir, fstype, unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, options); err != nil {
		return fmt.Errorf("mount %s at %s: %w", fstype, dir, err)
	}
	return nil
}

// rejoin enters the namespaces inherited as files.
func rejoin(string) error {
	// A thread that shares its file system state may not change mounts' namespace.
	if err := unix.Unshare(unix.CLONE_FS); err != nil {
		return fmt.Errorf("leave shared file system state: %w", err)
	}
	if err := unix.Setns(cgroupNSFD, unix.CLONE_NEWCGROUP); err != nil {
		return fmt.Errorf("enter cgroup namespace: %w", err)
	}
	if err := unix.Setns(mountNSFD, unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("enter mount namespace: %w", err)
	}
	return errors.Join(unix.Close(mountNSFD), unix.Close(cgroupNSFD))
}

// waitAndClean is the janitor: it sleeps until the owner of the run closes its
// end of the pipe, by finishing or by dying, and then removes what is left.
func waitAndClean(dir, runID string) error {
	pipe := os.NewFile(janitorPipeFD, "owner")
	if _, err := io.Copy(io.Discard, pipe); err != nil {
		return fmt.Errorf("wait for the owner: %w", err)
	}
	return CleanIn(context.Background(), dir, runID)
}

// agentEnv drops what would change an agent's behaviour from an environment:
// other Nomad, Consul, Vault and cloud settings (AWS_CA_BUNDLE stops an agent).
func agentEnv(env []string) []string {
	var kept []string
	for _, e := range env {
		if !hasAnyPrefix(e, "AWS_", "NOMAD_", "CONSUL_", "VAULT_") {
			kept = append(kept, e)
		}
	}
	return kept
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
