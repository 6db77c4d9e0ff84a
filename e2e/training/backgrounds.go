package main

import (
	"cmp"
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
	"github.com/nomad-placer/nomad-placer/e2e/disk"
	"github.com/nomad-placer/nomad-placer/e2e/training/catalogue"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/training/backgrounds"
)

// Times of one point.
const (
	rowWindow  = 3500 * time.Millisecond
	idleWindow = 2 * time.Second // of a background alone, which has no noise but its own pauses
	soloRows   = 4               // windows without any background, before and after each sweep
)

// measureBackgrounds runs the profiling protocol of TRACON: what is missing of
// each application next to 125 background workloads, of these workloads alone, and
// of applications next to each other.
func measureBackgrounds(ctx context.Context, apps []catalogue.Application, s settings) error {
	if _, ok := diskKinds[s.environment]; !ok {
		return fmt.Errorf("unknown environment %q: want %s or %s", s.environment, backgrounds.Local, backgrounds.Remote)
	}
	if err := os.MkdirAll(s.tables(), 0o755); err != nil {
		return err
	}
	if err := s.rows(ctx, apps); err != nil {
		return err
	}
	if s.environment != backgrounds.Local || len(apps) < 2 {
		return nil // of another disk only how an application's own rows change is asked
	}
	return s.colocatedPairs(ctx, apps)
}

// rows measures what is missing of applications next to backgrounds.
func (s settings) rows(ctx context.Context, apps []catalogue.Application) (err error) {
	todo, err := s.todo(apps)
	if err != nil || todo.rows == 0 {
		return err
	}
	b, err := openBench(ctx, s, todo.apps, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	p := &progress{left: todo.rows, each: rowWindow + 2*windowSettle, began: time.Now()}
	if s.environment == backgrounds.Local {
		if err := b.profile(ctx, "", 1, p); err != nil {
			return fmt.Errorf("backgrounds in isolation: %w", err)
		}
	}
	for _, a := range todo.apps {
		if err := b.application(ctx, a, p); err != nil {
			return fmt.Errorf("%s: %w", a.ID, err)
		}
	}
	return nil
}

// todo is what is missing of rows.
type todo struct {
	apps []catalogue.Application
	rows int
}

func (s settings) todo(apps []catalogue.Application) (todo, error) {
	var t todo
	var err error
	if s.environment == backgrounds.Local { // what a co-runner is like is known from there
		var idle []backgrounds.Level
		idle, err = s.missing("", 1)
		t.rows = len(idle)
	}
	for _, a := range apps {
		rows := 0
		for sweep := 1; sweep <= s.sweeps && err == nil; sweep++ {
			var left []backgrounds.Level
			left, err = s.missing(a.ID, sweep)
			rows += len(left)
		}
		if rows > 0 {
			t.apps, t.rows = append(t.apps, a), t.rows+rows
		}
	}
	return t, err
}

// progress says how long the rest takes.
type progress struct {
	left, done int
	each       time.Duration // as far as it is known
	began      time.Time
}

func (p *progress) step(what string) {
	p.left, p.done = p.left-1, p.done+1
	const every = 25
	if p.done%every == 0 || p.left == 0 {
		p.each = time.Since(p.began) / time.Duration(p.done)
		fmt.Printf("%s: %d points remain, about %s\n", what, p.left, wording.Duration(time.Duration(p.left)*p.each))
	}
}

// application measures what is missing of one.
func (b *bench) application(ctx context.Context, a catalogue.Application, p *progress) (err error) {
	slot := slotOf(a, 0)
	if b.target, err = b.occupy(ctx, a, slot); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, b.disk.Free(), b.target.end())
		b.target = nil
	}()
	if err := b.limited(slot); err != nil {
		return err
	}
	for sweep := 1; sweep <= b.sweeps; sweep++ {
		if err := b.solo(ctx, a.ID); err != nil {
			return err
		}
		if err := b.profile(ctx, a.ID, sweep, p); err != nil {
			return err
		}
	}
	return b.solo(ctx, a.ID)
}

// solo adds rows without any background.
func (b *bench) solo(ctx context.Context, name string) error {
	for range soloRows {
		if err := b.point(ctx, name, backgrounds.SoloSweep, backgrounds.Level{}); err != nil {
			return err
		}
	}
	return nil
}

// profile measures what is missing of a sweep; without a name, of backgrounds
// alone.
func (b *bench) profile(ctx context.Context, name string, sweep int, p *progress) error {
	left, err := b.missing(name, sweep)
	if err != nil || len(left) == 0 {
		return err
	}
	if err := b.limited(); err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(b.seed, uint64(sweep)))
	random.Shuffle(len(left), func(i, j int) { left[i], left[j] = left[j], left[i] }) // drift of the machine is not one of a knob
	for _, l := range left {
		if err := b.point(ctx, name, sweep, l); err != nil {
			return err
		}
		p.step(cmp.Or(name, "backgrounds"))
	}
	return nil
}

// missing are the levels of a sweep that the table lacks.
func (s settings) missing(name string, sweep int) ([]backgrounds.Level, error) {
	rows, err := readTable(s.table(name), backgrounds.ReadRows)
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

func (s settings) table(name string) string {
	if name == "" {
		return filepath.Join(s.tables(), backgrounds.IdleFile)
	}
	return filepath.Join(s.tables(), name+".csv")
}

// point measures one row and adds it to its table.
func (b *bench) point(ctx context.Context, name string, sweep int, l backgrounds.Level) error {
	if err := b.generator.set(l); err != nil {
		return err
	}
	watched, length := []*occupant{{slot: backgroundSlot}}, idleWindow
	if name != "" {
		watched, length = append(watched, b.target), rowWindow
	}
	seen, err := b.window(ctx, watched, length)
	if err != nil {
		return err
	}
	row := backgrounds.Row{Sweep: sweep, Level: l, Background: seen[0].characteristics, RatePerSec: math.NaN()}
	if name != "" {
		row.Own, row.RatePerSec = seen[1].characteristics, seen[1].rate
	}
	return b.add(b.table(name), backgrounds.RowHeader(), row.Line())
}

// add writes whole lines to the end of a table, which begins with how it was
// measured.
func (s settings) add(path, header string, lines ...string) (err error) {
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
		about, err := s.about()
		if err != nil {
			return err
		}
		lines = slices.Concat(about, []string{header}, lines)
	}
	_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
	return err
}

// about says how a table was measured.
func (s settings) about() ([]string, error) {
	machine, err := ibench.ReadMachine("/")
	if err != nil {
		return nil, err
	}
	return []string{
		fmt.Sprintf("# measured %s on %s; both slots on one CPU, each with %d MB of memory; disk emulated by e2e/disk: %s",
			time.Now().UTC().Format(time.DateOnly), machine.CPUModel, disk.MemoryBytes>>20, diskKinds[s.environment]),
		fmt.Sprintf("# windows of %s, of pairs %s; rates are units of work of e2e/training/catalogue/colocated; requests as the disk counts them", rowWindow, pairWindow),
	}, nil
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
