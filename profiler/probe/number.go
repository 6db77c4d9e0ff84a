package probe

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// MaxBodyBytes is the most a probe reads at once: an answer over HTTP, a
// command's output, new log. A Reach should not fetch more.
const MaxBodyBytes = 4 << 20

// maxExcerptBytes bounds what an error shows of an answer.
const maxExcerptBytes = 80

// usable says whether v can be an amount or a rate of work.
func usable(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }

// parseNumber reads one usable number, with white space around it.
func parseNumber(text string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !usable(v) {
		return 0, fmt.Errorf("%q: %w", excerpt(text), ErrBadNumber)
	}
	return v, nil
}

func excerpt(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > maxExcerptBytes {
		text = text[:maxExcerptBytes] + "…"
	}
	return text
}

// checkSize refuses an answer that is too large to be looked at.
func checkSize(body []byte) error {
	if len(body) > MaxBodyBytes {
		return fmt.Errorf("an answer of %d bytes, at most %d are read: %w", len(body), MaxBodyBytes, ErrNoSuchData)
	}
	return nil
}

// asReading puts a number where its mode says.
func asReading(at time.Time, v float64, mode performance.ProbeMode) performance.Reading {
	r := performance.Reading{At: at, Work: math.NaN(), RateNow: math.NaN()}
	if mode == performance.ModeRate {
		r.RateNow = v
	} else {
		r.Work = v
	}
	return r
}

// bounded gives a reading its time-out, times it, and marks an answer that did
// not come as ErrNotReady.
func bounded[T any](ctx context.Context, timeout time.Duration, ask func(context.Context) (T, error)) (answer T, at time.Time, err error) {
	if timeout <= 0 {
		timeout = performance.DefaultProbeTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	start := time.Now() // the edge of the real world: a reading is stamped where it is taken
	answer, err = ask(ctx)
	if err != nil {
		return answer, start, fmt.Errorf("%w: %w", ErrNotReady, err)
	}
	return answer, start.Add(time.Since(start) / 2), nil
}

// taskOf is the task a spec reads.
func taskOf(spec performance.ProbeSpec, fallback string) string {
	if spec.Task != "" {
		return spec.Task
	}
	return fallback
}
