package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/chart"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/compare"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

// twinSummary is what a model says, as -json prints it.
type twinSummary struct {
	Version     int           `json:"version"`
	FileBytes   int           `json:"file_bytes"`
	Device      model.Device  `json:"device"`
	Levels      int           `json:"levels"`
	Form        model.Form    `json:"form"`
	Seed        uint64        `json:"seed"`
	Capture     model.Capture `json:"capture"`
	Loop        *model.Loop   `json:"loop,omitempty"`
	MergedShare float64       `json:"merged_share"`
	// BandwidthMBPerSec is the mean of each interval.
	BandwidthMBPerSec []float64 `json:"bandwidth_mb_per_sec"`
	// Ranges are the parts of the I/Os in each quarter of the addresses (0..1).
	Ranges []float64      `json:"ranges"`
	Sizes  []categoryText `json:"sizes"`
	Types  []typeText     `json:"thread_types"`
}

type categoryText struct {
	model.Category
	Weight float64 `json:"weight"`
}

type typeText struct {
	model.Class
	Threads     int              `json:"threads"`
	IOs         int64            `json:"ios"`
	Weight      float64          `json:"weight"`
	Gap         model.Gap        `json:"gap"`
	Intervals   []model.Interval `json:"intervals"`
	Transitions []transitionText `json:"transitions"` // most frequent first
}

type transitionText struct {
	Level int `json:"level"`
	From  int `json:"from"`
	To    int `json:"to"`
	model.Category
	Weight      float64 `json:"weight"`
	Probability float64 `json:"probability"`
	// Gap is the time since the thread's last I/O, ThreadGapMilliseconds that since the last
	// I/O of the transition.
	Gap                   model.Gap `json:"gap"`
	ThreadGapMilliseconds float64   `json:"thread_gap_milliseconds"`
}

func summarize(m *model.Model) (twinSummary, error) {
	var size byteCount
	if err := m.Write(&size); err != nil {
		return twinSummary{}, err
	}
	out := twinSummary{
		Version: m.Version, FileBytes: int(size), Device: m.Device, Levels: m.Levels, Form: m.Form, Seed: m.Seed,
		Capture: m.Capture, Loop: m.Loop, MergedShare: m.MergedShare, Ranges: m.Visits(1),
	}
	for _, v := range m.Bandwidth() {
		out.BandwidthMBPerSec = append(out.BandwidthMBPerSec, v/bytesPerMB)
	}
	total := float64(m.IOs())
	weights := make([]float64, len(m.Categories))
	for i := range m.Types {
		t := &m.Types[i]
		outOf := m.OutOf(t)
		text := typeText{Class: t.Class, Threads: t.Threads, IOs: t.IOs, Weight: t.Weight, Gap: t.Gap, Intervals: t.Intervals}
		for _, x := range t.Transitions {
			weights[x.Category] += float64(x.IOs) / total
			text.Transitions = append(text.Transitions, transitionText{
				Level: x.Level, From: x.From, To: x.To, Category: m.Categories[x.Category], Weight: float64(x.IOs) / total,
				Probability: x.Probability(outOf), Gap: x.Gap, ThreadGapMilliseconds: t.ThreadGap(x).Seconds() * 1e3,
			})
		}
		slices.SortStableFunc(text.Transitions, func(a, b transitionText) int { return cmp.Compare(b.Weight, a.Weight) })
		out.Types = append(out.Types, text)
	}
	for i, c := range m.Categories {
		out.Sizes = append(out.Sizes, categoryText{c, weights[i]})
	}
	slices.SortStableFunc(out.Sizes, func(a, b categoryText) int { return cmp.Compare(b.Weight, a.Weight) })
	return out, nil
}

// byteCount counts what is written.
type byteCount int

// Write counts.
func (c *byteCount) Write(p []byte) (int, error) {
	*c += byteCount(len(p))
	return len(p), nil
}

