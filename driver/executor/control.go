package executor

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/workload/network/replay"
)

// Command is what a child can be asked over its socket, one JSON object a line.
type Command string

// The commands.
const (
	CommandSet    Command = "set"    // intensity = Percent
	CommandAdd    Command = "add"    // intensity += Percent, kept in 0..100
	CommandPause  Command = "pause"  // kernels stop working
	CommandResume Command = "resume" // and work again
	CommandRamp   Command = "ramp"   // intensity walks as Ramp says
	CommandStats  Command = "stats"
	CommandAdvise Command = "advise" // of a profiling run: what to measure next
	CommandEvents Command = "events" // answers with one line per event, without end
)

// Request is one command. Source limits it to one kernel; empty is all.
type Request struct {
	Command Command             `json:"command"`
	Percent float64             `json:"percent,omitempty"`
	Source  interference.Source `json:"source,omitempty"`
	Ramp    *Ramp               `json:"ramp,omitempty"`
	Advice  *profile.Advice     `json:"advice,omitempty"`
}

// Response answers a Request. Exactly one of the fields after Error is set.
type Response struct {
	Error    string             `json:"error,omitempty"`
	Kernels  []KernelStatus     `json:"kernels,omitempty"`
	Progress *profiler.Progress `json:"progress,omitempty"` // of a profiling run
	Transfer *Transfer          `json:"loan,omitempty"`     // of a task that transfers
	Traffic  *replay.Report     `json:"traffic,omitempty"`  // of a task that sends the traffic of a model
	Event    *Event             `json:"event,omitempty"`
}

// Event is something a person may want to see in the task's event list.
type Event struct {
	At      time.Time `json:"at"`
	Message string    `json:"message"`
}

// KernelStatus is one kernel of a task.
type KernelStatus struct {
	Source    interference.Source `json:"source"`
	PID       int                 `json:"pid"`
	Placement string              `json:"placement"`
	CPUs      cgroup.CPUs         `json:"cpus"`
	Paused    bool                `json:"paused"`
	Ramp      bool                `json:"ramp"` // a ramp is under way
	Variant   string              `json:"variant,omitempty"`
	// AchievedPercent is the intensity reached since the last look: the demanded
	// one times the share of the demanded work done. SpeedOpsPerSec is the
	// kernel's own performance over the same time. Absent where not known yet.
	AchievedPercent *float64 `json:"achieved_percent,omitempty"`
	SpeedOpsPerSec  *float64 `json:"speed_ops_per_sec,omitempty"`
	ResidentBytes   int64    `json:"resident_bytes"` // memory occupied by intent
	Notes           []string `json:"notes,omitempty"`
	profiler.KernelStats
}

// maxLine bounds a request.
const maxLine = 4096

// handler carries out commands.
type handler interface {
	handle(ctx context.Context, r Request) Response
	// events returns a channel of events and a function that ends it.
	events() (<-chan Event, func())
}

// serve answers on the socket until ctx ends.
func serve(ctx context.Context, listener net.Listener, h handler) error {
	stop := context.AfterFunc(ctx, func() { listener.Close() })
	defer stop()
	for {
		conn, err := listener.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("control socket: %w", err)
		}
		go serveConn(ctx, conn, h)
	}
}

func serveConn(ctx context.Context, conn net.Conn, h handler) {
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	lines := bufio.NewScanner(io.LimitReader(conn, 1<<30))
	lines.Buffer(nil, maxLine)
	out := json.NewEncoder(conn)
	for lines.Scan() {
		var r Request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			_ = out.Encode(Response{Error: "unreadable request: " + err.Error()}) // the peer may be gone
			return
		}
		if r.Command == CommandEvents {
			streamEvents(ctx, out, h)
			return
		}
		if err := out.Encode(h.handle(ctx, r)); err != nil {
			return
		}
	}
}

func streamEvents(ctx context.Context, out *json.Encoder, h handler) {
	events, end := h.events()
	defer end()
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-events:
			if out.Encode(Response{Event: &e}) != nil {
				return
			}
		}
	}
}

// callTimeout bounds one command: a level is taken within milliseconds.
const callTimeout = 5 * time.Second

// Call sends one command to a child and returns its answer. An answer that
// carries an error is returned as one.
func Call(ctx context.Context, socket string, r Request) (Response, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	conn, err := dial(ctx, socket, r)
	if err != nil {
		return Response{}, err
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return Response{}, fmt.Errorf("control socket: %w", err)
	}
	var answer Response
	if err := json.NewDecoder(conn).Decode(&answer); err != nil {
		return Response{}, fmt.Errorf("control socket: %w", err)
	}
	if answer.Error != "" {
		return answer, errors.New(answer.Error)
	}
	return answer, nil
}

// Events calls f for each event of a child until ctx or the child ends.
func Events(ctx context.Context, socket string, f func(Event)) error {
	conn, err := dial(ctx, socket, Request{Command: CommandEvents})
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	for in := json.NewDecoder(conn); ; {
		var answer Response
		if err := in.Decode(&answer); err != nil {
			if ctx.Err() != nil || errors.Is(err, io.EOF) {
				return ctx.Err()
			}
			return fmt.Errorf("control socket: %w", err)
		}
		if answer.Event != nil {
			f(*answer.Event)
		}
	}
}

func dial(ctx context.Context, socket string, r Request) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, fmt.Errorf("control socket: %w", err)
	}
	if err := json.NewEncoder(conn).Encode(r); err != nil {
		return nil, errors.Join(fmt.Errorf("control socket: %w", err), conn.Close())
	}
	return conn, nil
}
