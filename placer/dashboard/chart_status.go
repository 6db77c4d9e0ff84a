package dashboard

import (
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/dashboard/wording"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// The colours of the chart on Nomad's job page. It is shown as an image by
// another site, so it cannot use our style sheet; the page is always light.
const (
	inkStrong    = "#1f2430"
	inkSoft      = "#5c6470"
	trackColor   = "#e9ecf1"
	borderColor  = "#d8dde5"
	colorTarget  = "#8a93a3"
	colorPredict = "#2a6fd0"
	colorMeasure = "#12805c"
	colorMissed  = "#c2313a"
	colorCaused  = "#d9622b"
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
// prediction and measurement on the left, sensitivity on the right.
func statusChart(dec cluster.Decision, m wording.Measured) string {
	c := compare(dec.Target, wording.Expect(dec.Predicted, dec.Target), m)
	d := statusFrame(c.label())
	d.text(16, 26, shorten(dec.Workload.Job+" / "+dec.Workload.Group, 34), fill(inkStrong), attr{"font-size", "14"}, attr{"font-weight", "600"})
	mark, color := outcomeMark(dec, m)
	d.text(358, 26, mark, fill(color), attr{"font-size", "12"}, attr{"font-weight", "600"}, attr{"text-anchor", "end"})
	statusBars(d, c, m)
	d.text(16, 146, shorten(statusFoot(dec), 56), fill(inkSoft), attr{"font-size", "11"})
	d.line(370, 16, 370, 144, attr{"stroke", borderColor})
	statusSensitivity(d, dec.Sensitivity)
	return d.done()
}

// statusNothing is the chart of a workload without a decision yet.
func statusNothing(w cluster.WorkloadID, message string) string {
	d := statusFrame("no placement decision yet")
	d.text(16, 26, shorten(w.Job+" / "+w.Group, 60), fill(inkStrong), attr{"font-size", "14"}, attr{"font-weight", "600"})
	d.text(statusWidth/2, 84, shorten(message, 84), fill(inkSoft), attr{"font-size", "13"}, attr{"text-anchor", "middle"})
	return d.done()
}

func statusFrame(label string) *drawing {
	d := newDrawing(statusWidth, statusHeight, label, attr{"font-family", fontFamily})
	d.rect(0.5, 0.5, statusWidth-1, statusHeight-1, fill("#ffffff"), attr{"stroke", borderColor}, attr{"rx", "6"})
	return d
}

func outcomeMark(dec cluster.Decision, m wording.Measured) (text, color string) {
	switch {
	case m.Verdict == wording.Met:
		return "✓ target met", colorMeasure
	case m.Verdict == wording.Missed:
		return "✗ target missed", colorMissed
	case dec.Outcome == cluster.Stock:
		return "left to Nomad", inkSoft
	case dec.Outcome == cluster.Queued:
		return "waiting for room", colorCaused
	default:
		return string(dec.Outcome), inkSoft
	}
}

func statusBars(d *drawing, c comparison, m wording.Measured) {
	const left, right = 86, 236
	x := scale{0, c.top(), left, right}
	for i, b := range c.bars {
		y := 42 + float64(i)*29
		d.text(left-8, y+13, b.name, fill(inkSoft), attr{"font-size", "12"}, attr{"text-anchor", "end"})
		d.rect(left, y, right-left, 18, fill(trackColor), attr{"rx", "3"})
		if !b.known {
			d.text(left+8, y+13, shorten(b.text, 30), fill(inkSoft), attr{"font-size", "11"}, attr{"font-style", "italic"})
			continue
		}
		d.rect(left, y, x.at(b.value)-left, 18, fill(barColor(b.name, m)), attr{"rx", "3"})
		if b.low != b.high {
			d.line(x.at(b.low), y+9, x.at(b.high), y+9, attr{"stroke", inkStrong}, attr{"stroke-width", "1.5"})
		}
		d.text(right+8, y+13, shorten(b.text, 17), fill(inkStrong), attr{"font-size", "12"})
	}
	if want, ok := c.target(); ok {
		d.line(x.at(want), 38, x.at(want), 122, attr{"stroke", inkStrong}, attr{"stroke-width", "1.5"}, attr{"stroke-dasharray", "3 3"})
	}
}

func barColor(name string, m wording.Measured) string {
	switch {
	case name == "target":
		return colorTarget
	case name == "predicted":
		return colorPredict
	case m.Verdict == wording.Missed:
		return colorMissed
	default:
		return colorMeasure
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

func statusSensitivity(d *drawing, s interference.Sensitivity) {
	const left, labels, width, step = 384, 76, 122, 13
	d.text(left, 26, "tolerates", fill(colorPredict), attr{"font-size", "12"}, attr{"font-weight", "600"})
	d.text(left+68, 26, "causes", fill(colorCaused), attr{"font-size", "12"}, attr{"font-weight", "600"})
	d.text(statusWidth-16, 26, "0–100 %", fill(inkSoft), attr{"font-size", "11"}, attr{"text-anchor", "end"})
	rows := knownSources(s)
	if len(rows) == 0 {
		d.text(left, 84, "interference scores not known", fill(inkSoft), attr{"font-size", "12"}, attr{"font-style", "italic"})
		return
	}
	for i, source := range rows[:min(len(rows), miniSources)] {
		y := 38 + float64(i)*step
		d.text(left+labels-6, y+8, string(source), fill(inkSoft), attr{"font-size", "10"}, attr{"text-anchor", "end"})
		miniBar(d, s.Tolerated[source], left+labels, y, width, colorPredict)
		miniBar(d, s.Caused[source], left+labels, y+5, width, colorCaused)
	}
	if more := len(rows) - miniSources; more > 0 {
		d.text(statusWidth-16, 152, "and "+wording.Number(float64(more))+" more", fill(inkSoft), attr{"font-size", "10"}, attr{"text-anchor", "end"})
	}
}

func miniBar(d *drawing, e interference.Estimate, x, y, width float64, color string) {
	v, known := e.Score.Percent()
	if !known {
		d.line(x, y+2, x+width, y+2, attr{"stroke", borderColor}, attr{"stroke-dasharray", "2 3"})
		return
	}
	d.rect(x, y, width, 4, fill(trackColor))
	opacity := "1"
	if e.Origin != interference.Measured {
		opacity = "0.55"
	}
	d.rect(x, y, width*v/100, 4, fill(color), attr{"fill-opacity", opacity})
}
