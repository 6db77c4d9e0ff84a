package disk

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// Served is what the disk did for a file since it was begun, while it was limited.
type Served struct {
	Reads       int64   `json:"reads"`
	Writes      int64   `json:"writes"`
	Bytes       int64   `json:"bytes"`
	ReadBytes   int64   `json:"read_bytes"` // of them
	BusySeconds float64 `json:"busy_seconds"`
	// ReadSeconds is the part of it for reads.
	ReadSeconds float64 `json:"read_seconds"`
	// WaitSeconds are from when I/Os came to when they were done, of all of them.
	WaitSeconds float64 `json:"wait_seconds"`
	// ActiveSeconds had an I/O that waited or was being done.
	ActiveSeconds float64 `json:"active_seconds"`
	// ReadsAt and WritesAt are how often one came that was the n-th outstanding of its direction.
	ReadsAt  []int64 `json:"reads_at"`
	WritesAt []int64 `json:"writes_at"`

	reads, writes int       // that are outstanding
	since         time.Time // when it became active
}

// Minus is what was served since another reading.
func (s Served) Minus(before Served) Served {
	return Served{
		Reads: s.Reads - before.Reads, Writes: s.Writes - before.Writes, Bytes: s.Bytes - before.Bytes, ReadBytes: s.ReadBytes - before.ReadBytes,
		BusySeconds: s.BusySeconds - before.BusySeconds, ReadSeconds: s.ReadSeconds - before.ReadSeconds, WaitSeconds: s.WaitSeconds - before.WaitSeconds, ActiveSeconds: s.ActiveSeconds - before.ActiveSeconds,
		ReadsAt: lessOf(s.ReadsAt, before.ReadsAt), WritesAt: lessOf(s.WritesAt, before.WritesAt),
	}
}

// lessOf subtracts counts, of which there were no more before.
func lessOf(counts, before []int64) []int64 {
	out := slices.Clone(counts)
	for i, n := range before {
		out[i] -= n
	}
	return out
}

// request is an I/O that waits for the disk.
type request struct {
	name  string
	write bool
	at    int64 // where on the disk it begins, in bytes
	bytes int
	came  time.Time
	do    func()
	done  chan struct{}
}

// sharedDisk serves requests one after another, reads and writes together.
type sharedDisk struct {
	mechanism mechanism
	requests  chan *request

	mu      sync.Mutex
	limited bool
	by      map[string]Served
}

// queueLength bounds the queue; the kernel's own bound is below it.
const queueLength = 4096

func newSharedDisk(m mechanism) *sharedDisk {
	return &sharedDisk{mechanism: m, requests: make(chan *request, queueLength), by: map[string]Served{}}
}

// serve is one server with a clock: an I/O begins when it has come and the one before it has
// ended, and its end is told when its time is over. It sleeps in the kernel, for timers of Go are
// whole milliseconds where nothing else runs.
func (d *sharedDisk) serve() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // else sleeps are 50 µs longer
	var waiting []*request
	for free := time.Now(); ; {
		var open bool
		if waiting, open = d.arrived(waiting); !open {
			return
		}
		i := d.mechanism.next(waiting, time.Now())
		o := waiting[i]
		waiting = slices.Delete(waiting, i, i+1)
		var took time.Duration
		limited := d.isLimited()
		if limited {
			if free.Before(o.came) {
				free = o.came
			}
			took = d.mechanism.takes(o, free)
			free = free.Add(took)
		}
		o.do()
		if limited {
			sleepUntil(free)
		}
		d.account(o, limited, took)
		close(o.done)
	}
}

// arrived adds what has come, and waits for it where nothing else does. open is false once
// nothing will come.
func (d *sharedDisk) arrived(waiting []*request) (all []*request, open bool) {
	if len(waiting) == 0 {
		o, open := <-d.requests
		if !open {
			return nil, false
		}
		waiting = append(waiting, o)
	}
	for {
		select {
		case o, open := <-d.requests:
			if !open {
				return waiting, len(waiting) > 0
			}
			waiting = append(waiting, o)
		default:
			return waiting, true
		}
	}
}

func (d *sharedDisk) isLimited() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.limited
}

// came counts an I/O that begins to wait.
func (d *sharedDisk) came(name string, write bool) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, now := d.by[name], time.Now()
	if s.reads+s.writes == 0 {
		s.since = now
	}
	if write {
		s.writes++
		s.WritesAt = countAt(s.WritesAt, s.writes)
	} else {
		s.reads++
		s.ReadsAt = countAt(s.ReadsAt, s.reads)
	}
	d.by[name] = s
	return now
}

func countAt(counts []int64, n int) []int64 {
	for len(counts) <= n {
		counts = append(counts, 0)
	}
	counts[n]++
	return counts
}

// account counts an I/O that is done.
func (d *sharedDisk) account(o *request, limited bool, took time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, now := d.by[o.name], time.Now()
	if o.write {
		s.writes--
	} else {
		s.reads--
	}
	if limited {
		if s.reads+s.writes == 0 {
			s.ActiveSeconds += now.Sub(s.since).Seconds()
		}
		if o.write {
			s.Writes++
		} else {
			s.Reads++
			s.ReadBytes, s.ReadSeconds = s.ReadBytes+int64(o.bytes), s.ReadSeconds+took.Seconds()
		}
		s.Bytes, s.BusySeconds, s.WaitSeconds = s.Bytes+int64(o.bytes), s.BusySeconds+took.Seconds(), s.WaitSeconds+now.Sub(o.came).Seconds()
	}
	d.by[o.name] = s
}

