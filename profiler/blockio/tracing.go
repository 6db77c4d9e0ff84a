package blockio

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// tracingPlaces are where the kernel's trace is usually found.
var tracingPlaces = []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}

// instancePrefix begins the names of our trace instances; the number of the process follows.
const instancePrefix = "nomad-placer-"

// tracing is a trace instance of our own: what others trace stays as it is.
type tracing struct {
	mount    int // a mount that only this process has, or -1
	instance string
	pipe     int
	rest     []byte // the begin of a line whose end was not read yet
	buffer   []byte
}

// openTracing makes an instance, which has its own buffer and events.
func openTracing() (*tracing, error) {
	t := &tracing{mount: -1, pipe: -1, buffer: make([]byte, 1<<16)}
	root, err := t.root()
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(root, "events/block", eventName)); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: the kernel has no tracepoint %s (CONFIG_BLK_DEV_IO_TRACE)", ErrNoTracing, eventName), t.close())
	}
	instances := filepath.Join(root, "instances")
	sweepInstances(instances)
	t.instance = filepath.Join(instances, instancePrefix+strconv.Itoa(os.Getpid()))
	if err := os.Mkdir(t.instance, 0o700); err != nil {
		t.instance = ""
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrNoTracing, err), t.close())
	}
	return t, nil
}

// root is where tracefs is mounted. Where it is not, it is mounted for this process alone:
// such a mount has no name, and ends with the process.
func (t *tracing) root() (string, error) {
	for _, place := range tracingPlaces {
		if _, err := os.Stat(filepath.Join(place, "instances")); err == nil {
			return place, nil
		} else if errors.Is(err, os.ErrPermission) {
			return "", fmt.Errorf("%w: %s is for root", ErrNoTracing, place)
		}
	}
	fs, err := unix.Fsopen("tracefs", unix.FSOPEN_CLOEXEC)
	switch {
	case errors.Is(err, unix.ENODEV):
		return "", fmt.Errorf("%w: the kernel has no tracefs (CONFIG_FTRACE)", ErrNoTracing)
	case errors.Is(err, unix.EPERM):
		return "", fmt.Errorf("%w: tracing is for root", ErrNoTracing)
	case err != nil:
		return "", fmt.Errorf("%w: tracefs: %w", ErrNoTracing, err)
	}
	defer unix.Close(fs)
	if err := unix.FsconfigCreate(fs); err != nil {
		return "", fmt.Errorf("%w: tracefs: %w", ErrNoTracing, err)
	}
	if t.mount, err = unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, 0); err != nil {
		t.mount = -1
		return "", fmt.Errorf("%w: mounting tracefs: %w", ErrNoTracing, err)
	}
	return "/proc/self/fd/" + strconv.Itoa(t.mount), nil
}

// sweepInstances removes those of processes that were killed.
func sweepInstances(folder string) {
	entries, _ := os.ReadDir(folder) // what cannot be read is not swept
	for _, e := range entries {
		pid, ok := strings.CutPrefix(e.Name(), instancePrefix)
		if !ok {
			continue
		}
		if _, err := os.Stat("/proc/" + pid); errors.Is(err, os.ErrNotExist) {
			_ = os.Remove(filepath.Join(folder, e.Name())) // the next capture tries again
		}
	}
}

// begin starts the events of a device.
func (t *tracing) begin(d Device, tasks []int) error {
	settings := []struct{ file, value string }{
		{"trace_clock", "mono"},
		{"buffer_size_kb", strconv.Itoa(bufferKiB)},
		{filepath.Join("events/block", eventName, "filter"), d.filter()},
	}
	if len(tasks) > 0 {
		numbers := make([]string, len(tasks))
		for i, n := range tasks {
			numbers[i] = strconv.Itoa(n)
		}
		settings = append(settings, struct{ file, value string }{"options/event-fork", "1"},
			struct{ file, value string }{"set_event_pid", strings.Join(numbers, " ")})
	}
	settings = append(settings, struct{ file, value string }{t.enabled(), "1"})
	var err error
	if t.pipe, err = unix.Open(filepath.Join(t.instance, "trace_pipe"), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err != nil {
		t.pipe = -1
		return fmt.Errorf("%w: trace_pipe: %w", ErrNoTracing, err)
	}
	for _, s := range settings {
		if err := t.set(s.file, s.value); err != nil {
			return err
		}
	}
	return nil
}

func (t *tracing) enabled() string { return filepath.Join("events/block", eventName, "enable") }

func (t *tracing) set(file, value string) error {
	if err := os.WriteFile(filepath.Join(t.instance, file), []byte(value), 0o600); err != nil {
		return fmt.Errorf("%w: %s = %q: %w", ErrNoTracing, file, value, err)
	}
	return nil
}

// stop ends the events; those in the buffer stay.
func (t *tracing) stop() error { return t.set(t.enabled(), "0") }

// drain gives every whole line that is there, and says whether there was any.
func (t *tracing) drain(line func([]byte) error) (bool, error) {
	some := false
	for {
		n, err := unix.Read(t.pipe, t.buffer)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN) || (err == nil && n <= 0):
			return some, nil
		case err != nil:
			return some, fmt.Errorf("%w: trace_pipe: %w", ErrNoTracing, err)
		}
		some = true
		text := append(t.rest, t.buffer[:n]...)
		for {
			end := bytes.IndexByte(text, '\n')
			if end < 0 {
				break
			}
			if err := line(text[:end]); err != nil {
				return some, err
			}
			text = text[end+1:]
		}
		t.rest = append(t.rest[:0:0], text...)
	}
}

// lost counts the events that the buffers had no room for.
func (t *tracing) lost() (int64, error) {
	files, err := filepath.Glob(filepath.Join(t.instance, "per_cpu/cpu*/stats"))
	if err != nil {
		return 0, err
	}
	sum := int64(0)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return 0, fmt.Errorf("%w: %w", ErrNoTracing, err)
		}
		sum += lostIn(text)
	}
	return sum, nil
}

// lostIn reads the statistics of one processor's buffer.
func lostIn(stats []byte) int64 {
	sum := int64(0)
	for line := range bytes.Lines(stats) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		if n, ok := wholeNumber(bytes.TrimSpace(value)); ok && (string(name) == "overrun" || string(name) == "dropped events") {
			sum += n
		}
	}
	return sum
}

// close ends the instance and the mount.
func (t *tracing) close() error {
	var errs []error
	if t.pipe >= 0 {
		errs = append(errs, unix.Close(t.pipe))
	}
	if t.instance != "" {
		errs = append(errs, os.Remove(t.instance))
	}
	if t.mount >= 0 {
		errs = append(errs, unix.Close(t.mount))
	}
	return errors.Join(errs...)
}
