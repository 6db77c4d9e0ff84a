package driver

import (
	"sync"
	"time"

	"github.com/hashicorp/nomad/plugins/drivers/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// eventDepth bounds what waits for a slow agent.
const eventDepth = 64

// eventBus hands task events to whoever listens.
type eventBus struct {
	mu        sync.Mutex
	listeners map[chan *proto.DriverTaskEvent]bool
}

func (b *eventBus) listen() (<-chan *proto.DriverTaskEvent, func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.listeners == nil {
		b.listeners = map[chan *proto.DriverTaskEvent]bool{}
	}
	c := make(chan *proto.DriverTaskEvent, eventDepth)
	b.listeners[c] = true
	return c, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.listeners, c)
	}
}

// emit sends an event. One that finds no room is dropped: Nomad keeps the last
// ten of a task anyway.
func (b *eventBus) emit(task *proto.TaskConfig, at time.Time, message string) {
	e := &proto.DriverTaskEvent{
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

// eventPeriod is the shortest time between two events of one task.
const eventPeriod = time.Second

// throttle passes events on, at most one each period. Of several within a
// period it passes the first at once and the last at the period's end.
type throttle struct {
	send func(at time.Time, message string)

	mu      sync.Mutex
	pending *time.Timer
	at      time.Time
	message string
	held    bool
}

func (t *throttle) offer(at time.Time, message string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pending != nil {
		t.at, t.message, t.held = at, message, true
		return
	}
	t.send(at, message)
	t.pending = time.AfterFunc(eventPeriod, t.flush)
}

func (t *throttle) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending = nil
	if t.held {
		t.held = false
		t.send(t.at, t.message)
		t.pending = time.AfterFunc(eventPeriod, t.flush)
	}
}

// close passes on what is held and stops the timer.
func (t *throttle) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pending != nil {
		t.pending.Stop()
	}
	if t.held {
		t.held = false
		t.send(t.at, t.message)
	}
}
