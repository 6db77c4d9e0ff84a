package capture

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// ErrPermission: reading needs more rights.
var ErrPermission = errors.New("capturing traffic needs CAP_SYS_ADMIN and CAP_NET_ADMIN: run it as root")

// Folders are where container runtimes keep the network namespaces of allocations.
func Folders() []string { return []string{"/run/netns", "/run/docker/netns"} }

// Capture watches the network namespaces of a node. It is for one goroutine at a time.
type Capture struct {
	folders []string
	host    *namespace
	watched map[identity]*namespace // but for the host's
	failed  map[identity]bool       // could not be read once: what they have counts no more
	left    []map[talk]amounts      // of namespaces that have vanished
	lost    int
	vanish  int
}

// New begins to watch the namespace of the calling process and those in the folders. A
// folder that is not there has none.
func New(folders []string) (*Capture, error) {
	file, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return nil, fmt.Errorf("own network namespace: %w", err)
	}
	host, err := openNamespace("of the node", file, true)
	if err != nil {
		return nil, refused(errors.Join(err, file.Close()))
	}
	c := &Capture{folders: folders, host: host, watched: map[identity]*namespace{}, failed: map[identity]bool{}}
	if err := c.scan(true); err != nil {
		c.Close()
		return nil, refused(err)
	}
	return c, nil
}

func refused(err error) error {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return fmt.Errorf("%w: %w", ErrPermission, err)
	}
	return err
}

// Close leaves nothing open.
func (c *Capture) Close() {
	if c.host == nil {
		return
	}
	c.host.close()
	for _, n := range c.watched {
		n.close()
	}
	c.host, c.watched = nil, nil
}

// scan finds namespaces that are new, and leaves those that have vanished.
func (c *Capture) scan(old bool) error {
	host, err := identify(c.host.file)
	if err != nil {
		return err
	}
	present := map[identity]bool{host: true}
	for _, folder := range c.folders {
		entries, err := os.ReadDir(folder)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("network namespaces: %w", err)
		}
		for _, e := range entries {
			id, err := c.meet(filepath.Join(folder, e.Name()), present, old)
			if err != nil {
				return err
			}
			present[id] = true
		}
	}
	for id, n := range c.watched {
		if !present[id] {
			c.leave(id, n)
		}
	}
	return nil
}

// meet opens the namespace of a file unless it is watched. One that vanishes meanwhile,
// or a file of something else, is no namespace.
func (c *Capture) meet(path string, present map[identity]bool, old bool) (identity, error) {
	file, err := os.Open(path)
	if err != nil {
		return identity{}, nil
	}
	id, err := identify(file)
	if err != nil || present[id] || c.watched[id] != nil || !isNamespace(file) {
		return id, errors.Join(err, file.Close())
	}
	n, err := openNamespace(path, file, old || c.failed[id])
	if err != nil {
		c.failed[id] = true
		closed := file.Close()
		if errors.Is(err, unix.EPERM) {
			return id, errors.Join(err, closed)
		}
		return id, nil // it is on its way out, or is tried again
	}
	c.watched[id] = n
	return id, nil
}

// isNamespace tells a namespace from a file that only lies in its place, as is left
// when a runtime was killed.
func isNamespace(file *os.File) bool {
	var s unix.Statfs_t
	return unix.Fstatfs(int(file.Fd()), &s) == nil && s.Type == unix.NSFS_MAGIC
}

// leave takes what is left in a namespace that has vanished, and closes it, so that the
// kernel can remove it.
func (c *Capture) leave(id identity, n *namespace) {
	if talks, err := n.read(); err == nil {
		c.left = append(c.left, talks)
	}
	c.vanish++
	c.drop(id, n)
}

func (c *Capture) drop(id identity, n *namespace) {
	c.lost += n.lost + n.tally.missed
	n.close()
	delete(c.watched, id)
}

// Poll is to be called every second or so: the kernel keeps only so many notices of
// ended connections.
func (c *Capture) Poll() error {
	if err := c.scan(false); err != nil {
		return refused(err)
	}
	if err := c.host.poll(); err != nil {
		return err
	}
	for id, n := range c.watched {
		if n.poll() != nil {
			c.failed[id] = true
			c.drop(id, n)
		}
	}
	return nil
}

// Sample is what was moved since the sample before.
type Sample struct {
	Flows   []Flow
	Counted []Counted
	// Namespaces are those that are watched, Vanished those that ended meanwhile.
	Namespaces, Vanished int
	// Lost is how many notices of ended connections, or parts of traffic, are not in
	// Flows because there were too many.
	Lost int
}

// Counted is what the interfaces of an endpoint counted: with headers,
// retransmissions and protocols other than TCP.
type Counted struct {
	Endpoint
	Sent, Received uint64 // bytes
	// TalkedSent and TalkedReceived are the bytes of its TCP connections, whoever
	// reports them.
	TalkedSent, TalkedReceived uint64
}

// Read takes a sample. self is the node itself.
func (c *Capture) Read(self Endpoint, directory Directory) (Sample, error) {
	if err := c.Poll(); err != nil {
		return Sample{}, err
	}
	a := attribution{self: self, directory: directory, own: map[netip.Addr]bool{}, flows: map[Flow]int64{}, talked: map[Endpoint]amounts{}}
	talks, counted := c.left, map[Endpoint]amounts{}
	hostTalks, err := c.readOne(c.host, &a, counted)
	if err != nil {
		return Sample{}, err
	}
	talks = append(talks, hostTalks)
	for id, n := range c.watched {
		read, err := c.readOne(n, &a, counted)
		if err != nil {
			c.failed[id] = true
			c.drop(id, n)
			continue
		}
		talks = append(talks, read)
	}
	for _, t := range talks {
		for key, moved := range t {
			a.talk(key, moved)
		}
	}
	out := Sample{Flows: a.sorted(), Namespaces: 1 + len(c.watched), Vanished: c.vanish, Lost: c.takeLost()}
	for e, v := range counted {
		t := a.talked[e]
		out.Counted = append(out.Counted, Counted{e, v.sent, v.received, t.sent, t.received})
	}
	slices.SortFunc(out.Counted, func(x, y Counted) int { return compareEndpoints(x.Endpoint, y.Endpoint) })
	c.left, c.vanish = nil, 0
	return out, nil
}

// readOne reads a namespace: its talks, its addresses and what its interfaces counted.
func (c *Capture) readOne(n *namespace, a *attribution, counted map[Endpoint]amounts) (map[talk]amounts, error) {
	counts, addresses, err := n.interfaces()
	if err != nil {
		return nil, err
	}
	moved := n.counted(counts)
	for address, name := range addresses {
		a.own[address] = true
		e, known := a.directory.Endpoint(netip.AddrPortFrom(address, 0))
		if m, ok := moved[name]; known && ok {
			sum := counted[e]
			counted[e] = amounts{sum.sent + m.sent, sum.received + m.received}
			delete(moved, name) // an interface counts once, however many addresses it has
		}
	}
	return n.read()
}

func (c *Capture) takeLost() int {
	lost := c.lost
	c.lost = 0
	for _, n := range c.watched {
		lost += n.lost + n.tally.missed
		n.lost, n.tally.missed = 0, 0
	}
	lost += c.host.lost + c.host.tally.missed
	c.host.lost, c.host.tally.missed = 0, 0
	return lost
}
