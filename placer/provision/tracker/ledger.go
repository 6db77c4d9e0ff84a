package tracker

import (
	"cmp"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/provision"
)

// Bounds, chosen by us.
const (
	mostDays = 31 // whose sums are kept
	// A longer time between two looks is one that nobody saw.
	lookedWithin = 10 * time.Minute
)

const day = 24 * time.Hour

// ledger is what was spent, by day.
type ledger struct {
	at   time.Time            // up to when
	days []provision.DaySpend // by UTC, the newest last
}

// add what was spent since, at a price per hour. A clock that was set back adds nothing. What nobody
// saw counts at that price, too, and is said apart.
func (l *ledger) add(now time.Time, perHour float64) {
	if !now.After(l.at) {
		return
	}
	from := l.at
	if oldest := midnight(now).Add(-(mostDays - 1) * day); from.Before(oldest) {
		from = oldest
	}
	unseen := now.Sub(l.at) > lookedWithin
	for from.Before(now) {
		until := midnight(from).Add(day)
		if until.After(now) {
			until = now
		}
		d := l.day(from)
		d.Spent += until.Sub(from).Hours() * perHour
		if unseen {
			d.UnseenHours += until.Sub(from).Hours()
		}
		from = until
	}
	l.at = now
}

func midnight(at time.Time) time.Time { return at.UTC().Truncate(day) }

// day of a time; the newest one, or a new one.
func (l *ledger) day(at time.Time) *provision.DaySpend {
	name := at.UTC().Format(time.DateOnly)
	if n := len(l.days); n == 0 || l.days[n-1].Day != name {
		l.days = append(l.days, provision.DaySpend{Day: name})
		if over := len(l.days) - mostDays; over > 0 {
			l.days = slices.Delete(l.days, 0, over)
		}
	}
	return &l.days[len(l.days)-1]
}

// today is what was spent since the midnight before a time.
func (l *ledger) today(now time.Time) float64 {
	if n := len(l.days); n > 0 && l.days[n-1].Day == now.UTC().Format(time.DateOnly) {
		return l.days[n-1].Spent
	}
	return 0
}

// ledgerOf is the ledger of a record. Others may have written it: what makes no sense is left out.
func ledgerOf(at time.Time, s State) ledger {
	out := ledger{at: at}
	for _, d := range s.Days {
		of, err := time.Parse(time.DateOnly, d.Day)
		if err == nil && !of.After(at) && d.Spent >= 0 && d.UnseenHours >= 0 {
			out.days = append(out.days, d)
		}
	}
	slices.SortStableFunc(out.days, func(a, b provision.DaySpend) int { return cmp.Compare(a.Day, b.Day) })
	out.days = slices.CompactFunc(out.days, func(a, b provision.DaySpend) bool { return a.Day == b.Day })
	if over := len(out.days) - mostDays; over > 0 {
		out.days = slices.Delete(out.days, 0, over)
	}
	if len(s.Days) == 0 && s.Today > 0 { // a record of before there were days
		out.day(at).Spent = s.Today
	}
	return out
}
