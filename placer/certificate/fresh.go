package certificate

import (
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// lookEvery is how often files are looked at, at most. Chosen by us: a look costs a
// few microseconds, and nobody waits for a renewed certificate by the second.
const lookEvery = time.Second

// fresh is something that was made of files and is made again when they change.
type fresh[T any] struct {
	what  string   // in the log
	paths []string // files, or folders of files
	make  func() (T, error)
	now   func() time.Time
	log   *slog.Logger

	mu     sync.Mutex
	value  T
	seen   []stamp
	looked time.Time
	failed string // why the newest files are not in use; empty: they are
}

// first makes it for the first time.
func (f *fresh[T]) first() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen, f.looked = stamps(f.paths), f.now()
	var err error
	f.value, err = f.make()
	return err
}

// get returns the newest that could be made.
func (f *fresh[T]) get() T {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.now().Sub(f.looked) >= lookEvery {
		f.looked = f.now()
		// What failed is tried again: a right to read changes no stamp.
		if seen := stamps(f.paths); f.failed != "" || !slices.EqualFunc(seen, f.seen, stamp.same) {
			_ = f.renew(seen) // it is logged, and the old one stays
		}
	}
	return f.value
}

// reload makes it again at once.
func (f *fresh[T]) reload() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looked = f.now()
	return f.renew(stamps(f.paths))
}

// renew is called with the stamps of before the files are read: one that changes
// meanwhile is seen at the next look.
func (f *fresh[T]) renew(seen []stamp) error {
	f.seen = seen
	value, err := f.make()
	if err != nil {
		if f.failed != err.Error() {
			f.log.Error("the changed files of "+f.what+" cannot be used; the old ones stay in use", "error", err)
		}
		f.failed = err.Error()
		return err
	}
	f.value, f.failed = value, ""
	f.log.Info("the files of " + f.what + " were read again")
	return nil
}

// stamp tells one state of a file from another.
type stamp struct {
	path string
	info fs.FileInfo // nil: it cannot be looked at
}

func (s stamp) same(o stamp) bool {
	if s.path != o.path || (s.info == nil) != (o.info == nil) {
		return false
	}
	return s.info == nil || os.SameFile(s.info, o.info) && s.info.Size() == o.info.Size() && s.info.ModTime().Equal(o.info.ModTime())
}

func stamps(paths []string) []stamp {
	var out []stamp
	for _, path := range paths {
		if path == "" {
			continue
		}
		s := stampOf(path)
		out = append(out, s)
		if s.info == nil || !s.info.IsDir() {
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			continue // then the folder's own stamp has to do
		}
		for _, e := range entries {
			out = append(out, stampOf(filepath.Join(path, e.Name())))
		}
	}
	return out
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{path: path}
	}
	return stamp{path, info}
}
