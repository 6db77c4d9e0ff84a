// Command twins captures the block I/O of six real workloads (PostgreSQL, SQLite, a store of
// merge trees, a log that is synced, a backup and a job of small files), fits a storage model to
// the first half of each and judges it by the second, and writes a page with the results. Each
// workload has a file system of its own on a loop device, so that what is captured is all of it,
// what the page cache writes later included, and nothing else. It is resumable: what was
// captured or judged is not done again. It needs root; the machine need not be quiet, for no
// latency of a device is judged.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/disk"
	"github.com/nomad-placer/nomad-placer/profiler/blockio"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/compare"
)

// settings are the flags.
type settings struct {
	bin, work, page string
	only            []string
	length          time.Duration
	pairsOnly       bool
	printOnly       bool
	asJSON          bool
}

// interval is how long a rate is taken as constant: bursts that are longer are kept.
const interval = 10 * time.Second

func main() {
	if len(os.Args) == 5 && os.Args[1] == disk.Worker {
		// Interrupted with this program's group, it stays until its orders end.
		cluster.Main("twins", func(context.Context) error { return disk.Serve(os.Args[2], os.Args[3], os.Args[4]) })
		return
	}
	if len(os.Args) == 3 && os.Args[1] == logWorker {
		cluster.Main("twins", func(ctx context.Context) error { return writeLog(ctx, os.Args[2]) })
		return
	}
	cluster.Main("twins", func(ctx context.Context) error { return run(ctx, os.Args[1:]) })
}

func parse(args []string) (s settings, err error) {
	f := flag.NewFlagSet("twins", flag.ContinueOnError)
	f.StringVar(&s.bin, "bin", "bin", "`Folder` of the product's binaries.")
	f.StringVar(&s.work, "work", filepath.Join("bin", "twins"), "`Folder` of traces and results, with 4 GB free. What is there is not done again.")
	f.StringVar(&s.page, "page", "", "Write the page to this `file`.")
	only := f.String("only", "", "Only these workloads: `names`, with commas between.")
	f.DurationVar(&s.length, "for", 2*time.Minute, "Capture each workload for this `time`.")
	f.BoolVar(&s.pairsOnly, "pairs", false, "Measure pairs of workloads and of their twins on one disk instead, and write that part of the page. It wants a quiet machine, and 30 GB free.")
	f.BoolVar(&s.printOnly, "print", false, "With -pairs, measure nothing, and print what was measured before.")
	f.BoolVar(&s.asJSON, "json", false, "Print the results as JSON in place of the page.")
	if err := f.Parse(args); err != nil {
		return s, err
	}
	if f.NArg() > 0 || s.length < 2*interval {
		return s, fmt.Errorf("-for is at least %s, and there are no other arguments; -h says more", 2*interval)
	}
	for _, name := range strings.FieldsFunc(*only, func(c rune) bool { return c == ',' }) {
		if !slices.ContainsFunc(workloads(), func(w workload) bool { return w.name == name }) {
			return s, fmt.Errorf("-only: no workload %q; there are %s", name, strings.Join(names(), ", "))
		}
		s.only = append(s.only, name)
	}
	return s, nil
}

func names() []string {
	var out []string
	for _, w := range workloads() {
		out = append(out, w.name)
	}
	return out
}

func run(ctx context.Context, args []string) error {
	s, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.work, 0o755); err != nil {
		return err
	}
	if s.pairsOnly {
		all, err := s.pairs(ctx)
		if err != nil {
			return err
		}
		return s.print(all, pairPart(all), replacePart)
	}
	var all []result
	for _, w := range s.chosen() {
		r, err := s.result(ctx, w)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		all = append(all, r)
	}
	return s.print(all, page(all), keepPart)
}

// print prints results, and writes the page: merge puts what is new into it.
func (s settings) print(all any, text string, merge func(old, text string) string) error {
	if s.asJSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		return e.Encode(all)
	}
	fmt.Print(text)
	if s.page == "" {
		return nil
	}
	old, err := os.ReadFile(s.page)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.WriteFile(s.page, []byte(merge(string(old), text)), 0o644)
}

// chosen are the workloads that are asked for.
func (s settings) chosen() []workload {
	return slices.DeleteFunc(workloads(), func(w workload) bool { return len(s.only) > 0 && !slices.Contains(s.only, w.name) })
}

// result is a workload as it was captured and judged.
type result struct {
	Name     string         `json:"name"`
	What     string         `json:"what"`
	Captured captured       `json:"captured"`
	Half     compare.Report `json:"second_half"` // judged by what was not fitted
	Whole    compare.Report `json:"whole"`       // judged by itself, as the text does
}

// captured is what `twin capture` says.
type captured struct {
	blockio.Captured
	MeantSeconds float64 `json:"meant_seconds"` // that it was to take
	Machine      string  `json:"machine"`
}

// result captures and judges a workload, as far as that was not done.
func (s settings) result(ctx context.Context, w workload) (result, error) {
	out := result{Name: w.name, What: w.what}
	trace, kept := filepath.Join(s.work, w.name+".txt"), filepath.Join(s.work, w.name+".captured.json")
	if data, err := os.ReadFile(kept); err != nil || json.Unmarshal(data, &out.Captured) != nil || out.Captured.MeantSeconds != s.length.Seconds() {
		if out.Captured, err = s.capture(ctx, w, trace); err != nil {
			return out, err
		}
		if err := keep(kept, out.Captured); err != nil {
			return out, err
		}
	}
	for _, of := range []struct {
		split string
		into  *compare.Report
	}{{"0.5", &out.Half}, {"1", &out.Whole}} {
		if err := s.judge(ctx, w, trace, of.split, of.into); err != nil {
			return out, err
		}
	}
	return out, nil
}

func keep(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".part", data, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}

// capture runs a workload on a volume of its own, and records it.
func (s settings) capture(ctx context.Context, w workload, trace string) (out captured, err error) {
	if err := needs(w); err != nil {
		return out, err
	}
	v, err := disk.New(ctx, filepath.Join(s.work, w.name))
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, v.Remove()) }()
	progress("%s: preparing", w.name)
	if w.prepare != nil {
		if err := w.prepare(ctx, v); err != nil {
			return out, err
		}
	}
	ready, err := w.ready(ctx, v)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, ready.end()) }()
	// What was prepared is on the device and not in memory.
	if err := v.Settle(ctx); err != nil {
		return out, err
	}
	if err := ready.start(); err != nil {
		return out, err
	}
	if err := cluster.Sleep(ctx, warmUp); err != nil {
		return out, err
	}
	progress("%s: recording %s for %s", w.name, v.Device, s.length)
	out.MeantSeconds, out.Machine = s.length.Seconds(), machine()
	if err := s.placer(ctx, &out.Captured, "twin", "capture", "-for", s.length.String(), "-o", trace, v.Device); err != nil {
		return out, err
	}
	if why := ready.ended(); why != nil {
		return out, fmt.Errorf("it ended while it was recorded: %w", why)
	}
	return out, nil
}

// machine is what numbers depend on.
func machine() string {
	cpu, release := "", "not known"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(text)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				cpu = strings.TrimSpace(value) + ", "
				break
			}
		}
	}
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		release = strings.TrimSpace(string(text))
	}
	return fmt.Sprintf("%s%d cores, Linux %s", cpu, runtime.NumCPU(), release)
}

// warmUp is before the recording (chosen by us).
const warmUp = 10 * time.Second

func (s settings) judge(ctx context.Context, w workload, trace, split string, into *compare.Report) error {
	kept := filepath.Join(s.work, w.name+".split-"+split+".json")
	// What another program judged is judged again: the same trace, other numbers.
	if older(trace, kept) && older(filepath.Join(s.bin, "nomad-placer"), kept) {
		if data, err := os.ReadFile(kept); err == nil && json.Unmarshal(data, into) == nil && len(into.Streams) > 0 {
			return nil
		}
	}
	progress("%s: judging, split %s", w.name, split)
	if err := s.placer(ctx, into, "twin", "compare", "-split", split, "-interval-length", interval.String(), trace); err != nil {
		return err
	}
	return keep(kept, into)
}

// older reports whether a file was written before another one, which is there.
func older(a, than string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(than)
	return err == nil && !second.ModTime().Before(first.ModTime())
}

// placer runs nomad-placer with -json and reads what it prints.
func (s settings) placer(ctx context.Context, into any, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, "nomad-placer"), append([]string{args[0], args[1], "-json"}, args[2:]...)...) //nolint:gosec // who runs this names the folders
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("nomad-placer %s: %w", strings.Join(args[:2], " "), err)
	}
	return json.Unmarshal(out, into)
}

func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, "twins: "+format+"\n", args...) }
