package ibench

import "testing"

func testNarrowVectors(t *testing.T) {
	t.Helper()
	var lanes [48]float64
	for i := range lanes {
		lanes[i] = 1 + float64(i)/48
	}
	start := lanes
	vectorRoundsSSE2(&lanes, 1)
	for i := range lanes {
		want := start[i]
		if i < 24 {
			want = float64(want*0.5) + 0.75
		}
		if lanes[i] != want {
			t.Errorf("lane %d is %v, want %v", i, lanes[i], want)
		}
	}
}
