package ibench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// spanGrowBytes is how much is written between two looks at the goal and at
// the room left on the disk.
const spanGrowBytes = 16 << 20

// spanRecheck is how often the disk is looked at once the goal is reached.
const spanRecheck = time.Second

// diskSpan is a scratch file that grows to the largest span asked for. A smaller
// goal does not shrink it, as every level would write it anew; only a disk that
// runs full does. What is held is what is written.
type diskSpan struct {
	filling
	dir    string
	file   *os.File
	direct bool
	filler *scratchFiller
}

// newDiskSpan makes the file with its first part in it.
func newDiskSpan(ctx context.Context, dir string, size int64, seed uint64) (*diskSpan, error) {
	file, direct, err := createScratch(dir)
	if err != nil {
		return nil, err
	}
	filler, err := newScratchFiller(file, seed)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if _, err := filler.fill(ctx, 0, storageBytesMin); err != nil {
		return nil, errors.Join(err, filler.Close(), file.Close())
	}
	d := &diskSpan{dir: dir, file: file, direct: direct, filler: filler}
	d.least, d.most = storageBytesMin, size
	d.held.Store(storageBytesMin)
	d.start(d.step, spanRecheck)
	return d, nil
}

// readable is how far reads may spread now.
func (d *diskSpan) readable() int64 {
	return max(min(d.goal.Load(), d.held.Load()), storageBytesMin)
}

// occupied is the share of the size that lies on the disk and is read in.
func (d *diskSpan) occupied() (float64, error) {
	var stat unix.Stat_t
	if err := unix.Fstat(int(d.file.Fd()), &stat); err != nil {
		return 0, fmt.Errorf("scratch file: %w", err)
	}
	const blockBytes = 512 // of st_blocks (stat(2)), whatever the file system's are
	return float64(min(stat.Blocks*blockBytes, d.goal.Load(), d.held.Load())) / float64(d.most), nil
}

// step grows or gives back; it reports whether there may be more to do at once.
func (d *diskSpan) step(ctx context.Context) bool {
	written, goal := d.held.Load(), d.goal.Load()/storageChunkBytes*storageChunkBytes
	room, err := diskRoom(d.dir)
	switch {
	case err != nil:
		d.short.set("does not grow: " + err.Error())
	case room < 0 && written > storageBytesMin:
		d.shrink(max(storageBytesMin, written+room), room)
	case written >= goal:
		d.short.set("")
	case room < storageChunkBytes:
		d.short.set(fmt.Sprintf("the disk is full: spread over %d MiB of %d MiB", written>>20, goal>>20))
	default:
		return d.grow(ctx, min(goal, written+min(spanGrowBytes, room/storageChunkBytes*storageChunkBytes)))
	}
	return false
}

func (d *diskSpan) grow(ctx context.Context, to int64) bool {
	came, err := d.filler.fill(ctx, d.held.Load(), to)
	d.held.Store(came)
	if err != nil && ctx.Err() == nil {
		d.short.set("does not grow: " + err.Error())
	}
	return err == nil
}

// shrink gives disk space back. Readers learn it first.
func (d *diskSpan) shrink(to, room int64) {
	to = to / storageChunkBytes * storageChunkBytes
	d.held.Store(to)
	d.short.set(fmt.Sprintf("the disk got full: gave back %d MiB", -room>>20))
	if err := d.file.Truncate(to); err != nil {
		d.short.set("the disk got full, and its space cannot be given back: " + err.Error())
	}
}

// Close gives the space back.
func (d *diskSpan) Close() error {
	d.end()
	return errors.Join(d.filler.Close(), d.file.Close())
}
