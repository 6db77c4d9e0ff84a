package journal

import (
	"fmt"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// MaxPageBytes is Nomad's limit on a job's ui.description.
const MaxPageBytes = 1000

// Page is the Markdown shown on the job page of the Nomad UI: target,
// prediction, nodes and why. It is cut at whole lines to MaxPageBytes.
func Page(decisions []cluster.Decision, chartURL string) string {
	var lines []string
	for _, d := range decisions {
		lines = append(lines, groupLines(d)...)
	}
	if chartURL != "" {
		lines = append(lines, "", "![target, prediction and measurement]("+chartURL+")")
	}
	return fit(lines, MaxPageBytes)
}

func groupLines(d cluster.Decision) []string {
	title := "**Placement**"
	if d.Workload.Group != "" {
		title = "**Placement of " + escape(d.Workload.Group) + "**"
	}
	lines := []string{title, "", "| | |", "|---|---|"}
	if d.Target.Kind != "" {
		lines = append(lines, row("target", wording.Target(d.Target)))
	}
	if d.Outcome == cluster.Stock {
		return append(lines, row("placed by", "stock Nomad"), row("why", wording.Shorten(d.Reason, 300)))
	}
	lines = append(lines, row("predicted", wording.Expect(d.Predicted, d.Target).String()))
	if d.Sizing.Changes(d.Count) {
		lines = append(lines, row("size", wording.Shorten(SizeSentence(d), 260)))
	} else if d.Sizing != nil && d.Sizing.Chosen {
		lines = append(lines, row("size", wording.Shorten("as written: "+d.Sizing.Why, 200)))
	}
	for i, c := range d.Candidates {
		if i == max(1, min(d.Count, 3)) {
			break
		}
		lines = append(lines, row("node", c.Name+" ("+c.Configuration+"): "+wording.Shorten(c.Why, 160)))
	}
	if d.Disk != nil {
		lines = append(lines, row("disk", wording.Shorten(d.Disk.Said, 200)))
		if f := d.Disk.Forecast; f != nil {
			lines = append(lines, row("disk forecast", wording.Shorten(f.Name+": "+wording.DiskForecast(*f), 200)))
		}
	}
	if n := d.RejectedBy[cluster.RejectInterference]; n > 0 {
		lines = append(lines, row("avoided", wording.Count(n, "node")+" for interference"))
	}
	for _, w := range d.Warnings {
		lines = append(lines, row("warning", wording.Shorten(w, 140)))
	}
	return lines
}

// SizeSentence says what a group was given in place of what its user wrote, and why.
func SizeSentence(d cluster.Decision) string {
	s := d.Sizing
	return fmt.Sprintf("%s instead of %s: %s", sizeOf(d.Count, s.Own), sizeOf(s.CountWas, s.OwnWas), s.Why)
}

func sizeOf(count int, own cluster.Resources) string {
	return fmt.Sprintf("%d × %s", count, policy.SizeText(own))
}

func row(name, value string) string { return "| " + name + " | " + escape(value) + " |" }

// escape keeps user strings from breaking the table or becoming markup.
func escape(s string) string { return escapes.Replace(s) }

var escapes = strings.NewReplacer(
	"|", "\\|", "\n", " ", "\r", " ", "<", "&lt;", ">", "&gt;", "[", "\\[", "]", "\\]", "`", "'", "*", "\\*",
)

// fit joins whole lines up to limit bytes. The last line, the chart, is kept
// in preference to the ones before it.
func fit(lines []string, limit int) string {
	text := strings.Join(lines, "\n")
	for len(text) > limit && len(lines) > 1 {
		cut := len(lines) - 1
		if strings.HasPrefix(lines[cut], "![") && cut > 2 {
			cut -= 2 // the blank line before the chart stays with it
		}
		lines = append(append([]string(nil), lines[:cut]...), lines[cut+1:]...)
		text = strings.Join(lines, "\n")
	}
	if len(text) > limit {
		return ""
	}
	return text
}

// Sentence says in one sentence what was decided, for the scaling event.
func Sentence(decisions []cluster.Decision) string {
	parts := make([]string, 0, len(decisions))
	for _, d := range decisions {
		parts = append(parts, sentenceOf(d))
	}
	return strings.Join(parts, "; ")
}

func sentenceOf(d cluster.Decision) string {
	name := d.Workload.Group
	if name == "" {
		name = d.Workload.Job
	}
	if d.Outcome != cluster.Placed || len(d.Candidates) == 0 {
		return name + " was left to stock Nomad: " + d.Reason
	}
	nodes := make([]string, 0, 3)
	for i, c := range d.Candidates {
		if i == max(1, min(d.Count, 3)) {
			break
		}
		nodes = append(nodes, c.Name)
	}
	text := fmt.Sprintf("%s goes to %s (%s): %s", name, strings.Join(nodes, ", "), d.Policy, d.Reason)
	if d.Sizing.Changes(d.Count) {
		text += "; it gets " + SizeSentence(d)
	}
	return text
}
