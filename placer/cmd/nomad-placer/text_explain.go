package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// maxAlternatives is how many acceptable nodes beyond the chosen ones are
// printed; -verbose and -json have them all.
const maxAlternatives = 5

// explanation is what `job explain` prints for one group.
type explanation struct {
	Decision     cluster.Decision      `json:"decision"`
	Observations []cluster.Observation `json:"observations"`
	DiskLimits   []cluster.DiskLimit   `json:"disk_limits,omitempty"`
}

// explainPage prints a decision the way a person would tell it.
func explainPage(p *command.Page, x explanation, now time.Time) {
	d, m := x.Decision, wording.Measure(x.Decision.Target, x.Observations)
	title := []command.Cell{command.Heading(d.Workload.Job + " / " + d.Workload.Group), {Text: d.Workload.Namespace, Hue: command.Faint}, outcomeCell(d.Outcome)}
	if m.Verdict != wording.NoVerdict {
		title = append(title, verdictCell(m.Verdict))
	}
	p.Line(title...)
	p.Line()
	p.Fact("Target", wording.Target(d.Target))
	p.Fact("Predicted", wording.Expect(d.Predicted, d.Target).String())
	p.Fact("Measured", measuredText(m, now))
	p.Fact("Given", fmt.Sprintf("%d × %s", d.Count, wording.Resources(d.Resources)))
	p.Fact("Decided", fmt.Sprintf("%s by %s, for job version %d", wording.Ago(now, d.At), d.Policy, d.JobVersion))
	p.Fact("Why", d.Reason)
	explainDisk(p, d)
	limitsPage(p, d, x.DiskLimits, now)
	explainSizing(p, d)
	explainWarnings(p, d)
	explainCandidates(p, d)
	explainRejections(p, d)
	explainSensitivity(p, d.Sensitivity, d.ToleranceAtTarget)
	explainTwin(p, d)
	explainSteps(p, d)
}

func measuredText(m wording.Measured, now time.Time) string {
	if !m.Known {
		return wording.Unknown + ": " + m.Why
	}
	return m.String() + ", " + wording.Ago(now, m.At)
}

func outcomeCell(o cluster.Outcome) command.Cell {
	hue := command.Plain
	switch o {
	case cluster.Placed:
		hue = command.Good
	case cluster.Queued, cluster.Stock:
		hue = command.Warn
	}
	return command.Cell{Text: wording.Outcome(o), Hue: hue}
}

func verdictCell(v wording.Verdict) command.Cell {
	switch v {
	case wording.Met:
		return command.Cell{Text: "target met", Hue: command.Good}
	case wording.Missed:
		return command.Cell{Text: "target missed", Hue: command.Bad}
	default:
		return command.Cell{}
	}
}

// explainDisk prints what is promised of disks, where anything is.
func explainDisk(p *command.Page, d cluster.Decision) {
	if d.Disk != nil {
		p.Fact("Disk", wording.DiskPromise(d.Disk.Promise)+"; "+cmp.Or(d.Disk.Said, "the ledger was not asked"))
		if f := d.Disk.Forecast; f != nil {
			p.Fact("Forecast", f.Name+": "+wording.DiskForecast(*f))
		}
	}
}

// explainTwin prints the scores of storage by the workload's twin, next to those of its profile.
func explainTwin(p *command.Page, d cluster.Decision) {
	t := d.Twin
	if t == nil {
		return
	}
	p.Section("Storage by its twin, next to its profile, in points")
	if t.Problem != "" {
		p.Line(command.Text("  The twin cannot be read: " + t.Problem))
		return
	}
	points := func(v *float64) command.Cell {
		if v == nil {
			return command.Number(wording.Unknown)
		}
		return command.Number(wording.Number(*v))
	}
	score := func(e interference.Estimate) command.Cell { return command.Number(wording.Score(e)) }
	bandwidth, capacity := interference.StorageBandwidth, interference.StorageCapacity
	s := d.Sensitivity
	p.Table([]string{"Source", "Tolerated by profile", "by twin", "Caused by profile", "by twin"}, [][]command.Cell{
		{command.Text(string(bandwidth)), score(s.Tolerated[bandwidth]), points(t.Tolerated), score(s.Caused[bandwidth]), points(t.Caused)},
		{command.Text(string(capacity)), score(s.Tolerated[capacity]), points(nil), score(s.Caused[capacity]), points(nil)},
	})
	p.Item(command.Faint, "twin of "+t.Source+": "+t.Why)
	p.Item(command.Faint, fmt.Sprintf("its I/Os spread over at most %s MB; what of that is touched a model does not say, so that there is no score of %s", wording.Number(t.SpreadMB), capacity))
}

