package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/training/catalogue"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/training/backgrounds"
)

// backgroundApplications are measured unless others are named: heavy on the disk,
// on the CPU, and on both.
var backgroundApplications = []string{
	"fio-randread", "fio-seqwrite", "fio-fsync", "sqlite-fsync", "dbbench-fill", "tar-files", "gzip-6", "x264-medium-360",
}

// Times of one point.
const (
	backgroundSettle = 60 * time.Millisecond // requests under way at the old level drain
	backgroundWindow = 320 * time.Millisecond
	backgroundMost   = 3 * time.Second // a window without a unit of work is made longer up to this
	backgroundRepeat = 5               // of each pair
	backgroundDrain  = 8 * time.Second // the disk ends what applications wrote to begin with
	backgroundSolos  = 4               // windows without any background
	kernelFileBytes  = 128 << 20
	kernelMost       = time.Hour // a kernel ends by itself after this
)

// The limits of a slot in the environment "throttled", requests per second: a
// third of what the local disk does, as a remote one would.
const (
	throttledReads  = 10_000
	throttledWrites = 1_000
	// noLimit is one that nothing reaches: requests are counted where there is a limit.
	noLimit = 1_000_000_000
)

// measureBackgrounds runs the profiling protocol of TRACON: what is missing of
// each application next to 125 background workloads, of these workloads alone, and
// of applications next to each other.
func measureBackgrounds(ctx context.Context, apps []catalogue.Application, s settings) (err error) {
	if s.environment != backgrounds.Disk && s.environment != backgrounds.Throttled {
		return fmt.Errorf("unknown environment %q: want %s or %s", s.environment, backgrounds.Disk, backgrounds.Throttled)
	}
	folder := filepath.Join(s.folder, "backgrounds", s.environment)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	b, err := openBench(ctx, s, folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if s.environment == backgrounds.Disk { // what a co-runner is like is known from there
		if err := b.profile(ctx, "", 1); err != nil {
			return fmt.Errorf("backgrounds in isolation: %w", err)
		}
	}
	for i, a := range apps {
		fmt.Printf("[%d/%d] %s\n", i+1, len(apps), a.ID)
		if err := b.application(ctx, a); err != nil {
			return fmt.Errorf("%s: %w", a.ID, err)
		}
	}
	if s.sweeps > 1 || s.environment != backgrounds.Disk {
		return nil // more of one application, not of pairs
	}
	return b.pairs(ctx, apps)
}

// bench is two slots on one CPU: an application in one, and the three kernels, or
// another application, in the other.
type bench struct {
	settings
	folder  string
	scratch string
	slots   slots
	kernels [3]*ibench.Process // CPU, reader, writer
	target  *occupant          // nil: backgrounds alone
}

// The slot of the kernels.
const kernelSlot = "background"

func openBench(ctx context.Context, s settings, folder string) (_ *bench, err error) {
	b := &bench{settings: s, folder: folder}
	if b.scratch, err = os.MkdirTemp("", "training-backgrounds-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	if err = os.Chmod(b.scratch, 0o755); err != nil { // a server may be another user
		return nil, err
	}
	if b.slots, err = openSlots(b.scratch); err != nil {
		return nil, err
	}
	if err = b.slot(kernelSlot); err != nil {
		return nil, err
	}
	for i, spec := range []ibench.Spec{
		{Source: interference.Integer},
		{Source: interference.StorageBandwidth, Variant: "read"},
		{Source: interference.StorageBandwidth, Variant: "write"},
	} {
		if b.kernels[i], err = b.kernel(ctx, spec, i); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// slot makes a slot of the environment.
func (b *bench) slot(name string) error {
	if err := b.slots.create(name); err != nil {
		return err
	}
	if b.environment == backgrounds.Throttled {
		return b.slots.limit(name, throttledReads, throttledWrites)
	}
	return b.slots.limit(name, noLimit, noLimit)
}

func (b *bench) kernel(ctx context.Context, spec ibench.Spec, number int) (*ibench.Process, error) {
	spec.Executable = filepath.Join(b.bin, "nomad-driver-ibench")
	spec.CPUs, spec.Same, spec.MaxDuration = []int{b.cpu}, true, kernelMost
	spec.Socket = filepath.Join(b.scratch, fmt.Sprintf("kernel%d.sock", number))
	spec.Seed = b.seed + uint64(number)
	if spec.Source == interference.StorageBandwidth {
		spec.Path, spec.MaxBytes = b.scratch, kernelFileBytes
	}
	spec.CalibrationFile = filepath.Join(b.inputs, "calibration.json")
	if !exists(spec.CalibrationFile) {
		spec.CalibrationFile = ""
	}
	spec.Stderr = os.Stderr
	spec.Join = func(pid int) error { return b.slots.join(kernelSlot, pid) }
	return ibench.Start(ctx, spec)
}

func (b *bench) close() error {
	var problems []error
	if b.target != nil {
		problems = append(problems, b.target.end())
	}
	for _, k := range b.kernels {
		if k != nil {
			problems = append(problems, k.Close())
		}
	}
	if b.slots.open() {
		problems = append(problems, b.slots.close())
	}
	return errors.Join(append(problems, os.RemoveAll(b.scratch))...)
}

// set makes the kernels press.
func (b *bench) set(ctx context.Context, l backgrounds.Level) error {
	for i, percent := range []int{l.CPU, l.Read, l.Write} {
		if err := b.kernels[i].Set(ctx, float64(percent)); err != nil {
			return err
		}
	}
	return nil
}

// application measures what is missing of one.
func (b *bench) application(ctx context.Context, a catalogue.Application) (err error) {
	missing := false
	for sweep := 1; sweep <= b.sweeps; sweep++ {
		left, err := b.missing(a.ID, sweep)
		if err != nil {
			return err
		}
		missing = missing || len(left) > 0
	}
	if !missing {
		fmt.Println("    nothing is missing")
		return nil
	}
	if b.target, err = b.occupy(ctx, a, a.ID); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, b.target.end())
		b.target = nil
	}()
	for sweep := 1; sweep <= b.sweeps; sweep++ {
		if err := b.solo(ctx, a.ID); err != nil {
			return err
		}
		if err := b.profile(ctx, a.ID, sweep); err != nil {
			return err
		}
	}
	return b.solo(ctx, a.ID)
}

// solo adds rows without any background.
func (b *bench) solo(ctx context.Context, name string) error {
	for range backgroundSolos {
		if err := b.point(ctx, name, backgrounds.SoloSweep, backgrounds.Level{}); err != nil {
			return err
		}
	}
	return nil
}

// profile measures what is missing of a sweep; without a name, of backgrounds
// alone.
func (b *bench) profile(ctx context.Context, name string, sweep int) error {
	left, err := b.missing(name, sweep)
	if err != nil || len(left) == 0 {
		return err
	}
	random := rand.New(rand.NewPCG(b.seed, uint64(sweep)))
	random.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] }) // drift of the machine is not one of a knob
	for i, l := range left {
		if err := b.point(ctx, name, sweep, l); err != nil {
			return err
		}
		if (i+1)%25 == 0 || i+1 == len(left) {
			toGo := time.Duration(len(left)-i-1) * (backgroundSettle + backgroundWindow)
			fmt.Printf("    sweep %d: %d of %d, about %s to go\n", sweep, i+1, len(left), toGo.Round(time.Second))
		}
	}
	return nil
}

