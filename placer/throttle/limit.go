package throttle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrForeign: somebody else bounds the group, which is left as it is.
var ErrForeign = errors.New("its control group has a limit that the placer did not set, which stays")

// side is one direction of a limit: its file, and its name in it.
type side struct{ file, key string }

// sides are those of a version.
var sides = map[int][]side{
	1: {{file: "blkio.throttle.read_bps_device"}, {file: "blkio.throttle.write_bps_device"}},
	2: {{"io.max", "rbps"}, {"io.max", "wbps"}},
}

// value is what a side of a group has for a disk in bytes per second; 0 is no limit.
func (t *Tree) value(dir, disk string, s side) (int64, error) {
	text, err := os.ReadFile(filepath.Join(dir, s.file))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != disk {
			continue
		}
		for _, f := range fields[1:] {
			if key, v, ok := strings.Cut(f, "="); ok {
				if key != s.key {
					continue
				}
				f = v
			}
			if f == "max" {
				return 0, nil
			}
			n, err := strconv.ParseInt(f, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", filepath.Join(dir, s.file), err)
			}
			return n, nil
		}
	}
	return 0, nil
}

// put writes a side; 0 is no limit.
func (t *Tree) put(dir, disk string, s side, bytesPerSec int64) error {
	text := strconv.FormatInt(bytesPerSec, 10)
	if s.key != "" {
		if bytesPerSec == 0 {
			text = "max"
		}
		text = s.key + "=" + text
	}
	return t.write(filepath.Join(dir, s.file), disk+" "+text)
}

// mark is what we have written into a group, or were about to.
type mark struct {
	disk   string
	values []int64 // bytes per second
}

func (m mark) String() string {
	words := []string{m.disk}
	for _, v := range m.values {
		words = append(words, strconv.FormatInt(v, 10))
	}
	return strings.Join(words, " ")
}

func parseMark(text string) mark {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return mark{}
	}
	m := mark{disk: fields[0]}
	for _, f := range fields[1:] {
		if n, err := strconv.ParseInt(f, 10, 64); err == nil && n > 0 {
			m.values = append(m.values, n)
		}
	}
	return m
}

// limit bounds a group, and says whether that changed anything. Before a value is written it is
// in the mark, so that whoever finds the group later knows it.
func (t *Tree) limit(dir, disk string, bytesPerSec int64) (changed bool, err error) {
	text, err := t.marks.get(dir)
	if err != nil {
		return false, err
	}
	m := parseMark(text)
	if m.disk != "" && m.disk != disk {
		if err := t.lift(dir); err != nil {
			return false, err
		}
		m, changed = mark{}, true
	}
	same := true
	for _, s := range sides[t.version] {
		now, err := t.value(dir, disk, s)
		if gone(err) && isDir(dir) {
			return changed, fmt.Errorf("%w: its control group has no %s", ErrNoController, s.file)
		}
		if err != nil {
			return changed, err
		}
		if now != 0 && !slices.Contains(m.values, now) {
			return changed, fmt.Errorf("%w (%s: %d bytes/s)", ErrForeign, s.file, now)
		}
		same = same && now == bytesPerSec
	}
	if same {
		return changed, nil
	}
	next := mark{disk: disk, values: append([]int64{bytesPerSec}, m.values...)}
	if err := t.marks.set(dir, next.String()); err != nil {
		return changed, err
	}
	for _, s := range sides[t.version] {
		if err := t.put(dir, disk, s, bytesPerSec); err != nil {
			return changed, errors.Join(err, t.lift(dir))
		}
	}
	next.values = next.values[:1]
	return true, t.marks.set(dir, next.String())
}

// lift takes back what we have written, and nothing else.
func (t *Tree) lift(dir string) error {
	text, err := t.marks.get(dir)
	if err != nil || text == "" {
		return err
	}
	m := parseMark(text)
	for _, s := range sides[t.version] {
		now, err := t.value(dir, m.disk, s)
		if gone(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if slices.Contains(m.values, now) {
			if err := t.put(dir, m.disk, s, 0); err != nil {
				return err
			}
		}
	}
	return t.marks.remove(dir)
}

// moveTries bounds how often processes are looked for that were started while others were moved.
const moveTries = 20

// adopt moves the processes of a task into a group of ours, inside of that in which the first
// of them is.
func (t *Tree) adopt(g *group) error {
	if g.dir == "" {
		pids, err := t.processes(g.tasks)
		if err != nil {
			return err
		}
		if len(pids) == 0 {
			return fs.ErrNotExist
		}
		parent, err := t.blkioGroup(pids[0])
		if err != nil {
			return err
		}
		if name := ownPrefix + g.name(); filepath.Base(parent) != name {
			parent = filepath.Join(parent, name)
		}
		g.dir, g.ours = parent, true
		if err := os.Mkdir(g.dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if !g.ours || g.tasks == "" {
		return nil
	}
	for range moveTries {
		moved, err := t.move(g.tasks, g.dir)
		if err != nil || !moved {
			return err
		}
	}
	return nil // it starts processes without end; those are looked for again
}

// move moves the processes of one group that are not in another one there.
func (t *Tree) move(from, to string) (moved bool, err error) {
	pids, err := t.processes(from)
	if err != nil {
		return false, err
	}
	there, err := t.processes(to)
	if err != nil {
		return false, err
	}
	for _, pid := range pids {
		if slices.Contains(there, pid) {
			continue
		}
		err := t.write(filepath.Join(to, "cgroup.procs"), strconv.Itoa(pid))
		if errors.Is(err, unix.ESRCH) {
			continue // it ended
		}
		if err != nil {
			return moved, err
		}
		moved = true
	}
	return moved, nil
}

// bound bounds a task, whose group is made if need be.
func (t *Tree) bound(g *group, disk string, bytesPerSec int64) (changed bool, err error) {
	if err := t.adopt(g); err != nil {
		return false, err
	}
	return t.limit(g.dir, disk, bytesPerSec)
}

// release takes a limit of ours back; a group that we made is removed, and its processes are
// where they were.
func (t *Tree) release(g group) error {
	if !g.ours {
		if g.dir == "" {
			return nil
		}
		return t.lift(g.dir)
	}
	for range moveTries {
		if pids, err := t.processes(g.dir); err != nil || len(pids) == 0 {
			break
		}
		if _, err := t.move(g.dir, filepath.Dir(g.dir)); err != nil {
			return err
		}
	}
	if err := t.remove(g.dir); err != nil && !gone(err) {
		return err
	}
	return nil
}

// bounded says whether a group has a limit of ours.
func (t *Tree) bounded(g group) bool {
	if g.ours {
		return true
	}
	if g.dir == "" {
		return false
	}
	text, err := t.marks.get(g.dir)
	return err == nil && text != ""
}
