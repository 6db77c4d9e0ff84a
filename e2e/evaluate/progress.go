package main

import (
	"fmt"
	"io"
	"time"
)

// progress tells what goes on, one line per step, and how long the rest takes: what
// steps of a kind are planned to take, or took when they were last measured.
type progress struct {
	out     io.Writer
	now     func() time.Time
	started time.Time
	seconds map[string]float64 // of one step, by kind
	left    map[string]int     // steps that have not begun
	kind    string             // of the present step
	since   time.Time
}

// newProgress knows the steps to come and what each takes.
func newProgress(out io.Writer, now func() time.Time, seconds map[string]float64, left map[string]int) *progress {
	return &progress{out: out, now: now, started: now(), seconds: seconds, left: left}
}

// begin ends the present step and begins another.
func (p *progress) begin(kind, text string) {
	p.end()
	p.kind, p.since = kind, p.now()
	remaining := p.remaining()
	p.left[kind] = max(0, p.left[kind]-1)
	fmt.Fprintf(p.out, "[%5s, about %s to go] %s\n", p.now().Sub(p.started).Round(time.Second), remaining.Round(time.Second), text)
}

// end of the present step: what it took is what the next of its kind will take.
func (p *progress) end() {
	if p.kind != "" {
		p.seconds[p.kind] = p.now().Sub(p.since).Seconds()
	}
	p.kind = ""
}

// remaining is the time of all steps that have not ended.
func (p *progress) remaining() time.Duration {
	sum := 0.0
	for kind, n := range p.left {
		sum += float64(n) * p.seconds[kind]
	}
	return time.Duration(sum * float64(time.Second))
}

// say prints a line between steps.
func (p *progress) say(text string) {
	fmt.Fprintf(p.out, "[%5s] %s\n", p.now().Sub(p.started).Round(time.Second), text)
}
