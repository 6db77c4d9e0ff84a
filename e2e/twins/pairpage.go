package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/nomad-placer/nomad-placer/e2e/disk"
)

// pairTitle begins the part of the page that is about pairs, its last.
const pairTitle = "## On one real disk\n"

// replacePart puts a new part about pairs into the page.
func replacePart(old, part string) string {
	before, _, _ := strings.Cut(old, "\n"+pairTitle)
	return before + "\n" + part
}

// keepPart keeps the part about pairs of the page.
func keepPart(old, text string) string {
	if _, part, ok := strings.Cut(old, "\n"+pairTitle); ok {
		return text + "\n" + pairTitle + part
	}
	return text
}

// The targets: Delimitrou 2015, §A.4.4 for latencies (percent), and for pairs what §B.3.5 has,
// rounded up (points).
const (
	mostLatency, meanLatency = 6.7, 3.4
	mostPoints, meanPoints   = 15, 5
)

// loss is the part of its performance that a workload loses next to another one (deg of §B.3.1;
// 0..1): of batch jobs by bytes a second, of others by the mean time of an I/O.
func loss(alone []*measured, together *measured) float64 {
	if workloadOf(together.Name).batch {
		return 1 - together.Disk.BytesPerSec/mean(alone, func(m *measured) float64 { return m.Disk.BytesPerSec })
	}
	return 1 - mean(alone, latency)/latency(together)
}

func latency(m *measured) float64 { return m.Disk.MeanMilliseconds }

func mean(of []*measured, value func(*measured) float64) float64 {
	sum := 0.0
	for _, m := range of {
		sum += value(m)
	}
	return sum / float64(len(of))
}

// span is the largest less the least value.
func span(of []*measured, value func(*measured) float64) float64 {
	least, most := math.Inf(1), math.Inf(-1)
	for _, m := range of {
		least, most = min(least, value(m)), max(most, value(m))
	}
	return most - least
}

// direction is what one of a pair loses.
type direction struct {
	name, with string
	use        float64 // of the disk, both in isolation
	trimmed    bool
	real       float64 // loss, 0..1
	repeated   float64 // by which it differs by which round is the isolated one
	predicted  map[form]float64
}

// directions are those of the pairs whose real runs are known, in the order of pairs.
func directions(all []*pairRun) (out []direction) {
	for _, r := range all {
		if r.Form != formReal || len(r.Names) != 2 || !r.done() {
			continue
		}
		for i := range r.Members {
			m, with := &r.Members[i], r.Members[1-i].Name
			alone := isolated(all, formReal, m.Name)
			if len(alone) == 0 {
				continue
			}
			d := direction{
				name: m.Name, with: with, use: isolatedShare(all, m.Name) + isolatedShare(all, with), trimmed: tooMuch(all, m.Name, with),
				real: loss(alone, m), predicted: map[form]float64{},
			}
			d.repeated = span(alone, func(round *measured) float64 { return loss([]*measured{round}, m) })
			for _, f := range forms()[1:] {
				if p := together(all, f, m.Name, with); p != nil {
					d.predicted[f] = loss(isolated(all, f, m.Name), p)
				}
			}
			out = append(out, d)
		}
	}
	return out
}

// together is a workload next to another one; nil where that was not measured.
func together(all []*pairRun, f form, name, with string) *measured {
	for _, r := range all {
		if r.Form != f || len(r.Names) != 2 || !r.done() || !slices.Contains(r.Names, name) || !slices.Contains(r.Names, with) {
			continue
		}
		if len(isolated(all, f, name)) > 0 {
			return &r.Members[slices.Index(r.Names, name)]
		}
	}
	return nil
}

// pairPart is the part of the page.
func pairPart(all []*pairRun) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%s", pairTitle)
	line("Written by `go run ./e2e/twins -pairs -page placer/docs/twin-workloads.md` (`make twin-pairs`): the workloads in isolation and all pairs of them on one disk, and what stands for them, twins that nothing was told but what was captured of the first run in isolation.\n")
	line("The disk does what a cloud volume of AWS's type gp3 does where nothing more is paid for, %d I/Os and %d MiB a second, chosen before anything was measured. "+
		"It serves one I/O after another, reads and writes together, each for 1/%d s or its bytes by the bandwidth, whichever is longer; it has no cache, and a flush costs nothing. "+
		"A file system of our own (FUSE) makes it of a faster one, for limits of control groups count reads and writes apart. Each workload has a loop device on it with an ext4 file system, and %d MiB of memory. "+
		"A run is measured for %s, %s after its start.\n", disk.IOPS, disk.BytesPerSec>>20, disk.IOPS, disk.MemoryBytes>>20, pairFor, freeWarmUp+limitedWarmUp)
	line("Performance is the same for workloads and for what stands for them, and measured at the disk: one over the mean time of an I/O, waiting included, and for batch jobs (%s), which run as fast as they can, bytes a second. "+
		"Models are of the capture's adjoining I/Os joined (`twin fit -merge %s`), seed 1.\n", strings.Join(batchNames(), ", "), mergeWithin)
	line("What stands for a workload:\n")
	line("- *twin*: `twin fit -interval-length %s`, played at its times, whatever the disk does.", twinInterval)
	line("- *waiting*: `-interval-length %s -directions -outstanding READS,WRITES`, which keeps bursts and what they are of, with no more reads and writes outstanding than the workload had in isolation when 99 of 100 of them came; that of a batch job also `-waits`, and is later by what it waits.", fineInterval)
	line("- *threads*: the same with `-thread-reads 1`, one read of a thread at a time; for pairs that the disk can do.")
	line("- *replay*: the capture itself, I/O by I/O, played as *threads* is: what it errs by no model mends.\n")
	line("Measured on: %s.\n", strings.Join(machinesOf(all), "; "))
	latencyTable(line, all)
	pairTables(line, directions(all))
	ownTable(line, all)
	return b.String()
}

