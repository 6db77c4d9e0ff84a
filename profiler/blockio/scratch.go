package blockio

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Errors of a scratch file, by what can be done against them.
var (
	ErrRoom   = errors.New("no room for the scratch file")
	ErrDirect = errors.New("the file system does no direct I/O")
	ErrFolder = errors.New("no folder for a scratch file")
)

const (
	// chunkBytes is written at once while a scratch file is filled.
	chunkBytes = 1 << 20
	// fullest is the part of the free bytes that a scratch file may take: what else is on the
	// file system needs some (chosen by us).
	fullest = 0.9
)

// Scratch is a file that load is played on. It is ours alone: it is made, filled and
// removed here.
type Scratch struct {
	Path  string
	Bytes int64
}

// NewScratch makes a file of random bytes in a folder: reading what was never written
// reads nothing from a disk, and a file system may compress or drop zeros. Progress is told
// the part that is written (0..1).
func NewScratch(ctx context.Context, folder string, bytes int64, progress func(done float64)) (*Scratch, error) {
	if err := roomFor(folder, bytes); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(folder, "nomad-placer-twin-*.scratch")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFolder, err)
	}
	s := &Scratch{Path: f.Name(), Bytes: bytes}
	err = fill(ctx, f, bytes, progress)
	if err = errors.Join(err, f.Close()); err == nil {
		err = direct(s.Path)
	}
	if err != nil {
		return nil, errors.Join(err, s.Remove())
	}
	return s, nil
}

// Remove removes the file.
func (s *Scratch) Remove() error { return os.Remove(s.Path) }

// roomFor looks at the folder before anything is written.
func roomFor(folder string, bytes int64) error {
	info, err := os.Stat(folder)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrFolder, err)
	case !info.IsDir():
		return fmt.Errorf("%w: %s is a device or a file, and may have data", ErrFolder, folder)
	case strings.ContainsAny(folder, " \t\n:,"):
		// fio reads names up to a blank, and divides them at a colon.
		return fmt.Errorf("%w: fio cannot read the name %q, with a blank, a comma or a colon", ErrFolder, folder)
	}
	var fs unix.Statfs_t
	if err := unix.Statfs(folder, &fs); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrFolder, folder, err)
	}
	free := int64(fs.Bavail) * fs.Bsize
	if float64(bytes) > fullest*float64(free) {
		return fmt.Errorf("%w: %d bytes in %s, of which at most %.0f %% of %d are taken", ErrRoom, bytes, folder, 100*fullest, free)
	}
	return nil
}

func fill(ctx context.Context, f *os.File, bytes int64, progress func(float64)) error {
	// Blocks are kept free at once where the file system can do that.
	if err := unix.Fallocate(int(f.Fd()), 0, 0, bytes); err != nil && !errors.Is(err, unix.EOPNOTSUPP) {
		return fmt.Errorf("%w: %s: %w", ErrRoom, f.Name(), err)
	}
	random := rand.NewChaCha8([32]byte{}) // the same bytes every time: what they are does not matter
	chunk := make([]byte, chunkBytes)
	for at := int64(0); at < bytes; at += chunkBytes {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, _ = random.Read(chunk) // it cannot fail
		if _, err := f.Write(chunk[:min(chunkBytes, bytes-at)]); err != nil {
			return fmt.Errorf("%w: %w", ErrRoom, err)
		}
		progress(float64(at) / float64(bytes))
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("%w: %w", ErrRoom, err)
	}
	return nil
}

// direct says whether the file can be read past the page cache.
func direct(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECT, 0)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDirect, filepath.Dir(path), err)
	}
	return unix.Close(fd)
}