// explainSizing prints which sizes were considered and why one was taken.
func explainSizing(p *command.Page, d cluster.Decision) {
	s := d.Sizing
	if s == nil || len(s.Tried) == 0 && !s.Changes(d.Count) {
		return
	}
	p.Section("Size")
	if s.Changes(d.Count) {
		p.Fact("Instead of", fmt.Sprintf("%d × %s", s.CountWas, wording.Resources(s.OwnWas)))
	}
	p.Fact("Because", s.Why)
	var rows [][]command.Cell
	for _, t := range s.Tried {
		verdict := command.Cell{Text: "too little", Hue: command.Warn}
		switch {
		case t.Note != "":
			verdict = command.Cell{Text: t.Note, Hue: command.Warn}
		case t.Reaches:
			verdict = command.Cell{Text: "enough", Hue: command.Good}
		}
		rows = append(rows, []command.Cell{command.Number(fmt.Sprint(t.Count)), command.Text(wording.Resources(t.Own)), command.Number(wording.Expect(t.Predicted, d.Target).Short()), verdict})
	}
	if len(rows) > 0 {
		p.Table([]string{"Count", "Task gets", "Predicted", "Verdict"}, rows)
	}
	if s.NotTried > 0 {
		p.Line(command.Cell{Text: fmt.Sprintf("  %d with more resources were not needed", s.NotTried), Hue: command.Faint})
	}
}

func explainWarnings(p *command.Page, d cluster.Decision) {
	if len(d.Warnings) > 0 {
		p.Section("Warnings")
	}
	for _, w := range d.Warnings {
		p.Item(command.Warn, w)
	}
	if len(d.Relaxed) > 0 {
		p.Section("Bounds that were relaxed")
	}
	for _, r := range d.Relaxed {
		p.Item(command.Plain, fmt.Sprintf("%s (%s): %s", wording.Source(r.Source), r.Direction, wording.Points(r.Points)))
	}
}

// chosen are the candidates a decision is meant for, one per allocation.
func chosen(d cluster.Decision) []cluster.Candidate {
	if d.Outcome != cluster.Placed {
		return nil
	}
	return d.Candidates[:min(max(d.Count, 1), len(d.Candidates))]
}

func explainCandidates(p *command.Page, d cluster.Decision) {
	best := chosen(d)
	if len(best) > 0 {
		p.Section("Chosen")
	}
	for _, c := range best {
		parts := []command.Cell{{Text: "  " + c.Name, Hue: command.Good}, {Text: c.Configuration, Hue: command.Faint}, command.Text("score " + wording.Number(c.Score)), command.Text(wording.Expect(c.Predicted, d.Target).Short())}
		if len(c.Neighbours) > 0 {
			parts = append(parts, command.Text("co-located with "+strings.Join(c.Neighbours, ", ")))
		}
		p.Line(parts...)
		if c.Why != "" {
			p.Line(command.Text(command.Indent(command.Wrap(c.Why, command.PageWidth-4), "    ")))
		}
		if len(c.Parts) > 0 {
			p.Line(command.Cell{Text: "    " + partsText(c.Parts), Hue: command.Faint})
		}
	}
	rest := d.Candidates[len(best):]
	if len(rest) == 0 {
		return
	}
	p.Section(fmt.Sprintf("Also acceptable: %d", len(rest)))
	var rows [][]command.Cell
	shown := min(len(rest), maxAlternatives)
	if p.Verbose {
		shown = len(rest)
	}
	for _, c := range rest[:shown] {
		rows = append(rows, []command.Cell{command.Text(c.Name), command.Text(c.Configuration), command.Number(wording.Number(c.Score)), command.Number(wording.Expect(c.Predicted, d.Target).Short()), command.Text(c.Why)})
	}
	p.Table([]string{"Node", "Configuration", "Score", "Predicted", "Why"}, rows)
	if more := len(rest) - shown; more > 0 {
		p.Line(command.Cell{Text: fmt.Sprintf("  and %d more", more), Hue: command.Faint})
	}
}

