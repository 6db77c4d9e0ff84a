package main

import (
	"context"
	"math"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/disk"
	"github.com/nomad-placer/nomad-placer/profiler/training/backgrounds"
)

// Times of a window.
const (
	windowSettle = 500 * time.Millisecond // requests under way before drain
	windowBegin  = 3 * time.Second        // it begins with the end of a unit, that is waited for so long
	windowLook   = 10 * time.Millisecond
	windowTicks  = 5 // units end in it at least, or steps of them,
	windowMost   = 5 // unless it has become so many times as long
)

// seen is what a slot did in a window.
type seen struct {
	characteristics backgrounds.Characteristics
	rate            float64 // NaN: no loop, or no unit of work
	steps           float64 // in which its units ended
}

// window watches slots for a while; longer, where a loop completes little work.
func (b *bench) window(ctx context.Context, watched []*occupant, length time.Duration) ([]seen, error) {
	if err := cluster.Sleep(ctx, windowSettle); err != nil {
		return nil, err
	}
	before, err := b.begin(ctx, watched)
	if err != nil {
		return nil, err
	}
	for begun := time.Now(); ; {
		if err := cluster.Sleep(ctx, length); err != nil {
			return nil, err
		}
		after, err := b.read(ctx, watched)
		if err != nil {
			return nil, err
		}
		out, few := make([]seen, len(watched)), false
		for i, o := range watched {
			out[i] = after[i].since(before[i])
			few = few || o.listen != "" && !(out[i].steps >= windowTicks)
		}
		if !few || time.Since(begun) >= (windowMost-1)*length {
			return out, nil
		}
	}
}

// begin reads when a unit of each loop has ended, so that none that was begun before counts.
func (b *bench) begin(ctx context.Context, watched []*occupant) ([]reading, error) {
	first, err := b.read(ctx, watched)
	if err != nil {
		return nil, err
	}
	for begun := time.Now(); ; {
		now, err := b.read(ctx, watched)
		if err != nil {
			return nil, err
		}
		waits := false
		for i := range now {
			waits = waits || now[i].loops && now[i].loop.ticks == first[i].loop.ticks
		}
		if !waits || time.Since(begun) >= windowBegin {
			return now, nil
		}
		if err := cluster.Sleep(ctx, windowLook); err != nil {
			return nil, err
		}
	}
}

// reading is one look at a slot.
type reading struct {
	at     time.Time
	time   cpuTime
	served disk.Served
	loop   sample
	loops  bool
}

func (b *bench) read(ctx context.Context, watched []*occupant) ([]reading, error) {
	served, err := b.disk.Served()
	if err != nil {
		return nil, err
	}
	out := make([]reading, len(watched))
	for i, o := range watched {
		out[i] = reading{at: time.Now(), served: served[b.images[o.slot]]}
		if out[i].time, err = b.slots.cpuTime(o.slot); err != nil {
			return nil, err
		}
		if o.listen == "" {
			continue
		}
		if err := o.failed(); err != nil {
			return nil, err
		}
		out[i].loops = true
		if out[i].loop, err = scrape(ctx, o.listen); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (r reading) since(before reading) seen {
	seconds := r.at.Sub(before.at).Seconds()
	served := r.served.Minus(before.served)
	out := seen{rate: math.NaN(), characteristics: backgrounds.Characteristics{
		ReadsPerSec:  float64(served.Reads) / seconds,
		WritesPerSec: float64(served.Writes) / seconds,
		ReadMBps:     float64(served.ReadBytes) / 1e6 / seconds,
		WriteMBps:    float64(served.Bytes-served.ReadBytes) / 1e6 / seconds,
		CPULocal:     (r.time.user - before.time.user).Seconds() / seconds,
		CPUGlobal:    (r.time.system - before.time.system).Seconds() / seconds,
	}}
	if took := r.loop.at.Sub(before.loop.at).Seconds(); r.loops && took > 0 && r.loop.units > before.loop.units {
		out.rate = (r.loop.units - before.loop.units) / took
		out.steps = r.loop.ticks - before.loop.ticks
	}
	return out
}
