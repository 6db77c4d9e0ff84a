package disk_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nomad-placer/nomad-placer/placer/disk"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

func asks(mbPerSec, mostPercent float64) performance.DiskSpec {
	return performance.DiskSpec{BandwidthMBPerSec: mbPerSec, MostPercent: mostPercent}
}

func account(rated float64, promises ...performance.DiskSpec) disk.Account {
	a := disk.NewAccount(rated)
	for _, p := range promises {
		a.Add(p)
	}
	return a
}

func TestRated(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]float64{"400": 400, "0.5": 0.5, "1e3": 1000, "1000000": 1e6} {
		if got, err := disk.Rated(map[string]string{disk.RatedKey: said}); err != nil || got != want {
			t.Errorf("%q: %v, %v", said, got, err)
		}
	}
	for _, said := range []string{"", "fast", "0", "-3", "NaN", "Inf", "1e7", "400 MB/s"} {
		got, err := disk.Rated(map[string]string{disk.RatedKey: said})
		if !errors.Is(err, disk.ErrNotARate) || got != 0 || !strings.Contains(err.Error(), disk.RatedKey) {
			t.Errorf("%q: %v, %v", said, got, err)
		}
	}
	if _, err := disk.Rated(nil); !errors.Is(err, disk.ErrNotSaid) {
		t.Errorf("nothing said: %v", err)
	}
}

// §B.4.1 and eq. B.1: webmail keeps 5 ms up to 70 % of the bandwidth, websearch up to 30 %.
// The node that has webmail at 35 % takes more of it, and no websearch.
func TestPaperBinShrinks(t *testing.T) {
	t.Parallel()
	webmail, websearch := asks(35, 70), asks(5, 30)
	a := account(100, webmail)
	if a.Takes(websearch) {
		t.Error("websearch where 35 % are in use")
	}
	if !a.Takes(asks(30, 70)) {
		t.Error("no more webmail where 35 of 68 % are in use")
	}
	a.Add(websearch)
	if math.Abs(a.LimitMBPerSec(webmail)-28) > 1e-9 || a.Takes(asks(1, 100)) {
		t.Errorf("with websearch there it may be used to %g of 28", a.LimitMBPerSec(webmail))
	}
}

// §B.4.2, line 4: strictly below MB_s − Δ_B, with Δ_B of 2 % of what the disk does.
func TestPaperMargin(t *testing.T) {
	t.Parallel()
	for mbPerSec, want := range map[float64]bool{32.9: true, 33: false} {
		if got := account(100, asks(35, 70)).Takes(asks(mbPerSec, 70)); got != want {
			t.Errorf("%g more: %v", mbPerSec, got)
		}
	}
}

// A disk of which nothing is promised takes any: else what needs more than its own limit
// would be nowhere.
func TestAnEmptyDiskTakesAny(t *testing.T) {
	t.Parallel()
	if !account(100).Takes(asks(500, 0)) || account(100).Room(asks(500, 0), 9) != 1 {
		t.Error("it is nowhere")
	}
	if account(100, asks(1, 0)).Takes(asks(500, 0)) {
		t.Error("next to another promise")
	}
}

func TestSentences(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		account(100, asks(60, 100)).Refusal(asks(60, 100)):   "its disk does 100 MB/s; 98 may be promised, and 60 are: 60 more do not fit",
		account(400, asks(40, 70)).Refusal(asks(90, 30)):     "its disk does 400 MB/s, of which 30 % may be in use where these workloads are; 112 may be promised, and 40 are: 90 more do not fit",
		account(100).Granted(asks(60, 0), 1):                 "its disk does 100 MB/s; 98 may be promised, and 60 are, 60 of them to this group",
		account(100, asks(10.04, 0)).Granted(asks(20, 0), 2): "its disk does 100 MB/s; 98 may be promised, and 50 are, 40 of them to this group",
		account(100).Granted(asks(120, 0), 1): "its disk does 100 MB/s; 98 may be promised, and 120 are, 120 of them to this group" +
			"; that is more than may be, and only a disk on which nothing else is promised is given so much",
		account(100, asks(1, 1)).Refusal(asks(1, 0)): "its disk does 100 MB/s, of which 1 % may be in use where these workloads are; 0 may be promised, and 1 are: 1 more do not fit",
	} {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func drawSpec(t *rapid.T, name string) performance.DiskSpec {
	return asks(float64(rapid.IntRange(1, 200).Draw(t, name+", MB/s")), float64(rapid.IntRange(0, 100).Draw(t, name+", %")))
}

// Whatever came in whatever order: what was taken is below the limit of all, unless it was
// the first; and what has come never leaves more room than there was.
func TestTakenIsBelowTheLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := disk.NewAccount(float64(rapid.IntRange(1, 500).Draw(t, "rated")))
		var taken []performance.DiskSpec
		for range rapid.IntRange(0, 12).Draw(t, "arrivals") {
			p, probe := drawSpec(t, "arrival"), drawSpec(t, "probe")
			before := a
			if !a.Takes(p) {
				continue
			}
			a.Add(p)
			taken = append(taken, p)
			if a.Promises > 1 && !(a.PromisedMBPerSec < a.LimitMBPerSec(p)) {
				t.Fatalf("%g promised of %g", a.PromisedMBPerSec, a.LimitMBPerSec(p))
			}
			if a.FreeMBPerSec() > before.FreeMBPerSec() || a.Takes(probe) && !before.Takes(probe) {
				t.Fatalf("%+v leaves more than %+v", a, before)
			}
		}
		backwards := disk.NewAccount(a.RatedMBPerSec)
		for i := range taken {
			backwards.Add(taken[len(taken)-1-i])
		}
		if backwards != a { // whole numbers add up exactly
			t.Fatalf("the order matters: %+v, %+v", a, backwards)
		}
	})
}

// Room against a count by the formula.
func TestRoomIsCounted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := disk.NewAccount(float64(rapid.IntRange(1, 500).Draw(t, "rated")))
		for range rapid.IntRange(0, 3).Draw(t, "residents") {
			a.Add(drawSpec(t, "resident"))
		}
		p, limit := drawSpec(t, "newcomer"), rapid.IntRange(0, 20).Draw(t, "limit")
		want := 0
		for n := 1; n <= limit; n++ {
			alone := a.Promises == 0 && n == 1
			if alone || a.PromisedMBPerSec+float64(n)*p.BandwidthMBPerSec < a.LimitMBPerSec(p) {
				want = n
			}
		}
		if got := a.Room(p, limit); got != want {
			t.Fatalf("room for %d, counted %d: %+v, %+v", got, want, a, p)
		}
		if a.FreeMBPerSec() < 0 || math.IsNaN(a.FreeMBPerSec()) {
			t.Fatalf("%g free", a.FreeMBPerSec())
		}
	})
}
