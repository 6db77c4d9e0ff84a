package ibench

import (
	"math"
	"testing"
)

// The integer rounds are a fixed function of the chains; none of them dies or
// falls into step with another.
func TestIntegerRounds(t *testing.T) {
	t.Parallel()
	once, more := newIntegerWorker(), newIntegerWorker()
	integerRounds(&once.chain, 1000)
	for range 1000 {
		integerRounds(&more.chain, 1)
	}
	if once.chain != more.chain {
		t.Errorf("1000 rounds at once %v, one by one %v", once.chain, more.chain)
	}
	seen := map[uint64]bool{}
	for _, v := range once.chain {
		seen[v] = true
	}
	if len(seen) != len(once.chain) || seen[0] {
		t.Errorf("chains %v", once.chain)
	}
}

// The floating-point rounds do what their formula says.
func TestFloatRounds(t *testing.T) {
	t.Parallel()
	w := newFloatWorker()
	want := w.chain
	floatRounds(&w.chain, 3)
	changed := 0
	for i := range want {
		start := want[i]
		for range 3 {
			want[i] = float64(want[i]*0.5) + 0.75
			want[i] = float64(want[i]*0.75) + 0.375
		}
		switch w.chain[i] {
		case want[i]:
			changed++
		case start: // a chain that this architecture does not use
		default:
			t.Errorf("chain %d is %v, want %v", i, w.chain[i], want[i])
		}
	}
	if changed*4 != floatOpsPerRound {
		t.Errorf("%d chains, %d operations per round", changed, floatOpsPerRound)
	}
}

func TestVectorRounds(t *testing.T) {
	t.Parallel()
	unit, err := vectorUnit()
	if err != nil {
		t.Skipf("this architecture has no vector kernel: %v", err)
	}
	var lanes [48]float64
	for i := range lanes {
		lanes[i] = 1 + float64(i)/48
	}
	start := lanes
	unit.run(&lanes, 1)
	for i := range lanes {
		once := math.FMA(start[i], 0.5, 0.75)
		if twice := math.FMA(once, 0.5, 0.75); lanes[i] != once && lanes[i] != twice && lanes[i] != start[i] {
			t.Errorf("lane %d: from %v to %v", i, start[i], lanes[i])
		}
	}
	unit.run(&lanes, 10_000)
	for i, v := range lanes {
		if !(v >= 1 && v < 2) {
			t.Errorf("lane %d is %v", i, v)
		}
	}
}

// Vectors of 128 bits are tested where the wider ones are the default, too.
func TestVectorRoundsOf128Bits(t *testing.T) {
	t.Parallel()
	if _, err := vectorUnit(); err != nil {
		t.Skipf("this architecture has no vector kernel: %v", err)
	}
	testNarrowVectors(t)
}