// sleepUntil sleeps in the kernel; a signal only makes it shorter.
func sleepUntil(at time.Time) {
	for {
		left := time.Until(at)
		if left <= 0 {
			return
		}
		t := unix.NsecToTimespec(left.Nanoseconds())
		_ = unix.Nanosleep(&t, nil)
	}
}

// submit does something when it is its turn.
func (d *sharedDisk) submit(name string, write bool, at int64, bytes int, do func()) {
	o := &request{name, write, at, bytes, d.came(name, write), do, make(chan struct{})}
	d.requests <- o
	<-o.done
}

// diskFile is a file of the disk. A flush costs nothing: such a volume has no cache that power
// would empty.
type diskFile struct {
	fs.Inode
	name  string
	file  *os.File
	begin int64 // where on the disk
	size  uint64
	disk  *sharedDisk
}

var (
	_ fs.NodeOpener    = (*diskFile)(nil)
	_ fs.NodeReader    = (*diskFile)(nil)
	_ fs.NodeWriter    = (*diskFile)(nil)
	_ fs.NodeFsyncer   = (*diskFile)(nil)
	_ fs.NodeGetattrer = (*diskFile)(nil)
)

// Open opens it; the handle is the node.
func (f *diskFile) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, 0, 0
}

// Getattr says how large it is.
func (f *diskFile) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	out.Mode, out.Size, out.Blksize = syscall.S_IFREG|0o600, f.size, 4096
	return 0
}

// Read reads when it is its turn.
func (f *diskFile) Read(_ context.Context, _ fs.FileHandle, dest []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	var n int
	var err error
	f.disk.submit(f.name, false, f.begin+off, len(dest), func() { n, err = f.file.ReadAt(dest, off) })
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fs.ToErrno(err)
	}
	return fuse.ReadResultData(dest[:n]), 0
}

// Write writes when it is its turn.
func (f *diskFile) Write(_ context.Context, _ fs.FileHandle, data []byte, off int64) (uint32, syscall.Errno) {
	var n int
	var err error
	f.disk.submit(f.name, true, f.begin+off, len(data), func() { n, err = f.file.WriteAt(data, off) })
	return uint32(n), fs.ToErrno(err)
}

// Fsync does nothing: what was written is there while this process is.
func (f *diskFile) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno { return 0 }

// diskFolder is the file system's only folder.
type diskFolder struct {
	fs.Inode
	files []*diskFile
}

var _ fs.NodeOnAdder = (*diskFolder)(nil)

// OnAdd adds the files.
func (r *diskFolder) OnAdd(ctx context.Context) {
	for _, f := range r.files {
		r.AddChild(f.name, r.NewPersistentInode(ctx, f, fs.StableAttr{Mode: syscall.S_IFREG}), false)
	}
}

// Worker is the command, of the program that attaches it, that serves a disk: its kind, the folder of
// its images, and where they are mounted. An image is at the begin of the disk, or where its name
// says, in GB: a@200.img. It is told on standard input what to do, a word a line, and answers
// each with a line.
const Worker = "disk-worker"

// The words.
const (
	wordLimit  = "limit"  // from now on I/Os take their time
	wordFree   = "free"   // and from now on they do not
	wordServed = "served" // says what was done, as JSON
)

// Serve is the disk's process. It ends, unmounted, when its standard input does.
func Serve(kind, images, at string) error {
	m, err := newMechanism(Kind(kind))
	if err != nil {
		return err
	}
	d := newSharedDisk(m)
	paths, err := filepath.Glob(filepath.Join(images, "*.img"))
	if err != nil {
		return err
	}
	root := &diskFolder{}
	for _, p := range paths {
		f, err := os.OpenFile(p, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		begin, err := beginOf(filepath.Base(p))
		if err != nil {
			return err
		}
		root.files = append(root.files, &diskFile{name: filepath.Base(p), file: f, begin: begin, size: uint64(info.Size()), disk: d})
	}
	cached := time.Hour // sizes and names do not change
	_, err = fs.Mount(at, root, &fs.Options{
		MountOptions: fuse.MountOptions{FsName: "twins-disk", Name: "twins", MaxBackground: queueLength / 2, MaxWrite: 1 << 20, ExtraCapabilities: fuse.CAP_ASYNC_DIO, DirectMountStrict: true, DisableSplice: true},
		AttrTimeout:  &cached, EntryTimeout: &cached,
	})
	if err != nil {
		return err
	}
	go d.serve()
	fmt.Println("ready")
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		answer, err := d.told(strings.TrimSpace(in.Text()))
		if err != nil {
			return errors.Join(err, unix.Unmount(at, unix.MNT_DETACH))
		}
		fmt.Println(answer)
	}
	return errors.Join(in.Err(), unix.Unmount(at, unix.MNT_DETACH))
}

// beginOf is where on the disk an image begins, by its name.
func beginOf(name string) (int64, error) {
	_, gigabytes, found := strings.Cut(strings.TrimSuffix(name, ".img"), "@")
	if !found {
		return 0, nil
	}
	n, err := strconv.ParseInt(gigabytes, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("disk: an image's name ends with @GB, not %q", name)
	}
	return n * 1e9, nil
}

func (d *sharedDisk) told(word string) (answer string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch word {
	case wordLimit, wordFree:
		d.limited = word == wordLimit
		return word, nil
	case wordServed:
		now, by := time.Now(), map[string]Served{}
		for name, s := range d.by {
			said := s
			if s.reads+s.writes > 0 && d.limited { // what it was until now
				said.ActiveSeconds += now.Sub(s.since).Seconds()
			}
			by[name] = said
		}
		text, err := json.Marshal(by)
		return string(text), err
	default:
		return "", fmt.Errorf("a disk is not told %q", word)
	}
}
