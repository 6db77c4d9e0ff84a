package main

import (
	"context"
	"math"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/training/backgrounds"
)

// seen is what a slot did in a window.
type seen struct {
	characteristics backgrounds.Characteristics
	rate            float64 // NaN: no loop, or no unit of work
}

// window watches slots for a while; longer, where a loop completes no work.
func (b *bench) window(ctx context.Context, watched []*occupant) ([]seen, error) {
	before, err := b.read(ctx, watched)
	if err != nil {
		return nil, err
	}
	for begun := time.Now(); ; {
		if err := cluster.Sleep(ctx, backgroundWindow); err != nil {
			return nil, err
		}
		after, err := b.read(ctx, watched)
		if err != nil {
			return nil, err
		}
		out, idle := make([]seen, len(watched)), false
		for i, o := range watched {
			out[i] = after[i].since(before[i])
			idle = idle || o.listen != "" && math.IsNaN(out[i].rate)
		}
		if !idle || time.Since(begun) >= backgroundMost {
			return out, nil
		}
	}
}

// reading is one look at a slot.
type reading struct {
	at    time.Time
	usage usage
	loop  sample
	loops bool
}

func (b *bench) read(ctx context.Context, watched []*occupant) ([]reading, error) {
	out := make([]reading, len(watched))
	for i, o := range watched {
		var err error
		if o.listen != "" {
			if out[i].loop, err = scrape(ctx, o.listen); err != nil {
				return nil, err
			}
			out[i].loops = true
		}
		if out[i].usage, err = b.slots.usage(o.slot); err != nil {
			return nil, err
		}
		out[i].at = time.Now()
	}
	return out, nil
}

func (r reading) since(before reading) seen {
	seconds := r.at.Sub(before.at).Seconds()
	per := func(after, before uint64, unit float64) float64 { return float64(after-before) / unit / seconds }
	out := seen{rate: math.NaN(), characteristics: backgrounds.Characteristics{
		ReadsPerSec:  per(r.usage.reads, before.usage.reads, 1),
		WritesPerSec: per(r.usage.writes, before.usage.writes, 1),
		ReadMBps:     per(r.usage.readBytes, before.usage.readBytes, 1e6),
		WriteMBps:    per(r.usage.writeBytes, before.usage.writeBytes, 1e6),
		CPULocal:     per(r.usage.user, before.usage.user, 1e9),
		CPUGlobal:    per(r.usage.system, before.usage.system, 1e9),
	}}
	if took := r.loop.at.Sub(before.loop.at).Seconds(); r.loops && took > 0 && r.loop.units > before.loop.units {
		out.rate = (r.loop.units - before.loop.units) / took
	}
	return out
}
