package ibench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// The round-trip time is taken a hundred times a second while the kernel
// works, and now and then while it does not, to see whether the peer is there.
const (
	echoInterval     = 10 * time.Millisecond
	echoIntervalIdle = time.Second
)

// echoesKept is how many of the last round trips are summed up.
const echoesKept = 256

// echoTimeout is how long the first answer may take. A peer that never answers
// is no sink of ours, but may be good enough to send to.
const echoTimeout = time.Second

// echo measures the time of 64 bytes to the peer and back, over a connection
// of its own next to the bulk.
type echo struct {
	peer    string
	conn    net.Conn
	sending atomic.Bool
	wake    chan struct{}
	stop    context.CancelFunc
	done    chan struct{}

	mu     sync.Mutex
	trips  []time.Duration // the last ones
	count  int             // of all
	silent bool            // the peer does not answer echoes
	gone   error           // it did, and does not any more
}

// startEcho connects and starts the measurement.
func startEcho(ctx context.Context, peer string) (*echo, error) {
	dialer := net.Dialer{Timeout: connectTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", peer)
	if err != nil {
		return nil, fmt.Errorf("network peer %s: %w", peer, err)
	}
	running, stop := context.WithCancel(context.Background())
	e := &echo{peer: peer, conn: conn, wake: make(chan struct{}, 1), stop: stop, done: make(chan struct{})}
	go e.run(running)
	return e, nil
}

func (e *echo) setSending(sending bool) {
	e.sending.Store(sending)
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

func (e *echo) run(ctx context.Context) {
	defer close(e.done)
	if _, err := e.conn.Write([]byte(echoHello)); err != nil {
		e.end(ctx, err)
		return
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	message := make([]byte, echoBytes)
	for {
		if err := e.trip(message); err != nil {
			e.end(ctx, err)
			return
		}
		interval := echoIntervalIdle
		if e.sending.Load() {
			interval = echoInterval
		}
		timer.Reset(interval)
		select {
		case <-ctx.Done():
			return
		case <-e.wake:
		case <-timer.C:
		}
	}
}

// trip sends one message there and back.
func (e *echo) trip(message []byte) error {
	timeout := goneTimeout
	if e.trips == nil {
		timeout = echoTimeout
	}
	begin := time.Now()
	if err := e.conn.SetDeadline(begin.Add(timeout)); err != nil {
		return err
	}
	if _, err := e.conn.Write(message); err != nil {
		return err
	}
	if _, err := io.ReadFull(e.conn, message); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.trips) < echoesKept {
		e.trips = append(e.trips, 0)
	}
	e.trips[e.count%echoesKept] = time.Since(begin)
	e.count++
	return nil
}

// end notes why there are no more round trips.
func (e *echo) end(ctx context.Context, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case ctx.Err() != nil:
	case e.count == 0:
		e.silent = true
	default:
		e.gone = fmt.Errorf("network peer %s went away: %w", e.peer, err)
	}
}

// measures are the median and the 99th percentile of the last round trips.
func (e *echo) measures() map[string]float64 {
	e.mu.Lock()
	sorted := slices.Clone(e.trips)
	e.mu.Unlock()
	if len(sorted) == 0 {
		return nil
	}
	slices.Sort(sorted)
	microseconds := func(percent int) float64 {
		return float64(sorted[(len(sorted)-1)*percent/100].Nanoseconds()) / 1e3
	}
	return map[string]float64{"round_trip_p50_microseconds": microseconds(50), "round_trip_p99_microseconds": microseconds(99)}
}

func (e *echo) alerts() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.silent {
		return []string{"the peer answers no echoes: the round-trip time is not known"}
	}
	return nil
}

// healthy returns an error once a peer that answered does not any more.
func (e *echo) healthy() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.gone
}

// Close ends the measurement.
func (e *echo) Close() error {
	e.stop()
	err := e.conn.Close() // wakes a trip that waits
	<-e.done
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
