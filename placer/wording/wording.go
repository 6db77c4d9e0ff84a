package wording

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Unknown is how a missing number is printed.
const Unknown = "unknown"

// Number prints v with three significant digits below 1,000 and as a whole
// number with separators above. What is left of sums that cancel is 0.
func Number(v float64) string {
	switch {
	case math.IsNaN(v):
		return Unknown
	case math.IsInf(v, 1):
		return "unlimited"
	case math.IsInf(v, -1):
		return "−unlimited"
	case v < 0:
		return "−" + Number(-v)
	case v >= 999.5:
		return grouped(strconv.FormatFloat(math.Round(v), 'f', 0, 64))
	case v >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 9.995:
		return trimmed(strconv.FormatFloat(v, 'f', 1, 64))
	case v >= 0.9995:
		return trimmed(strconv.FormatFloat(v, 'f', 2, 64))
	case v >= 1e-4:
		return trimmed(strconv.FormatFloat(v, 'f', 2-int(math.Floor(math.Log10(v))), 64))
	case v >= negligible:
		return strconv.FormatFloat(v, 'g', 3, 64)
	default:
		return "0"
	}
}

// negligible is far below what anything here measures, and above the rounding
// errors of sums.
const negligible = 1e-9

// grouped puts a comma before every third digit from the right.
func grouped(digits string) string {
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

func trimmed(s string) string {
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// Points prints percent points: "12 points", "1 point".
func Points(v float64) string {
	v = math.Round(v*10) / 10
	if v == 1 {
		return "1 point"
	}
	return Number(v) + " points"
}

// Duration prints a span with two units at most: 850 ms, 12.3 s, 4m 05s, 2h 10m.
func Duration(d time.Duration) string {
	if d < 0 {
		return "−" + Duration(-d)
	}
	switch {
	case d == 0:
		return "0 s"
	case d < time.Millisecond:
		return Number(float64(d)/float64(time.Microsecond)) + " µs"
	case d < time.Second:
		return Number(float64(d)/float64(time.Millisecond)) + " ms"
	case d < time.Minute:
		return Number(d.Seconds()) + " s"
	case d < time.Hour:
		d = d.Round(time.Second)
		return fmt.Sprintf("%dm %02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		d = d.Round(time.Minute)
		return fmt.Sprintf("%dh %02dm", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	}
}

// Ago prints how long before now t was. A zero time is unknown.
func Ago(now, t time.Time) string {
	switch d := now.Sub(t); {
	case t.IsZero():
		return Unknown
	case d < time.Second && d > -time.Second:
		return "now"
	case d < 0:
		return "in " + coarse(-d)
	default:
		return coarse(d) + " ago"
	}
}

// coarse prints a span with one unit.
func coarse(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	default:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	}
}

// Source prints a source's title, or its name where it is not in the list.
func Source(s interference.Source) string {
	if info, ok := interference.Info(s); ok {
		return info.Title
	}
	return string(s)
}

// Score prints an estimate's score without its unit sign: "35", "unknown".
func Score(e interference.Estimate) string {
	v, ok := e.Score.Percent()
	if !ok {
		return Unknown
	}
	return Number(v)
}

// Interval prints the 95 % interval of an estimate, or nothing where there is
// none.
func Interval(e interference.Estimate) string {
	low, okLow := e.Low.Percent()
	high, okHigh := e.High.Percent()
	if !okLow || !okHigh {
		return ""
	}
	return Number(low) + "–" + Number(high)
}

// Narrowed says from what to what measurement has narrowed an estimate, or nothing where
// there is nothing to compare or it has not.
func Narrowed(e interference.Estimate) string {
	before, known := e.Before.Width()
	after, also := e.Within().Width()
	switch {
	case !known || !also || e.Origin == interference.Assumed:
		return ""
	case after >= before:
		return "says no more than what other workloads do"
	default:
		return fmt.Sprintf("narrowed from %s to %s points", span(e.Before), span(e.Within()))
	}
}

// Origin says where an estimate comes from, and what was known before it was narrowed.
func Origin(e interference.Estimate) string {
	if !strings.HasPrefix(Narrowed(e), "narrowed") {
		return string(e.Origin)
	}
	return string(e.Origin) + ", was " + span(e.Before)
}

func span(r interference.Range) string {
	return Number(math.Round(r.Low.Or(0))) + "–" + Number(math.Round(r.High.Or(100)))
}

// Resources prints what one allocation gets: "1 core, 256 MiB".
func Resources(r cluster.Resources) string {
	var parts []string
	if r.Cores > 0 {
		parts = append(parts, Count(r.Cores, "core"))
	}
	if r.CPUMHz > 0 {
		parts = append(parts, Number(float64(r.CPUMHz))+" MHz")
	}
	if r.MemoryMB > 0 {
		parts = append(parts, Number(float64(r.MemoryMB))+" MiB memory")
	}
	if r.DiskMB > 0 {
		parts = append(parts, Number(float64(r.DiskMB))+" MiB disk")
	}
	if len(parts) == 0 {
		return "nothing reserved"
	}
	return strings.Join(parts, ", ")
}

// Rejection prints why a node was dropped, in one sentence without a full stop.
func Rejection(r cluster.Rejection) string {
	if r.Reason != cluster.RejectInterference {
		if r.Detail == "" {
			return string(r.Reason)
		}
		return string(r.Reason) + ": " + r.Detail
	}
	text := "interference"
	if r.Source != "" {
		text = Source(r.Source)
	}
	switch r.Direction {
	case cluster.D1:
		text += ": residents would lose more than their QoS bound"
	case cluster.D2:
		text += ": this workload would lose more than its QoS bound"
	}
	if r.ByPoints > 0 {
		text += ", " + Points(r.ByPoints) + " short"
	}
	return text
}

// Assumed counts the residents of a node whose scores are unknown. The node's
// headroom and pressure then rest on stated defaults for them.
func Assumed(n cluster.NodeRecord) int {
	count := 0
	for _, r := range n.Residents {
		if !r.Known {
			count++
		}
	}
	return count
}

// AssumedNote says what that means for the numbers of the node; it is empty
// where nothing is assumed.
func AssumedNote(n cluster.NodeRecord) string {
	count := Assumed(n)
	if count == 0 {
		return ""
	}
	return "the scores of " + Count(count, "resident") + " are unknown and therefore assumed"
}

// Bytes prints a number of bytes with three significant digits: "12.5 MB".
func Bytes(v float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if v >= unit.size {
			return Number(v/unit.size) + " " + unit.name
		}
	}
	return Number(v) + " B"
}

// Money is an amount, in whatever currency the prices are in.
func Money(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }
