package replay

import (
	"context"
	"fmt"
	"math"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/nomad-placer/nomad-placer/profiler/workload/network"
)

const (
	// drawnAtOnce is how many messages are drawn at a time, about, and longestStretch for how
	// long at most.
	drawnAtOnce    = 100_000
	longestStretch = time.Hour
	// drawnMost is how many there may be of them: a row whose bursts are larger ends the player.
	drawnMost = 20 * drawnAtOnce
	// queued is how many messages may wait for a peer: what is more is left out.
	queued = 256
	// again is how long a peer that does not answer is left alone.
	again = 10 * time.Second
	// piece is the most that is written at once, so that the cap is kept from one
	// write to the next.
	piece = 64 << 10
	// writeTimeout is how long a peer may take to read a piece.
	writeTimeout = 5 * time.Second
)

// Report is what was asked for by the model, and what became of it.
type Report struct {
	Seconds  float64 `json:"seconds"`
	Messages int64   `json:"messages"`
	Asked    int64   `json:"asked_bytes"` // of messages to peers
	Sent     int64   `json:"sent_bytes"`
	// Capped are bytes that were left out because more waited than the cap, or the
	// peer, takes.
	Capped int64 `json:"capped_bytes"`
	// Unanswered are bytes for peers that did not answer.
	Unanswered int64 `json:"unanswered_bytes"`
	// Elsewhere are bytes for servers that no machine plays, or for the cloud.
	Elsewhere int64    `json:"elsewhere_bytes"`
	Silent    []string `json:"silent,omitempty"` // peers that do not answer now
	// Received is what came from peers, Refused how many connections were not taken.
	Received int64 `json:"received_bytes"`
	Refused  int64 `json:"refused"`
	// AskedBytesPerSecond is the model's mean over the whole time it was fitted to.
	AskedBytesPerSecond float64 `json:"asked_bytes_per_s"`
}

// String is the report in one line.
func (r Report) String() string {
	text := fmt.Sprintf("sent %.4g of %.4g bytes in %d messages in %.0f s; received %.4g", float64(r.Sent), float64(r.Asked), r.Messages, r.Seconds, float64(r.Received))
	for _, part := range []struct {
		bytes int64
		why   string
	}{{r.Capped, "over the cap"}, {r.Unanswered, "for peers that do not answer"}, {r.Elsewhere, "for servers that no task plays"}} {
		if part.bytes > 0 {
			text += fmt.Sprintf("; %.4g bytes left out: %s", float64(part.bytes), part.why)
		}
	}
	if len(r.Silent) > 0 {
		text += "; no answer from " + strings.Join(r.Silent, ", ")
	}
	return text
}

// Player generates the part of one machine.
type Player struct {
	request Request
	part    *network.Model
	peers   map[int32]*peer
	limit   *rate.Limiter
	stretch time.Duration             // how much is drawn at a time
	begun   atomic.Pointer[time.Time] // nil: it has not
	moving  sync.WaitGroup

	messages, asked, sent, capped, unanswered, elsewhere atomic.Int64
}

// New makes a player of a request that Part has found good.
func New(r Request, part *network.Model) *Player {
	p := &Player{request: r, part: part, peers: map[int32]*peer{}, stretch: stretchOf(part), limit: rate.NewLimiter(rate.Limit(r.LimitBytesPerSecond), burst(r.LimitBytesPerSecond))}
	for _, to := range r.Peers {
		p.peers[int32(to.Server)] = &peer{player: p, address: to.Address, queue: make(chan int64, queued)}
	}
	return p
}

// stretchOf is how much of a part is drawn at a time: whole seconds.
func stretchOf(part *network.Model) time.Duration {
	most := messagesPerSecond(part)
	if !(most > drawnAtOnce/longestStretch.Seconds()) {
		return longestStretch
	}
	return max(time.Second, time.Duration(drawnAtOnce/most)*time.Second)
}

// burst is what may be sent at once under a cap: a hundredth of a second of it, one piece at
// most.
func burst(bytesPerSecond float64) int {
	return int(math.Max(1, math.Min(piece, bytesPerSecond/100)))
}

