package network

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"
)

// The rules of choosing windows (chosen by us: the source makes their number a
// parameter of the application and says no more).
const (
	// alike is the total variation distance of the shares of pairs below which two
	// neighbouring windows are one.
	alike = 0.05
	// steadyChange is by how much the totals of half hours may vary within a window, as
	// a part of their mean, before it is split.
	steadyChange = 0.30
	halfHour     = 30 * time.Minute
	// shortestWindow is not split: it has a dozen bins of five minutes.
	shortestWindow = time.Hour
)

// ChooseWindows finds windows for traffic. It begins with some, merges neighbours on
// the same days in which the same pairs have the same shares, and halves windows over
// which the load changes too much. It reads the traffic once.
func ChooseWindows(ctx context.Context, t Traffic, begin []Window, progress func(share float64)) ([]Window, error) {
	if err := CheckWindows(begin); err != nil {
		return nil, err
	}
	seen, err := seeWindows(ctx, t, begin, progress)
	if err != nil {
		return nil, err
	}
	var out []Window
	for _, w := range mergeAlike(seen) {
		out = append(out, w.steady(w.window)...)
	}
	slices.SortFunc(out, compareWindows)
	return out, nil
}

func compareWindows(a, b Window) int {
	return cmp.Or(cmp.Compare(a.FirstDay, b.FirstDay), cmp.Compare(a.Start, b.Start))
}

// seenWindow is what is known of a window for choosing.
type seenWindow struct {
	window Window
	pairs  map[nodePair]int64
	bytes  int64
	halves [day / halfHour]half
}

// half is half an hour of the days of a window.
type half struct {
	bytes int64
	bins  int // that were captured
}

// seeWindows adds up the traffic of each window.
func seeWindows(ctx context.Context, t Traffic, windows []Window, progress func(share float64)) ([]seenWindow, error) {
	span := t.Span()
	cal := newCalendar(span, windows)
	out := make([]seenWindow, len(windows))
	for i, w := range windows {
		out[i].window, out[i].pairs = w, map[nodePair]int64{}
		for _, b := range cal.bins[i] {
			out[i].halves[span.halfHour(int(b))].bins++
		}
	}
	for from := span.From; from < span.To; from += day {
		for r, err := range t.Between(from, min(from+day, span.To)) {
			if err != nil {
				return nil, err
			}
			bin := span.bin(r.At)
			if cal.window[bin] == noWindow {
				continue
			}
			w := &out[cal.window[bin]]
			w.pairs[nodePair{r.Source, r.Destination}] += r.Bytes
			w.bytes += r.Bytes
			w.halves[span.halfHour(bin)].bytes += r.Bytes
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		tell(progress, float64(from+day-span.From)/float64(span.To-span.From))
	}
	return slices.DeleteFunc(out, func(w seenWindow) bool { return w.bytes == 0 }), nil
}

// halfHour is the half hour of the day in which a bin begins.
func (s Span) halfHour(bin int) int {
	return int((s.From + time.Duration(bin)*s.Bin) % day / halfHour)
}

// mergeAlike merges neighbours as long as there are any that are alike.
func mergeAlike(seen []seenWindow) []seenWindow {
	slices.SortFunc(seen, func(a, b seenWindow) int { return compareWindows(a.window, b.window) })
	var out []seenWindow
	for _, w := range seen {
		if n := len(out); n > 0 {
			if last := &out[n-1]; last.window.FirstDay == w.window.FirstDay && last.window.LastDay == w.window.LastDay &&
				last.window.End == w.window.Start && last.distance(w) < alike {
				last.merge(w)
				continue
			}
		}
		out = append(out, w)
	}
	return out
}

// distance is the total variation distance of the shares of pairs: half of the sum of
// the differences, 0 to 1.
func (w *seenWindow) distance(o seenWindow) float64 {
	sum := 0.0
	for pair, bytes := range w.pairs {
		sum += math.Abs(float64(bytes)/float64(w.bytes) - float64(o.pairs[pair])/float64(o.bytes))
	}
	for pair, bytes := range o.pairs {
		if _, both := w.pairs[pair]; !both {
			sum += float64(bytes) / float64(o.bytes)
		}
	}
	return sum / 2
}

func (w *seenWindow) merge(o seenWindow) {
	w.window.End = o.window.End
	w.bytes += o.bytes
	for pair, bytes := range o.pairs {
		w.pairs[pair] += bytes
	}
	for i, h := range o.halves {
		w.halves[i].bytes += h.bytes
		w.halves[i].bins += h.bins
	}
}

// steady splits a window into halves, of whole half hours, until the load of each
// changes little enough.
func (w *seenWindow) steady(part Window) []Window {
	length := part.End - part.Start
	middle := part.Start + (length / 2).Truncate(halfHour)
	if length <= shortestWindow || middle == part.Start || w.change(part) <= steadyChange {
		return []Window{part}
	}
	first, second := part, part
	first.End, second.Start = middle, middle
	if !w.captured(first) || !w.captured(second) {
		return []Window{part}
	}
	return append(w.steady(first), w.steady(second)...)
}

// change is by how much the mean load of half hours differs, over their mean.
func (w *seenWindow) change(part Window) float64 {
	low, high, sum, n := math.Inf(1), 0.0, 0.0, 0.0
	for _, h := range w.halvesOf(part) {
		if h.bins > 0 {
			load := float64(h.bytes) / float64(h.bins)
			low, high = min(low, load), max(high, load)
			sum += load
			n++
		}
	}
	if sum == 0 {
		return 0
	}
	return (high - low) / (sum / n)
}

// captured reports that there is traffic in a part of the window.
func (w *seenWindow) captured(part Window) bool {
	for _, h := range w.halvesOf(part) {
		if h.bytes > 0 {
			return true
		}
	}
	return false
}

// halvesOf are the half hours that a part of the window touches.
func (w *seenWindow) halvesOf(part Window) []half {
	return w.halves[part.Start/halfHour : (part.End+halfHour-1)/halfHour]
}
