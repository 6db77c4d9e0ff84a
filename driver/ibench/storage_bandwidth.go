package ibench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// The file that is read over and over. Its default size is a compromise: large
// against the cache of a disk, small against what a node can spare.
const (
	storageBytesDefault = 256 << 20
	storageBytesBrief   = 64 << 20 // while calibrating, which makes several
	storageBytesMin     = 8 << 20
	storageChunkBytes   = 1 << 20
)

// The space left free on the disk: the larger of both.
const (
	storageReserveBytes    = 512 << 20
	storageReserveFraction = 0.03
)

// Threads that read at once: two by default, so that the disk is busy while
// one is being handed its data, and more where calibration finds a gain.
const (
	storageThreads    = 2
	storageThreadsMax = 4
)

// storageDwell lets at least a few chunks fall into the lowest levels.
const storageDwell = 2 * levelDwell

func newStorageBandwidth(ctx context.Context, s Setup) (*Load, error) {
	if s.Path == "" {
		return nil, errors.New("needs a path: a directory on the disk to press on")
	}
	size := int64(storageBytesDefault)
	if s.MaxBytes > 0 {
		size = s.MaxBytes
	}
	if size = size / storageChunkBytes * storageChunkBytes; size < storageBytesMin {
		return nil, fmt.Errorf("max bytes is %d; the file needs %d at least", s.MaxBytes, storageBytesMin)
	}
	if err := checkDisk(s.Path, size); err != nil {
		return nil, err
	}
	file, direct, err := createScratch(s.Path)
	if err != nil {
		return nil, err
	}
	if err := fillScratch(ctx, file, size, s.Seed); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	threads := s.threads(storageThreads, storageThreadsMax)
	load := &Load{
		Threads: threads,
		Worker: func(thread int) (Worker, error) {
			return newDiskReader(file, size, thread, threads, direct)
		},
		ResidentBytes: func() int64 { return int64(threads) * storageChunkBytes },
		Close:         file.Close,
	}
	if !direct {
		load.Notes = append(load.Notes, "the file system refuses O_DIRECT: reads go through the page cache, which is told to forget them")
	}
	return load, nil
}

// checkDisk returns an error where path is no directory on a disk with room
// for size bytes beside the reserve.
func checkDisk(path string, size int64) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("storage path: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("storage path %s is not a directory", path)
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(path, &fs); err != nil {
		return fmt.Errorf("storage path %s: %w", path, err)
	}
	if fs.Type == unix.TMPFS_MAGIC || fs.Type == unix.RAMFS_MAGIC {
		return fmt.Errorf("storage path %s is in memory, not on a disk", path)
	}
	if fs.Flags&unix.ST_RDONLY != 0 {
		return fmt.Errorf("storage path %s: %w", path, unix.EROFS)
	}
	total := int64(fs.Blocks) * fs.Bsize
	free := int64(fs.Bavail) * fs.Bsize
	reserve := max(int64(storageReserveBytes), int64(storageReserveFraction*float64(total)))
	if free-size < reserve {
		return fmt.Errorf("storage path %s has %d MiB free: %d MiB for the kernel would not leave the reserve of %d MiB",
			path, free>>20, size>>20, reserve>>20)
	}
	return nil
}

// createScratch makes a file without a name, so that it is gone with the
// process however that ends.
func createScratch(dir string) (file *os.File, direct bool, err error) {
	name := filepath.Join(dir, fmt.Sprintf(".ibench-%d", os.Getpid()))
	file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_DIRECT, 0o600)
	direct = err == nil
	if errors.Is(err, unix.EINVAL) {
		_ = os.Remove(name) // some file systems create the file before they refuse
		file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err != nil {
		return nil, false, fmt.Errorf("storage path: %w", err)
	}
	if err := os.Remove(name); err != nil {
		return nil, false, errors.Join(fmt.Errorf("storage path: %w", err), file.Close())
	}
	return file, direct, nil
}

// fillScratch reserves the file's space and writes it: blocks never written
// are read as zeros without asking the disk. The bytes are random because some
// disks compress.
func fillScratch(ctx context.Context, file *os.File, size int64, seed uint64) error {
	err := unix.Fallocate(int(file.Fd()), 0, 0, size)
	if err != nil && !errors.Is(err, unix.EOPNOTSUPP) {
		return fmt.Errorf("reserve %d MiB of disk: %w", size>>20, err)
	}
	buffer, err := newRegion(storageChunkBytes, false)
	if err != nil {
		return err
	}
	defer closeQuietly(buffer)
	random := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24)})
	_, _ = random.Read(buffer.data) // never fails
	for offset := int64(0); offset < size; offset += storageChunkBytes {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := file.WriteAt(buffer.data, offset); err != nil {
			return fmt.Errorf("write %d MiB of disk: %w", size>>20, err)
		}
	}
	if err := file.Sync(); err != nil {
		return fmt.Errorf("write %d MiB of disk: %w", size>>20, err)
	}
	return nil
}

// diskReader reads its part of the file in sequence, over and over.
type diskReader struct {
	fd          int
	first, last int64 // of its part, in bytes
	offset      int64
	buffer      *region
	direct      bool
}

func newDiskReader(file *os.File, size int64, thread, threads int, direct bool) (*diskReader, error) {
	buffer, err := newRegion(storageChunkBytes, false)
	if err != nil {
		return nil, err
	}
	part := max(size/int64(threads)/storageChunkBytes, 1) * storageChunkBytes
	first := int64(thread) * part % size
	d := &diskReader{fd: int(file.Fd()), first: first, last: min(first+part, size), offset: first, buffer: buffer, direct: direct}
	if !direct {
		d.forget(first, part)
	}
	return d, nil
}

// Tune keeps a share of the peak.
func (d *diskReader) Tune(u, peakPerThread float64) Pace { return ratePace(u, peakPerThread) }

// Work reads one chunk; an operation is a byte read.
func (d *diskReader) Work(float64) (float64, error) {
	n, err := unix.Pread(d.fd, d.buffer.data, d.offset)
	if errors.Is(err, unix.EINTR) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the disk: %w", err)
	}
	if n == 0 {
		return 0, errors.New("read the disk: the file is shorter than it was made")
	}
	if !d.direct {
		d.forget(d.offset, storageChunkBytes)
	}
	if d.offset += storageChunkBytes; d.offset >= d.last {
		d.offset = d.first
	}
	return float64(n), nil
}

// forget drops pages from the page cache, so that the next read asks the disk.
func (d *diskReader) forget(offset, length int64) {
	_ = unix.Fadvise(d.fd, offset, length, unix.FADV_DONTNEED) // advice only
}

// Close frees the buffer.
func (d *diskReader) Close() error { return d.buffer.Close() }

var storageBandwidth = Descriptor{
	Source:     interference.StorageBandwidth,
	Knob:       Rate,
	Means:      "share of the sequential read bandwidth of the disk below the given path",
	Loads:      "disk, its queue and its bus",
	Spares:     "page cache and memory: direct reads into one small buffer per thread",
	Unit:       "bytes",
	Dwell:      storageDwell,
	Supported:  func(Machine) error { return nil },
	New:        newStorageBandwidth,
	BriefBytes: storageBytesBrief,
	MaxThreads: func(int) int { return storageThreadsMax },
}
