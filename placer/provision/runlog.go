package provision

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// Bounds, chosen by us.
const (
	// A workload of which nothing is there for so long has ended when it was missed first: allocations
	// are replaced, and moved, in less.
	absentFor = 30 * time.Second
	// What somebody saw so long ago, and is not there now, ended meanwhile; after a longer time nobody
	// knows when.
	lookedWithin = 2 * time.Minute
	// A run of another size is another one. How fast a core is on average changes a little as nodes
	// come and go.
	sameCores = 0.1
	// A page fits into a document (store.MaxDocumentBytes), and all pages into a few megabytes.
	pageBytes = 40 << 10
	mostPages = 50
	endBytes  = 64 // that the end of a run adds
)

// Present is a workload that has allocations on the cluster now.
type Present struct {
	Workload  cluster.WorkloadID
	Service   bool
	Submitted time.Time
	Count     int
	Cores     float64 // of one allocation
	MemoryMB  int     // of one
	Program   string
	Scores    Scores
}

// RunLog notes runs, as whoever looks at a cluster now and then sees them. It is for one goroutine.
type RunLog struct {
	pages   []*logPage // by number
	whole   time.Time
	open    map[cluster.WorkloadID]*openRun
	dropped []int // numbers of pages that were given up
}

type logPage struct {
	RunPage
	bytes int
	dirty bool
}

// openRun is one that has not ended.
type openRun struct {
	page   *logPage
	at     int       // in page.Runs
	missed time.Time // since when it is not seen; zero: it is
	lost   bool      // nobody looked for too long, and it was not seen since
}

func (o *openRun) run() *Run { return &o.page.Runs[o.at] }

// NewRunLog goes on with the pages of a predecessor.
func NewRunLog(now time.Time, pages []RunPage) *RunLog {
	l := &RunLog{open: map[cluster.WorkloadID]*openRun{}}
	pages = slices.Clone(pages)
	slices.SortFunc(pages, func(a, b RunPage) int { return cmp.Compare(a.Number, b.Number) })
	var last time.Time
	for _, p := range pages {
		if p.At.After(last) && !p.At.After(now) {
			last = p.At
		}
	}
	for _, p := range pages {
		page := &logPage{RunPage: p, bytes: jsonBytes(p)}
		page.Runs, page.Programs = slices.Clone(p.Runs), maps.Clone(p.Programs)
		l.pages = append(l.pages, page)
		if p.Whole.After(l.whole) && !p.Whole.After(now) {
			l.whole = p.Whole
		}
		for i, run := range page.Runs {
			if !run.Gone {
				l.open[run.Workload] = &openRun{page: page, at: i, lost: now.Sub(last) > lookedWithin}
			}
		}
	}
	return l
}

// Observe tells which workloads have allocations now.
func (l *RunLog) Observe(now time.Time, present []Present) {
	if l.whole.IsZero() {
		l.whole = now
	}
	there := make(map[cluster.WorkloadID]bool, len(present))
	for _, p := range present {
		there[p.Workload] = true
		o := l.open[p.Workload]
		if o != nil && !alikeInSize(*o.run(), p) {
			l.end(p.Workload, now)
			o, p.Submitted = nil, now // it goes on at another size
		}
		if o == nil {
			l.begin(now, p)
			continue
		}
		o.missed, o.lost = time.Time{}, false
	}
	for _, w := range slices.SortedFunc(maps.Keys(l.open), cluster.WorkloadID.Compare) {
		o := l.open[w]
		switch {
		case there[w]:
		case o.missed.IsZero():
			o.missed = now
		case now.Sub(o.missed) >= absentFor && o.lost:
			l.end(w, time.Time{})
		case now.Sub(o.missed) >= absentFor:
			l.end(w, o.missed)
		}
	}
	l.bound()
}

func alikeInSize(r Run, p Present) bool {
	return r.Count == p.Count && r.MemoryMB == p.MemoryMB && math.Abs(r.Cores-p.Cores) <= sameCores*r.Cores
}

func (l *RunLog) begin(now time.Time, p Present) {
	l.put(Run{
		Workload: p.Workload, Service: p.Service, Submitted: p.Submitted, Started: now, Count: p.Count,
		Cores: math.Round(1000*p.Cores) / 1000, MemoryMB: p.MemoryMB, Program: p.Program,
	}, p.Scores)
}

// put a run that has not ended on the newest page, or on a new one.
func (l *RunLog) put(run Run, scores Scores) {
	need := jsonBytes(run) + endBytes
	page := l.newest()
	if scores.Known() && (page == nil || !page.Programs[run.Program].equal(scores)) {
		need += jsonBytes(map[string]Scores{run.Program: scores})
	}
	if page == nil || page.bytes+need > pageBytes {
		number := 1
		if page != nil {
			number = page.Number + 1
		}
		page = &logPage{RunPage: RunPage{Number: number}}
		l.pages = append(l.pages, page)
	}
	if scores.Known() {
		if page.Programs == nil {
			page.Programs = map[string]Scores{}
		}
		page.Programs[run.Program] = scores
	}
	page.Runs = append(page.Runs, run)
	page.bytes, page.dirty = page.bytes+need, true
	l.open[run.Workload] = &openRun{page: page, at: len(page.Runs) - 1}
}

func (l *RunLog) newest() *logPage {
	if len(l.pages) == 0 {
		return nil
	}
	return l.pages[len(l.pages)-1]
}

// end a run; a zero time: nobody knows when.
func (l *RunLog) end(w cluster.WorkloadID, at time.Time) {
	o := l.open[w]
	o.run().Gone, o.run().Ended = true, at
	o.page.dirty = true
	delete(l.open, w)
}

// bound gives up the oldest pages. What has not ended goes on on the newest one.
func (l *RunLog) bound() {
	for range max(0, len(l.pages)-mostPages) {
		oldest := l.pages[0]
		l.pages = l.pages[1:]
		l.dropped = append(l.dropped, oldest.Number)
		for _, run := range oldest.Runs {
			if !run.Gone {
				l.put(run, oldest.Programs[run.Program])
				continue
			}
			for _, at := range []time.Time{run.Started, run.Ended} {
				if at.After(l.whole) {
					l.whole = at
				}
			}
		}
	}
}

// Written are the pages that say something new, to be written now, and the numbers of those to be
// deleted. Whoever could not write one says so.
func (l *RunLog) Written(now time.Time) (pages []RunPage, deleted []int) {
	for _, p := range l.pages {
		if !p.dirty {
			continue
		}
		p.dirty, p.At, p.Whole = false, now, l.whole
		out := p.RunPage
		out.Runs, out.Programs = slices.Clone(p.Runs), maps.Clone(p.Programs)
		pages = append(pages, out)
	}
	deleted, l.dropped = l.dropped, nil
	return pages, deleted
}

// NotWritten tells that a page could not be written.
func (l *RunLog) NotWritten(number int) {
	for _, p := range l.pages {
		p.dirty = p.dirty || p.Number == number
	}
}

// NotDeleted tells that a page could not be deleted.
func (l *RunLog) NotDeleted(number int) { l.dropped = append(l.dropped, number) }

// Runs are those that are noted.
func (l *RunLog) Runs() Runs {
	pages := make([]RunPage, len(l.pages))
	for i, p := range l.pages {
		pages[i] = p.RunPage
	}
	out := JoinRuns(pages)
	out.Since = l.whole
	return out
}

// jsonBytes is how long a value is as JSON; what cannot be written fills a page.
func jsonBytes(v any) int {
	data, err := json.Marshal(v)
	if err != nil {
		return pageBytes
	}
	return len(data)
}
