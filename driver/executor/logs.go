package executor

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Logs reads what Nomad collects of a task: ALLOC/alloc/logs/TASK.STREAM.N,
// where N grows with each rotation and old files are deleted. The tasks can write
// there, too: no link out of the shared directory is followed, and nothing but
// files is opened.
type Logs struct {
	Shared string // the allocation's shared directory, ALLOC/alloc
}

// logsDir is where the logs are in the shared directory.
const logsDir = "logs"

// An offset names a place in a file that may be deleted: its number in the
// high bits, the position inside it in the low ones. It grows with the stream,
// and 0 is its oldest byte, so a reader need not know. 40 bits are a terabyte
// in one log file.
const positionBits = 40

func logOffset(index, position int64) int64 { return index<<positionBits | position }

func logPlace(offset int64) (index, position int64) {
	return offset >> positionBits, offset & (1<<positionBits - 1)
}

// Read returns what the stream holds from offset on, at most limit bytes, and
// the offset to go on from. Bytes deleted by rotation before they were read
// are skipped.
func (l Logs) Read(task, stream string, offset int64, limit int) (data []byte, next int64, err error) {
	if offset < 0 || limit <= 0 {
		return nil, offset, fmt.Errorf("read log: offset %d, limit %d", offset, limit)
	}
	root, err := os.OpenRoot(l.Shared)
	if err != nil {
		return nil, offset, fmt.Errorf("read log: %w", err)
	}
	defer func() { _ = root.Close() }() // it was read only
	indices, err := indices(root, task, stream)
	if err != nil {
		return nil, offset, err
	}
	next = offset
	for _, i := range indices {
		index, position := logPlace(next)
		if i < index {
			continue
		}
		if i > index {
			next, position = logOffset(i, 0), 0
		}
		chunk, err := readAt(root, fmt.Sprintf("%s/%s.%s.%d", logsDir, task, stream, i), position, limit-len(data))
		if errors.Is(err, fs.ErrNotExist) {
			continue // rotated away since the directory was read
		}
		if err != nil {
			return data, next, err
		}
		data = append(data, chunk...)
		next += int64(len(chunk))
		if len(data) == limit {
			break
		}
	}
	return data, next, nil
}

// indices lists the numbers of the stream's files, ascending. Not one is an
// error: the task has not started, or its logs are disabled.
func indices(root *os.Root, task, stream string) ([]int64, error) {
	entries, err := fs.ReadDir(root.FS(), logsDir)
	if err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	prefix := task + "." + stream + "."
	var out []int64
	for _, e := range entries {
		suffix, ok := strings.CutPrefix(e.Name(), prefix)
		if !ok {
			continue
		}
		if n, err := strconv.ParseInt(suffix, 10, 64); err == nil && n >= 0 {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("read log: task %q has no %s log yet, or its logs are disabled: %w", task, stream, fs.ErrNotExist)
	}
	slices.Sort(out)
	return out, nil
}

func readAt(root *os.Root, path string, position int64, limit int) ([]byte, error) {
	// A named pipe would block whoever opens it.
	f, err := root.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read log: %s is no file: %w", path, fs.ErrInvalid)
	}
	data, err := io.ReadAll(io.NewSectionReader(f, position, int64(limit)))
	if err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	return data, nil
}