func summaryPage(p *command.Page, s *twinSummary) {
	p.Fact("Trace", fmt.Sprintf("%s: %s I/Os in %s; %s without an I/O", cmp.Or(s.Capture.Source, "not known"), wording.Number(float64(s.Capture.IOs)),
		wording.Duration(s.Capture.Span()), wording.Count(int(s.Capture.Dropped), "line")))
	p.Fact("Device", fmt.Sprintf("%s, sectors of %d bytes", sizeText(s.Device.Bytes), s.Device.SectorBytes))
	transitions := 0
	for _, t := range s.Types {
		transitions += len(t.Transitions)
	}
	p.Fact("Model", fmt.Sprintf("%s, %s: %d states, %d transitions, %s; %s of the I/Os have the nearest size that is kept", s.Form, wording.Count(s.Levels, "level"),
		model.States(s.Levels), transitions, sizeText(int64(s.FileBytes)), percent(s.MergedShare)))
	var quarters []string
	for _, v := range s.Ranges {
		quarters = append(quarters, percent(v))
	}
	p.Fact("Quarters", strings.Join(quarters, ", ")+" of the I/Os")
	if s.Loop != nil {
		after := ""
		if n := s.Loop.ThreadReads; n > 0 {
			after = ", of one thread " + wording.Count(n, "read")
		}
		if s.Loop.Waits {
			after += ", and what comes after waits"
		}
		p.Fact("Loop", fmt.Sprintf("at most %s and %s outstanding%s", wording.Count(s.Loop.Reads, "read"), wording.Count(s.Loop.Writes, "write"), after))
	}
	p.Fact("Promise", bandwidthLine(slices.Max(s.BandwidthMBPerSec))+" in the job's block disk { }: the busiest of "+wording.Count(len(s.BandwidthMBPerSec), "interval"))
	p.Section("Types of threads")
	var rows [][]command.Cell
	for _, t := range s.Types {
		rows = append(rows, []command.Cell{
			command.Heading(t.Name), command.Number(strconv.Itoa(t.Threads)), command.Number(percent(t.Weight)),
			command.Number(milliseconds(t.Gap.MeanMicroseconds)), command.Text(string(t.Gap.Family)), command.Text(fmt.Sprintf("%s intensity, %s fluctuation", t.Intensity, t.Fluctuation)),
		})
	}
	p.Table([]string{"Type", "Threads", "Weight", "Gap, ms", "Family", "What it is"}, rows)
}

// bytesPerMB: rates of disks are in units of 10^6, as their makers write them.
const bytesPerMB = 1e6

// The lines of a job's block disk { } (0056). Bandwidth is rounded up and the use of the disk
// down: what is promised is no less than what was seen.
func bandwidthLine(mbPerSec float64) string {
	return "bandwidth = " + strconv.FormatFloat(math.Ceil(10*mbPerSec)/10, 'f', -1, 64)
}

func mostUseLine(share float64) string {
	return fmt.Sprintf("use_max = %q", strconv.FormatFloat(math.Floor(100*min(1, share)), 'f', -1, 64)+"%")
}

// most is how many rows of a table are printed that has many.
const most = 10

// detailPage has what is most frequent, or with -verbose all of it.
func detailPage(p *command.Page, s *twinSummary) {
	p.Section("Sizes")
	var rows [][]command.Cell
	for i, c := range s.Sizes {
		if i == most && !p.Verbose {
			break
		}
		rows = append(rows, []command.Cell{command.Text(c.Op.String()), command.Text(c.Kind.String()), command.Number(sizeText(c.Bytes)), command.Number(percent(c.Weight))})
	}
	p.Table([]string{"Op", "Kind", "Size", "Weight"}, rows)
	for _, t := range s.Types {
		p.Section("Transitions of " + t.Name)
		rows = nil
		for i, x := range t.Transitions {
			if i == most && !p.Verbose {
				break
			}
			rows = append(rows, []command.Cell{
				command.Number(strconv.Itoa(x.Level)), command.Number(strconv.Itoa(x.From)), command.Number(strconv.Itoa(x.To)), command.Text(x.Op.String()), command.Text(x.Kind.String()),
				command.Number(sizeText(x.Bytes)), command.Number(percent(x.Weight)), command.Number(percent(x.Probability)), command.Number(milliseconds(x.Gap.MeanMicroseconds)), command.Text(string(x.Gap.Family)),
			})
		}
		p.Table([]string{"Level", "From", "To", "Op", "Kind", "Size", "Weight", "Probability", "Gap, ms", "Family"}, rows)
		ratePage(p, t)
	}
}

// ratePage draws the rate over time.
func ratePage(p *command.Page, t typeText) {
	if len(t.Intervals) > most && !p.Verbose {
		return
	}
	top := 0.0
	for _, i := range t.Intervals {
		top = max(top, float64(i.IOs)/i.Seconds)
	}
	p.Section("Rate of " + t.Name)
	var rows [][]command.Cell
	for _, i := range t.Intervals {
		rate := float64(i.IOs) / i.Seconds
		rows = append(rows, []command.Cell{
			command.Number(fmt.Sprintf("%d min", int(i.StartSeconds/60))), command.Number(wording.Number(rate) + "/s"), command.Text(command.Gauge(rate/top, 30)),
		})
	}
	p.Table([]string{"From", "Rate", ""}, rows)
}

