//go:build e2e

package browser

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/dashboard"
	"github.com/nomad-placer/nomad-placer/placer/dashboard/dashboardtest"
)

// nodes is the size of the cluster walked, in addition to the fixture's five.
const nodes = 1000

// report is what dashboard.mjs prints.
type report struct {
	Pages []struct {
		Path        string    `json:"path"`
		ColorScheme string    `json:"colorScheme"`
		Errors      []string  `json:"errors"`
		Findings    []finding `json:"findings"`
		Sideways    int       `json:"sideways"` // pixels the page is wider than its window
		Images      []string  `json:"images"`   // that did not load
	} `json:"pages"`
	Plain struct {
		Rows  int      `json:"rows"`
		Found []string `json:"found"`
	} `json:"plain"`
	Heat struct {
		Counted, Filtered, AfterReload, Address string
		RowCount, ColumnCount                   string
		RowsInView                              int
		TableHidden                             bool
		AfterArrows, AfterEnd, AfterPage        focus
		Hovered, SortedHead, Opened             string
		Sorted                                  []string
		Errors                                  []string
	} `json:"heat"`
	Frames struct {
		MainThreadTaskMs quantiles            `json:"mainThreadTaskMs"`
		InputToFrameMs   map[string]quantiles `json:"inputToFrameMs"`
		Scrolled         int                  `json:"scrolled"`
	} `json:"frames"`
	Failure string `json:"failure"`
}

// finding is one rule of axe-core that a page breaks.
type finding struct {
	ID, Impact, Help string
	Count            int
	Where            []string
}

type focus struct{ Role, Label, Column, Row, Text string }

type quantiles struct {
	Count                 int
	Median, P95, P99, Max *float64
}

// TestPagesInABrowser walks every page with 1,000 nodes. Times are printed, and
// nothing depends on them.
func TestPagesInABrowser(t *testing.T) {
	address, err := serve(t.Context(), fixedRecords(nodes))
	if err != nil {
		t.Fatal(err)
	}
	job := strings.TrimPrefix(dashboard.JobPath(dashboardtest.CacheID), "/")
	out, err := run(t.Context(), "dashboard.mjs", address, job, "profile/3f2a9c", "node/a1b2c3d4-0000-0000-0000-000000000002")
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v: %.500s", err, out)
	}
	if r.Failure != "" {
		t.Fatalf("the walk ended early: %s", r.Failure)
	}
	t.Run("every page", func(t *testing.T) { checkPages(t, r) })
	t.Run("without scripts", func(t *testing.T) {
		if r.Plain.Rows != 100 || !slices.Equal(r.Plain.Found, []string{"fast-0000"}) {
			t.Errorf("the plain heat map has %d rows, and finds %q", r.Plain.Rows, r.Plain.Found)
		}
	})
	t.Run("heat map", func(t *testing.T) { checkHeatMap(t, r) })
	t.Run("frames", func(t *testing.T) { checkFrames(t, r) })
}

func checkPages(t *testing.T, r report) {
	t.Helper()
	if len(r.Pages) != 26 {
		t.Errorf("%d pages were walked, want 13 in light and dark", len(r.Pages))
	}
	for _, p := range r.Pages {
		for _, e := range p.Errors {
			if p.Path == "nowhere" && strings.Contains(e, "404") {
				continue // that page is one
			}
			t.Errorf("%s %s: console: %s", p.Path, p.ColorScheme, e)
		}
		for _, f := range p.Findings {
			say := t.Logf
			if f.Impact == "serious" || f.Impact == "critical" {
				say = t.Errorf
			}
			say("%s %s: axe %s (%s, %d times): %s\n  %s", p.Path, p.ColorScheme, f.ID, f.Impact, f.Count, f.Help, strings.Join(f.Where, "\n  "))
		}
		if p.Sideways > 0 || len(p.Images) > 0 {
			t.Errorf("%s: %d pixels too wide, broken images %q", p.Path, p.Sideways, p.Images)
		}
	}
}

func checkHeatMap(t *testing.T, r report) {
	t.Helper()
	h := r.Heat
	if h.Counted != "1005 of 1005 nodes" || h.RowCount != "1006" || h.ColumnCount != "18" || !h.TableHidden {
		t.Errorf("the map says %q, %s rows, %s columns; table hidden: %t", h.Counted, h.RowCount, h.ColumnCount, h.TableHidden)
	}
	if h.RowsInView == 0 || h.RowsInView > 60 {
		t.Errorf("%d rows exist, want only those in view", h.RowsInView)
	}
	for what, c := range map[string]struct {
		got         focus
		row, column string
	}{"arrows": {h.AfterArrows, "4", "2"}, "Control+End": {h.AfterEnd, "1006", "18"}, "Page Down": {h.AfterPage, "21", "1"}} {
		if c.got.Row != c.row || c.got.Column != c.column {
			t.Errorf("%s leads to row %s, column %s, want %s, %s", what, c.got.Row, c.got.Column, c.row, c.column)
		}
	}
	if !strings.HasPrefix(h.AfterEnd.Label, h.AfterEnd.Text) || !strings.Contains(h.AfterEnd.Label, "vector units: headroom") {
		t.Errorf("a cell reads %q", h.AfterEnd.Label)
	}
	if !strings.Contains(h.Hovered, "storage capacity: headroom") {
		t.Errorf("a cell under the pointer is described as %q", h.Hovered)
	}
	if !strings.Contains(h.SortedHead, "llc cap") || len(h.Sorted) != 8 {
		t.Errorf("sorted by %q: %q", h.SortedHead, h.Sorted)
	}
	if h.Filtered != "250 of 1005 nodes" || h.AfterReload != h.Filtered || !strings.Contains(h.Address, "sort=llc_cap") {
		t.Errorf("filtered %q, after a reload %q, at %s", h.Filtered, h.AfterReload, h.Address)
	}
	if h.Opened == "" || len(h.Errors) > 0 {
		t.Errorf("Enter opened %q; errors %q", h.Opened, h.Errors)
	}
}

func checkFrames(t *testing.T, r report) {
	t.Helper()
	f := r.Frames
	if f.MainThreadTaskMs.Count == 0 || f.Scrolled == 0 || f.Scrolled > 60 {
		t.Fatalf("the trace holds %d tasks, and %d rows exist after scrolling", f.MainThreadTaskMs.Count, f.Scrolled)
	}
	line, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("by the browser's own trace, hovering and scrolling %d nodes × 17 sources, ms: %s", nodes, line)
}
