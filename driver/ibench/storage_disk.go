package ibench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// The space left free on the disk: the larger of both.
const (
	storageReserveBytes    = 512 << 20
	storageReserveFraction = 0.03
)

// diskRoom returns how many bytes may be taken of the disk below path without
// the reserve, negative where it is already short. A path that is no directory
// on a disk to write to is an error.
func diskRoom(path string) (int64, error) {
	if path == "" {
		return 0, errors.New("needs a path: a directory on the disk to put load on")
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, fmt.Errorf("storage path: %w", err)
	}
	if !info.IsDir() {
		return 0, fmt.Errorf("storage path %s is not a directory", path)
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(path, &fs); err != nil {
		return 0, fmt.Errorf("storage path %s: %w", path, err)
	}
	room, err := roomOf(fs)
	if err != nil {
		return 0, fmt.Errorf("storage path %s: %w", path, err)
	}
	return room, nil
}

// roomOf is the room of a file system.
func roomOf(fs unix.Statfs_t) (int64, error) {
	if fs.Type == unix.TMPFS_MAGIC || fs.Type == unix.RAMFS_MAGIC {
		return 0, errors.New("is in memory, not on a disk")
	}
	if fs.Flags&unix.ST_RDONLY != 0 {
		return 0, unix.EROFS
	}
	return int64(fs.Bavail)*fs.Bsize - storageReserve(int64(fs.Blocks)*fs.Bsize), nil
}

// storageReserve is what must stay free of a disk of total bytes.
func storageReserve(total int64) int64 {
	return max(int64(storageReserveBytes), int64(storageReserveFraction*float64(total)))
}

// checkDisk returns an error where path is no directory on a disk with room
// for size bytes without the reserve.
func checkDisk(path string, size int64) error {
	room, err := diskRoom(path)
	if err != nil {
		return err
	}
	if room < size {
		return fmt.Errorf("storage path %s: the disk is too full: %d MiB for the kernel would leave %d MiB less than the reserve",
			path, size>>20, (size-room)>>20)
	}
	return nil
}

// createScratch makes a file without a name, so that it is gone with the
// process however that ends. Where the file system cannot, its name is removed
// at once.
func createScratch(dir string) (file *os.File, direct bool, err error) {
	file, err = openScratch(dir, unix.O_DIRECT)
	if errors.Is(err, unix.EINVAL) {
		file, err = openScratch(dir, 0)
		return file, false, err
	}
	return file, err == nil, err
}

func openScratch(dir string, flag int) (*os.File, error) {
	file, err := os.OpenFile(dir, os.O_RDWR|unix.O_TMPFILE|flag, 0o600)
	if err == nil {
		return file, nil
	}
	if !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.EISDIR) { // EISDIR: before Linux 3.11
		return nil, fmt.Errorf("storage path: %w", err)
	}
	name := filepath.Join(dir, fmt.Sprintf(".ibench-%d", os.Getpid()))
	file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|flag, 0o600)
	if err != nil {
		_ = os.Remove(name) // some file systems create the file before they refuse
		return nil, fmt.Errorf("storage path: %w", err)
	}
	if err := os.Remove(name); err != nil {
		return nil, errors.Join(fmt.Errorf("storage path: %w", err), file.Close())
	}
	return file, nil
}

// noDirectNote is said where a file system refuses O_DIRECT.
const noDirectNote = "the file system refuses O_DIRECT: the page cache is used, and asked to drop the file"

// scratchFiller writes a scratch file: blocks never written are read as zeros
// without asking the disk. The bytes are random because some disks compress.
type scratchFiller struct {
	file   *os.File
	buffer *region
}

func newScratchFiller(file *os.File, seed uint64) (*scratchFiller, error) {
	buffer, err := newRegion(storageChunkBytes, false)
	if err != nil {
		return nil, err
	}
	random := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24)})
	_, _ = random.Read(buffer.data) // never fails
	return &scratchFiller{file: file, buffer: buffer}, nil
}

// fill reserves and writes the bytes from first to last, both multiples of a
// chunk, and returns how far it came.
func (f *scratchFiller) fill(ctx context.Context, first, last int64) (int64, error) {
	err := unix.Fallocate(int(f.file.Fd()), 0, first, last-first)
	if err != nil && !errors.Is(err, unix.EOPNOTSUPP) {
		return first, fmt.Errorf("reserve %d MiB of disk: %w", (last-first)>>20, err)
	}
	for offset := first; offset < last; offset += storageChunkBytes {
		if ctx.Err() != nil {
			return offset, ctx.Err()
		}
		if _, err := f.file.WriteAt(f.buffer.data, offset); err != nil {
			return offset, fmt.Errorf("write %d MiB of disk: %w", last>>20, err)
		}
	}
	if err := f.file.Sync(); err != nil {
		return first, fmt.Errorf("write %d MiB of disk: %w", last>>20, err)
	}
	return last, nil
}

// Close frees the buffer; the file is its owner's.
func (f *scratchFiller) Close() error { return f.buffer.Close() }

// fillScratch fills a new file.
func fillScratch(ctx context.Context, file *os.File, size int64, seed uint64) error {
	filler, err := newScratchFiller(file, seed)
	if err != nil {
		return err
	}
	_, err = filler.fill(ctx, 0, size)
	return errors.Join(err, filler.Close())
}

// forget drops pages from the page cache, so that the next read asks the disk.
func forget(fd int, offset, length int64) {
	_ = unix.Fadvise(fd, offset, length, unix.FADV_DONTNEED) // advice only
}