func levelsTable(p *command.Page, levels []compare.Level) {
	if len(levels) == 0 {
		return
	}
	p.Section("Levels")
	var rows [][]command.Cell
	for _, l := range levels {
		chosen := ""
		if l.Chosen {
			chosen = "chosen"
		}
		rows = append(rows, []command.Cell{
			command.Number(strconv.Itoa(l.Levels)), command.Number(strconv.Itoa(l.States)), command.Number(strconv.FormatInt(l.Pairs, 10)), command.Number(strconv.Itoa(l.Transitions)),
			command.Number(wording.Number(l.IOPS)), command.Number(levelChange(l.IOPSChange)), command.Number(strconv.FormatFloat(l.MissApart, 'f', 1, 64) + " points"), {Text: chosen, Hue: command.Good},
		})
	}
	p.Table([]string{"Levels", "States", "Pairs", "Transitions", "IOPS", "Next level", "Misses apart", ""}, rows)
}

func levelChange(v *float64) string {
	if v == nil {
		return "–"
	}
	return strconv.FormatFloat(*v, 'f', 1, 64) + " %"
}

// comparePage has the rows of the model, and of the others how many limits they miss.
func comparePage(p *command.Page, r *compare.Report) {
	p.Fact("Trace", fmt.Sprintf("%s: %s I/Os fitted, %s judge", r.Format, wording.Number(float64(r.FittedIOs)), wording.Number(float64(r.JudgedIOs))))
	p.Fact("Model", fmt.Sprintf("%s, %s; seed %d", wording.Count(r.Chosen, "level"), sizeText(int64(r.ModelBytes)), r.Seed))
	levelsTable(p, r.Levels)
	for i, s := range r.Streams {
		if i > 0 && !p.Verbose {
			break
		}
		rows := s.Rows
		if i == 0 {
			rows = append(slices.Clone(rows), r.Weights)
		}
		p.Section(wording.Capital(s.Name) + ": " + s.About)
		rowsTable(p, rows)
	}
	for _, f := range r.Flat {
		p.Section(fmt.Sprintf("Hierarchical against flat, %s", wording.Count(f.Levels, "level")))
		rowsTable(p, f.Rows)
	}
	p.Section("Limits met")
	var rows [][]command.Cell
	for _, s := range r.Streams {
		met, judged := 0, 0
		for _, row := range s.Rows {
			if row.Met != nil {
				judged++
				if *row.Met {
					met++
				}
			}
		}
		rows = append(rows, []command.Cell{command.Heading(s.Name), command.Number(fmt.Sprintf("%d of %d", met, judged)), command.Text(s.About)})
	}
	p.Table([]string{"Stream", "Met", "What it is"}, rows)
}

// totalsPage has a row for every feature, and with -verbose one for every volume.
func totalsPage(p *command.Page, r *compare.TotalsReport) {
	p.Fact("Volumes", fmt.Sprintf("%d, and %d with too few I/Os; the first %s of their time against the rest; seed %d", len(r.Volumes), r.Skipped, percent(r.Split), r.Seed))
	p.Section("Limits met, by volumes")
	var rows [][]command.Cell
	for _, f := range r.Features {
		rows = append(rows, []command.Cell{
			command.Text(f.Name), command.Number(fmt.Sprintf("%d of %d", f.Met, f.Judged)), command.Number(valueText(f.Median)), command.Text(f.Unit),
		})
	}
	p.Table([]string{"What", "Met", "Median difference", ""}, rows)
	if !p.Verbose {
		return
	}
	for _, v := range r.Volumes {
		p.Section(v.Volume)
		rowsTable(p, slices.Concat(v.Parts, v.Rates))
	}
}

func rowsTable(p *command.Page, rows []compare.Row) {
	var cells [][]command.Cell
	var causes []string
	for _, r := range rows {
		hue := command.Good
		switch {
		case r.Met == nil:
			hue = command.Faint
		case !*r.Met:
			hue = command.Bad
		}
		limit := chart.Number(r.Limit) + " " + r.Unit
		if r.AtLeast {
			limit = "at least " + limit
		}
		cells = append(cells, []command.Cell{
			command.Text(r.Name), command.Number(valueText(r.Original)), command.Number(valueText(r.Synthetic)), command.Number(valueText(r.Difference)),
			command.Text(limit), {Text: r.Verdict(), Hue: hue},
		})
		if r.Cause != "" {
			causes = append(causes, r.Name+": "+r.Cause)
		}
	}
	p.Table([]string{"What", "Original", "Synthetic", "Apart", "Limit", "Verdict"}, cells)
	for _, c := range causes {
		p.Item(command.Faint, c)
	}
}

func valueText(v *float64) string {
	if v == nil {
		return "–"
	}
	return chart.Number(*v)
}

func percent(share float64) string { return wording.Number(100*share) + " %" }

func milliseconds(us float64) string { return wording.Number(us / 1e3) }

// sizeText writes a size in binary units.
func sizeText(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	v, unit := float64(n), 0
	for v >= 1024 && unit < len(units)-1 {
		v, unit = v/1024, unit+1
	}
	return wording.Number(v) + " " + units[unit]
}