func batchNames() (out []string) {
	for _, w := range workloads() {
		if w.batch {
			out = append(out, w.name)
		}
	}
	return out
}

func machinesOf(all []*pairRun) (out []string) {
	for _, r := range all {
		if r.done() && !slices.Contains(out, r.Machine) {
			out = append(out, r.Machine)
		}
	}
	return out
}

const notMeasured = "–"

// formTitles head columns.
var formTitles = map[form]string{formTwin: "twin", formClosed: "waiting", formThreads: "threads", formReplay: "replay"}

func latencyTable(line func(string, ...any), all []*pairRun) {
	line("### Latency in isolation\n")
	line("Mean time of an I/O in the disk and its queue, and the difference of what stands for the workload from it. The limits are %g %% for the worst and %g %% on average (Delimitrou 2015, §A.4.4); *repeated* is by how much the rounds of the workload differ, the largest from the least.\n", mostLatency, meanLatency)
	line("| workload | disk busy | I/Os per second | outstanding | most reads, writes | mean, ms | repeated, %% | twin, I/Os per second | twin, ms | twin, %% | waiting, %% | threads, %% | replay, %% |")
	line("| --- |%s", strings.Repeat(" ---: |", 12))
	off := map[form][]float64{}
	for _, w := range workloads() {
		real := isolated(all, formReal, w.name)
		if len(real) == 0 {
			continue
		}
		repeated := notMeasured
		if len(real) > 1 {
			repeated = tenths(100 * span(real, latency) / mean(real, latency))
		}
		cells := []string{
			w.name, fmt.Sprintf("%.0f %%", 100*isolatedShare(all, w.name)), fmt.Sprintf("%.0f", mean(real, func(m *measured) float64 { return m.Disk.IOPS })),
			fmt.Sprintf("%.1f", mean(real, func(m *measured) float64 { return m.Disk.Outstanding })), fmt.Sprintf("%d, %d", loopOf(all, formClosed, w.name).Reads, loopOf(all, formClosed, w.name).Writes), fmt.Sprintf("%.3f", mean(real, latency)), repeated,
		}
		if twin := isolated(all, formTwin, w.name); len(twin) > 0 {
			cells = append(cells, fmt.Sprintf("%.0f", mean(twin, func(m *measured) float64 { return m.Disk.IOPS })), fmt.Sprintf("%.3f", mean(twin, latency)))
		} else {
			cells = append(cells, notMeasured, notMeasured)
		}
		for _, f := range forms()[1:] {
			played := isolated(all, f, w.name)
			if len(played) == 0 {
				cells = append(cells, notMeasured)
				continue
			}
			v := 100 * (mean(played, latency)/mean(real, latency) - 1)
			off[f] = append(off[f], math.Abs(v))
			cells = append(cells, signed(v, math.Abs(v) > mostLatency))
		}
		line("| %s |", strings.Join(cells, " | "))
	}
	line("")
	for _, f := range forms()[1:] {
		if v := off[f]; len(v) > 0 {
			line("- %s: %s %% off on average, %s %% at worst.", formTitles[f], tenths(average(v)), tenths(slices.Max(v)))
		}
	}
}

