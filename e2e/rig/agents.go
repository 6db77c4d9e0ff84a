package rig

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// AgentPID finds the process of the placer agent that serves at an address, by
// the -listen argument the system job gives it.
func (r *Rig) AgentPID(address string) (int, error) {
	listen := address
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		listen = u.Host
	}
	for i := range r.Clients() {
		pids, err := r.Processes(i)
		if err != nil {
			return 0, err
		}
		for _, pid := range pids {
			argv, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
			if err != nil {
				continue // it ended meanwhile
			}
			args := bytes.Split(argv, []byte{0})
			if filepath.Base(string(args[0])) == "nomad-placer" && containsArg(args, listen) {
				return pid, nil
			}
		}
	}
	return 0, fmt.Errorf("no agent process serves at %s", listen)
}

func containsArg(args [][]byte, want string) bool {
	for _, a := range args {
		if string(a) == want {
			return true
		}
	}
	return false
}

// Kill ends a process at once, as a crash would.
func Kill(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }
