package nomadapi

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/disk"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Keys of the dynamic node meta. The prefix `unique.` keeps them out of the
// node's computed class, which they would otherwise split.
const (
	metaHeadroomPrefix = "unique.placer_headroom_"
	metaCausedPrefix   = "unique.placer_caused_"
)

// Bounds on writing node meta: each change makes Nomad evaluate again every job
// on the node.
const (
	pressureMinInterval = 10 * time.Second // per node
	pressureBurst       = 20               // writes at once, whole cluster
	pressurePerSecond   = 5.0              // writes after that
)

// pressureBoard remembers what each node shows.
type pressureBoard struct {
	mu     sync.Mutex
	shown  map[cluster.NodeID]shownPressure
	tokens float64
	filled time.Time
}

type shownPressure struct {
	at     time.Time
	values map[string]string
}

func newPressureBoard() pressureBoard {
	return pressureBoard{shown: map[cluster.NodeID]shownPressure{}, tokens: pressureBurst}
}

// Publish shows each node's pressure as node meta: headroom is the least any
// resident tolerates (what a newcomer may cause), caused the sum of what residents
// cause, both whole percents; and what may still be promised of its disk, whole MB/s. An
// unknown number has no key. Nodes written less than
// ten seconds ago, and those beyond the write budget, wait for the next call. It does
// nothing unless Options.NodeMetadata is set: Nomad counts it as writing nodes, and whoever
// may do that may drain and purge them.
func (w *World) Publish(ctx context.Context, pressure iter.Seq2[cluster.NodeID, cluster.Pressure]) error {
	if !w.opts.NodeMetadata {
		return nil
	}
	var failures []error
	for id, p := range pressure {
		want := pressureMeta(p)
		change := w.pressure.take(id, want, w.metaOf(id), w.clock.Now())
		if len(change) == 0 {
			continue
		}
		err := w.setMeta(ctx, id, change)
		if err != nil {
			w.pressure.forget(id)
			failures = append(failures, fmt.Errorf("meta of node %s: %w", id, err))
		}
		if ctx.Err() != nil || errors.Is(err, cluster.ErrNotLeading) {
			break
		}
	}
	return errors.Join(failures...)
}

// setMeta may be retried: it sets the same values again.
func (w *World) setMeta(ctx context.Context, id cluster.NodeID, change map[string]*string) error {
	return w.nomad.retry(ctx, func(ctx context.Context) error {
		if err := cluster.MayWrite(ctx); err != nil {
			return err
		}
		request := &api.NodeMetaApplyRequest{NodeID: string(id), Meta: change}
		_, err := w.nomad.api.Nodes().Meta().Apply(request, (&api.QueryOptions{}).WithContext(ctx))
		return err
	})
}

// metaOf is the node's meta as last read, for what an earlier leader wrote.
func (w *World) metaOf(id cluster.NodeID) map[string]string {
	w.nodes.mu.Lock()
	defer w.nodes.mu.Unlock()
	if cached, ok := w.nodes.byID[id]; ok {
		return cached.node.Meta
	}
	return nil
}

func pressureMeta(p cluster.Pressure) map[string]string {
	out := map[string]string{}
	put := func(prefix string, scores interference.Scores, round func(float64) float64) {
		for source, estimate := range scores {
			if v, known := estimate.Score.Percent(); known {
				out[prefix+string(source)] = strconv.Itoa(int(round(v)))
			}
		}
	}
	// Rounded to the careful side: less headroom, more pressure.
	put(metaHeadroomPrefix, p.Tolerated, math.Floor)
	put(metaCausedPrefix, p.Caused, math.Ceil)
	if p.DiskFreeMBPerSec != nil {
		out[disk.FreeKey] = strconv.Itoa(int(math.Floor(*p.DiskFreeMBPerSec)))
	}
	return out
}

// take returns the keys to change, nil values for keys to remove, and counts the
// write; nothing where nothing changed or the write has to wait.
func (b *pressureBoard) take(id cluster.NodeID, want, onNode map[string]string, now time.Time) map[string]*string {
	b.mu.Lock()
	defer b.mu.Unlock()
	shown, known := b.shown[id]
	if !known {
		shown.values = oursIn(onNode)
	}
	change := difference(shown.values, want)
	if len(change) == 0 || known && now.Sub(shown.at) < pressureMinInterval || !b.token(now) {
		return nil
	}
	b.shown[id] = shownPressure{at: now, values: maps.Clone(want)}
	return change
}

// forget makes the next call write the node again, after the pause.
func (b *pressureBoard) forget(id cluster.NodeID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if shown, ok := b.shown[id]; ok {
		b.shown[id] = shownPressure{at: shown.at}
	}
}

func (b *pressureBoard) token(now time.Time) bool {
	if !b.filled.IsZero() {
		b.tokens = min(pressureBurst, b.tokens+now.Sub(b.filled).Seconds()*pressurePerSecond)
	}
	b.filled = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

func oursIn(meta map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range meta {
		if strings.HasPrefix(k, metaHeadroomPrefix) || strings.HasPrefix(k, metaCausedPrefix) || k == disk.FreeKey {
			out[k] = v
		}
	}
	return out
}

func difference(from, to map[string]string) map[string]*string {
	out := map[string]*string{}
	for k, v := range to {
		if have, ok := from[k]; !ok || have != v {
			out[k] = &v
		}
	}
	for k := range from {
		if _, ok := to[k]; !ok {
			out[k] = nil
		}
	}
	return out
}
