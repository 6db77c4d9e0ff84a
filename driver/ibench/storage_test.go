package ibench

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestRoomOfFileSystems(t *testing.T) {
	t.Parallel()
	disk := func(freeBlocks uint64) unix.Statfs_t {
		return unix.Statfs_t{Type: unix.EXT4_SUPER_MAGIC, Bsize: 4096, Blocks: 1 << 24, Bavail: freeBlocks} // 64 GiB
	}
	for name, c := range map[string]struct {
		fs   unix.Statfs_t
		want int64 // MiB
		err  string
	}{
		"half free": {disk(1 << 23), 32<<10 - 1966, ""}, // 3 % of 64 GiB, rounded up
		"full":      {disk(0), -1966, ""},
		"read-only": {func() unix.Statfs_t { fs := disk(1); fs.Flags = unix.ST_RDONLY; return fs }(), 0, "read-only file system"},
		"in memory": {unix.Statfs_t{Type: unix.TMPFS_MAGIC}, 0, "in memory"},
	} {
		got, err := roomOf(c.fs)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || got>>20 != c.want && (got>>20)+1 != c.want {
			t.Errorf("%s: %d MiB, %v; want %d", name, got>>20, err, c.want)
		}
	}
	if _, err := roomOf(unix.Statfs_t{Flags: unix.ST_RDONLY}); !errors.Is(err, unix.EROFS) {
		t.Errorf("read-only: %v", err)
	}
}

// A scratch file has no name, on file systems with O_DIRECT and without, and
// with O_TMPFILE and without.
func TestScratchHasNoName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, _, err := createScratch(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, _, err := createScratch(filepath.Join(dir, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing directory: %v", err)
	}
}

// Writing to a file that takes no more is an error that says so, and what was
// written before stays readable.
func TestFillReportsAFullDisk(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path) // for reading: the kernel refuses to reserve
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	filler, err := newScratchFiller(file, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer closeQuietly(filler)
	if came, err := filler.fill(t.Context(), storageChunkBytes, 2*storageChunkBytes); err == nil || came != storageChunkBytes {
		t.Errorf("came to %d, %v", came, err)
	}
}

func TestSpanGrowsToItsGoalAndKeepsIt(t *testing.T) {
	t.Parallel()
	const size = 3 * storageBytesMin
	d, err := newDiskSpan(t.Context(), diskDir(t), size, 1)
	if err != nil {
		t.Fatal(err)
	}
	d.setGoal(size)
	eventually(t, "grown", func() bool { return d.held.Load() == size && d.readable() == size })
	if share, err := d.occupied(); err != nil || share != 1 {
		t.Errorf("occupies %v, %v", share, err)
	}
	d.setGoal(size / 2)
	if d.readable() != size/2 || d.held.Load() != size {
		t.Errorf("reads in %d of %d", d.readable(), d.held.Load())
	}
	if share, err := d.occupied(); err != nil || share != 0.5 {
		t.Errorf("occupies %v, %v", share, err)
	}
	d.stop() // only its own goroutine gives back; now that is this one
	<-d.done
	d.shrink(storageBytesMin, -1<<20)
	if d.readable() != storageBytesMin || len(d.short.list()) != 1 {
		t.Errorf("on a full disk it reads in %d and says %v", d.readable(), d.short.list())
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// Without O_DIRECT both storage workers go on through the page cache.
func TestStorageWithoutDirect(t *testing.T) {
	t.Parallel()
	file, err := openScratch(t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := fillScratch(t.Context(), file, storageBytesMin, 1); err != nil {
		t.Fatal(err)
	}
	for _, writes := range []bool{false, true} {
		d, err := newDiskStream(file, storageBytesMin, 0, 1, false, writes)
		if err != nil {
			t.Fatal(err)
		}
		total := 0.0
		for range 2 * storageBytesMin / storageChunkBytes { // twice round
			n, err := d.Work(1)
			if err != nil {
				t.Fatal(err)
			}
			total += n
		}
		if total != 2*storageBytesMin || d.offset != 0 {
			t.Errorf("writes %v: %v bytes, at %d", writes, total, d.offset)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	if info, err := file.Stat(); err != nil || info.Size() != storageBytesMin {
		t.Errorf("the file grew: %v, %v", info.Size(), err)
	}
}

func TestStorageRefusesBadPaths(t *testing.T) {
	t.Parallel()
	for _, d := range []Descriptor{storageCapacity, storageBandwidth} {
		for path, want := range map[string]string{
			"":         "needs a path",
			"/missing": "no such file",
			"/dev/shm": "in memory",
			os.Args[0]: "not a directory",
		} {
			if _, err := d.New(t.Context(), Setup{Path: path}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s at %q: %v, want %q", d.Source, path, err, want)
			}
		}
		if _, err := d.New(t.Context(), Setup{Path: diskDir(t), MaxBytes: storageBytesMin - 1}); err == nil {
			t.Errorf("%s with too small a bound started", d.Source)
		}
	}
}
