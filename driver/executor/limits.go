package executor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// errNoDiskRoom: a storage kernel would take what others need.
var errNoDiskRoom = errors.New("no room for a storage kernel")

// CheckPaths refuses storage kernels outside the directory that is theirs. What links make
// of a path is checked when it is opened.
func (s Spec) CheckPaths() error {
	for i, k := range s.Kernels {
		if k.Path == "" {
			continue
		}
		if rel, err := filepath.Rel(s.Storage.Dir, k.Path); err != nil || !filepath.IsLocal(rel) {
			return fmt.Errorf("kernel[%d].path: %s is not below %s, where the operator of this node lets storage kernels work (storage_dir in the plugin block)",
				i, k.Path, s.Storage.Dir)
		}
	}
	return nil
}

// openStorage opens the directory of a storage kernel; no link leads out of the root. The
// kernel gets the directory that was opened, whatever the path leads to by then.
func (r *room) openStorage(k KernelSpec) (*os.File, error) {
	s := r.spec.Storage
	path := k.Path
	if path == "" {
		path = s.Dir
	}
	rel, err := filepath.Rel(s.Root, path)
	if err != nil {
		return nil, fmt.Errorf("path %s: %w", path, err)
	}
	root, err := os.OpenRoot(s.Root)
	if err != nil {
		return nil, fmt.Errorf("directory of storage kernels: %w", err)
	}
	defer func() { _ = root.Close() }() // only read
	dir, err := root.OpenFile(rel, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("path %s, below %s: %w", path, s.Root, withoutPath(err))
	}
	return dir, nil
}

// limits are what a kernel gets of what it asked for.
type limits struct {
	maxBytes int64
	dir      *os.File // of a storage kernel; its owner closes it
	path     string
	peer     string
}

// limit bounds a kernel by what its task and the operator allow.
func (r *room) limit(ctx context.Context, k KernelSpec) (limits, error) {
	var out limits
	var err error
	if k.Peer != "" {
		if out.peer, err = r.resolvePeer(ctx, k.Peer); err != nil {
			return limits{}, err
		}
	}
	if !k.Storage() {
		out.maxBytes = r.bound(k)
		return out, nil
	}
	if out.dir, err = r.openStorage(k); err != nil {
		return limits{}, err
	}
	if out.maxBytes, err = r.boundDisk(out.dir, k); err != nil {
		return limits{}, errors.Join(err, out.dir.Close())
	}
	out.path = openPath(out.dir)
	return out, nil
}

// withoutPath is the cause of an error that names a path which was named already.
func withoutPath(err error) error {
	var at *os.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// openPath is how a child of this process names an open directory.
func openPath(dir *os.File) string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), dir.Fd()) }

// diskBytesDefault is what a storage kernel may take where nothing else is
// said and the disk has less than that above its reserve.
const diskBytesDefault = 1 << 30

// boundDisk is how much of the disk of a directory a kernel may take; 0 leaves it to the
// kernel. Nomad's clients count a disk as full by what is used of what users may use.
func (r *room) boundDisk(dir *os.File, k KernelSpec) (int64, error) {
	s := r.spec.Storage
	var disk unix.Statfs_t
	if err := unix.Fstatfs(int(dir.Fd()), &disk); err != nil {
		return 0, fmt.Errorf("path %s: %w", dir.Name(), err)
	}
	free := int64(disk.Bavail) * disk.Bsize
	left := free - s.ReserveBytes
	if left <= 0 {
		return 0, fmt.Errorf("%w: the disk of %s has %d MiB free, no more than the reserve of %d MiB", errNoDiskRoom, dir.Name(), free>>20, s.ReserveBytes>>20)
	}
	if s.UsedPercent > 0 {
		used := int64(disk.Blocks-disk.Bfree) * disk.Bsize
		left = min(left, int64(s.UsedPercent/100*float64(used+free))-used)
	}
	if left <= 0 {
		return 0, fmt.Errorf("%w: the disk of %s is full to %.0f %% or more, from where on Nomad removes allocations of others (disk_used_percent in the plugin block)", errNoDiskRoom, dir.Name(), s.UsedPercent)
	}
	if s.MaxBytes > 0 {
		left = min(left, s.MaxBytes/int64(max(1, r.storageKernels())))
	}
	switch {
	case k.MaxBytes > 0:
		return min(k.MaxBytes, left), nil
	case left < diskBytesDefault:
		return left, nil
	}
	return 0, nil
}

// storageKernels counts those of the task, which share its bound.
func (r *room) storageKernels() int {
	n := 0
	for _, k := range r.spec.Kernels {
		if k.Storage() {
			n++
		}
	}
	return n
}

// resolvePeer turns the peer of a network kernel into an address that the operator allows.
// The kernel gets the address: it does not ask for the name again.
func (r *room) resolvePeer(ctx context.Context, peer string) (string, error) {
	host, port, err := net.SplitHostPort(peer)
	if err != nil {
		return "", fmt.Errorf("peer %q is not host:port", peer)
	}
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return "", fmt.Errorf("peer %s: %w", peer, err)
	}
	var refused []string
	for _, a := range addresses {
		a = a.Unmap()
		if slices.ContainsFunc(r.spec.Peers, func(p netip.Prefix) bool { return p.Contains(a) }) {
			return net.JoinHostPort(a.String(), port), nil
		}
		refused = append(refused, a.String())
	}
	return "", fmt.Errorf("peer %s is %s, where the operator of this node lets no kernel send to (peers in the plugin block)", peer, strings.Join(refused, ", "))
}
