package blockio

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestVersions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]int{"fio-3.33": {3, 33}, "fio-3.35-12-gabc1": {3, 35}, "fio-2.1.11": {2, 1}} {
		major, minor, ok := version(text)
		if !ok || major != want[0] || minor != want[1] {
			t.Errorf("%s: %d.%d, %v", text, major, minor, ok)
		}
	}
	for _, text := range []string{"", "3.33", "fio-", "fio-x.y", "fio-3."} {
		if _, _, ok := version(text); ok {
			t.Errorf("%q is a version", text)
		}
	}
}

// The report of fio 3.33 with unified_rw_reporting=both, cut to what is read.
const report = `fio: a note before it
{
  "fio version" : "fio-3.33",
  "jobs" : [
    {
      "jobname" : "twin", "error" : 0, "job_runtime" : 2000,
      "read" : { "io_bytes" : 4096000, "total_ios" : 1000, "lat_ns" : { "mean" : 1000000.0, "percentile" : { "50.000000" : 1 } } },
      "mixed" : { "io_bytes" : 8192000, "total_ios" : 1500,
        "lat_ns" : { "mean" : 2500000.0, "percentile" : { "50.000000" : 1003520, "95.000000" : 9109504, "99.000000" : 12648448 } } }
    }
  ]
}`

func TestReportsAreRead(t *testing.T) {
	t.Parallel()
	got, err := parsePlayed([]byte(report))
	if err != nil {
		t.Fatal(err)
	}
	want := Played{
		IOs: 1500, ReadIOs: 1000, Seconds: 2, IOPS: 750, BytesPerSec: 4096000,
		MeanMilliseconds: 2.5, P50Milliseconds: 1.00352, P95Milliseconds: 9.109504, P99Milliseconds: 12.648448,
	}
	if *got != want {
		t.Errorf("%+v", *got)
	}
	for name, text := range map[string]string{
		"cut short": report[:300],
		"no job":    `{"jobs":[]}`,
		"empty":     "",
		"no I/O":    `{"jobs":[{"job_runtime":5}]}`,
		"error":     strings.Replace(report, `"error" : 0`, `"error" : 28`, 1),
	} {
		if _, err := parsePlayed([]byte(text)); !errors.Is(err, ErrFio) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := parsePlayed([]byte(strings.Replace(report, `"error" : 0`, `"error" : 28`, 1))); !strings.Contains(err.Error(), "no space left") {
		t.Errorf("%v", err)
	}
}

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
