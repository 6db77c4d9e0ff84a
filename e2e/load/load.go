package load

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	// queuedBatches bounds the batches waiting for one connection.
	queuedBatches = 1024
	// lineEvery is the time between two lines of output.
	lineEvery = time.Second
	// readHeaderLimit bounds how long a scraper may take to ask.
	readHeaderLimit = 5 * time.Second
)

// client sends batches of requests and records their outcome. run returns when
// the batches end and every request has an outcome, or soon after the context
// ends; batches left in the queue then have none yet.
type client interface {
	// prepare checks that the target answers.
	prepare(ctx context.Context) error
	// run works off one queue; connection numbers its random choices.
	run(ctx context.Context, connection int, batches <-chan batch)
}

// Load generates a load until its duration is over or the context ends, and
// returns the summary. Both ends are no errors. The load has begun when the
// target has answered once; a target that never does is an error.
func Load(ctx context.Context, config Config) (Summary, error) {
	config, err := config.complete(ctx)
	if err != nil {
		return Summary{}, err
	}
	rec := newRecorder()
	closeMetrics, err := serveMetrics(config.Listen, rec)
	if err != nil {
		return Summary{}, err
	}
	defer closeMetrics()
	c, err := newClient(config, rec)
	if err != nil {
		return Summary{}, fmt.Errorf("load: target %s: %w", config.Target, err)
	}
	if err := awaitTarget(ctx, config.Wait, c.prepare); err != nil {
		return Summary{}, fmt.Errorf("load: target %s: %w", config.Target, err)
	}
	start := time.Now()
	stopLines := writeLines(config, rec, start)
	generate(ctx, config, c, rec, start)
	took := time.Since(start)
	if err := stopLines(); err != nil {
		return Summary{}, fmt.Errorf("load: write output: %w", err)
	}
	return rec.summary(took), nil
}

// awaitEvery is the pause between attempts to reach a target that starts at the
// same time as its load.
const awaitEvery = 100 * time.Millisecond

// awaitTarget tries prepare until it succeeds or wait is over.
func awaitTarget(ctx context.Context, wait time.Duration, prepare func(context.Context) error) error {
	until := time.Now().Add(wait)
	for {
		err := prepare(ctx)
		if err == nil || !time.Now().Before(until) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(awaitEvery):
		}
	}
}

func newClient(config Config, rec *recorder) (client, error) {
	if config.Protocol == HTTP {
		return newHTTPClient(config, rec)
	}
	return newRedisClient(config, rec), nil
}

// generate deals the batches of the schedule to the connections until the load
// ends, gives the answers that are still under way one timeout to arrive, and
// returns when every request that was due has an outcome.
func generate(ctx context.Context, config Config, c client, rec *recorder, start time.Time) {
	var end time.Time
	dealing, cancel := ctx, func() {}
	if config.Duration > 0 {
		end = start.Add(config.Duration)
		// The last requests are due just before the end, and may be dealt late.
		dealing, cancel = context.WithDeadline(ctx, end.Add(config.Timeout))
	}
	defer cancel()
	answering, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()

	queues, closeQueues := makeQueues(config)
	var connections sync.WaitGroup
	for i, q := range queues {
		connections.Go(func() { c.run(answering, i, q) })
	}
	turn := 0
	pace(ctx, newSchedule(start, config.RatePerSecond, config.Arrivals, config.Seed), end, func(b batch) {
		var left int
		turn, left = deal(dealing, queues, b, turn)
		rec.failure(left, errLate)
	})
	closeQueues()
	late := time.AfterFunc(config.Timeout, cut)
	defer late.Stop()
	connections.Wait()
	for _, q := range queues {
		for b := range q {
			rec.failure(b.count, errLate)
		}
	}
}

// makeQueues makes the queue of each connection. Pipelined connections have
// their own; connections that answer one request at a time share one, so that a
// request never waits for a busy connection while another is idle.
func makeQueues(config Config) (queues []chan batch, closeAll func()) {
	queues = make([]chan batch, config.Connections)
	if config.Protocol == HTTP {
		shared := make(chan batch, queuedBatches)
		for i := range queues {
			queues[i] = shared
		}
		return queues, func() { close(shared) }
	}
	for i := range queues {
		queues[i] = make(chan batch, queuedBatches)
	}
	return queues, func() {
		for _, q := range queues {
			close(q)
		}
	}
}

// deal splits a batch over the queues, beginning with the one whose turn it is.
// It returns whose turn is next, and how many requests it could not deal before
// the context ended.
func deal(ctx context.Context, queues []chan batch, b batch, turn int) (next, left int) {
	each, rest := b.count/len(queues), b.count%len(queues)
	left = b.count
	for i := 0; left > 0; i++ {
		n := each
		if i < rest {
			n++
		}
		if ctx.Err() != nil {
			return turn, left
		}
		select {
		case queues[(turn+i)%len(queues)] <- batch{b.due, n}:
			left -= n
		case <-ctx.Done():
			return turn, left
		}
	}
	return (turn + rest) % len(queues), 0
}

// writeLines starts the lines of output; the returned function ends them and
// returns the first error of writing.
func writeLines(config Config, rec *recorder, start time.Time) (stop func() error) {
	stopped, done := make(chan struct{}), make(chan error, 1)
	go func() {
		t := time.NewTicker(lineEvery)
		defer t.Stop()
		last := start
		for {
			select {
			case <-stopped:
				done <- nil
				return
			case now := <-t.C:
				if err := rec.line(config.Output, now.Sub(start), now.Sub(last)); err != nil {
					done <- err
					return
				}
				last = now
			}
		}
	}()
	return func() error {
		close(stopped)
		return <-done
	}
}

// serveMetrics serves what rec has measured; without an address it does nothing.
func serveMetrics(address string, rec *recorder) (stop func(), err error) {
	registry := prometheus.NewRegistry()
	if err := registry.Register(rec); err != nil {
		return nil, fmt.Errorf("load: metrics: %w", err)
	}
	if stop, err = serveAt(address, promhttp.HandlerFor(registry, promhttp.HandlerOpts{})); err != nil {
		return nil, fmt.Errorf("load: metrics: %w", err)
	}
	return stop, nil
}

// Outcomes of requests whose answer the end of the load cut off.
var (
	errCut  = errors.New("no answer before the load ended")
	errLate = errors.New("due, but not sent before the load ended")
)
