package capture

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// identity tells network namespaces apart, by the file that stands for them.
type identity struct{ device, inode uint64 }

func identify(file *os.File) (identity, error) {
	var s unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &s); err != nil {
		return identity{}, err
	}
	return identity{s.Dev, s.Ino}, nil
}

// namespace is one network namespace that is watched.
type namespace struct {
	path  string
	file  *os.File
	diag  *diagnostics
	tally *tally
	last  map[string]amounts // by interface: what it had counted at the last reading
	lost  int                // notices that were lost, and connections without one
}

// openNamespace begins to watch. What its connections moved before counts unless old.
func openNamespace(path string, file *os.File, old bool) (*namespace, error) {
	n := &namespace{path: path, file: file, tally: newTally()}
	err := within(file, func() error {
		var err error
		n.diag, err = openDiagnostics()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("namespace %s: %w", path, err)
	}
	if err := n.start(old); err != nil {
		n.diag.close()
		return nil, fmt.Errorf("namespace %s: %w", path, err)
	}
	return n, nil
}

func (n *namespace) start(old bool) error {
	if err := n.readListening(); err != nil || !old {
		return err
	}
	if err := n.diag.list(connectedStates, n.tally.begin); err != nil {
		return err
	}
	counts, _, err := n.interfaces()
	n.last = counts
	return err
}

func (n *namespace) close() {
	n.diag.close()
	_ = n.file.Close() // it was only read: nothing can be lost
}

func (n *namespace) readListening() error {
	ports := map[uint16]bool{}
	err := n.diag.list(listenStates, func(c connection) { ports[c.local.Port()] = true })
	if err == nil {
		n.tally.listens(ports)
	}
	return err
}

// poll takes what the kernel keeps only for a while: the connections that ended.
func (n *namespace) poll() error {
	if err := n.readListening(); err != nil {
		return err
	}
	lost, err := n.diag.ended(n.tally.ended)
	n.lost += lost
	return err
}

// read takes all that was moved until now.
func (n *namespace) read() (map[talk]amounts, error) {
	if err := n.readListening(); err != nil {
		return nil, err
	}
	// The list comes first: a connection that ends after it has a notice with all that
	// it moved, and one that is in neither has lost its notice.
	present := map[uint64]bool{}
	err := n.diag.list(connectedStates, func(c connection) {
		present[c.cookie] = true
		n.tally.seen(c)
	})
	if err != nil {
		return nil, err
	}
	lost, err := n.diag.ended(n.tally.ended)
	n.lost += lost + n.tally.keep(present)
	return n.tally.take(), err
}

// interfaces reads what the interfaces counted, and their addresses.
func (n *namespace) interfaces() (counts map[string]amounts, addresses map[netip.Addr]string, err error) {
	err = within(n.file, func() error {
		if counts, err = readCounters(); err != nil {
			return err
		}
		addresses, err = readAddresses()
		return err
	})
	return counts, addresses, err
}

// counted is what the interfaces counted since the last reading, by name.
func (n *namespace) counted(now map[string]amounts) map[string]amounts {
	out := map[string]amounts{}
	for name, c := range now {
		before := n.last[name]
		out[name] = amounts{since(before.sent, c.sent), since(before.received, c.received)}
	}
	n.last = now
	return out
}

// readCounters reads /proc/net/dev of the calling thread's namespace.
func readCounters() (map[string]amounts, error) {
	proc, err := procfs.NewFS("/proc/thread-self")
	if err != nil {
		return nil, err
	}
	lines, err := proc.NetDev()
	if err != nil {
		return nil, fmt.Errorf("counters of interfaces: %w", err)
	}
	out := map[string]amounts{}
	for name, l := range lines {
		out[name] = amounts{sent: l.TxBytes, received: l.RxBytes}
	}
	return out, nil
}

// readAddresses lists the addresses of the calling thread's namespace with the interface
// that has each.
func readAddresses() (map[netip.Addr]string, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("interfaces: %w", err)
	}
	out := map[netip.Addr]string{}
	for _, i := range all {
		list, err := i.Addrs()
		if err != nil {
			continue // it vanished meanwhile
		}
		for _, a := range list {
			text, _, _ := strings.Cut(a.String(), "/")
			if ip, err := netip.ParseAddr(text); err == nil && !ip.IsLoopback() {
				out[ip.Unmap().WithZone("")] = i.Name
			}
		}
	}
	return out, nil
}

// within runs do in a network namespace, on a thread of its own if it cannot be brought
// back.
func within(file *os.File, do func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		own, err := os.Open("/proc/thread-self/ns/net")
		if err == nil {
			err = unix.Setns(int(file.Fd()), unix.CLONE_NEWNET)
		}
		if err != nil {
			runtime.UnlockOSThread()
			done <- fmt.Errorf("entering the network namespace: %w", err)
			return
		}
		err = do()
		if unix.Setns(int(own.Fd()), unix.CLONE_NEWNET) == nil {
			runtime.UnlockOSThread() // else the thread ends with this goroutine
		}
		own.Close()
		done <- err
	}()
	return <-done
}
