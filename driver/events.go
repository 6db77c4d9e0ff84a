package driver

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/nomad-placer/nomad-placer/driver/protocol"
)

// eventDepth bounds what waits for a slow agent.
const eventDepth = 64

// eventBus hands task events to whoever listens.
type eventBus struct {
	mu        sync.Mutex
	listeners map[chan *protocol.DriverTaskEvent]bool
}

func (b *eventBus) listen() (<-chan *protocol.DriverTaskEvent, func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.listeners == nil {
		b.listeners = map[chan *protocol.DriverTaskEvent]bool{}
	}
	c := make(chan *protocol.DriverTaskEvent, eventDepth)
	b.listeners[c] = true
	return c, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.listeners, c)
	}
}

// emit sends an event. One that finds no room is dropped: Nomad keeps the last
// ten of a task anyway.
func (b *eventBus) emit(task *protocol.TaskConfig, at time.Time, message string) {
	e := &protocol.DriverTaskEvent{
		TaskId: task.GetId(), AllocId: task.GetAllocId(), TaskName: task.GetName(),
		Timestamp: timestamppb.New(at), Message: message,
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.listeners {
		select {
		case c <- e:
		default:
		}
	}
}

// A task may say eventBurst things at once, and one more each eventPeriod:
// Nomad keeps the last ten events of a task, and people read them.
const (
	eventPeriod = time.Second
	eventBurst  = 4
)

// eventJoins is how many of those that are too many are passed on in one.
const eventJoins = 6

// throttle passes events on. Those that are too many within a period it passes
// in one, at the period's end.
type throttle struct {
	send func(at time.Time, message string)

	mu    sync.Mutex
	timer *time.Timer // runs while fewer than eventBurst may be said at once
	said  int         // not yet made up for by a period
	at    time.Time   // of the newest that is held
	held  []string
}

func (t *throttle) offer(at time.Time, message string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.said == eventBurst {
		t.at, t.held = at, append(t.held, message)
		return
	}
	t.said++
	t.send(at, message)
	if t.timer == nil {
		t.timer = time.AfterFunc(eventPeriod, t.tick)
	}
}

// tick makes up for one event.
func (t *throttle) tick() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer = nil
	if !t.flush() {
		t.said--
	}
	if t.said > 0 {
		t.timer = time.AfterFunc(eventPeriod, t.tick)
	}
}

// flush passes on what is held and reports whether there was anything.
func (t *throttle) flush() bool {
	if len(t.held) == 0 {
		return false
	}
	message := strings.Join(t.held[max(0, len(t.held)-eventJoins):], "; ")
	if dropped := len(t.held) - eventJoins; dropped > 0 {
		message = fmt.Sprintf("(%d earlier ones) %s", dropped, message)
	}
	t.held = nil
	t.send(t.at, message)
	return true
}

// close passes on what is held and stops the timer.
func (t *throttle) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Stop()
	}
	t.flush()
}
