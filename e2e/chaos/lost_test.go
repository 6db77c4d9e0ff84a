package main

import (
	"testing"
	"time"
)

func TestProcessesThatNomadLost(t *testing.T) {
	t.Parallel()
	kill := time.Unix(1000, 0)
	at := func(pid int, alloc string, d time.Duration) mainProcess {
		return mainProcess{pid, alloc, true, kill.Add(d)}
	}
	for name, c := range map[string]struct {
		list []mainProcess
		want int
	}{
		"one before, one after":       {[]mainProcess{at(1, "a", -time.Second), at(2, "a", time.Second)}, 1},
		"started again since":         {[]mainProcess{at(1, "a", -time.Second), at(2, "a", time.Minute)}, 1},
		"one, which was found again":  {[]mainProcess{at(1, "a", -time.Second)}, 0},
		"of another allocation":       {[]mainProcess{at(1, "a", -time.Second), at(2, "b", time.Second)}, 0},
		"its handle was written down": {[]mainProcess{at(1, "a", -time.Minute), at(2, "a", time.Second)}, 0},
		"both before":                 {[]mainProcess{at(1, "a", -time.Second), at(2, "a", -time.Second)}, 0},
		"both after":                  {[]mainProcess{at(1, "a", time.Second), at(2, "a", 2*time.Second)}, 0},
		"of the placer's driver":      {[]mainProcess{{1, "a", false, kill.Add(-time.Second)}, at(2, "a", time.Second)}, 0},
	} {
		if got := lostIn(c.list, []time.Time{kill.Add(-time.Hour), kill}); len(got) != c.want || c.want == 1 && got[0].pid != 1 {
			t.Errorf("%s: %v", name, got)
		}
	}
}
