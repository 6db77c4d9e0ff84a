package profiling

import (
	"testing"
	"testing/synctest"
	"time"
)

// slowly is a fit that takes its time.
func slowly(took time.Duration, of *learnt) func() *learnt {
	return func() *learnt {
		time.Sleep(took)
		return of
	}
}

func mustNotFit(t *testing.T) func() *learnt {
	return func() *learnt {
		t.Error("models were fitted")
		return nil
	}
}

// took is how long one waits for a renewal.
func took(renew func()) time.Duration {
	began := time.Now()
	renew()
	return time.Since(began)
}

// Who asks while models are fitted waits for a second from when that began, and no longer.
func TestAFitIsWaitedForAMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var f fits
		shipped, first, second := &learnt{}, &learnt{}, &learnt{}
		f.put("", shipped)
		if waited := took(func() { f.renew(bubbleClock{}, "a", slowly(400*time.Millisecond, first)) }); waited != 400*time.Millisecond || f.of("a") != first {
			t.Errorf("waited %s", waited)
		}
		time.Sleep(time.Minute)
		f.outdate("a")
		if waited := took(func() { f.renew(bubbleClock{}, "a", slowly(10*time.Second, second)) }); waited != fitWait || f.of("a") != first {
			t.Errorf("waited %s for a fit that takes longer", waited)
		}
		time.Sleep(5 * time.Second)
		if waited := took(func() { f.renew(bubbleClock{}, "a", mustNotFit(t)) }); waited != 0 || f.of("a") != first {
			t.Errorf("waited %s for a fit that began before", waited)
		}
		time.Sleep(5 * time.Second)
		if f.of("a") != second || f.isOutdated("a") {
			t.Error("the fit has ended and is not used")
		}
	})
}

// Fitting rests nine times as long as it took: it takes a tenth of the time at most.
func TestFittingRests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var f fits
		f.put("", &learnt{})
		begun, since := 0, time.Now()
		for range 600 {
			f.outdate("a")
			f.renew(bubbleClock{}, "a", func() *learnt {
				begun++
				time.Sleep(2 * time.Second)
				return &learnt{}
			})
			time.Sleep(time.Second)
		}
		f.ending.Wait()
		if most := int(time.Since(since)/(20*time.Second)) + 1; begun > most || begun < most-3 {
			t.Errorf("%d fits of 2 s in %s, want at most %d", begun, time.Since(since), most)
		}
	})
}

// What changes while models are fitted is fitted next; from what is taken away meanwhile
// nobody learns.
func TestRowsThatChangeWhileModelsAreFitted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var f fits
		f.put("", &learnt{})
		first, second := &learnt{}, &learnt{}
		f.renew(bubbleClock{}, "a", slowly(2*time.Second, first))
		f.outdate("a")
		time.Sleep(time.Minute)
		if f.of("a") != first || !f.isOutdated("a") {
			t.Error("the fit before the change is not used, or counts as newest")
		}
		f.renew(bubbleClock{}, "a", slowly(2*time.Second, second))
		f.drop("a")
		time.Sleep(time.Minute)
		if f.of("a") != nil {
			t.Error("models of rows that are gone are used")
		}
	})
}
