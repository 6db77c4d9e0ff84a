package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/driver"
	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/e2e/training/catalogue"
	"github.com/nomad-placer/nomad-placer/e2e/training/input"
	"github.com/nomad-placer/nomad-placer/profiler"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/training"
)

// Times of one run, for deadlines and the remaining time.
const (
	aloneSeconds    = 6
	baselineSeconds = 10
	runOverhead     = 8 * time.Second // starting and stopping a copy
	runGrace        = 3 * time.Minute // beyond that something is wrong
	defaultSlowdown = performance.DefaultSlowdownMaxPercent
)

// rowFile is where the row of an application belongs.
func (s settings) rowFile(a catalogue.Application) string {
	folder := training.RowsFolder
	if a.Paced() {
		folder = training.PacedFolder
	}
	return filepath.Join(s.folder, folder, a.ID+".json")
}

func (s settings) repeatFile(a catalogue.Application) string {
	return filepath.Join(s.folder, training.RepeatsFolder, a.ID+".json")
}

// measureRows measures the rows that are missing.
func measureRows(ctx context.Context, apps []catalogue.Application, s settings) error {
	return measureInto(ctx, apps, s, s.rowFile, true)
}

// measureRepeats measures rows a second time, for the repeatability table. What
// is repeated needs a row first.
func measureRepeats(ctx context.Context, apps []catalogue.Application, s settings) error {
	var known []catalogue.Application
	for _, a := range apps {
		if exists(s.rowFile(a)) {
			known = append(known, a)
		}
	}
	s.seed++
	return measureInto(ctx, known, s, s.repeatFile, false)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// measureInto measures what has no file yet.
func measureInto(ctx context.Context, apps []catalogue.Application, s settings, file func(catalogue.Application) string, sizes bool) (err error) {
	apps = slices.DeleteFunc(slices.Clone(apps), func(a catalogue.Application) bool { return exists(file(a)) })
	if len(apps) == 0 {
		fmt.Println("nothing is missing")
		return nil
	}
	l, err := openLab(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Stop(context.WithoutCancel(ctx))) }()
	var failures []error
	for i, a := range apps {
		fmt.Printf("[%d/%d, about %s to go] %s\n", i+1, len(apps), l.remaining(apps[i:], sizes).Round(time.Minute), a.ID)
		err := l.row(ctx, a, file(a), sizes)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", a.ID, err)
			fmt.Fprintln(os.Stderr, "training:", err)
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}

// row measures one row and writes it: complete to its place, partial next to it
// under a name that is not read, so that it is measured again.
func (l *lab) row(ctx context.Context, a catalogue.Application, path string, sizes bool) error {
	row, err := l.interference(ctx, a)
	if err == nil && sizes {
		row.ScaleUp, err = l.scaleUp(ctx, a, row)
	}
	if row.Format == 0 {
		return err // nothing was measured
	}
	if row.Provenance, err = l.provenance(ctx, a, row, err); err != nil {
		row.Complete = false
		row.Warnings = append(row.Warnings, err.Error())
	}
	training.Round(&row)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err == nil {
		err = checkOf(sizes)(row)
	}
	if err != nil {
		path = filepath.Join(filepath.Dir(path), "."+a.ID+".partial") // a name that is not made part of the program
	}
	return errors.Join(err, write(path, row))
}

func checkOf(sizes bool) func(profile.Profile) error {
	if sizes {
		return training.Check
	}
	return training.CheckRepeat
}

// provenance says how the row can be measured again; an error before is passed
// on.
func (l *lab) provenance(ctx context.Context, a catalogue.Application, row profile.Profile, before error) (*profile.Provenance, error) {
	p := &profile.Provenance{
		Application: a.ID,
		Command:     strings.Join(append(append([]string{"workload loop"}, a.Loop...), "--", "sh -c", a.Run), " "),
		Kernels:     driver.PluginVersion,
		Repetitions: medianPairs(row.Ramp),
	}
	for _, name := range a.Inputs {
		text, err := input.Describe(l.inputs, name)
		if err != nil {
			return p, errors.Join(before, err)
		}
		p.Input += strings.TrimPrefix(", "+text, map[bool]string{true: ", "}[p.Input == ""])
	}
	var err error
	if p.Versions, err = versions(ctx, a.Packages); err != nil {
		return p, errors.Join(before, err)
	}
	machine, err := ibench.ReadMachine("/")
	if err != nil {
		return p, errors.Join(before, err)
	}
	cpus, err := ibench.AllowedCPUs()
	if err != nil {
		return p, errors.Join(before, err)
	}
	c, err := ibench.LoadCalibration(l.calibration, ibench.KeyOf(machine, cpus))
	if err != nil {
		return p, errors.Join(before, err)
	}
	p.Calibration = fmt.Sprintf("%s of %s", c.Key.ID(), c.At.UTC().Format(time.RFC3339))
	if p.FileSystem, err = fileSystem(os.TempDir()); err != nil {
		return p, errors.Join(before, err)
	}
	return p, before
}

func medianPairs(ramp []profile.RampPoint) int {
	var pairs []int
	for _, r := range ramp {
		pairs = append(pairs, r.Pairs)
	}
	if len(pairs) == 0 {
		return 0
	}
	slices.Sort(pairs)
	return pairs[len(pairs)/2]
}

// interference presses on the application with every source.
func (l *lab) interference(ctx context.Context, a catalogue.Application) (profile.Profile, error) {
	request := l.request(a)
	request.Method, request.Sources = profiler.MethodSweep, sources()
	request.Seconds = len(request.Sources)*l.seconds + baselineSeconds
	return l.profile(ctx, tenant{app: a, task: "app", cpus: []int{l.cpu}, cores: 1}, request)
}

func (l *lab) request(a catalogue.Application) profiler.Request {
	return profiler.Request{
		Format: profiler.RequestFormat, Key: keyOf(a), Workload: "training/" + a.ID,
		Configuration: l.node.Configuration, NodeID: string(l.node.ID), NodeName: l.node.Name,
		Task: "app", Tasks: []string{"app"}, SlowdownPercent: defaultSlowdown, Seed: l.seed,
	}
}

// keyOf is the content identity of an application: what runs on what.
func keyOf(a catalogue.Application) string {
	sum := sha256.Sum256([]byte(strings.Join(append(append([]string{a.ID, a.Run}, a.Loop...), a.Inputs...), "\x00")))
	return hex.EncodeToString(sum[:12])
}

func sources() []interference.Source {
	var out []interference.Source
	for _, k := range ibench.Kernels() {
		out = append(out, k.Source)
	}
	return out
}

// profile runs one profiling run and returns what it left, also with an error.
func (l *lab) profile(ctx context.Context, t tenant, request profiler.Request) (profile.Profile, error) {
	var p profile.Profile
	probe := t.probe()
	request.Probe, request.Target = &probe, t.target()
	job, err := l.job(jobID(t.app.ID, t.cores, t.size), []tenant{t}, "profile", request)
	if err != nil {
		return p, err
	}
	within := time.Duration(request.Seconds)*time.Second + runGrace
	shown := ""
	look := func(alloc *api.Allocation) error { return l.showProgress(alloc, &shown) }
	err = l.conduct(ctx, job, within, look, func(alloc *api.Allocation) error {
		data, err := l.file(alloc, profiler.ResultDir, profiler.ResultFile)
		if err != nil {
			return err
		}
		return json.Unmarshal(data, &p)
	})
	// A node's identity means nothing elsewhere.
	p.Machine.NodeID, p.Machine.NodeName = "", ""
	return p, err
}

// showProgress prints each source as it begins.
func (l *lab) showProgress(alloc *api.Allocation, shown *string) error {
	data, err := l.file(alloc, profiler.ResultDir, profiler.ProgressFile)
	if err != nil {
		return nil // not there yet
	}
	var p profiler.Progress
	if err := json.Unmarshal(data, &p); err != nil {
		return nil // another one follows
	}
	if text := strings.TrimSpace(p.Phase + " " + string(p.Source)); text != *shown {
		*shown = text
		fmt.Printf("    %3.0f %% %-32s %3.0f s left\n", p.Fraction*100, text, p.RemainingSeconds)
	}
	return nil
}

// size is one more copy to measure alone.
type size struct{ cores, memoryMB int }

// sizesOf are the sizes beyond that of the interference run.
func sizesOf(a catalogue.Application) []size {
	out := []size{{2, 0}}
	for _, mb := range a.MemorySizesMB {
		if mb != a.UsualSizeMB() {
			out = append(out, size{1, mb})
		}
	}
	return out
}

// scaleUp measures the speed in isolation at other sizes.
func (l *lab) scaleUp(ctx context.Context, a catalogue.Application, row profile.Profile) ([]profile.ScalePoint, error) {
	usual := 0
	if len(a.MemorySizesMB) > 0 {
		usual = a.UsualSizeMB()
	}
	first, ok := row.Isolated[l.node.Configuration]
	if !ok {
		return nil, errors.New("the speed in isolation was not measured")
	}
	out := []profile.ScalePoint{{Cores: 1, MemoryMB: int64(usual), Speed: first}}
	for _, z := range sizesOf(a) {
		request := l.request(a)
		request.Seconds = aloneSeconds
		t := tenant{app: a, task: "app", cpus: []int{l.cpu}, cores: z.cores, size: z.memoryMB}
		if z.cores > 1 {
			other, err := l.otherCPU()
			if err != nil {
				return out, err
			}
			t.cpus = append(t.cpus, other)
		}
		p, err := l.profile(ctx, t, request)
		if err != nil {
			return out, fmt.Errorf("in isolation on %d CPUs with %d MB: %w", z.cores, z.memoryMB, err)
		}
		speed, ok := p.Isolated[l.node.Configuration]
		if !ok {
			return out, fmt.Errorf("in isolation on %d CPUs with %d MB: no speed: %s", z.cores, z.memoryMB, strings.Join(p.Warnings, "; "))
		}
		memory := z.memoryMB
		if memory == 0 {
			memory = usual
		}
		out = append(out, profile.ScalePoint{Cores: z.cores, MemoryMB: int64(memory), Speed: speed})
		fmt.Printf("    %d CPUs, %d MB: %.4g %s\n", z.cores, memory, speed.Value, speed.Unit)
	}
	return out, nil
}

// otherCPU is another CPU than that of the applications.
func (l *lab) otherCPU() (int, error) {
	cpus, err := ibench.AllowedCPUs()
	if err != nil {
		return 0, err
	}
	for _, cpu := range cpus {
		if cpu != l.cpu {
			return cpu, nil
		}
	}
	return 0, errors.New("this machine has one CPU only")
}

// remaining is about how long those applications take.
func (l *lab) remaining(apps []catalogue.Application, sizes bool) time.Duration {
	var out time.Duration
	for _, a := range apps {
		out += time.Duration(len(sources())*l.seconds+baselineSeconds)*time.Second + runOverhead
		if sizes {
			out += time.Duration(len(sizesOf(a))) * (aloneSeconds*time.Second + runOverhead)
		}
	}
	return out
}

// write makes the file whole or not at all, compact: a row has hundreds of
// numbers, and is part of the program.
func write(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	temporary := path + ".new"
	if err := os.WriteFile(temporary, append(data, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}
