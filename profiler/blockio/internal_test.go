package blockio

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
)

// Lines of a kernel 6.18. Names of programs may have what separates cells elsewhere.
func TestEventsAreRead(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"             fio-16405   [001] .....  4012.345678: block_bio_queue: 254,0 WS 223490 + 8 [fio]":            "254,0    1        1     0.000000000 16405  Q  WS 223490 + 8 [fio]\n",
		"    kworker/u8:2-77      [000] d..2.  4012.345678: block_bio_queue: 254,1 R 8 + 256 [kworker/u8:2]":       "254,0    0        1     0.000000000    77  Q   R 8 + 256 [kworker/u8:2]\n",
		"  a-b [1]: x -x-12       [000] .....     1.000001: block_bio_queue: 254,0 RA 0 + 1 [a-b [1]: x -x]":       "254,0    0        1     0.000000000    12  Q  RA 0 + 1 [a-b [1]: x -x]\n",
		"           <...>-9       [003] ..... 99999.999999: block_bio_queue: 254,0 WFS 17179869184 + 2048 [<...>]": "254,0    3        1     0.000000000     9  Q WFS 17179869184 + 2048 [<...>]\n",
		"            sync-5       [000] .....     2.000000: block_bio_queue: 254,0 FWS 0 + 0 [sync]":               "",
		"          fstrim-5       [000] .....     2.000000: block_bio_queue: 254,0 DS 4096 + 8192 [fstrim]":        "",
		"CPU:1 [LOST 213 EVENTS]": "",
	} {
		var out bytes.Buffer
		w := newBlkparse(&out, Device{Major: 254})
		if err := w.add([]byte(line)); err != nil {
			t.Errorf("%s: %v", line, err)
		}
		if err := w.flush(); err != nil || out.String() != want {
			t.Errorf("%s:\ngot  %q\nwant %q", line, out.String(), want)
		}
	}
	for _, line := range []string{
		"x: block_bio_queue: 254,0 WS 1 + 8 [fio]",
		"fio-5 [001] ..... 1.5: block_bio_queue: 254,0 WS x + 8 [fio]",
		"fio-5 [001] ..... 1.5: block_bio_queue: 254,0 WS 1",
		"fio-5 [001] ..... when: block_bio_queue: 254,0 WS 1 + 8 [fio]",
		"fio-y [001] ..... 1.5: block_bio_queue: 254,0 WS 1 + 8 [fio]",
	} {
		if err := newBlkparse(&bytes.Buffer{}, Device{}).add([]byte(line)); !errors.Is(err, ErrNoTracing) {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// Times count from the first event on, to the microsecond.
func TestEventsHaveTimes(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := newBlkparse(&out, Device{Major: 8, Minor: 16})
	for _, at := range []string{"100.999999", "102.000001"} {
		if err := w.add([]byte("fio-5 [001] ..... " + at + ": block_bio_queue: 8,16 R 1 + 8 [fio]")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.flush(); err != nil || !strings.Contains(out.String(), "    1.000002000 ") || w.ios != 2 {
		t.Errorf("%v: %s", err, out.String())
	}
}

func TestLostEvents(t *testing.T) {
	t.Parallel()
	if got := lostIn([]byte("entries: 12\noverrun: 30\ncommit overrun: 0\nbytes: 500\ndropped events: 4\nread events: 7\n")); got != 34 {
		t.Errorf("%d", got)
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	d := Device{Major: 254, Minor: 16, parts: []uint64{254<<20 | 17}}
	if got := d.filter(); got != "dev == 266338320 || dev == 266338321" {
		t.Error(got)
	}
}

// §B.4.1: MB is the highest use before the first load that is above the limit.
func TestMostUse(t *testing.T) {
	t.Parallel()
	step := func(bytesPerSec, mean, seconds float64) Step {
		return Step{PlannedSeconds: 10, Played: Played{BytesPerSec: bytesPerSec, MeanMilliseconds: mean, Seconds: seconds}}
	}
	// 150 I/Os are outstanding on average.
	busy := func(s Step) Step { s.IOPS = 150e3 / s.MeanMilliseconds; return s }
	limit := 5 * time.Millisecond
	for name, c := range map[string]struct {
		steps   []Step
		want    float64
		bounded bool
	}{
		"none":           {nil, 0, false},
		"never within":   {[]Step{step(10, 6, 10)}, 0, false},
		"never above":    {[]Step{step(10, 1, 10), step(20, 5, 10)}, 20, false},
		"above":          {[]Step{step(10, 1, 10), step(30, 2, 10), step(60, 5.1, 10)}, 30, true},
		"falls behind":   {[]Step{step(10, 1, 10), busy(step(30, 2, 11.1))}, 10, true},
		"the player":     {[]Step{step(10, 1, 10), step(30, 2, 11.1)}, 10, false},
		"nearly behind":  {[]Step{step(10, 1, 10), step(30, 2, 11)}, 30, false},
		"within further": {[]Step{step(10, 1, 10), step(20, 7, 10), step(30, 2, 10)}, 10, true},
	} {
		got := MostWithin(c.steps, limit, 100)
		switch {
		case c.want == 0:
			if got != nil {
				t.Errorf("%s: %+v", name, got)
			}
		case got == nil || got.BytesPerSec != c.want || got.Share != c.want/100 || got.Bounded != c.bounded:
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// §B.3.1: deg is what is lost of the performance in isolation.
func TestLosses(t *testing.T) {
	t.Parallel()
	got := LossOf(Played{MeanMilliseconds: 2, IOPS: 100}, Played{MeanMilliseconds: 2.5, IOPS: 90})
	if got.ByLatency < 0.2-1e-9 || got.ByLatency > 0.2+1e-9 || got.ByThroughput < 0.1-1e-9 || got.ByThroughput > 0.1+1e-9 {
		t.Errorf("%+v", got)
	}
}
