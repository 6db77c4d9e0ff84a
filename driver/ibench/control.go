package ibench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler"
)

// The control protocol: one JSON request per line, one JSON reply per line,
// over a unix socket.

// operation names what a request asks for.
type operation string

const (
	opSet    operation = "set"
	opStats  operation = "stats"
	opPause  operation = "pause"
	opResume operation = "resume"
	opStop   operation = "stop"
	opRamp   operation = "ramp"
)

type request struct {
	Op      operation `json:"op"`
	Percent *float64  `json:"percent,omitempty"` // of set

	RampDuration time.Duration `json:"ramp_ns,omitempty"` // of ramp
}

type reply struct {
	Error  string  `json:"error,omitempty"`
	Report *Report `json:"report,omitempty"`
}

// Report is a kernel's totals and state. Operations and times are sums over
// its threads.
type Report struct {
	profiler.KernelStats
	Source          string   `json:"source"`
	Placement       string   `json:"placement"`
	Threads         int      `json:"threads"`
	Paused          bool     `json:"paused"`
	ResidentBytes   int64    `json:"resident_bytes"` // memory the kernel occupies by intent
	CPUNanoseconds  int64    `json:"cpu_ns"`         // of the whole process
	PeakOpsPerSec   float64  `json:"peak_ops_per_sec,omitempty"`
	RemainingSecond float64  `json:"remaining_seconds"` // until max duration
	Notes           []string `json:"notes,omitempty"`
	Alerts          []string `json:"alerts,omitempty"` // what keeps it from its intensity now
	// Measures are numbers of the kernel's own, by name with its unit.
	Measures map[string]float64 `json:"measures,omitempty"`
	// Ramp is what was done at each level, in the reply to a ramp.
	Ramp []RampLevel `json:"ramp,omitempty"`
}

// requestBytesMax bounds one line of the protocol.
const requestBytesMax = 64 << 10

// askTimeout bounds a request whose context has no deadline: a kernel answers
// at once unless its process is stopped or the machine is stuck.
const askTimeout = 10 * time.Second

// ask sends one request over a connection of its own.
func ask(ctx context.Context, socket string, q request) (Report, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	path, release, err := shortSocketPath(socket)
	if err != nil {
		return Report{}, err
	}
	defer release()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return Report{}, fmt.Errorf("control socket: %w", err)
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return Report{}, fmt.Errorf("control socket: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if err := json.NewEncoder(conn).Encode(q); err != nil {
		return Report{}, fmt.Errorf("control socket: %w", errors.Join(err, ctx.Err()))
	}
	var r reply
	if err := json.NewDecoder(bufio.NewReader(conn)).Decode(&r); err != nil {
		return Report{}, fmt.Errorf("control socket: %w", errors.Join(err, ctx.Err()))
	}
	if r.Error != "" {
		return Report{}, errors.New(r.Error)
	}
	if r.Report == nil {
		return Report{}, errors.New("control socket: an empty reply")
	}
	return *r.Report, nil
}

// answerer carries out one request of the control socket.
type answerer func(request) (Report, error)

// serveControl answers connections until the listener closes.
func serveControl(listener net.Listener, answer answerer) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go serveConnection(conn, answer)
	}
}

func serveConnection(conn net.Conn, answer answerer) {
	defer conn.Close()
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, requestBytesMax)
	out := json.NewEncoder(conn)
	for lines.Scan() {
		if out.Encode(answerLine(lines.Bytes(), answer)) != nil {
			return
		}
	}
}

func answerLine(line []byte, answer answerer) reply {
	var q request
	if err := json.Unmarshal(line, &q); err != nil {
		return reply{Error: "the request is not one line of JSON: " + err.Error()}
	}
	r, err := answer(q)
	if err != nil {
		return reply{Error: err.Error()}
	}
	return reply{Report: &r}
}

// listenControl listens on the socket. A socket file without a process behind it is
// left from a killed kernel and replaced; one that is answered is an error.
func listenControl(socket string) (net.Listener, error) {
	path, release, err := shortSocketPath(socket)
	if err != nil {
		return nil, err
	}
	defer release()
	if conn, err := net.DialTimeout("unix", path, time.Second); err == nil {
		conn.Close()
		return nil, fmt.Errorf("control socket %s: another kernel answers there", socket)
	}
	if info, err := os.Lstat(socket); err == nil && info.Mode()&os.ModeSocket != 0 {
		if err := os.Remove(socket); err != nil {
			return nil, fmt.Errorf("control socket: %w", err)
		}
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	// The path may be one of /proc, valid only while release was not called:
	// the caller removes the socket by its own name.
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := os.Chmod(socket, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("control socket: %w", err), listener.Close())
	}
	return listener, nil
}

// socketPathMax is the longest path of a unix socket, sun_path of unix(7)
// without its closing zero.
const socketPathMax = 107

// shortSocketPath returns a path of the same socket that fits into a socket
// address: allocation directories easily are too deep. A longer one goes
// through the open directory's entry in /proc/self/fd.
func shortSocketPath(socket string) (path string, release func(), err error) {
	if len(socket) <= socketPathMax {
		return socket, func() {}, nil
	}
	dir, err := os.Open(filepath.Dir(socket))
	if err != nil {
		return "", nil, fmt.Errorf("control socket: %w", err)
	}
	short := filepath.Join("/proc/self/fd", strconv.Itoa(int(dir.Fd())), filepath.Base(socket))
	return short, func() { closeQuietly(dir) }, nil
}

// closeQuietly closes what was only read: there is nothing to lose.
func closeQuietly(c io.Closer) { _ = c.Close() }
