package main

import (
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
)

func TestProcessesThatNomadLost(t *testing.T) {
	t.Parallel()
	kill := time.Unix(1000, 0)
	full := span{kill.Add(-30 * time.Minute), kill.Add(-29 * time.Minute)}
	at := func(pid int, alloc string, d time.Duration) mainProcess {
		return mainProcess{pid, alloc, true, kill.Add(d)}
	}
	for name, c := range map[string]struct {
		list []mainProcess
		want int
	}{
		"one before, one after":         {[]mainProcess{at(1, "a", -time.Second), at(2, "a", time.Second)}, 1},
		"started again since":           {[]mainProcess{at(1, "a", -time.Second), at(2, "a", time.Minute)}, 1},
		"one, which was found again":    {[]mainProcess{at(1, "a", -time.Second)}, 0},
		"of another allocation":         {[]mainProcess{at(1, "a", -time.Second), at(2, "b", time.Second)}, 0},
		"its handle was written down":   {[]mainProcess{at(1, "a", -time.Minute), at(2, "a", time.Second)}, 0},
		"both before":                   {[]mainProcess{at(1, "a", -time.Second), at(2, "a", -time.Second)}, 0},
		"both after":                    {[]mainProcess{at(1, "a", time.Second), at(2, "a", 2*time.Second)}, 0},
		"while the disk was full":       {[]mainProcess{at(1, "a", -29*time.Minute-30*time.Second), at(2, "a", time.Second)}, 1},
		"as the disk became full":       {[]mainProcess{at(1, "a", -30*time.Minute-time.Second), at(2, "a", time.Second)}, 1},
		"before the disk was full":      {[]mainProcess{at(1, "a", -31*time.Minute), at(2, "a", time.Second)}, 0},
		"after the disk was full":       {[]mainProcess{at(1, "a", -28*time.Minute), at(2, "a", time.Second)}, 0},
		"full disk, two without a kill": {[]mainProcess{at(1, "a", -29*time.Minute-30*time.Second), at(2, "a", -28*time.Minute)}, 0},
		"of the placer's driver":        {[]mainProcess{{1, "a", false, kill.Add(-time.Second)}, at(2, "a", time.Second)}, 0},
	} {
		if got := lostIn(c.list, breaks{[]time.Time{kill.Add(-time.Hour), kill}, []span{full}}); len(got) != c.want || c.want == 1 && got[0].pid != 1 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestAllocationsThatNomadForgot(t *testing.T) {
	t.Parallel()
	list := []*api.AllocationListStub{allocOf("a", 1), allocOf("b", 1), allocOf("c", 1)}
	list[1].ClientStatus = api.AllocClientStatusComplete
	processes := map[string]int{list[2].ID: 1}
	start := time.Unix(1000, 0)
	none, since := forgottenIn(list, processes, nil, start)
	if len(none) > 0 || len(since) != 1 || since[list[0].ID] != start {
		t.Fatalf("%v, %v", none, since)
	}
	if none, since = forgottenIn(list, processes, since, start.Add(forgottenAfter-time.Second)); len(none) > 0 || since[list[0].ID] != start {
		t.Fatalf("%v, %v", none, since)
	}
	if found, left := forgottenIn(list, processes, since, start.Add(forgottenAfter)); len(found) != 1 || found[0] != list[0] || len(left) > 0 {
		t.Fatalf("%v, %v", found, left)
	}
	processes[list[0].ID] = 1
	if none, since = forgottenIn(list, processes, since, start.Add(forgottenAfter)); len(none) > 0 || len(since) > 0 {
		t.Errorf("it has a process again: %v, %v", none, since)
	}
}
