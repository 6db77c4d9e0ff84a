package probe

import (
	"context"
	"errors"
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

// How far a workload's own time stamp may lie from the moment of reading: longer
// ago it is of a workload that stands still or of another clock, and a stamp of
// the future is of another clock (chosen by us: clocks of one node agree).
const (
	maxStampAge   = time.Minute
	maxStampAhead = 100 * time.Millisecond
)

// stamped puts a reading at the moment the workload says it counted. A stamp that
// cannot be right is left out; the zero time is none.
func stamped(r performance.Reading, counted time.Time) performance.Reading {
	age := r.At.Sub(counted)
	if counted.IsZero() || math.IsNaN(r.Work) || age > maxStampAge || age < -maxStampAhead {
		return r
	}
	r.At, r.Exact = counted, true
	return r
}

// parseStamp reads Unix seconds with a fraction, as bash's EPOCHREALTIME gives
// them (with a comma in some languages), or RFC 3339. The zero time is neither.
func parseStamp(text string) time.Time {
	text = strings.TrimSpace(text)
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return at
	}
	whole, fraction, _ := strings.Cut(strings.Replace(text, ",", ".", 1), ".")
	seconds, err := strconv.ParseUint(whole, 10, 40)
	if err != nil {
		return time.Time{}
	}
	part, err := strconv.ParseFloat("0."+fraction+"0", 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(int64(seconds), int64(math.Round(part*1e9)))
}

// bounded gives a reading its time-out, times it, and marks an answer that did
// not come as ErrNotReady, but for one that never will.
func bounded[T any](ctx context.Context, timeout time.Duration, ask func(context.Context) (T, error)) (answer T, at time.Time, err error) {
	if timeout <= 0 {
		timeout = performance.DefaultProbeTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	start := time.Now() // the edge of the real world: a reading is stamped where it is taken
	answer, err = ask(ctx)
	if errors.Is(err, ErrUnsupported) {
		return answer, start, err
	}
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