// Play sends until the context ends, and leaves nothing running. Its clock begins when the first
// messages are drawn; while they are sent the next are drawn.
func (p *Player) Play(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer func() {
		stop()
		p.moving.Wait()
	}()
	next := p.draw(ctx, 0)
	begun := time.Now()
	p.begun.Store(&begun)
	for _, to := range p.peers {
		p.moving.Go(func() { to.run(ctx) })
	}
	for n := uint64(0); ; n++ {
		now := next
		if now.err == nil {
			drawn := make(chan stretch, 1)
			p.moving.Go(func() { drawn <- p.draw(ctx, n+1) })
			if now.err = p.send(ctx, begun.Add(time.Duration(n)*p.stretch), now); now.err == nil {
				next = <-drawn
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		if now.err != nil {
			return now.err
		}
	}
}

// stretch is traffic that was drawn at a time.
type stretch struct {
	from    time.Duration // in the week
	records []network.Record
	err     error
}

// draw draws the traffic of the n-th stretch.
func (p *Player) draw(ctx context.Context, n uint64) stretch {
	from := (time.Duration(p.request.BeginSeconds*float64(time.Second)) + time.Duration(n)*p.stretch).Truncate(time.Second) % aWeek
	made, err := p.part.Generate(ctx, network.Generation{
		Span: network.Span{From: from, To: from + p.stretch, Bin: time.Second}, Seed: p.seed(n), ExactCounts: p.request.ExactCounts, Most: drawnMost, Workers: 1,
	})
	if err != nil {
		return stretch{err: err}
	}
	return stretch{from: from, records: made.Records()}
}

// send hands each message of a stretch, which begins now, to its peer when it is due.
func (p *Player) send(ctx context.Context, origin time.Time, s stretch) error {
	for _, r := range s.records {
		if err := until(ctx, origin.Add(r.At-s.from)); err != nil {
			return err
		}
		p.hand(r)
	}
	return until(ctx, origin.Add(p.stretch))
}

// seed is another for every machine and every stretch.
func (p *Player) seed(n uint64) uint64 {
	return p.request.Seed*0x9e3779b97f4a7c15 ^ uint64(p.request.Server)<<40 ^ n
}

func (p *Player) hand(r network.Record) {
	to, known := p.peers[r.Destination]
	if !known {
		p.elsewhere.Add(r.Bytes)
		return
	}
	p.messages.Add(1)
	p.asked.Add(r.Bytes)
	if to.silent.Load() {
		p.unanswered.Add(r.Bytes)
		return
	}
	select {
	case to.queue <- r.Bytes:
	default:
		p.capped.Add(r.Bytes)
	}
}

func until(ctx context.Context, moment time.Time) error {
	left := time.Until(moment)
	if left <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Report is what was done so far.
func (p *Player) Report() Report {
	r := Report{
		Messages: p.messages.Load(), Asked: p.asked.Load(), Sent: p.sent.Load(), Capped: p.capped.Load(),
		Unanswered: p.unanswered.Load(), Elsewhere: p.elsewhere.Load(), AskedBytesPerSecond: p.part.BytesPerSecond(),
	}
	if begun := p.begun.Load(); begun != nil {
		r.Seconds = time.Since(*begun).Seconds()
	}
	for _, to := range p.request.Peers {
		if p.peers[int32(to.Server)].silent.Load() {
			r.Silent = append(r.Silent, to.Address)
		}
	}
	return r
}

// peer is the connection to one other machine.
type peer struct {
	player  *Player
	address string
	queue   chan int64 // bytes of messages that are due
	silent  atomic.Bool
}

// run connects, sends, and connects again after a while when the peer has gone.
func (t *peer) run(ctx context.Context) {
	for ctx.Err() == nil {
		conn, err := t.connect(ctx)
		if err == nil {
			t.silent.Store(false)
			t.send(ctx, conn)
			conn.Close()
		}
		if ctx.Err() != nil {
			return
		}
		t.silent.Store(true)
		t.drain()
		_ = until(ctx, time.Now().Add(again)) // the loop sees the end
	}
}

func (t *peer) connect(ctx context.Context) (net.Conn, error) {
	dialer := net.Dialer{Timeout: greetTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", t.address)
	if err != nil {
		return nil, err
	}
	if err := greet(conn, hello(t.player.request.Key), true); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// drain counts what waits for a peer that has gone.
func (t *peer) drain() {
	for {
		select {
		case bytes := <-t.queue:
			t.player.unanswered.Add(bytes)
		default:
			return
		}
	}
}

// send writes message after message until the peer or the work ends.
func (t *peer) send(ctx context.Context, conn net.Conn) {
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	for {
		select {
		case <-ctx.Done():
			return
		case bytes := <-t.queue:
			left, err := t.write(ctx, conn, bytes)
			if err != nil {
				if ctx.Err() == nil {
					t.player.unanswered.Add(left)
				}
				return
			}
		}
	}
}

// zeros is what is sent: models have no payload.
var zeros [piece]byte

// write sends a message in pieces, each when the cap allows it. left is what was not sent.
func (t *peer) write(ctx context.Context, conn net.Conn, bytes int64) (left int64, err error) {
	for bytes > 0 {
		n := int(min(bytes, int64(t.player.limit.Burst())))
		if err := t.player.limit.WaitN(ctx, n); err != nil {
			return bytes, err
		}
		if err := conn.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			return bytes, err
		}
		written, err := conn.Write(zeros[:n])
		t.player.sent.Add(int64(written))
		if bytes -= int64(written); err != nil {
			return bytes, err
		}
	}
	return 0, nil
}
