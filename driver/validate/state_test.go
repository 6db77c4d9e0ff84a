package validate

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// ticking is a clock that a second passes on at each look.
func ticking() func() time.Time {
	now := time.Unix(0, 0)
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

// counted makes cells that count how often they are measured.
func counted(times map[string]int, failing map[string]error) []cell {
	var out []cell
	for _, key := range []string{"a", "b", "c"} {
		out = append(out, cell{
			key: key, title: key, stage: stageLinearity, expect: time.Second,
			measure: func(context.Context) (any, error) {
				times[key]++
				return Linearity{Unit: key}, failing[key]
			},
		})
	}
	return out
}

func TestResume(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	header := stateHeader{Format: StateFormat, Program: "p", Seed: 1}
	st, err := openState(dir, header, false)
	if err != nil {
		t.Fatal(err)
	}
	times, failing := map[string]int{}, map[string]error{"b": errFake}
	cells := counted(times, failing)
	s := &session{cast: newCast(newFakeBench())}
	now := ticking()
	runOnce := func(ctx context.Context, cells []cell) error {
		return s.runCells(ctx, st, cells, now, newReporter(io.Discard, now))
	}

	// The run is cut short in its second cell: that is not kept.
	ctx, cancel := context.WithCancel(t.Context())
	cut := append([]cell(nil), cells...)
	cut[1].measure = func(context.Context) (any, error) { cancel(); return nil, ctx.Err() }
	if err := runOnce(ctx, cut); !errors.Is(err, context.Canceled) {
		t.Fatalf("cut short: %v", err)
	}
	if !st.done("a") || st.done("b") {
		t.Error("the cell before the cut is not kept, or the one at it is")
	}

	// The next run goes on; what fails is kept as such and tried again.
	for range 2 {
		if err := runOnce(t.Context(), cells); err != nil {
			t.Fatal(err)
		}
	}
	if times["a"] != 1 || times["b"] != 2 || times["c"] != 1 {
		t.Errorf("measured %v times", times)
	}
	var r Report
	if err := r.assemble(st, cells); err != nil {
		t.Fatal(err)
	}
	if len(r.Linearity) != 2 || len(r.Failures) != 1 || !strings.Contains(r.Failures[0].Reason, errFake.Error()) {
		t.Errorf("assembled %+v", r)
	}

	// Half a file is as good as none.
	if err := os.WriteFile(st.cellPath("c"), []byte(`{"key":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if st.done("c") {
		t.Error("half a file counts as a result")
	}
}

func TestStateOfAnother(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	own := filepath.Join(dir, "mine.txt")
	if err := os.WriteFile(own, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	first := stateHeader{Format: StateFormat, Program: "old"}
	st, err := openState(dir, first, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.save(savedCell{Key: "a"}); err != nil {
		t.Fatal(err)
	}
	if _, err := openState(dir, first, false); err != nil || !st.done("a") {
		t.Errorf("the same validation: %v", err)
	}
	second := stateHeader{Format: StateFormat, Program: "new"}
	if _, err := openState(dir, second, false); !errors.Is(err, errOtherState) {
		t.Errorf("cells of another program: %v", err)
	}
	if st, err = openState(dir, second, true); err != nil || st.done("a") {
		t.Errorf("fresh: %v, still done: %t", err, st.done("a"))
	}
	if _, err := os.Stat(own); err != nil {
		t.Errorf("a file of somebody else's is gone: %v", err)
	}
}

func TestRemaining(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	r := newReporter(&out, ticking())
	cells := counted(map[string]int{}, nil)
	for i := range cells {
		cells[i].expect = 10 * time.Second
	}
	r.plan(cells, cells[1:])
	if got := r.remaining(); got != 20*time.Second {
		t.Errorf("%v to go, want 20s", got)
	}
	r.begin(cells[1])
	r.end(cells[1], 30*time.Second, errFake)
	if got := r.remaining(); got != 30*time.Second {
		t.Errorf("%v to go after one that took three times as long, want 30s", got)
	}
	for _, want := range []string{"1 of 3 cells are measured already", "b, 2 of 3, about 20s to go", errFake.Error()} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in %q", want, out.String())
		}
	}
}
