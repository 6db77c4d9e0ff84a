package network

import (
	"strings"
	"testing"
	"time"
)

// A cluster in which other servers talk to each other at noon, at twice the load in the
// last hours: the morning is one window, and where the load changes there are more.
func TestChooseWindows(t *testing.T) {
	t.Parallel()
	var records []Record
	for at := time.Duration(0); at < week; at += bin {
		r := Record{At: at, Source: 0, Destination: 1, Bytes: 100}
		switch hour := at % day / time.Hour; {
		case hour >= 18:
			r.Source, r.Destination, r.Bytes = 2, 3, 200
		case hour >= 12:
			r.Source, r.Destination = 2, 3
		}
		records = append(records, r)
	}
	traffic := table(t, topology(t, 1, 1, 4, false), Span{To: week, Bin: bin}, records)
	windows, err := ChooseWindows(t.Context(), traffic, StudyWindows(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range windows {
		got = append(got, w.String())
	}
	want := "mon-wed 00-12, mon-wed 12-18, mon-wed 18-24, thu-fri 00-12, thu-fri 12-18, thu-fri 18-24, sat-sun 00-12, sat-sun 12-18, sat-sun 18-24"
	if strings.Join(got, ", ") != want {
		t.Errorf("windows %s\nwant %s", strings.Join(got, ", "), want)
	}
	if err := CheckWindows(windows); err != nil {
		t.Error(err)
	}
}

// What was not captured gets no window, so that a model can always be fitted.
func TestChooseWindowsOfADay(t *testing.T) {
	t.Parallel()
	traffic, err := NewSynthetic(SyntheticOptions{Groups: 1, RacksPerGroup: 2, ServersPerRack: 4, Weeks: 1, Bin: bin, Varying: 0, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	part := Part(traffic, 6*time.Hour, 22*time.Hour)
	windows, err := ChooseWindows(t.Context(), part, StudyWindows(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(windows) < 2 {
		t.Errorf("windows %v: the load of the morning is half of that of the evening", windows)
	}
	fit(t, part, func(o *FitOptions) { o.Windows = windows })
}
