// Package capturetest builds a cluster of network namespaces for tests: each has an
// address of its own, and all are on one bridge, which is in a namespace, too. Nothing of
// it is seen by the machine's own network.
package capturetest

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// Cluster is some namespaces on one bridge.
type Cluster struct {
	t      testing.TB
	Folder string // of the files that stand for the namespaces, named after them
	hub    string
	names  []string
}

// New builds a cluster that is removed with the test. It skips the test without root.
func New(t testing.TB, names ...string) *Cluster {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("network namespaces need root")
	}
	for _, program := range []string{"ip", "nsenter", "unshare"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("network namespaces are made with %s, which make setup installs: %s", program, err)
		}
	}
	c := &Cluster{t: t, Folder: t.TempDir(), hub: filepath.Join(t.TempDir(), "hub"), names: names}
	if out, err := c.create(c.hub); err != nil {
		t.Fatalf("network namespaces cannot be made here: %s: %s", err, out)
	}
	c.inside(c.hub, "ip", "link", "add", "hub", "type", "bridge")
	c.inside(c.hub, "ip", "link", "set", "hub", "up")
	for i, name := range names {
		c.join(i, name)
	}
	return c
}

func (c *Cluster) join(i int, name string) {
	c.t.Helper()
	if out, err := c.create(c.file(name)); err != nil {
		c.t.Fatalf("namespace %s: %s: %s", name, err, out)
	}
	port := fmt.Sprintf("port%d", i)
	c.inside(c.hub, "ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", c.file(name))
	c.inside(c.hub, "ip", "link", "set", port, "master", "hub", "up")
	c.inside(c.file(name), "ip", "address", "add", c.Address(name).String()+"/24", "dev", "eth0")
	c.inside(c.file(name), "ip", "link", "set", "eth0", "up")
	c.inside(c.file(name), "ip", "link", "set", "lo", "up")
}

// create makes a namespace that a file stands for.
func (c *Cluster) create(file string) ([]byte, error) {
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		return nil, err
	}
	out, err := exec.CommandContext(c.t.Context(), "unshare", "--net="+file, "true").CombinedOutput()
	if err == nil {
		c.t.Cleanup(func() { _ = unix.Unmount(file, unix.MNT_DETACH) }) // Remove may have done it
	}
	return bytes.TrimSpace(out), err
}

func (c *Cluster) inside(file string, command ...string) {
	c.t.Helper()
	out, err := exec.CommandContext(c.t.Context(), "nsenter", append([]string{"--net=" + file}, command...)...).CombinedOutput()
	if err != nil {
		c.t.Fatalf("%v: %s: %s", command, err, out)
	}
}

func (c *Cluster) file(name string) string { return filepath.Join(c.Folder, name) }

// Address is that of a namespace.
func (c *Cluster) Address(name string) netip.Addr {
	for i, n := range c.names {
		if n == name {
			return netip.AddrFrom4([4]byte{10, 77, 0, byte(i + 1)})
		}
	}
	c.t.Fatalf("no namespace %s", name)
	return netip.Addr{}
}

// Remove ends a namespace as a container runtime does: while it may be watched.
func (c *Cluster) Remove(name string) {
	c.t.Helper()
	if err := unix.Unmount(c.file(name), unix.MNT_DETACH); err != nil {
		c.t.Fatal(err)
	}
	if err := os.Remove(c.file(name)); err != nil {
		c.t.Fatal(err)
	}
}

// Within runs do in a namespace: sockets that are opened by it, and not by goroutines of
// it, stay there.
func (c *Cluster) Within(name string, do func() error) {
	c.t.Helper()
	file, err := os.Open(c.file(name))
	if err != nil {
		c.t.Fatal(err)
	}
	defer file.Close()
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		err := unix.Setns(int(file.Fd()), unix.CLONE_NEWNET)
		if err == nil {
			err = do()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		c.t.Fatalf("in namespace %s: %s", name, err)
	}
}

// Listen listens in a namespace, until the test ends.
func (c *Cluster) Listen(name string, port uint16) net.Listener {
	c.t.Helper()
	var l net.Listener
	c.Within(name, func() error {
		var err error
		l, err = net.Listen("tcp", netip.AddrPortFrom(c.Address(name), port).String())
		return err
	})
	c.t.Cleanup(func() { l.Close() })
	return l
}

// Dial connects from one namespace to another.
func (c *Cluster) Dial(from, to string, port uint16) net.Conn {
	c.t.Helper()
	var conn net.Conn
	c.Within(from, func() error {
		var err error
		conn, err = net.Dial("tcp", netip.AddrPortFrom(c.Address(to), port).String())
		return err
	})
	return conn
}
