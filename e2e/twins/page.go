package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nomad-placer/nomad-placer/e2e/disk"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/compare"
)

// columns are the rows of a comparison that the page has, in its order, and how many of the
// misses of caches are summed up in one column: the largest.
var columns = []struct{ title, row string }{
	{"reads, %", "reads, % of the I/Os"}, {"random, %", "random, % of the I/Os"}, {"near, %", "near-sequential, % of the I/Os"}, {"mean size, %", "mean size, bytes"}, {"mix of sizes, %", "mix of sizes"},
	{"64 ranges, %", "64 ranges of addresses"}, {"mean gap, %", "mean gap, ms"}, {"caches, points", "misses of a cache of "},
	{"IOPS, %", "IOPS of the reference disk"}, {"latency, %", "mean latency of the reference disk, ms"},
}

// page is the results as Markdown.
func page(all []result) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# Twins of six real workloads\n")
	line("Written by `go run ./e2e/twins -page placer/docs/twin-workloads.md`, from captures of one machine: another one gives other numbers. Each workload has an ext4 file system of its own on a loop device and %d MiB of memory, its page cache included, "+
		"and the whole device is recorded by `nomad-placer twin capture`, what the page cache writes later with it. `nomad-placer twin compare -interval-length %s` fits a model to the first half of the I/Os and judges it by the second; seed 1. "+
		"IOPS and latency are those of the reference disk of package compare. No latency of a real device is judged here: [below](#on-one-real-disk), on a quiet machine.\n", disk.MemoryBytes>>20, interval)
	var machines []string
	for i := range all {
		if m := all[i].Captured.Machine; !slices.Contains(machines, m) {
			machines = append(machines, m)
		}
	}
	line("Captured on: %s; with other work on it.\n", strings.Join(machines, "; "))
	line("| workload | what runs | I/Os | seconds | I/Os per second | reads | random | mean size, KiB | levels | model, KiB |")
	line("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for i := range all {
		r := &all[i]
		f := r.Whole.Original.Features
		line("| %s | %s | %d | %.0f | %.0f | %.1f %% | %.1f %% | %.1f | %d | %.0f |", r.Name, r.What, r.Captured.IOs, r.Captured.Seconds, f.IOPS, 100*f.ReadShare, 100*f.RandomShare, f.MeanBytes/1024, r.Half.Chosen, float64(r.Half.ModelBytes)/1024)
	}
	table(line, "The second half by the first", "Difference of the walk from the second half, and that of an exact replay of the first half in brackets: what that misses, too, is the workload's own change. **Bold** is above the limit: 5 % or points, latency 6.7 %; of caches the largest of six. Near-sequential shares below 5 % of the I/Os are compared in points.", all, func(r *result) *compare.Report { return &r.Half })
	table(line, "The whole by itself", "As the text judges (Delimitrou 2015, §A.4.4).", all, func(r *result) *compare.Report { return &r.Whole })
	causes(line, all)
	line("\n## Baselines\n")
	line("Limits that are kept, of those that can be judged, on the second half.\n")
	line("| workload | %s | largest difference of a weight, limit 500 ppm |", strings.Join(streamNames(all), " | "))
	line("| --- |%s ---: |", strings.Repeat(" ---: |", len(streamNames(all))))
	for i := range all {
		cells := []string{all[i].Name}
		for _, name := range streamNames(all) {
			cells = append(cells, keptText(streamOf(&all[i].Half, name)))
		}
		weight := "not known"
		if d := all[i].Half.Weights.Difference; d != nil {
			weight = fmt.Sprintf("%.0f ppm", 1e4**d)
		}
		line("| %s | %s |", strings.Join(cells, " | "), weight)
	}
	return b.String()
}

// causes lists what the walk misses of the second half, by why.
func causes(line func(string, ...any), all []result) {
	line("\n## Why limits are missed\n\nOf the second half, by the walk.\n")
	for i := range all {
		walk := streamOf(&all[i].Half, "walk")
		if walk == nil {
			continue
		}
		var order []string
		missed := map[string][]string{}
		for _, r := range walk.Rows {
			if r.Met == nil || *r.Met {
				continue
			}
			why, _, _ := strings.Cut(r.Cause, ": an exact replay")
			why, _, _ = strings.Cut(why, "; an exact replay")
			if missed[why] == nil {
				order = append(order, why)
			}
			missed[why] = append(missed[why], r.Name)
		}
		if len(order) == 0 {
			line("- %s: nothing is missed.", all[i].Name)
		}
		for _, why := range order {
			line("- %s: %s. %s.", all[i].Name, strings.Join(missed[why], "; "), strings.ToUpper(why[:1])+why[1:])
		}
	}
}

// digits are two of a difference, and all of its whole part.
func digits(v float64) string {
	if v >= 10 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

func table(line func(string, ...any), title, about string, all []result, of func(*result) *compare.Report) {
	line("\n## %s\n\n%s\n", title, about)
	header, rule := "| workload |", "| --- |"
	for _, c := range columns {
		header, rule = header+" "+c.title+" |", rule+" ---: |"
	}
	line("%s\n%s", header, rule)
	for i := range all {
		r := of(&all[i])
		cells := []string{all[i].Name}
		for _, c := range columns {
			cells = append(cells, cell(r, c.row))
		}
		line("| %s |", strings.Join(cells, " | "))
	}
}

// cell is the largest difference of the walk in rows of a name, with that of the replay.
func cell(r *compare.Report, row string) string {
	walk, met := largest(streamOf(r, "walk"), row)
	if walk == nil {
		return "not known"
	}
	text := digits(*walk)
	if !met {
		text = "**" + text + "**"
	}
	if replay, _ := largest(streamOf(r, "replay"), row); replay != nil {
		text += " (" + digits(*replay) + ")"
	}
	return text
}

// largest difference of the rows that begin so, and whether all keep their limits.
func largest(s *compare.Stream, row string) (most *float64, met bool) {
	met = true
	if s == nil {
		return nil, met
	}
	for _, r := range s.Rows {
		if !strings.HasPrefix(r.Name, row) || r.Difference == nil {
			continue
		}
		if most == nil || *r.Difference > *most {
			most = r.Difference
		}
		met = met && (r.Met == nil || *r.Met)
	}
	return most, met
}

func streamOf(r *compare.Report, name string) *compare.Stream {
	for i := range r.Streams {
		if r.Streams[i].Name == name {
			return &r.Streams[i]
		}
	}
	return nil
}

// streamNames are those that any result has, in the order of the first that has most.
func streamNames(all []result) []string {
	var out []string
	for i := range all {
		if len(all[i].Half.Streams) <= len(out) {
			continue
		}
		out = nil
		for _, s := range all[i].Half.Streams {
			out = append(out, s.Name)
		}
	}
	return out
}

func keptText(s *compare.Stream) string {
	if s == nil {
		return "–"
	}
	kept, judged := 0, 0
	for _, r := range s.Rows {
		if r.Met == nil {
			continue
		}
		judged++
		if *r.Met {
			kept++
		}
	}
	return fmt.Sprintf("%d of %d", kept, judged)
}