// missing are the levels of a sweep that the table lacks.
func (b *bench) missing(name string, sweep int) ([]backgrounds.Level, error) {
	rows, err := readTable(b.table(name), backgrounds.ReadRows)
	if err != nil {
		return nil, err
	}
	measured := map[backgrounds.Level]bool{}
	for _, r := range rows {
		if r.Sweep == sweep {
			measured[r.Level] = true
		}
	}
	return slices.DeleteFunc(backgrounds.All(), func(l backgrounds.Level) bool { return measured[l] }), nil
}

func (b *bench) table(name string) string {
	if name == "" {
		return filepath.Join(b.folder, backgrounds.IdleFile)
	}
	return filepath.Join(b.folder, name+".csv")
}

// point measures one row and adds it to its table.
func (b *bench) point(ctx context.Context, name string, sweep int, l backgrounds.Level) error {
	if err := b.set(ctx, l); err != nil {
		return err
	}
	if err := cluster.Sleep(ctx, backgroundSettle); err != nil {
		return err
	}
	watched := []*occupant{{slot: kernelSlot}}
	if name != "" {
		watched = append(watched, b.target)
	}
	seen, err := b.window(ctx, watched)
	if err != nil {
		return err
	}
	row := backgrounds.Row{Sweep: sweep, Level: l, Beside: seen[0].characteristics, RatePerSec: math.NaN()}
	if name != "" {
		row.Own, row.RatePerSec = seen[1].characteristics, seen[1].rate
	}
	return b.add(b.table(name), backgrounds.RowHeader(), row.Line())
}

// add writes whole lines to the end of a table, which begins with how it was
// measured.
func (b *bench) add(path, header string, lines ...string) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() == 0 {
		about, err := b.about()
		if err != nil {
			return err
		}
		lines = slices.Concat(about, []string{header}, lines)
	}
	_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
	return err
}

// about says how a table was measured.
func (b *bench) about() ([]string, error) {
	machine, err := ibench.ReadMachine("/")
	if err != nil {
		return nil, err
	}
	system, err := fileSystem(b.scratch)
	if err != nil {
		return nil, err
	}
	out := []string{
		fmt.Sprintf("# measured %s on %s; both slots on one CPU; disk with %s", time.Now().UTC().Format(time.DateOnly), machine.CPUModel, system),
		fmt.Sprintf("# windows of %s; rates are units of work of profiler/training's applications; requests as the block layer counts them", backgroundWindow),
	}
	if b.environment == backgrounds.Throttled {
		out = append(out, fmt.Sprintf("# each slot may make %d reads and %d writes per second", throttledReads, throttledWrites))
	}
	return out, nil
}

// readTable reads a table; one that is not there is empty.
func readTable[T any](path string, read func(io.Reader) ([]T, error)) ([]T, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}
