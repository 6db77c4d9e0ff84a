package profiler_test

import (
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// wandering is a machine whose cores' clock wanders by 7 %, as that of decision 0010.
func wandering(seed uint64) *machine {
	m := newMachine(seed)
	m.noise, m.wander = 0.003, 0.07
	m.tick, m.stamps = 2*time.Millisecond, true
	return m
}

func measureWith(t *testing.T, m *machine, tempo profiler.Tempo, seconds int) profile.Profile {
	t.Helper()
	r := sweepRequest(bandwidth)
	r.Seconds = seconds
	o := options(m)
	o.Tempo = tempo
	p, err := profiler.Measure(t.Context(), r, m, m, o)
	if err != nil {
		t.Fatal(err)
	}
	checkUntouched(t, m)
	return p
}

// Where the clock of the cores wanders, knowing it makes scores certain that are
// not without.
func TestTempoIsTakenOut(t *testing.T) {
	t.Parallel()
	width := func(known bool) (sum float64) {
		for seed := range uint64(6) {
			m := wandering(seed)
			m.workload, m.kernel = curve(60, 0.7), curve(30, 0.5)
			var tempo profiler.Tempo
			if known {
				tempo = m
			}
			p := measureWith(t, m, tempo, 12)
			e := p.Sensitivity.Tolerated[bandwidth]
			if e.Score.Known() && !holds(e, 60) {
				t.Errorf("tempo known %v: tolerated %+v", known, e)
			}
			if c := p.Sensitivity.Caused[bandwidth]; c.Score.Known() && !holds(c, 70) {
				t.Errorf("tempo known %v: caused %+v", known, c)
			}
			if !e.Score.Known() {
				sum += 100
				continue
			}
			sum += e.High.Or(100) - e.Low.Or(0)
		}
		return sum / 6
	}
	with, without := width(true), width(false)
	t.Logf("intervals of %.0f points with the tempo, %.0f without", with, without)
	if with > 2*without/3 {
		t.Errorf("intervals of %.0f points with the tempo, %.0f without", with, without)
	}
}

// What pressure does to the clock is an effect of the pressure and stays in the
// score: a kernel that takes 10 % off it is not tolerated beyond the half.
func TestHeatStaysInTheScore(t *testing.T) {
	t.Parallel()
	const truth = 51 // ln 0.95 / −0.1
	known := 0
	for seed := range uint64(6) {
		m := wandering(seed)
		m.heat = 0.1
		e := measureWith(t, m, m, 30).Sensitivity.Tolerated[bandwidth]
		if !e.Score.Known() {
			continue
		}
		if known++; !holds(e, truth) {
			t.Errorf("tolerated %+v", e)
		}
	}
	if known < 4 {
		t.Errorf("%d of 6 scores known", known)
	}
}

// A tempo that has nothing to do with the speeds changes nothing.
func TestForeignTempoIsIgnored(t *testing.T) {
	t.Parallel()
	m, other := wandering(1), wandering(99)
	m.wander = 0
	m.workload = curve(60, 0.7)
	m.onSleep = func(at time.Duration) {
		for other.at() < at {
			other.advance(finely)
		}
	}
	e := measureWith(t, m, other, 16).Sensitivity.Tolerated[bandwidth]
	if !holds(e, 60) || e.High.Or(100)-e.Low.Or(0) > 25 {
		t.Errorf("tolerated %+v", e)
	}
}
