package consolidate_test

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/consolidate"
)

var mail = cluster.WorkloadID{Namespace: "default", Job: "mail", Group: "store"}

const usesHeader = "end,namespace,job,group,allocation,mb_per_sec\n"

func TestUsesAreReadAsWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		uses := []consolidate.Use{}
		name := rapid.StringMatching(`[a-z",é -]{1,8}`)
		for range rapid.IntRange(0, 5).Draw(rt, "rows") {
			uses = append(uses, consolidate.Use{
				End:        time.Unix(rapid.Int64Range(0, 1<<33).Draw(rt, "end"), 0).UTC(),
				Workload:   cluster.WorkloadID{Namespace: name.Draw(rt, "namespace"), Job: name.Draw(rt, "job"), Group: name.Draw(rt, "group")},
				Allocation: name.Draw(rt, "allocation"),
				MBPerSec:   float64(rapid.IntRange(0, 1e6).Draw(rt, "use")) / 1000,
			})
		}
		b := bytes.NewBufferString(consolidate.UsesHeader() + "\n")
		if err := consolidate.WriteUses(b, uses); err != nil {
			rt.Fatal(err)
		}
		text := b.String()
		got, err := consolidate.ReadUses("use.csv", b)
		if err != nil || len(got) != len(uses) {
			rt.Fatalf("%v, %d of %d rows of\n%s", err, len(got), len(uses), text)
		}
		for i := range got {
			if !reflect.DeepEqual(got[i], uses[i]) {
				rt.Fatalf("%+v, want %+v", got[i], uses[i])
			}
		}
	})
}

func TestBadUses(t *testing.T) {
	t.Parallel()
	good := "2026-03-01T12:30:00Z,default,mail,store,a1,12.5\n"
	for name, c := range map[string]struct{ text, want string }{
		"empty":       {"", "use.csv is empty"},
		"no header":   {good, "use.csv:1 is not the header"},
		"time":        {usesHeader + good + "12:30,default,mail,store,a1,12.5\n", `use.csv:3: end "12:30" is not a time`},
		"number":      {usesHeader + "2026-03-01T12:30:00Z,default,mail,store,a1,much\n", `use.csv:2: mb_per_sec "much"`},
		"negative":    {usesHeader + "2026-03-01T12:30:00Z,default,mail,store,a1,-1\n", `use.csv:2: mb_per_sec "-1"`},
		"no number":   {usesHeader + "2026-03-01T12:30:00Z,default,mail,store,a1,NaN\n", `use.csv:2: mb_per_sec "NaN"`},
		"no job":      {usesHeader + "2026-03-01T12:30:00Z,default,,store,a1,1\n", "use.csv:2: namespace, job and group"},
		"few columns": {usesHeader + good + good + "2026-03-01T12:30:00Z,default\n", "use.csv:4: wrong number of fields"},
		"quote":       {usesHeader + good + "\"2026,\n", "use.csv:"},
	} {
		uses, err := consolidate.ReadUses("use.csv", strings.NewReader(c.text))
		if !errors.Is(err, consolidate.ErrUses) || !strings.Contains(err.Error(), c.want) || uses != nil {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A load that repeats every day is foreseen: at 12:25, by what 12:30 had on the days before.
func TestExpectKnowsTheTimeOfDay(t *testing.T) {
	t.Parallel()
	r := consolidate.PaperRules()
	begin := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	load := func(at time.Time) float64 {
		if at.Hour() == 12 && at.Minute() >= 30 {
			return 80
		}
		return 10
	}
	var uses []consolidate.Use
	now := begin.Add(7*24*time.Hour + 12*time.Hour + 25*time.Minute)
	for at := begin; at.Before(now); at = at.Add(10 * time.Minute) {
		for _, allocation := range []string{"a", "b"} {
			uses = append(uses, consolidate.Use{End: at.Add(10 * time.Minute), Workload: mail, Allocation: allocation, MBPerSec: load(at)})
		}
	}
	if got := consolidate.Expect(uses[:len(uses)-2], now, r); math.Abs(got[mail]-80) > 1 {
		t.Errorf("before the peak: %v", got)
	}
	// Without the days before, what is seen now is all there is; rows of other times are not.
	if got := consolidate.Expect(uses[len(uses)-4:], now, r); got[mail] != 10 {
		t.Errorf("by now alone: %v", got)
	}
	if got := consolidate.Expect(uses[:6], now, r); len(got) != 0 {
		t.Errorf("a week old, of another time of day: %v", got)
	}
	if got := consolidate.Expect(nil, now, r); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
	ahead := []consolidate.Use{{End: now.Add(2 * time.Hour), Workload: mail, MBPerSec: 99}}
	if got := consolidate.Expect(ahead, now, r); len(got) != 0 {
		t.Errorf("of a clock that is ahead: %v", got)
	}
}