func partsText(parts []cluster.ScorePart) string {
	out := make([]string, len(parts))
	for i, s := range parts {
		out[i] = s.Name + " " + wording.Number(s.Value)
	}
	return strings.Join(out, ", ")
}

func explainRejections(p *command.Page, d cluster.Decision) {
	total := 0
	var counts []string
	for _, reason := range sortedReasons(d.RejectedBy) {
		total += d.RejectedBy[reason]
		counts = append(counts, fmt.Sprintf("%s %d", reason, d.RejectedBy[reason]))
	}
	if total == 0 {
		return
	}
	p.Section(fmt.Sprintf("Rejected: %d of %d nodes (%s)", total, d.Considered, strings.Join(counts, ", ")))
	rows := make([][]command.Cell, len(d.Rejected))
	for i, r := range d.Rejected {
		short := command.Number("")
		if r.ByPoints > 0 {
			short = command.Number(wording.Number(r.ByPoints))
		}
		rows[i] = []command.Cell{command.Text(r.Name), command.Text(string(r.Reason)), command.Text(string(r.Source)), command.Text(string(r.Direction)), short, command.Text(rejectedWhy(r))}
	}
	if len(rows) > 0 {
		p.Table([]string{"Node", "Reason", "Source", "Side", "Points", "Detail"}, rows)
	}
	if more := total - len(rows); more > 0 && len(rows) > 0 {
		p.Line(command.Cell{Text: fmt.Sprintf("  and %d more, included in the counts above", more), Hue: command.Faint})
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

// explainSensitivity prints every source of which something is known; atTarget is what
// the workload tolerates by its target, nil where there is none.
func explainSensitivity(p *command.Page, s interference.Sensitivity, atTarget interference.Scores) {
	var rows [][]command.Cell
	for _, info := range interference.Sources() {
		t, okT := s.Tolerated[info.Source]
		c, okC := s.Caused[info.Source]
		if !okT && !okC {
			continue
		}
		rows = append(rows, []command.Cell{
			command.Text(info.Title),
			command.Text(scoreBar(t)), command.Number(wording.Score(t)), command.Text(wording.Interval(t)), originCell(t),
			command.Number(wording.Score(c)), command.Text(wording.Interval(c)), originCell(c),
		})
	}
	p.Section("Interference profile, in points (percent of the highest intensity)")
	if len(rows) == 0 {
		p.Line(command.Text("  No score is known for this workload."))
		return
	}
	p.Table([]string{"Source", "Tolerated", "", "95 %", "Origin", "Caused", "95 %", "Origin"}, rows)
	for _, info := range interference.Sources() {
		noteItem(p, info.Title+", tolerated", s.Tolerated[info.Source])
		if e, ok := atTarget[info.Source]; ok && e.Score != s.Tolerated[info.Source].Score {
			p.Item(command.Faint, fmt.Sprintf("%s: tolerance at target %s: %s", info.Title, wording.Score(e), e.Note))
		}
		noteItem(p, info.Title+", caused", s.Caused[info.Source])
	}
}

func noteItem(p *command.Page, what string, e interference.Estimate) {
	if e.Note != "" {
		p.Item(command.Faint, what+": "+e.Note)
	}
}

func scoreBar(e interference.Estimate) string {
	v, ok := e.Score.Percent()
	if !ok {
		return strings.Repeat("·", 10)
	}
	return command.Gauge(v/100, 10)
}

func originCell(e interference.Estimate) command.Cell {
	if e.Origin == interference.Measured {
		return command.Text(wording.Origin(e))
	}
	return command.Cell{Text: wording.Origin(e), Hue: command.Faint}
}

func explainSteps(p *command.Page, d cluster.Decision) {
	if len(d.Steps) == 0 {
		return
	}
	total := time.Duration(0)
	var parts []string
	for _, s := range d.Steps {
		total += s.Duration
		parts = append(parts, s.Name+" "+wording.Duration(s.Duration))
	}
	p.Section("Time: " + wording.Duration(total))
	p.Line(command.Text("  " + strings.Join(parts, ", ")))
	p.Line()
	key := d.ProfileKey
	if key == "" {
		key = "none"
	}
	p.Fact("Profile", p.Cut(key, 20))
	p.Fact("Seed", fmt.Sprint(d.Seed))
}
