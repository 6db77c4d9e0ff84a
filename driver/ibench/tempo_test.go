package ibench

import (
	"math"
	"testing"
	"time"
)

func TestTempoMean(t *testing.T) {
	var tempo Tempo
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(i int) time.Time { return begin.Add(time.Duration(i) * tempoEvery) }
	for i := range 10 {
		tempo.add(tempoBeat{at(i), float64(i)})
	}
	if v := tempo.Mean(at(3), at(5)); v != 4 {
		t.Errorf("mean %v of beats 3, 4 and 5", v)
	}
	for _, none := range [][2]int{{20, 30}, {-10, -2}, {0, 100}} {
		if v := tempo.Mean(at(none[0]), at(none[1])); !math.IsNaN(v) {
			t.Errorf("mean %v of beats %v, want none: most were missed", v, none)
		}
	}
	for i := range tempoKept {
		tempo.add(tempoBeat{at(10 + i), 1})
	}
	if v := tempo.Mean(at(3), at(5)); !math.IsNaN(v) {
		t.Errorf("mean %v of beats long forgotten", v)
	}
}

// Live: the beats come, and say the same of two times next to each other to within
// what a clock can change. On a machine that does much else some times have none.
func TestTempoLive(t *testing.T) {
	tempo := StartTempo()
	var a, b float64
	eventually(t, "beats in two times next to each other", func() bool {
		begun := time.Now()
		time.Sleep(40 * tempoEvery)
		half := begun.Add(20 * tempoEvery)
		a, b = tempo.Mean(begun, half), tempo.Mean(half, time.Now())
		return !math.IsNaN(a) && !math.IsNaN(b)
	})
	if err := tempo.Close(); err != nil {
		t.Fatal(err)
	}
	if !(a > 1e7) || !(a < 1e10) || !(b > a/4) || !(b < 4*a) {
		t.Errorf("%.3g and %.3g multiplications/s", a, b)
	}
}
