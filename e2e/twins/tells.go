package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// told is what a workload says of its operations: how many they were, and what they took
// together.
type told struct {
	operations   float64
	milliseconds float64
}

// tellings are those of one run.
type tellings struct {
	tells func(line string) (told, bool)

	mu  sync.Mutex
	all []struct {
		at time.Time
		told
	}
}

func (t *tellings) line(text string) {
	said, ok := t.tells(text)
	if !ok {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, struct {
		at time.Time
		told
	}{time.Now(), said})
}

// own is a workload's performance as its own clients see it.
type own struct {
	PerSec float64 `json:"per_second"`
	// MeanMilliseconds are those of an operation, from when it was due; 0 where that is not said.
	MeanMilliseconds float64 `json:"mean_milliseconds,omitempty"`
}

// between sums up what was said in some seconds; nil where nothing was.
func (t *tellings) between(from, to time.Time) *own {
	t.mu.Lock()
	defer t.mu.Unlock()
	var sum told
	for _, s := range t.all {
		if s.at.After(from) && !s.at.After(to) {
			sum.operations, sum.milliseconds = sum.operations+s.operations, sum.milliseconds+s.milliseconds
		}
	}
	if sum.operations == 0 {
		return nil
	}
	return &own{PerSec: sum.operations / to.Sub(from).Seconds(), MeanMilliseconds: sum.milliseconds / sum.operations}
}

// lines is a writer that passes whole lines on.
type lines struct {
	to   func(line string)
	rest []byte
}

// Write passes them on.
func (l *lines) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, ok := bytes.Cut(l.rest, []byte("\n"))
		if !ok {
			return len(p), nil
		}
		l.to(string(line))
		l.rest = append(l.rest[:0], rest...)
	}
}

// tellsPgbench reads the line that pgbench prints every second (-P 1):
//
//	progress: 5.0 s, 150.0 tps, lat 6.123 ms stddev 2.400, 0 failed, lag 0.900 ms
//
// Its latency is from when a transaction was due.
func tellsPgbench(line string) (told, bool) {
	var at, perSec, mean float64
	if n, err := fmt.Sscanf(line, "progress: %f s, %f tps, lat %f ms", &at, &perSec, &mean); err != nil || n != 3 {
		return told{}, false
	}
	return told{perSec, perSec * mean}, true
}

// tellsStore reads what db_bench says of its reader every second (-stats_interval_seconds=1):
//
//	2026/11/27-12:20:00  ... thread 0: (2600,7800) ops and (2599.1,2599.9) ops/second in (1.0,3.0) seconds
func tellsStore(line string) (told, bool) {
	_, text, ok := strings.Cut(line, "thread 0: ")
	var operations float64
	if n, err := fmt.Sscanf(text, "(%f,", &operations); !ok || err != nil || n != 1 {
		return told{}, false
	}
	return told{operations: operations}, true
}

// askedMark begins a line that has the time, µs since 1970, at which an operation was due that
// is done now.
const askedMark = "asked "

func tellsAsked(line string) (told, bool) {
	text, ok := strings.CutPrefix(line, askedMark)
	if !ok {
		return told{}, false
	}
	due, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return told{}, false
	}
	return told{1, float64(time.Since(time.UnixMicro(due)).Microseconds()) / 1e3}, true
}
