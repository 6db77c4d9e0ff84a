package tracker

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/provision"
)

// Whenever it is looked at: the days add up to what was spent in all, each day is there, and what was
// seen has no unseen hours.
func TestSpendByDay(t *testing.T) {
	t.Parallel()
	const perHour, hours = 0.5, 100
	for _, every := range []time.Duration{time.Minute, lookedWithin, 7 * time.Hour} {
		l := ledger{at: start}
		for at := start; !at.After(start.Add(hours * time.Hour)); at = at.Add(every) {
			l.add(at, perHour)
		}
		looked := l.at.Sub(start).Hours()
		sum, unseen := 0.0, 0.0
		for i, d := range l.days {
			if want := start.Add(time.Duration(i) * day).Format(time.DateOnly); d.Day != want {
				t.Errorf("every %s: day %d is %s, want %s", every, i, d.Day, want)
			}
			sum, unseen = sum+d.Spent, unseen+d.UnseenHours
		}
		want := 0.0
		if every > lookedWithin {
			want = looked
		}
		if math.Abs(sum-perHour*looked) > 1e-6 || math.Abs(unseen-want) > 1e-6 {
			t.Errorf("every %s: %g in %g hours, %g unseen", every, sum, looked, unseen)
		}
	}
}

func TestAMonthOfDaysIsKept(t *testing.T) {
	t.Parallel()
	l := ledger{at: start}
	l.add(start.AddDate(1, 0, 0), 1)
	if len(l.days) != mostDays || l.days[mostDays-1].Day != start.AddDate(1, 0, 0).Format(time.DateOnly) || l.days[0].Spent != 24 {
		t.Errorf("%d days: %+v", len(l.days), l.days)
	}
}

// A record of before there were days, and one that makes no sense.
func TestDaysOnRecord(t *testing.T) {
	t.Parallel()
	var old State
	if err := json.Unmarshal([]byte(`{"made":1,"spent_at":"2026-03-14T12:00:00Z","today":3.5}`), &old); err != nil {
		t.Fatal(err)
	}
	if l := ledgerOf(old.SpentAt, old); l.today(start) != 3.5 || len(l.days) != 1 || l.days[0].Day != "2026-03-14" {
		t.Errorf("%+v", l)
	}
	forged := State{Days: []provision.DaySpend{
		{Day: "2026-03-14", Spent: 1}, {Day: "2026-03-13", Spent: 2}, {Day: "2026-03-13", Spent: 9}, {Day: "2026-03-12", Spent: -1},
		{Day: "2026-03-15", Spent: 5}, {Day: "yesterday", Spent: 5}, {Day: "2026-03-11", Spent: math.NaN()},
	}}
	l := ledgerOf(start, forged)
	if len(l.days) != 2 || l.days[0] != (provision.DaySpend{Day: "2026-03-13", Spent: 2}) || l.today(start) != 1 {
		t.Errorf("%+v", l)
	}
}
