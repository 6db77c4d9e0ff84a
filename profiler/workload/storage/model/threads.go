package model

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
)

// Class is a type of threads (§A.3.4, §A.4.3).
type Class struct {
	// Name is data-0 to data-3, log-4 or log-5, as the text numbers them.
	Name     string `json:"type"`
	Function string `json:"function"` // data, log
	// Intensity and Fluctuation are high or low.
	Intensity   string `json:"intensity"`
	Fluctuation string `json:"fluctuation"`
}

// The levels of intensity and fluctuation.
const (
	High = "high"
	Low  = "low"
)

// Log is the function of a thread that appends.
const (
	Data = "data"
	Log  = "log"
)

// Classes are the six types, in the order of their numbers.
func Classes() []Class {
	return []Class{
		{"data-0", Data, High, High},
		{"data-1", Data, High, Low},
		{"data-2", Data, Low, High},
		{"data-3", Data, Low, Low},
		{"log-4", Log, High, Low},
		{"log-5", Log, Low, High},
	}
}

// The cut-offs between types; the text gives none (chosen by us).
const (
	// highVariation is the coefficient of variation of the rate in windows of rateWindow
	// above which a thread fluctuates: half of its mean.
	highVariation = 0.5
	rateWindow    = 5 * time.Minute
	// A log is nearly only written, and mostly in order: at least so much of its I/Os.
	logWrites     = 0.95
	logSequential = 0.80
)

// logName is what files and programs that write logs are called.
var logName = regexp.MustCompile(`(?i)(^|[^a-z])(log|logs|wal|journal|jbd2|redo|binlog|ib_logfile)([^a-z]|$)`)

// threadSurvey is what is known of one thread.
type threadSurvey struct {
	ios, writes, sequential int64

	end    int64 // of its last I/O
	volume uint32

	window          int64 // in which it was last seen
	inWindow        float64
	rates, rateSqrs float64 // sums over whole windows
}

func (t *threadSurvey) add(r *storage.Record) storage.Kind {
	kind := storage.Random
	if t.ios > 0 && t.volume == r.Volume {
		kind = storage.KindAfter(t.end, r.Offset)
	}
	if window := int64(r.At / rateWindow); window != t.window {
		t.endWindow()
		t.window = window
	}
	t.inWindow++
	t.ios++
	if r.Op == storage.Write {
		t.writes++
	}
	if kind != storage.Random {
		t.sequential++
	}
	t.end, t.volume = r.End(), r.Volume
	return kind
}

func (t *threadSurvey) endWindow() {
	t.rates += t.inWindow
	t.rateSqrs += t.inWindow * t.inWindow
	t.inWindow = 0
}

// variation is the coefficient of variation of the rate over the windows of a trace. The
// last window counts if it is whole, or the only one.
func (t threadSurvey) variation(span time.Duration) float64 {
	windows := max(int64(span/rateWindow), 1)
	if t.window < windows {
		t.endWindow()
	}
	n := float64(windows)
	mean := t.rates / n
	if mean == 0 {
		return 0
	}
	return math.Sqrt(max(0, t.rateSqrs/n-mean*mean)) / mean
}

// isLog tells a log by what it does, or by its name.
func (t threadSurvey) isLog(name string) bool {
	n := float64(t.ios)
	return logName.MatchString(name) || (float64(t.writes) >= logWrites*n && float64(t.sequential) >= logSequential*n)
}

// classify returns the number of the type of every thread. The text has two types of logs
// only: of a log the intensity decides.
func classify(threads []threadSurvey, names []string, span time.Duration) []int {
	var counts []int64
	for _, t := range threads {
		counts = append(counts, t.ios)
	}
	slices.Sort(counts)
	median := func() float64 {
		n := len(counts)
		return float64(counts[(n-1)/2]+counts[n/2]) / 2
	}
	out := make([]int, len(threads))
	for i, t := range threads {
		name := ""
		if i < len(names) {
			name = names[i]
		}
		// All threads are of one trace, so that their I/Os are in the order of their rates.
		intensity, fluctuation := Low, Low
		if float64(t.ios) > median() {
			intensity = High
		}
		if t.variation(span) > highVariation {
			fluctuation = High
		}
		function := Data
		if t.isLog(name) {
			function = Log
		}
		out[i] = slices.IndexFunc(Classes(), func(c Class) bool {
			return c.Function == function && c.Intensity == intensity && (function == Log || c.Fluctuation == fluctuation)
		})
	}
	return out
}

// compareClass sorts types by their numbers.
func compareClass(a, b Type) int { return cmp.Compare(a.Name, b.Name) }
