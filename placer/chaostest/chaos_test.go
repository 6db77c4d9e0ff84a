package chaostest

import (
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	count  = flag.Int("histories", 2000, "How many histories to run.")
	first  = flag.Int("first", 1, "The seed of the first one; the others follow.")
	page   = flag.String("page", "", "Write the table of promises into this page, between its marks.")
	traced = flag.Bool("trace", false, "With -v and one history: log what its agents do.")
)

// campaign counts what became of the histories.
type campaign struct {
	mu       sync.Mutex
	began    time.Time
	said     time.Time
	done     int
	failures int
	total    tally
}

const failuresAtMost = 5

// TestPromises runs histories, some side by side. A seed that breaks a promise is made as
// small as it can be, and printed.
func TestPromises(t *testing.T) {
	n := *count
	if testing.Short() { // `make race`: each takes ten times as long there
		n = min(n, 200)
	}
	c := &campaign{began: time.Now(), said: time.Now()}
	workers := runtime.GOMAXPROCS(0)
	t.Run("seeds", func(t *testing.T) {
		for w := range workers {
			t.Run(fmt.Sprint(w), func(t *testing.T) {
				t.Parallel()
				draw := histories()
				for i := w; i < n; i += workers {
					if !c.goOn() {
						return
					}
					c.one(t, draw.Example(*first+i), *first+i, n)
				}
			})
		}
	})
	table := fmt.Sprintf("%d histories, of the seeds %d to %d:\n\n%s", c.done, *first, *first+n-1, c.total.table())
	t.Log("\n" + table)
	if *page != "" {
		if err := writeBetween(*page, "<!-- make chaos -->\n", "<!-- /make chaos -->\n", table); err != nil {
			t.Fatal(err)
		}
	}
}

// mended are seeds of histories that broke a promise once, with how many of 60 runs did on the
// code of that time: a run differs from the next by what its agents do first.
var mended = map[int]int{132387: 54, 99097: 13, 89466: 57, 33315: 24, 24324: 9}

// Each is run so often that the fault of then would be found with 99 %.
func TestMendedHistories(t *testing.T) {
	t.Parallel()
	draw := histories()
	for seed, broke := range mended {
		runs := int(math.Ceil(math.Log(0.01) / math.Log1p(-float64(broke)/60)))
		for range runs {
			if broken, _ := play(t, draw.Example(seed)); len(broken) > 0 {
				t.Errorf("seed %d breaks %s", seed, strings.Join(broken, ", "))
				break
			}
		}
	}
}

// writeBetween replaces what is between two marks of a file.
func writeBetween(name, begin, end, text string) error {
	old, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(old), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("%s has no place for the table: it lacks the marks %q and %q", name, begin, end)
	}
	return os.WriteFile(name, []byte(before+begin+text+end+after), 0o644)
}

func (c *campaign) goOn() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failures < failuresAtMost
}

func (c *campaign) one(t *testing.T, h history, seed, of int) {
	broken, counted := play(t, h)
	if len(broken) > 0 {
		h, broken = shrunk(t, h, broken)
		t.Errorf("seed %d (-first %d -histories 1):\n%s\nbreaks:\n  %s", seed, seed, h, strings.Join(broken, "\n  "))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	c.total.add(counted)
	if len(broken) > 0 {
		c.failures++
	}
	if time.Since(c.said) > 10*time.Second {
		c.said = time.Now()
		left := time.Duration(float64(time.Since(c.began)) / float64(c.done) * float64(of-c.done))
		fmt.Fprintf(os.Stderr, "%d of %d histories, up to seed %d; %s to go\n", c.done, of, seed, left.Round(time.Second))
	}
}

// shrunk leaves out what a history does not need to break a promise.
func shrunk(t *testing.T, h history, broken []string) (history, []string) {
	for again := true; again; {
		again = false
		for _, smaller := range smaller(h) {
			if b, _ := play(t, smaller); len(b) > 0 {
				h, broken, again = smaller, b, true
				break
			}
		}
	}
	return h, broken
}

// smaller are the histories with one thing less.
func smaller(h history) []history {
	var out []history
	if h.adapts {
		next := h
		next.adapts = false
		out = append(out, next)
	}
	for i := range h.faults {
		next := h
		next.faults = slices.Delete(slices.Clone(h.faults), i, i+1)
		out = append(out, next)
	}
	for i := range h.acts {
		next := h
		next.acts = slices.Delete(slices.Clone(h.acts), i, i+1)
		out = append(out, next)
	}
	for i := range h.jobs {
		if len(h.jobs) > 1 {
			next := h
			next.jobs = slices.Delete(slices.Clone(h.jobs), i, i+1)
			out = append(out, next)
		}
	}
	for i := range h.driver {
		if len(h.driver) > 1 {
			next := h
			next.driver = slices.Delete(slices.Clone(h.driver), i, i+1)
			out = append(out, next)
		}
	}
	return out
}

// tracer prefixes a line of log with its time and agent.
type tracer struct {
	run   *run
	agent int
}

func (w tracer) Write(b []byte) (int, error) {
	return fmt.Fprintf(os.Stderr, "%8s agent %d: %s", w.run.at().Round(time.Millisecond), w.agent, b)
}
