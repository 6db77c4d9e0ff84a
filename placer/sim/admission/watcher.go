package admission

import (
	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// watcher collects the nodes that changed, because the board tells of a change
// without its time; the controller takes them with the time of its next call.
type watcher struct {
	board   *board.Board
	changed []board.Index
	last    []lastSeen
}

// lastSeen is a node as the controller knew it.
type lastSeen struct {
	changed bool // in watcher.changed
	ready   bool
	used    cluster.Resources
}

func newWatcher(b *board.Board) *watcher {
	w := &watcher{board: b}
	for i := range b.Len() {
		w.NodeChanged(board.Index(i))
	}
	b.Listen(w)
	return w
}

// NodeChanged implements board.Listener.
func (w *watcher) NodeChanged(n board.Index) {
	for int(n) >= len(w.last) {
		w.last = append(w.last, lastSeen{})
	}
	if !w.last[n].changed {
		w.last[n].changed = true
		w.changed = append(w.changed, n)
	}
}

// each calls f once for every node that changed since, and says whether it
// gained room for something.
func (w *watcher) each(f func(n board.Index, gained bool)) {
	for _, n := range w.changed {
		before := w.last[n]
		now := lastSeen{ready: w.board.Ready(n), used: w.board.Used(n)}
		w.last[n] = now
		f(n, now.ready && (!before.ready || anyLess(now.used, before.used)))
	}
	w.changed = w.changed[:0]
}

func anyLess(a, b cluster.Resources) bool {
	return a.CPUMHz < b.CPUMHz || a.Cores < b.Cores || a.MemoryMB < b.MemoryMB || a.DiskMB < b.DiskMB
}