func tenths(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

func average(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// signed is a number with its sign; bold where a limit is missed.
func signed(v float64, missed bool) string {
	text := tenths(math.Abs(v))
	if v < 0 {
		text = "−" + text
	} else {
		text = "+" + text
	}
	if missed {
		text = "**" + text + "**"
	}
	return text
}

func pairTables(line func(string, ...any), all []direction) {
	line("\n### What pairs lose\n")
	line("In points: what a workload loses of its performance in isolation next to another one, and by how much what stands for both errs. The limits are %d points for the mean and %d for the worst; **bold** is above the latter. "+
		"*Both* is the part of its time that the disk would be busy for both: above 100 %% it cannot do what they ask for, and BLOC drops such a pair before it asks a twin (§B.3; by bandwidths there, by time here, since small I/Os take more of it than their bytes say). Those are marked with †, and counted apart. "+
		"*Repeated* is by how much the loss differs by which of the rounds in isolation it is a loss of: what a form errs by less is not known.\n", meanPoints, mostPoints)
	line("| workload | next to | both, %% | loss | repeated | twin says | twin errs | waiting errs | threads err | replay errs |")
	line("| --- | --- |%s", strings.Repeat(" ---: |", 8))
	for _, d := range all {
		mark := ""
		if d.trimmed {
			mark = " †"
		}
		cells := []string{d.name, d.with + mark, fmt.Sprintf("%.0f", 100*d.use), tenths(100 * d.real), tenths(100 * d.repeated)}
		said := notMeasured
		if v, ok := d.predicted[formTwin]; ok {
			said = tenths(100 * v)
		}
		cells = append(cells, said)
		for _, f := range forms()[1:] {
			text := notMeasured
			if v, ok := d.predicted[f]; ok {
				off := 100 * (v - d.real)
				text = signed(off, math.Abs(off) > mostPoints)
			}
			cells = append(cells, text)
		}
		line("| %s |", strings.Join(cells, " | "))
	}
	line("\n| form | losses | compared | mean, points | worst | bias | within what repetition differs by |")
	line("| --- | --- |%s", strings.Repeat(" ---: |", 5))
	for _, of := range []struct {
		what string
		are  func(d *direction) bool
	}{
		{"what the disk can do", func(d *direction) bool { return !d.trimmed }},
		{fmt.Sprintf("of those, that repeat within %d points", meanPoints), func(d *direction) bool { return !d.trimmed && 100*d.repeated <= meanPoints }},
		{"too much for it †", func(d *direction) bool { return d.trimmed }},
	} {
		for _, f := range forms()[1:] {
			summaryRow(line, all, f, of.what, of.are)
		}
	}
	line("\nWhy, as far as it is known: [decision 0067](decisions/0067-twins-next-to-real-workloads.md).")
}

func summaryRow(line func(string, ...any), all []direction, f form, what string, are func(*direction) bool) {
	var off []float64
	bias, noise := 0.0, 0
	for i := range all {
		d := &all[i]
		v, ok := d.predicted[f]
		if !ok || !are(d) {
			continue
		}
		bias += 100 * (v - d.real)
		off = append(off, math.Abs(100*(v-d.real)))
		if math.Abs(v-d.real) < d.repeated {
			noise++
		}
	}
	if len(off) == 0 {
		return
	}
	bias /= float64(len(off))
	line("| %s | %s | %d | %s | %s | %s | %d |", formTitles[f], what, len(off), bold(average(off), meanPoints), bold(slices.Max(off), mostPoints), signed(bias, false), noise)
}

func bold(v, limit float64) string {
	if v > limit {
		return "**" + tenths(v) + "**"
	}
	return tenths(v)
}

// ownTable has what workloads say themselves, next to what the disk says.
func ownTable(line func(string, ...any), all []*pairRun) {
	line("\n### As their own clients see it\n")
	line("Operations a second, and the mean time of one from when it was due, of workloads that say that; in isolation (the mean of the rounds) and next to each other. What processors take is in it, too: *idle* is their idle part.\n")
	line("| workload | next to | operations per second | mean, ms | of an I/O at the disk, ms | I/Os per second | idle |")
	line("| --- | --- |%s", strings.Repeat(" ---: |", 5))
	type row struct {
		name, with string
		members    []*measured
		idle       float64
	}
	var rows []*row
	for _, r := range all {
		for i := range r.Members {
			m := &r.Members[i]
			if r.Form != formReal || m.Own == nil {
				continue
			}
			with := notMeasured
			if len(r.Members) == 2 {
				with = r.Members[1-i].Name
			}
			at := slices.IndexFunc(rows, func(x *row) bool { return x.name == m.Name && x.with == with })
			if at < 0 {
				at, rows = len(rows), append(rows, &row{name: m.Name, with: with})
			}
			rows[at].members, rows[at].idle = append(rows[at].members, m), rows[at].idle+r.IdleShare
		}
	}
	slices.SortStableFunc(rows, func(a, b *row) int { return cmp.Compare(slices.Index(names(), a.name), slices.Index(names(), b.name)) })
	for _, r := range rows {
		said := func(value func(*own) float64) float64 {
			return mean(r.members, func(m *measured) float64 { return value(m.Own) })
		}
		took := notMeasured
		if v := said(func(o *own) float64 { return o.MeanMilliseconds }); v > 0 {
			took = fmt.Sprintf("%.2f", v)
		}
		line("| %s | %s | %.1f | %s | %.3f | %.0f | %.0f %% |", r.name, r.with, said(func(o *own) float64 { return o.PerSec }), took,
			mean(r.members, latency), mean(r.members, func(m *measured) float64 { return m.Disk.IOPS }), 100*r.idle/float64(len(r.members)))
	}
}
