package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/dashboard/wording"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// maxAlternatives is how many acceptable nodes beyond the chosen ones are
// printed; -verbose and -json have them all.
const maxAlternatives = 5

// explanation is what `job explain` prints for one group.
type explanation struct {
	Decision     cluster.Decision      `json:"decision"`
	Observations []cluster.Observation `json:"observations"`
}

// explainPage prints a decision the way a person would tell it.
func explainPage(p *page, x explanation, now time.Time) {
	d, m := x.Decision, wording.Measure(x.Decision.Target, x.Observations)
	title := []cell{heading(d.Workload.Job + " / " + d.Workload.Group), {text: d.Workload.Namespace, hue: faint}, outcomeCell(d.Outcome)}
	if m.Verdict != wording.NoVerdict {
		title = append(title, verdictCell(m.Verdict))
	}
	p.line(title...)
	p.line()
	p.fact("Target", wording.Target(d.Target))
	p.fact("Predicted", wording.Expect(d.Predicted, d.Target).String())
	p.fact("Measured", measuredText(m, now))
	p.fact("Given", fmt.Sprintf("%d × %s", d.Count, wording.Resources(d.Resources)))
	p.fact("Decided", fmt.Sprintf("%s by %s, for job version %d", wording.Ago(now, d.At), d.Policy, d.JobVersion))
	p.fact("Why", d.Reason)
	explainSizing(p, d)
	explainWarnings(p, d)
	explainCandidates(p, d)
	explainRejections(p, d)
	explainSensitivity(p, d.Sensitivity, d.Stands)
	explainSteps(p, d)
}

func measuredText(m wording.Measured, now time.Time) string {
	if !m.Known {
		return wording.Unknown + ": " + m.Why
	}
	return m.String() + ", " + wording.Ago(now, m.At)
}

func outcomeCell(o cluster.Outcome) cell {
	switch o {
	case cluster.Placed:
		return cell{text: "placed", hue: good}
	case cluster.Queued:
		return cell{text: "waiting for room", hue: warn}
	case cluster.Stock:
		return cell{text: "left to Nomad", hue: warn}
	default:
		return text(string(o))
	}
}

func verdictCell(v wording.Verdict) cell {
	switch v {
	case wording.Met:
		return cell{text: "target met", hue: good}
	case wording.Missed:
		return cell{text: "target missed", hue: bad}
	default:
		return cell{}
	}
}

// explainSizing prints which sizes were considered and why one was taken.
func explainSizing(p *page, d cluster.Decision) {
	s := d.Sizing
	if s == nil || len(s.Tried) == 0 && !s.Changes(d.Count) {
		return
	}
	p.section("Size")
	if s.Changes(d.Count) {
		p.fact("Instead of", fmt.Sprintf("%d × %s", s.CountWas, wording.Resources(s.OwnWas)))
	}
	p.fact("Because", s.Why)
	var rows [][]cell
	for _, t := range s.Tried {
		verdict := cell{text: "too little", hue: warn}
		switch {
		case t.Note != "":
			verdict = cell{text: t.Note, hue: warn}
		case t.Reaches:
			verdict = cell{text: "enough", hue: good}
		}
		rows = append(rows, []cell{number(fmt.Sprint(t.Count)), text(wording.Resources(t.Own)), number(wording.Expect(t.Predicted, d.Target).Short()), verdict})
	}
	if len(rows) > 0 {
		p.table([]string{"Count", "Task gets", "Predicted", "Verdict"}, rows)
	}
	if s.NotTried > 0 {
		p.line(cell{text: fmt.Sprintf("  %d with more resources were not needed", s.NotTried), hue: faint})
	}
}

func explainWarnings(p *page, d cluster.Decision) {
	if len(d.Warnings) > 0 {
		p.section("Warnings")
	}
	for _, w := range d.Warnings {
		p.item(warn, w)
	}
	if len(d.Relaxed) > 0 {
		p.section("Bounds that were relaxed")
	}
	for _, r := range d.Relaxed {
		p.item(plain, fmt.Sprintf("%s (%s): %s", wording.Source(r.Source), r.Direction, wording.Points(r.Points)))
	}
}

// chosen are the candidates a decision is meant for, one per allocation.
func chosen(d cluster.Decision) []cluster.Candidate {
	if d.Outcome != cluster.Placed {
		return nil
	}
	return d.Candidates[:min(max(d.Count, 1), len(d.Candidates))]
}

func explainCandidates(p *page, d cluster.Decision) {
	best := chosen(d)
	if len(best) > 0 {
		p.section("Chosen")
	}
	for _, c := range best {
		parts := []cell{{text: "  " + c.Name, hue: good}, {text: c.Configuration, hue: faint}, text("score " + wording.Number(c.Score)), text(wording.Expect(c.Predicted, d.Target).Short())}
		if len(c.Neighbours) > 0 {
			parts = append(parts, text("co-located with "+strings.Join(c.Neighbours, ", ")))
		}
		p.line(parts...)
		if c.Why != "" {
			p.line(text(indent(wrap(c.Why, pageWidth-4), "    ")))
		}
		if len(c.Parts) > 0 {
			p.line(cell{text: "    " + partsText(c.Parts), hue: faint})
		}
	}
	rest := d.Candidates[len(best):]
	if len(rest) == 0 {
		return
	}
	p.section(fmt.Sprintf("Also acceptable: %d", len(rest)))
	var rows [][]cell
	shown := min(len(rest), maxAlternatives)
	if p.verbose {
		shown = len(rest)
	}
	for _, c := range rest[:shown] {
		rows = append(rows, []cell{text(c.Name), text(c.Configuration), number(wording.Number(c.Score)), number(wording.Expect(c.Predicted, d.Target).Short()), text(c.Why)})
	}
	p.table([]string{"Node", "Configuration", "Score", "Predicted", "Why"}, rows)
	if more := len(rest) - shown; more > 0 {
		p.line(cell{text: fmt.Sprintf("  and %d more", more), hue: faint})
	}
}

