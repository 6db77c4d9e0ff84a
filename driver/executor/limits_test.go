package executor

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// began returns the kernel that a task of one kernel started, or why it did not.
func began(t *testing.T, change func(*Spec), k KernelSpec) (*fakeKernel, error) {
	t.Helper()
	s := perform(t, change, k)
	for len(s.handle(t.Context(), Request{Command: CommandStats}).Kernels) == 0 {
		select {
		case err := <-s.result:
			return nil, err
		default:
		}
	}
	return s.kernels[0], nil
}

// A storage kernel works in a directory below its own, whatever links lie on the path.
func TestStorageKernelsStayBelowTheirDirectory(t *testing.T) {
	t.Parallel()
	root, outside := t.TempDir(), t.TempDir()
	if err := errors.Join(
		os.MkdirAll(filepath.Join(root, "in/deep"), 0o755), os.Symlink("in/deep", filepath.Join(root, "inwards")),
		os.Symlink(outside, filepath.Join(root, "outwards")), os.Symlink("../../..", filepath.Join(root, "in/above")),
		unix.Mkfifo(filepath.Join(root, "fifo"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		".": "", "in/deep": "", "inwards": "",
		"outwards": "escapes", "in/above": "escapes", "fifo": "not a directory", "nowhere": "no such file",
	} {
		k := KernelSpec{Source: interference.StorageBandwidth, IntensityPercent: 10, Path: filepath.Join(root, path)}
		started, err := began(t, func(s *Spec) { s.Storage.Root, s.Storage.Dir = root, root }, k)
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), k.Path) {
				t.Errorf("%s: %v, want %q", path, err, want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		wanted, errWanted := os.Stat(k.Path)
		got, errGot := os.Stat(started.spec.Path)
		if errWanted != nil || errGot != nil || !os.SameFile(wanted, got) {
			t.Errorf("%s: the kernel works in %s: %v, %v", path, started.spec.Path, errWanted, errGot)
		}
	}
	spec := Spec{Storage: StorageSpec{Root: root, Dir: root}, Kernels: []KernelSpec{{Path: filepath.Join(root, "in")}, {Path: root + "2"}}}
	if err := spec.CheckPaths(); err == nil || !strings.Contains(err.Error(), "kernel[1].path: "+root+"2 is not below "+root) {
		t.Error(err)
	}
}

// What was opened counts, not what the path leads to later.
func TestAStorageKernelKeepsItsDirectory(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir := filepath.Join(root, "dir")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	k, err := began(t, func(s *Spec) { s.Storage.Root, s.Storage.Dir = root, root },
		KernelSpec{Source: interference.StorageBandwidth, IntensityPercent: 10, Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(root, "moved")
	if err := errors.Join(os.Rename(dir, moved), os.Symlink("/", dir)); err != nil {
		t.Fatal(err)
	}
	want, _ := os.Stat(moved)
	if got, err := os.Stat(k.spec.Path); err != nil || !os.SameFile(got, want) {
		t.Errorf("the kernel works elsewhere now: %v", err)
	}
}

func TestBoundDisk(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	var disk unix.Statfs_t
	if err := unix.Fstatfs(int(dir.Fd()), &disk); err != nil {
		t.Fatal(err)
	}
	used := int64(disk.Blocks-disk.Bfree) * disk.Bsize
	all := float64(used + int64(disk.Bavail)*disk.Bsize)
	own := KernelSpec{Source: interference.StorageCapacity}
	for _, c := range []struct {
		name   string
		spec   StorageSpec
		k      KernelSpec
		beside int // other storage kernels of the task
		want   int64
		why    string
	}{
		{"the kernel's own", StorageSpec{}, own, 0, 0, ""},
		{"as much as it asks for", StorageSpec{MaxBytes: 64 * mib}, KernelSpec{Source: own.Source, MaxBytes: mib}, 0, mib, ""},
		{"as the operator allows", StorageSpec{MaxBytes: 64 * mib}, KernelSpec{Source: own.Source, MaxBytes: 1 << 50}, 0, 64 * mib, ""},
		{"with others of the task", StorageSpec{MaxBytes: 64 * mib}, own, 3, 16 * mib, ""},
		{"reserve", StorageSpec{ReserveBytes: 1 << 60}, own, 0, 0, "no more than the reserve"},
		{"as full as it may get", StorageSpec{UsedPercent: 100 * float64(used) / all / 2}, own, 0, 0, "disk_used_percent"},
	} {
		r := room{spec: Spec{Storage: c.spec, Kernels: make([]KernelSpec, 1+c.beside)}}
		for i := range r.spec.Kernels {
			r.spec.Kernels[i] = own
		}
		got, err := r.boundDisk(dir, c.k)
		if got != c.want || (err == nil) != (c.why == "") || err != nil && (!errors.Is(err, errNoDiskRoom) || !strings.Contains(err.Error(), c.why)) {
			t.Errorf("%s: %d, %v; want %d and %q", c.name, got, err, c.want, c.why)
		}
	}
}

// A network kernel sends to an address that the operator allows, and is given the address,
// not the name.
func TestPeers(t *testing.T) {
	t.Parallel()
	allowed := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.1.0.0/16")}
	for peer, want := range map[string]string{
		"127.0.0.1:9": "127.0.0.1:9", "10.1.2.3:9": "10.1.2.3:9", "[::ffff:10.1.2.3]:9": "10.1.2.3:9", "localhost:9": "127.0.0.1:9",
		"10.2.0.1:9": "", "169.254.169.254:80": "", "0.0.0.0:9": "", "[::1]:9": "", "[::ffff:10.2.0.1]:9": "", "[fe80::1%lo]:9": "",
	} {
		k, err := began(t, func(s *Spec) { s.Peers = allowed }, KernelSpec{Source: interference.NetworkBandwidth, IntensityPercent: 10, Peer: peer})
		switch {
		case want == "" && (err == nil || !strings.Contains(err.Error(), "lets no kernel send to")):
			t.Errorf("%s: %v", peer, err)
		case want != "" && (err != nil || k.spec.Peer != want):
			t.Errorf("%s: %v, %+v; want %s", peer, err, k, want)
		}
	}
}
