package network

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ErrWindows: the windows are not parts of a week, or cover a moment twice.
var ErrWindows = errors.New("wrong windows")

// A week has seven days of a day.
const (
	day  = 24 * time.Hour
	week = 7 * day
)

var dayNames = [...]string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

// Window is the part of the week that one Markov chain stands for: the same hours
// of some days.
type Window struct {
	FirstDay, LastDay int           // 0 is Monday
	Start, End        time.Duration // of the day; whole seconds
}

// String is the window as ParseWindows reads it: "mon-wed 06-12".
func (w Window) String() string {
	days := dayNames[w.FirstDay]
	if w.LastDay != w.FirstDay {
		days += "-" + dayNames[w.LastDay]
	}
	return days + " " + clockText(w.Start) + "-" + clockText(w.End)
}

func clockText(d time.Duration) string {
	text := fmt.Sprintf("%02d", int(d.Hours()))
	if d%time.Hour != 0 {
		text += fmt.Sprintf(":%02d", int(d.Minutes())%60)
	}
	if d%time.Minute != 0 {
		text += fmt.Sprintf(":%02d", int(d.Seconds())%60)
	}
	return text
}

// covers reports that a moment since a Monday is within the window.
func (w Window) covers(at time.Duration) bool {
	at %= week
	today, clock := int(at/day), at%day
	return today >= w.FirstDay && today <= w.LastDay && clock >= w.Start && clock < w.End
}

// StudyWindows are the ten of the study: four of six hours on each of two kinds of
// weekday, and two of twelve hours at the weekend (Delimitrou 2015, §C.5.3). It
// takes single days; which stand for the others is not said, so the first three
// weekdays are one kind and the last two the other (chosen by us: it uses all that
// was captured).
func StudyWindows() []Window {
	var out []Window
	for _, days := range [][2]int{{0, 2}, {3, 4}} {
		for start := time.Duration(0); start < day; start += 6 * time.Hour {
			out = append(out, Window{days[0], days[1], start, start + 6*time.Hour})
		}
	}
	return append(out, Window{5, 6, 0, 12 * time.Hour}, Window{5, 6, 12 * time.Hour, day})
}

// DayWindows are those of the study with one for each day: 24.
func DayWindows() []Window {
	var out []Window
	for today := range 7 {
		length := 6 * time.Hour
		if today > 4 {
			length = 12 * time.Hour
		}
		for start := time.Duration(0); start < day; start += length {
			out = append(out, Window{today, today, start, start + length})
		}
	}
	return out
}

// OneWindow is a single window over the whole week.
func OneWindow() []Window { return []Window{{0, 6, 0, day}} }

// namedWindows are the sets that have a name.
var namedWindows = map[string]func() []Window{"study": StudyWindows, "days": DayWindows, "one": OneWindow}

// ParseWindows reads "study", "days", "one", or windows with commas between, such as
// "mon-fri 00-12,mon-fri 12-24,sat-sun 00-24". What no window covers is not
// modelled.
func ParseWindows(text string) ([]Window, error) {
	if named, ok := namedWindows[text]; ok {
		return named(), nil
	}
	var out []Window
	for part := range strings.SplitSeq(text, ",") {
		w, err := parseWindow(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, CheckWindows(out)
}

func parseWindow(text string) (Window, error) {
	bad := fmt.Errorf("%w: %q is not a window such as \"mon-fri 06-12\" (or study, or one)", ErrWindows, text)
	days, hours, ok := strings.Cut(text, " ")
	if !ok {
		return Window{}, bad
	}
	first, last, ranged := strings.Cut(days, "-")
	if !ranged {
		last = first
	}
	start, end, ok := strings.Cut(hours, "-")
	w := Window{FirstDay: dayOf(first), LastDay: dayOf(last), Start: clockOf(start), End: clockOf(end)}
	if !ok || CheckWindows([]Window{w}) != nil {
		return Window{}, bad
	}
	return w, nil
}

func dayOf(name string) int {
	for i, n := range dayNames {
		if n == name {
			return i
		}
	}
	return -1
}

// clockOf reads "06", "06:30" or "06:30:05"; below 0 where it is none.
func clockOf(text string) time.Duration {
	sum, unit := time.Duration(0), time.Hour
	for i, part := range strings.Split(text, ":") {
		n, err := strconv.ParseUint(part, 10, 8)
		if err != nil || i > 2 || (i == 0 && n > 24) || (i > 0 && n > 59) {
			return -1
		}
		sum += time.Duration(n) * unit
		unit /= 60
	}
	return sum
}

// CheckWindows refuses windows that are no part of a week, and two that overlap.
func CheckWindows(windows []Window) error {
	if len(windows) == 0 {
		return fmt.Errorf("%w: there are none", ErrWindows)
	}
	for i, w := range windows {
		if w.FirstDay < 0 || w.LastDay > 6 || w.FirstDay > w.LastDay || w.Start < 0 || w.End > day || w.Start >= w.End ||
			w.Start%time.Second != 0 || w.End%time.Second != 0 {
			return fmt.Errorf("%w: number %d is no part of a week", ErrWindows, i+1)
		}
		for _, o := range windows[:i] {
			if w.FirstDay <= o.LastDay && o.FirstDay <= w.LastDay && w.Start < o.End && o.Start < w.End {
				return fmt.Errorf("%w: %s and %s overlap", ErrWindows, o, w)
			}
		}
	}
	return nil
}

// noWindow is the window of a bin that none covers, or that is missing.
const noWindow = -1

// calendar says of every bin of a span which window it belongs to, and how far that
// window's own clock has come: the clock only runs while the window is active and
// something is captured.
type calendar struct {
	span   Span
	window []int16 // by bin
	clock  []int32 // by bin: captured bins of its window before it
	bins   [][]int32
}

func newCalendar(s Span, windows []Window) calendar {
	c := calendar{s, make([]int16, s.Bins()), make([]int32, s.Bins()), make([][]int32, len(windows))}
	for b := range c.window {
		c.window[b] = noWindow
		if s.missing(b) {
			continue
		}
		for i, w := range windows {
			if w.covers(s.From + time.Duration(b)*s.Bin) {
				c.window[b], c.clock[b] = int16(i), int32(len(c.bins[i]))
				c.bins[i] = append(c.bins[i], int32(b))
				break
			}
		}
	}
	return c
}

// time is how long a window is active in the span.
func (c calendar) time(window int) time.Duration {
	return time.Duration(len(c.bins[window])) * c.span.Bin
}

// clockAt is where the clock of the window of a bin stands at a moment in it.
func (c calendar) clockAt(bin int, at time.Duration) time.Duration {
	begins := c.span.From + time.Duration(bin)*c.span.Bin
	return time.Duration(c.clock[bin])*c.span.Bin + at - begins
}

// at is the moment at which a window's clock stands at t, which is below its time.
func (c calendar) at(window int, t time.Duration) time.Duration {
	bin := c.bins[window][t/c.span.Bin]
	return c.span.From + time.Duration(bin)*c.span.Bin + t%c.span.Bin
}

// instances are the runs of bins, [first, end), in which a window is active.
func (c calendar) instances(window int) [][2]int {
	var out [][2]int
	for _, b := range c.bins[window] {
		if n := len(out); n > 0 && out[n-1][1] == int(b) {
			out[n-1][1]++
			continue
		}
		out = append(out, [2]int{int(b), int(b) + 1})
	}
	return out
}
