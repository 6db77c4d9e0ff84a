package dashboard

import (
	"math"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/chart"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

const fontFamily = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

// The size of the chart on Nomad's job page.
const (
	statusWidth  = 600
	statusHeight = 160
)

// miniSources is how many sources the status chart has room for.
const miniSources = 8

// statusChart draws the record of one workload for Nomad's job page: target,
// prediction and measurement on the left, sensitivity on the right. Another site
// shows it as an image, where no style sheet reaches it; that page is always
// light.
func statusChart(dec cluster.Decision, m wording.Measured) string {
	c := compare(dec.Target, wording.Expect(dec.Predicted, dec.Target), m)
	d := statusFrame(c.label())
	d.Text(16, 26, wording.Shorten(dec.Workload.Job+" / "+dec.Workload.Group, 34), attrs("fill", chart.Light("ink"), "font-size", "14", "font-weight", "600")...)
	mark, color := outcomeMark(dec, m)
	d.Text(358, 26, mark, attrs("fill", chart.Light(color), "font-size", "12", "font-weight", "600", "text-anchor", "end")...)
	statusBars(d, c, m)
	d.Text(16, 146, wording.Shorten(statusFoot(dec), 56), attrs("fill", chart.Light("soft"), "font-size", "11")...)
	d.Line(370, 16, 370, 144, "", attrs("stroke", chart.Light("lines"))...)
	statusSensitivity(d, dec.Sensitivity)
	return string(d.SVG())
}

// statusNothing is the chart of a workload without a decision yet.
func statusNothing(w cluster.WorkloadID, message string) string {
	d := statusFrame("no placement decision yet")
	d.Text(16, 26, wording.Shorten(w.Job+" / "+w.Group, 60), attrs("fill", chart.Light("ink"), "font-size", "14", "font-weight", "600")...)
	d.Text(statusWidth/2, 84, wording.Shorten(message, 84), attrs("fill", chart.Light("soft"), "font-size", "13", "text-anchor", "middle")...)
	return string(d.SVG())
}

func statusFrame(label string) *chart.Drawing {
	d := chart.NewDrawing(statusWidth, statusHeight, label, attrs("xmlns", "http://www.w3.org/2000/svg", "font-family", fontFamily)...)
	d.Rect(0.5, 0.5, statusWidth-1, statusHeight-1, "", attrs("fill", "#ffffff", "stroke", chart.Light("lines"), "rx", "6")...)
	return d
}

func outcomeMark(dec cluster.Decision, m wording.Measured) (text, color string) {
	switch {
	case m.Verdict == wording.Met:
		return "✓ target met", "measured"
	case m.Verdict == wording.Missed:
		return "✗ target missed", "missed"
	case dec.Outcome == cluster.Stock:
		return "left to Nomad", "soft"
	case dec.Outcome == cluster.Queued:
		return "waiting for room", "caused"
	default:
		return string(dec.Outcome), "soft"
	}
}

func statusBars(d *chart.Drawing, c comparison, m wording.Measured) {
	const left, right = 86, 236
	if m.Verdict == wording.Missed {
		c.measured.Kind = "missed"
	}
	top := 0.0
	for _, b := range c.bars() {
		if !math.IsNaN(b.Value) {
			top = max(top, b.Value, b.High)
		}
	}
	at := func(v float64) float64 { return left + (right-left)*min(1, v/max(top, 1e-9)) }
	strong := chart.Light("ink")
	for i, b := range c.bars() {
		y := 42 + float64(i)*29
		d.Text(left-8, y+13, b.Name, attrs("fill", chart.Light("soft"), "font-size", "12", "text-anchor", "end")...)
		d.Rect(left, y, right-left, 18, "", attrs("fill", chart.Light("track"), "rx", "3")...)
		if math.IsNaN(b.Value) {
			d.Text(left+8, y+13, wording.Shorten(b.Text, 30), attrs("fill", chart.Light("soft"), "font-size", "11", "font-style", "italic")...)
			continue
		}
		d.Rect(left, y, at(b.Value)-left, 18, "", attrs("fill", chart.Light(b.Kind), "rx", "3")...)
		if b.Low != b.High {
			d.Line(at(b.Low), y+9, at(b.High), y+9, "", attrs("stroke", strong, "stroke-width", "1.5")...)
		}
		d.Text(right+8, y+13, wording.Shorten(b.Text, 17), attrs("fill", strong, "font-size", "12")...)
	}
	if want := c.target.Value; !math.IsNaN(want) {
		d.Line(at(want), 38, at(want), 122, "", attrs("stroke", strong, "stroke-width", "1.5", "stroke-dasharray", "3 3")...)
	}
}

func statusFoot(dec cluster.Decision) string {
	if dec.Outcome != cluster.Placed {
		return dec.Reason
	}
	nodes := chosen(dec)
	if len(nodes) == 0 {
		return dec.Reason
	}
	text := "on " + nodes[0].Name
	for _, n := range nodes[1:] {
		text += ", " + n.Name
	}
	return text + " by " + dec.Policy
}

func statusSensitivity(d *chart.Drawing, s interference.Sensitivity) {
	const left, labels, width, step = 384, 76, 122, 13
	d.Text(left, 26, "tolerates", attrs("fill", chart.Light("predicted"), "font-size", "12", "font-weight", "600")...)
	d.Text(left+68, 26, "causes", attrs("fill", chart.Light("caused"), "font-size", "12", "font-weight", "600")...)
	d.Text(statusWidth-16, 26, "0–100 points", attrs("fill", chart.Light("soft"), "font-size", "11", "text-anchor", "end")...)
	rows := knownSources(s)
	if len(rows) == 0 {
		d.Text(left, 84, "interference scores not known", attrs("fill", chart.Light("soft"), "font-size", "12", "font-style", "italic")...)
		return
	}
	for i, source := range rows[:min(len(rows), miniSources)] {
		y := 38 + float64(i)*step
		d.Text(left+labels-6, y+8, string(source), attrs("fill", chart.Light("soft"), "font-size", "10", "text-anchor", "end")...)
		miniBar(d, s.Tolerated[source], left+labels, y, width, "predicted")
		miniBar(d, s.Caused[source], left+labels, y+5, width, "caused")
	}
	if more := len(rows) - miniSources; more > 0 {
		d.Text(statusWidth-16, 152, "and "+wording.Number(float64(more))+" more", attrs("fill", chart.Light("soft"), "font-size", "10", "text-anchor", "end")...)
	}
}

func miniBar(d *chart.Drawing, e interference.Estimate, x, y, width float64, color string) {
	v, known := e.Score.Percent()
	if !known {
		d.Line(x, y+2, x+width, y+2, "", attrs("stroke", chart.Light("lines"), "stroke-dasharray", "2 3")...)
		return
	}
	d.Rect(x, y, width, 4, "", attrs("fill", chart.Light("track"))...)
	opacity := "1"
	if e.Origin != interference.Measured {
		opacity = "0.55"
	}
	d.Rect(x, y, width*v/100, 4, "", attrs("fill", chart.Light(color), "fill-opacity", opacity)...)
}

// attrs are attributes of an element, from names and values in turn.
func attrs(pairs ...string) []chart.Attr {
	var out []chart.Attr
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, chart.Attr{Name: pairs[i], Value: pairs[i+1]})
	}
	return out
}
