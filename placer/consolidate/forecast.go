package consolidate

import (
	"math"
	"time"
)

const (
	// historyDays is over how many days the use at a time of day is averaged (§B.5.1).
	historyDays = 7
	// missShare is from which difference on a prediction was wrong: a part of it (§B.5.1).
	missShare = 0.05
	// Below, history counts most; from it on, what is seen now does alone (§B.5.1). The text
	// takes them from the standard deviation of the difference of the two.
	trustHistory, trustNow = 0.3, 0.7
)

// Blend predicts from the mean of other days at that time and from what is seen now. The
// part of wrong predictions, 0..1, says how much history is worth:
//
//	(1−A²)·history + A²·now   where A < 0.3
//	(1−A)·history + A·now     where 0.3 ≤ A < 0.7
//	now                       where A ≥ 0.7
func Blend(history, now, wrong float64) float64 {
	weight := wrong
	switch {
	case wrong < trustHistory:
		weight = wrong * wrong
	case wrong >= trustNow:
		weight = 1
	}
	return (1-weight)*history + weight*now
}

// Forecast predicts one number, a bandwidth or a size, an interval ahead. Spikes are not
// predicted: the room up to MB_s is for them.
//
// What counts as wrong is history, not the blend that the text counts: with a blend, a use
// that changes by more than 5 % in every interval makes A 1 on the second day, 1 makes "now"
// the prediction, "now" is wrong again, and history is never asked however good it is.
type Forecast struct {
	// Window counts wrong predictions over so many intervals; 0 counts all since the start,
	// as the text does, which never forgets.
	Window int

	days    [][]float64 // use by interval, the present day last; NaN: not seen
	slot    int         // of the present day
	history float64     // of the present interval, where there is any
	known   bool
	wrong   []bool
}

// NewForecast begins at midnight of a day with so many intervals.
func NewForecast(interval time.Duration) *Forecast {
	f := &Forecast{slot: -1}
	f.days = [][]float64{newDay(int(24 * time.Hour / interval))}
	return f
}

func newDay(intervals int) []float64 {
	day := make([]float64, intervals)
	for i := range day {
		day[i] = math.NaN()
	}
	return day
}

// Skip passes over an interval in which nothing was seen.
func (f *Forecast) Skip() {
	f.forward()
	f.history, f.known = f.mean()
}

func (f *Forecast) forward() {
	f.slot++
	if f.slot == len(f.today()) {
		f.slot = 0
		f.days = append(f.days, newDay(len(f.today())))
		f.days = f.days[max(0, len(f.days)-historyDays-1):]
	}
}

// Observe takes the use of the interval that ends.
func (f *Forecast) Observe(value float64) {
	f.forward()
	if f.known {
		f.wrong = append(f.wrong, math.Abs(value-f.history) > missShare*f.history)
		if f.Window > 0 {
			f.wrong = f.wrong[max(0, len(f.wrong)-f.Window):]
		}
	}
	f.today()[f.slot] = value
	f.history, f.known = f.mean()
}

func (f *Forecast) today() []float64 { return f.days[len(f.days)-1] }

// Wrong is A, the part of the intervals in which history was wrong; 1 where there was none:
// then what is seen now is all there is.
func (f *Forecast) Wrong() float64 {
	if len(f.wrong) == 0 {
		return 1
	}
	n := 0
	for _, w := range f.wrong {
		if w {
			n++
		}
	}
	return float64(n) / float64(len(f.wrong))
}

// Next predicts the next interval; false where nothing is seen now and nothing was at that
// time of other days.
func (f *Forecast) Next() (float64, bool) {
	if f.slot < 0 {
		return 0, false
	}
	now := f.today()[f.slot]
	switch {
	case math.IsNaN(now):
		return f.history, f.known
	case !f.known:
		return now, true // the first day
	default:
		return Blend(f.history, now, f.Wrong()), true
	}
}

// mean is that of the next interval on the days before.
func (f *Forecast) mean() (float64, bool) {
	slot, days := f.slot+1, f.days[:len(f.days)-1]
	if slot == len(f.today()) {
		slot, days = 0, f.days // the next interval is tomorrow's first
	}
	sum, n := 0.0, 0
	for _, day := range days[max(0, len(days)-historyDays):] {
		if !math.IsNaN(day[slot]) {
			sum, n = sum+day[slot], n+1
		}
	}
	return sum / float64(n), n > 0
}
