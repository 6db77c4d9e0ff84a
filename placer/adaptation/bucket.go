package adaptation

import (
	"time"
)

// bucket is a token bucket on the engine's clock.
type bucket struct {
	tokens, burst float64
	every         time.Duration // one token
	at            time.Time
}

func newBucket(burst int, every time.Duration, now time.Time) *bucket {
	return &bucket{tokens: float64(burst), burst: float64(burst), every: every, at: now}
}

// take takes one token, if there is one. A clock that stepped back adds none.
func (b *bucket) take(now time.Time) bool {
	if d := now.Sub(b.at); d > 0 {
		b.tokens = min(b.burst, b.tokens+float64(d)/float64(b.every))
	}
	b.at = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}

// give puts back a token that was taken for nothing.
func (b *bucket) give() { b.tokens = min(b.burst, b.tokens+1) }

// takeBoth takes a token of each, or none; moves may be nil.
func takeBoth(writes, moves *bucket, now time.Time) bool {
	if !writes.take(now) {
		return false
	}
	if moves != nil && !moves.take(now) {
		writes.give()
		return false
	}
	return true
}
