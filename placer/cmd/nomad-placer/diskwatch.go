package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/consolidate"
	"github.com/nomad-placer/nomad-placer/placer/traffic"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

// diskWatch knows what the recorded uses of disks in a folder let expect. Its methods may be
// called at any time.
type diskWatch struct {
	folder string
	now    func() time.Time
	log    *slog.Logger

	mu   sync.Mutex
	next map[cluster.WorkloadID]float64 // nil: nothing was read yet
}

// watchDisks reads a folder, so that the first decision knows what is there.
func watchDisks(folder string, now func() time.Time, log *slog.Logger) *diskWatch {
	w := &diskWatch{folder: folder, now: now, log: log}
	w.look()
	return w
}

// run reads again and again until ctx ends.
func (w *diskWatch) run(ctx context.Context, after func(time.Duration) <-chan time.Time) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-after(traffic.Every):
			w.look()
		}
	}
}

// look reads, and says what cannot be read.
func (w *diskWatch) look() {
	if err := w.read(); err != nil {
		w.log.Warn("the recorded uses of disks could not be read; what was known before is kept", "uses", w.folder, "error", err)
	}
}

// read reads all tables, and predicts. Without one nothing is known.
func (w *diskWatch) read() error {
	files, err := filepath.Glob(filepath.Join(w.folder, "*.csv"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("%s has no tables (.csv) of consolidate record", w.folder)
	}
	var uses []consolidate.Use
	for _, name := range files {
		more, err := readUses(name)
		if err != nil {
			return err
		}
		uses = append(uses, more...)
	}
	next := consolidate.Expect(uses, w.now(), consolidate.PaperRules())
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next = next
	return nil
}

// expected is what an allocation of each workload is expected to move in the next interval, in
// MB/s. It is not written to.
func (w *diskWatch) expected() map[cluster.WorkloadID]float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.next
}

// twinIn reads the storage model of a workload below a folder; nil where there is none. All
// instances of a job have one.
func twinIn(folder string, w cluster.WorkloadID) (*cluster.Twin, error) {
	part := func(name string) string { // so that no name leads out of the folder
		if name == "." || name == ".." {
			return "%2E" + name[1:]
		}
		return url.PathEscape(name)
	}
	m, err := readTwin(filepath.Join(folder, part(w.Namespace), part(cluster.ParentJob(w.Job)), part(w.Group)+".twin"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil //nolint:nilnil // a workload without a twin is the rule
	case err != nil:
		return nil, err
	}
	return &cluster.Twin{
		Source:            fmt.Sprintf("%s I/Os in %s (%s)", wording.Number(float64(m.Capture.IOs)), wording.Duration(m.Capture.Span()), m.Capture.Source),
		BandwidthMBPerSec: slices.Max(m.Bandwidth()) / bytesPerMB,
		SpreadMB:          spreadBytes(m) / bytesPerMB,
	}, nil
}

// spreadBytes is the size of the ranges of the last level that have an I/O.
func spreadBytes(m *model.Model) float64 {
	touched := 0
	visits := m.Visits(m.Levels)
	for _, share := range visits {
		if share > 0 {
			touched++
		}
	}
	return float64(m.Device.Bytes) * float64(touched) / float64(len(visits))
}
