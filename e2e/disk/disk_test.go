package disk

import (
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestVolume(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int]time.Duration{512: time.Second / IOPS, 32 << 10: time.Second / IOPS, 1 << 20: 8 * time.Millisecond} {
		if got := (gp3{}).takes(&request{bytes: bytes}, time.Time{}); got != want {
			t.Errorf("%d bytes: %v and not %v", bytes, got, want)
		}
	}
}

// The disk does one I/O after another for everybody, and says for whom.
func TestOneDiskForAll(t *testing.T) {
	t.Parallel()
	d := newSharedDisk(gp3{})
	go d.serve()
	t.Cleanup(func() { close(d.requests) })
	if _, err := d.told("nonsense"); err == nil {
		t.Error("it was told nonsense")
	}
	d.submit("a", true, 0, 1<<20, func() {}) // before it is limited
	if _, err := d.told(wordLimit); err != nil {
		t.Fatal(err)
	}
	const each = 30
	begun := time.Now()
	var all sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		for i := range each {
			all.Go(func() { d.submit(name, i%3 == 0, 0, 4096, func() {}) })
		}
	}
	all.Wait()
	took := time.Since(begun)
	if least := 2 * each * time.Second / IOPS; took < least {
		t.Errorf("%d I/Os took %v, and not %v", 2*each, took, least)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, name := range []string{"a", "b"} {
		s := d.by[name]
		if s.Reads != 20 || s.Writes != 10 || s.Bytes != each*4096 || math.Abs(s.BusySeconds-each/float64(IOPS)) > 1e-6 || math.Abs(s.ReadSeconds-20./IOPS) > 1e-6 || s.reads+s.writes != 0 {
			t.Errorf("%s: %+v", name, s)
		}
		// They waited for one another: as many as there are were outstanding, on average half.
		if s.WaitSeconds <= s.BusySeconds || s.WaitSeconds <= s.ActiveSeconds {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// What a program that reads on reaches, in isolation and next to another, and one that reads
// anywhere: the rates that disks of 7,200 turns have.
func TestRotating(t *testing.T) {
	t.Parallel()
	const each = 2000
	rate := func(bytes int, place func(i int) int64) float64 {
		r, now := &rotating{}, time.Unix(1, 0)
		for i := range each {
			now = now.Add(r.takes(&request{at: place(i), bytes: bytes}, now))
		}
		return each / now.Sub(time.Unix(1, 0)).Seconds()
	}
	random := rand.New(rand.NewPCG(1, 1))
	for name, c := range map[string]struct{ got, least, most float64 }{
		"on, MB/s":                   {rate(128<<10, func(i int) int64 { return int64(i) * 128 << 10 }) * 0.131072, 99, 101},
		"anywhere, I/Os per second":  {rate(4096, func(int) int64 { return random.Int64N(rotatingBytes) }), 75, 83},
		"two that read on, both/s":   {rate(128<<10, func(i int) int64 { return int64(i%2)*200e9 + int64(i/2)*128<<10 }), 70, 90},
		"in 500 MB, I/Os per second": {rate(65536, func(int) int64 { return random.Int64N(500e6) }), 150, 180},
	} {
		if !(c.got >= c.least && c.got <= c.most) {
			t.Errorf("%s: %.1f, want %g to %g", name, c.got, c.least, c.most)
		}
	}
}

// Requests go upwards, reads before writes, but neither waits for ever.
func TestRotatingChooses(t *testing.T) {
	t.Parallel()
	now := time.Unix(100, 0)
	read := func(at int64, waited time.Duration) *request { return &request{at: at, came: now.Add(-waited)} }
	write := func(at int64, waited time.Duration) *request {
		return &request{at: at, came: now.Add(-waited), write: true}
	}
	for name, c := range map[string]struct {
		disk    rotating
		waiting []*request
		want    int
	}{
		"upwards":                          {rotating{head: 50}, []*request{read(40, 0), read(90, 0), read(60, 0)}, 2},
		"from the begin":                   {rotating{head: 95}, []*request{read(40, 0), read(90, 0), read(30, 0)}, 2},
		"reads first":                      {rotating{head: 50, batch: deadlineBatch}, []*request{write(60, time.Second), read(70, 0)}, 1},
		"on with writes":                   {rotating{head: 50, writes: true, batch: 3}, []*request{write(60, 0), read(55, 0)}, 0},
		"writes have waited twice":         {rotating{head: 50, batch: deadlineBatch, starved: 2}, []*request{write(60, 0), read(55, 0)}, 0},
		"the read that waited too long":    {rotating{head: 50, batch: deadlineBatch}, []*request{read(55, 0), read(10, time.Second)}, 1},
		"the write that waited too long":   {rotating{head: 50}, []*request{write(10, 6*time.Second), write(9, 0)}, 0},
		"a batch ends where nothing above": {rotating{head: 95, batch: 3}, []*request{write(99, 0), read(10, 0)}, 1},
	} {
		if got := c.disk.next(c.waiting, now); got != c.want {
			t.Errorf("%s: %d and not %d", name, got, c.want)
		}
	}
}

func TestImagesSayWhereTheyBegin(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int64{"a.img": 0, "a@0.img": 0, "a-1@200.img": 200e9} {
		if got, err := beginOf(name); got != want || err != nil {
			t.Errorf("%s: %d, %v", name, got, err)
		}
	}
	for _, name := range []string{"a@.img", "a@-1.img", "a@x.img"} {
		if _, err := beginOf(name); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	if _, err := newMechanism("tape"); err == nil || !strings.Contains(err.Error(), "rotating") {
		t.Errorf("of a tape: %v", err)
	}
}

// A remote disk takes as long as a local one, and the way to it.
func TestRemoteDisk(t *testing.T) {
	t.Parallel()
	local, remote := &rotating{}, &remote{}
	now := time.Unix(0, 0)
	for _, o := range []*request{{at: 5e11, bytes: 1 << 20}, {at: 1e9, bytes: 4096, write: true}} {
		way := linkRoundTrip + secondsOf(float64(o.bytes)/linkBytesPerSec)
		if near, far := local.takes(o, now), remote.takes(o, now); far-near != way {
			t.Errorf("%d bytes: %v and %v", o.bytes, near, far)
		}
	}
}
