package machine

import (
	"errors"
	"testing"
	"time"
)

func TestStolenTime(t *testing.T) {
	t.Parallel()
	began := time.Unix(1_700_000_000, 0)
	before := Stolen{at: began, each: 40 * time.Second}
	after := Stolen{at: began.Add(20 * time.Second), each: 41 * time.Second}
	if got := after.PercentSince(before); got == nil || *got != 5 {
		t.Errorf("stolen %v, want 5 %%", got)
	}
	unread := errors.New("unread")
	for name, c := range map[string][2]Stolen{
		"no time went by": {before, before},
		"no beginning":    {{at: began, err: unread}, after},
		"no end":          {before, {at: after.at, err: unread}},
	} {
		if got := c[1].PercentSince(c[0]); got != nil {
			t.Errorf("%s: %g, want unknown", name, *got)
		}
	}
}
