package consolidation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/consolidate"
	"github.com/nomad-placer/nomad-placer/placer/sim/consolidation"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/trace"
)

const days = 6 * 48

// statistics are those of volumes with a day and a night.
type statistics struct {
	windows []trace.Window
	next    int
}

// Next fills the next window.
func (s *statistics) Next(w *trace.Window) error {
	if s.next == len(s.windows) {
		return io.EOF
	}
	*w = s.windows[s.next]
	s.next++
	return nil
}

func (s *statistics) add(name string, windows int, phase, sequential float64) {
	for i := range windows {
		reads := int64(10_000 * (1.2 + math.Sin(2*math.Pi*float64(i)/48+phase)))
		s.windows = append(s.windows, trace.Window{Volume: name, Number: int64(i), Reads: reads, ReadBytes: reads * 8192, SequentialReads: int64(sequential * float64(reads))})
	}
}

func volumes(t testing.TB) []consolidation.Volume {
	t.Helper()
	var s statistics
	for i := range 44 {
		s.add(fmt.Sprintf("v%02d", i), days, 0.1*float64(i), float64(i)/44)
	}
	v, left, err := consolidation.ReadVolumes(&s)
	if err != nil || left != 0 {
		t.Fatalf("%d left out, %v", left, err)
	}
	return v
}

func compare(t testing.TB, seeds ...uint64) *consolidation.Study {
	t.Helper()
	o := consolidation.DefaultOptions()
	o.LossFactor = 0.25
	study, err := consolidation.Compare(t.Context(), volumes(t), consolidate.Schemes(), o, seeds, func(float64, string) {})
	if err != nil {
		t.Fatal(err)
	}
	return study
}

// What must be so whatever is assumed: isolation is what all is compared with, no scheme
// saves more than the bound, those without dynamics move nothing, capacity alone costs the
// most performance, and what is moved stays inside Δ_B.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	study := compare(t, 1, 2)
	of := map[string]consolidation.Compared{}
	for _, s := range study.Schemes {
		of[s.Name] = s
	}
	if n := of["none"]; n.Savings != 1 || n.Day.Performance != 1 || n.Day.NodesOn != 40 {
		t.Errorf("isolated: %+v, %+v", n.Savings, *n.Day)
	}
	for name, s := range of {
		if s.Savings > of["oracle"].Savings {
			t.Errorf("%s saves %g times, and the bound is %g", name, s.Savings, of["oracle"].Savings)
		}
		if s.Day == nil {
			continue
		}
		if s.Savings < 1 {
			t.Errorf("%s saves %g times", name, s.Savings)
		}
		scheme, err := consolidate.LookupScheme(name)
		if err != nil {
			t.Fatal(err)
		}
		if !scheme.Dynamic && s.Day.MovedShare != 0 {
			t.Errorf("%s moves %g of the bandwidth", name, s.Day.MovedShare)
		}
		if name != "capacity" && s.Day.Performance <= of["capacity"].Day.Performance {
			t.Errorf("%s keeps %g, by capacity alone %g", name, s.Day.Performance, of["capacity"].Day.Performance)
		}
	}
	if of["bloc"].Day.MovedShare == 0 {
		t.Error("BLOC moves nothing")
	}
}

func TestOutcomesAreRepeated(t *testing.T) {
	t.Parallel()
	text := func() string {
		out, err := json.Marshal(compare(t, 3))
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	if first := text(); first != text() {
		t.Error("the same seed gives another outcome")
	}
}

func TestBadDemand(t *testing.T) {
	t.Parallel()
	var short, few statistics
	short.add("v", days-1, 0, 0)
	if _, left, err := consolidation.ReadVolumes(&short); !errors.Is(err, consolidation.ErrVolumes) || left != 1 {
		t.Errorf("%d left out, %v", left, err)
	}
	few.add("v", days, 0, 0)
	few.add("w", 5, 0, 0)
	v, left, err := consolidation.ReadVolumes(&few)
	if err != nil || left != 1 || len(v) != 1 {
		t.Fatalf("%d, %d left out, %v", len(v), left, err)
	}
	if _, err := consolidation.NewSetup(v, consolidation.DefaultOptions(), 1); !errors.Is(err, consolidation.ErrVolumes) {
		t.Errorf("%v", err)
	}
	for _, o := range []consolidation.Options{{}, {LeastUse: 0.2, MostUse: 0.1}, {LeastUse: 0.1, MostUse: 0.2, LossFactor: -1}, {LeastUse: 0.1, MostUse: math.NaN()}} {
		if _, err := consolidation.NewSetup(volumes(t), o, 1); !errors.Is(err, consolidation.ErrOptions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := consolidation.Compare(ctx, volumes(t), consolidate.Schemes(), consolidation.DefaultOptions(), []uint64{1}, func(float64, string) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
