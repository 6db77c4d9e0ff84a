package traffic

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/workload/network"
)

// Every is how often the folder is looked at, chosen by us: as long as a bin of a captured
// table.
const Every = 5 * time.Minute

// Watch knows what the tables in a folder say. Its methods may be called at any time.
type Watch struct {
	folder string
	link   float64 // of a node, Mbit/s; 0: not known
	log    *slog.Logger

	mu      sync.Mutex
	read    bool
	files   string // that were read, with size and time
	report  Report
	peers   map[cluster.WorkloadID][]cluster.Peer
	moved   map[cluster.WorkloadID]cluster.Exchanged
	problem error // of the last look; what was known before is kept
}

// New watches a folder of captured tables. Nothing is known before Read or Run. linkMbitPerSec is
// what the network link of a node carries; 0: not known.
func New(folder string, linkMbitPerSec float64, log *slog.Logger) *Watch {
	return &Watch{folder: folder, link: linkMbitPerSec, log: log}
}

// Run reads again and again until ctx ends.
func (w *Watch) Run(ctx context.Context, after func(time.Duration) <-chan time.Time) error {
	for {
		if err := w.Read(ctx); err != nil && ctx.Err() == nil {
			w.log.Warn("captured traffic could not be read; what was known before is kept", "tables", w.folder, "error", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-after(Every):
		}
	}
}

// Read looks at the folder, and reads the tables if they have changed.
func (w *Watch) Read(ctx context.Context) error {
	files, err := filesIn(w.folder)
	if err != nil {
		return w.failed(err)
	}
	if w.knows(files) {
		return nil
	}
	nodes, err := network.ReadTraffic(ctx, w.folder, network.ReadOptions{})
	if err != nil {
		return w.failed(err)
	}
	groups, err := network.ReadTraffic(ctx, w.folder, network.ReadOptions{Groups: true})
	problem := ""
	if err != nil {
		groups, problem = nil, "traffic of jobs: "+err.Error()
	}
	report, peers, moved := reportOf(nodes, groups), map[cluster.WorkloadID][]cluster.Peer{}, map[cluster.WorkloadID]cluster.Exchanged{}
	report.Problem = problem
	if groups != nil {
		peers, moved = peersOf(groups), movedBy(groups)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.read, w.files, w.report, w.peers, w.moved, w.problem = true, files, report, peers, moved, nil
	return nil
}

// knows reports whether these files were read.
func (w *Watch) knows(files string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.read || w.files != files {
		return false
	}
	w.problem = nil
	return true
}

func (w *Watch) failed(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problem = err
	return err
}

// filesIn tells whether a folder has changed.
func filesIn(folder string) (string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", fmt.Errorf("captured traffic: %w", err)
	}
	var b strings.Builder
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, os.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return "", fmt.Errorf("captured traffic: %w", err)
		}
		fmt.Fprintf(&b, "%q %d %d\n", e.Name(), info.Size(), info.ModTime().UnixNano())
	}
	return b.String(), nil
}

// Traffic is what is known now; cluster.ErrNoRecord before anything was read.
func (w *Watch) Traffic(context.Context) (Report, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.read:
		r := w.report
		if w.problem != nil {
			r.Problem = "the tables could not be read again: " + w.problem.Error()
		}
		return r, nil
	case w.problem != nil:
		return Report{}, fmt.Errorf("%w: %w", cluster.ErrNoRecord, w.problem)
	default:
		return Report{}, fmt.Errorf("the tables of captured traffic are being read: %w", cluster.ErrNoRecord)
	}
}

// Peers of a workload by what was captured, the one with most first.
func (w *Watch) Peers(id cluster.WorkloadID) []cluster.Peer {
	id.Job = cluster.ParentJob(id.Job)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.peers[id]
}

// Exchanged is what a workload is expected to exchange in the next hour, and what the link of a
// node carries; false where one of both is not known.
func (w *Watch) Exchanged(id cluster.WorkloadID) (cluster.Exchanged, bool) {
	id.Job = cluster.ParentJob(id.Job)
	w.mu.Lock()
	defer w.mu.Unlock()
	e, known := w.moved[id]
	e.LinkMbitPerSec = w.link
	return e, known && w.link > 0
}

// NextUplink is what the uplinks of the racks of a name are expected to carry in the next
// hour, in bytes per second; false: it is not known.
func (w *Watch) NextUplink(rack string) (bytesPerSec float64, known bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, u := range w.report.Uplinks {
		if u.NextBytesPerSec != nil && strings.HasSuffix(u.Rack, "/"+url.PathEscape(rack)) {
			bytesPerSec, known = bytesPerSec+*u.NextBytesPerSec, true
		}
	}
	return bytesPerSec, known
}