func partsText(parts []cluster.ScorePart) string {
	out := make([]string, len(parts))
	for i, s := range parts {
		out[i] = s.Name + " " + wording.Number(s.Value)
	}
	return strings.Join(out, ", ")
}

func explainRejections(p *page, d cluster.Decision) {
	total := 0
	var counts []string
	for _, reason := range sortedReasons(d.RejectedBy) {
		total += d.RejectedBy[reason]
		counts = append(counts, fmt.Sprintf("%s %d", reason, d.RejectedBy[reason]))
	}
	if total == 0 {
		return
	}
	p.section(fmt.Sprintf("Rejected: %d of %d nodes (%s)", total, d.Considered, strings.Join(counts, ", ")))
	rows := make([][]cell, len(d.Rejected))
	for i, r := range d.Rejected {
		short := number("")
		if r.ByPoints > 0 {
			short = number(wording.Number(r.ByPoints))
		}
		rows[i] = []cell{text(r.Name), text(string(r.Reason)), text(string(r.Source)), text(string(r.Direction)), short, text(rejectedWhy(r))}
	}
	if len(rows) > 0 {
		p.table([]string{"Node", "Reason", "Source", "Side", "Points", "Detail"}, rows)
	}
	if more := total - len(rows); more > 0 && len(rows) > 0 {
		p.line(cell{text: fmt.Sprintf("  and %d more, included in the counts above", more), hue: faint})
	}
}

func rejectedWhy(r cluster.Rejection) string {
	switch {
	case r.Detail != "":
		return r.Detail
	case r.Direction == cluster.D1:
		return "residents would lose more than their QoS bound"
	case r.Direction == cluster.D2:
		return "this workload would lose more than its QoS bound"
	default:
		return ""
	}
}

// sortedReasons puts the most frequent reason first.
func sortedReasons(by map[cluster.RejectReason]int) []cluster.RejectReason {
	var out []cluster.RejectReason
	for r := range by {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b cluster.RejectReason) int {
		return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b))
	})
	return out
}

// explainSensitivity prints every source of which something is known; stands is what
// the workload tolerates by its target, nil where there is none.
func explainSensitivity(p *page, s interference.Sensitivity, stands interference.Scores) {
	var rows [][]cell
	for _, info := range interference.Sources() {
		t, okT := s.Tolerated[info.Source]
		c, okC := s.Caused[info.Source]
		if !okT && !okC {
			continue
		}
		rows = append(rows, []cell{
			text(info.Title),
			text(scoreBar(t)), number(wording.Score(t)), text(wording.Interval(t)), originCell(t),
			number(wording.Score(c)), text(wording.Interval(c)), originCell(c),
		})
	}
	p.section("Interference profile, in points (percent of the highest intensity)")
	if len(rows) == 0 {
		p.line(text("  No score is known for this workload."))
		return
	}
	p.table([]string{"Source", "Tolerated", "", "95 %", "Origin", "Caused", "95 %", "Origin"}, rows)
	for _, info := range interference.Sources() {
		noteItem(p, info.Title+", tolerated", s.Tolerated[info.Source])
		if e, ok := stands[info.Source]; ok && e.Score != s.Tolerated[info.Source].Score {
			p.item(faint, fmt.Sprintf("%s: tolerance at target %s: %s", info.Title, wording.Score(e), e.Note))
		}
		noteItem(p, info.Title+", caused", s.Caused[info.Source])
	}
}

func noteItem(p *page, what string, e interference.Estimate) {
	if e.Note != "" {
		p.item(faint, what+": "+e.Note)
	}
}

func scoreBar(e interference.Estimate) string {
	v, ok := e.Score.Percent()
	if !ok {
		return strings.Repeat("·", 10)
	}
	return gauge(v/100, 10)
}

func originCell(e interference.Estimate) cell {
	if e.Origin == interference.Measured {
		return text(string(e.Origin))
	}
	return cell{text: string(e.Origin), hue: faint}
}

func explainSteps(p *page, d cluster.Decision) {
	if len(d.Steps) == 0 {
		return
	}
	total := time.Duration(0)
	var parts []string
	for _, s := range d.Steps {
		total += s.Duration
		parts = append(parts, s.Name+" "+wording.Duration(s.Duration))
	}
	p.section("Time: " + wording.Duration(total))
	p.line(text("  " + strings.Join(parts, ", ")))
	p.line()
	key := d.ProfileKey
	if key == "" {
		key = "none"
	}
	p.fact("Profile", p.cut(key, 20))
	p.fact("Seed", fmt.Sprint(d.Seed))
}
