package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/disk"
	"github.com/nomad-placer/nomad-placer/e2e/training/catalogue"
	"github.com/nomad-placer/nomad-placer/profiler/training/backgrounds"
)

// diskKinds of the environments.
var diskKinds = map[string]disk.Kind{backgrounds.Local: disk.Rotating, backgrounds.Remote: disk.Remote}

// places are where on the disk the two slots have their data, in GB: one after the other, of the
// 200 GB that the paper's virtual machines had.
var places = []string{"0", "200"}

// Linux reads ahead 128 KiB of an ordinary disk, and begins to write when a tenth of the memory is
// not written yet.
const (
	readAheadBytes = 128 << 10
	dirtyBytes     = disk.MemoryBytes / 10
)

// The slot of the background, in the second place.
const backgroundSlot = "background"

// bench is two slots on one CPU and one disk. In a slot is an application, or the background.
type bench struct {
	settings
	tables    string // folder
	disk      *disk.Attached
	slots     slots
	volumes   map[string]*disk.Volume // by slot
	images    map[string]string       // their files
	generator *generator
	target    *occupant // nil: backgrounds alone
}

// slotOf is the name of an application's slot in the first or the second place.
func slotOf(a catalogue.Application, place int) string { return fmt.Sprintf("%s-%d", a.ID, place) }

// openBench makes the data of applications where it is missing, and a disk with all of it. With
// one place there is a background, with two there are the applications in both.
func openBench(ctx context.Context, s settings, apps []catalogue.Application, inPlaces int) (_ *bench, err error) {
	b := &bench{settings: s, tables: s.tables(), volumes: map[string]*disk.Volume{}, images: map[string]string{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.close())
		}
	}()
	for _, a := range apps {
		for place := range inPlaces {
			b.images[slotOf(a, place)] = imageOf(slotOf(a, place), place)
		}
		if err = b.prepare(ctx, a.ID, inPlaces, func(v *disk.Volume) error { return b.data(ctx, a, v) }); err != nil {
			return nil, fmt.Errorf("data of %s: %w", a.ID, err)
		}
	}
	if inPlaces == 1 {
		b.images[backgroundSlot] = imageOf(backgroundSlot, 1)
		if err = b.prepareBackground(ctx); err != nil {
			return nil, fmt.Errorf("data of the background: %w", err)
		}
	}
	if b.slots, err = openSlots(); err != nil {
		return nil, err
	}
	if b.disk, err = disk.Attach(ctx, diskKinds[s.environment], b.imageFolder(), filepath.Join(b.work(), "disk")); err != nil {
		return nil, err
	}
	for slot := range b.images {
		if err = b.attach(ctx, slot); err != nil {
			return nil, fmt.Errorf("slot %s: %w", slot, err)
		}
	}
	if inPlaces == 1 {
		if err = b.startGenerator(ctx); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (s settings) tables() string { return filepath.Join(s.folder, "backgrounds", s.environment) }

func (s settings) work() string { return filepath.Join(s.inputs, "colocated") }

func (s settings) imageFolder() string { return filepath.Join(s.work(), "images") }

// imageOf is the file of a slot, whose name says where on the disk it is.
func imageOf(slot string, place int) string { return slot + "@" + places[place] + ".img" }

// prepare makes a file system with data, and one copy for each place: whole, or not at all.
func (b *bench) prepare(ctx context.Context, name string, inPlaces int, data func(*disk.Volume) error) error {
	missing := false
	for place := range inPlaces {
		missing = missing || !exists(filepath.Join(b.imageFolder(), imageOf(fmt.Sprintf("%s-%d", name, place), place)))
	}
	if !missing {
		return nil
	}
	made := filepath.Join(b.work(), "made", name)
	if !exists(made + ".whole") {
		fmt.Println("making the data of", name)
		if err := b.make(ctx, made, data); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(b.imageFolder(), 0o755); err != nil {
		return err
	}
	for place := range inPlaces {
		to := filepath.Join(b.imageFolder(), imageOf(fmt.Sprintf("%s-%d", name, place), place))
		if exists(to) {
			continue
		}
		if err := copyImage(ctx, made+".whole", to); err != nil {
			return err
		}
	}
	return nil
}

// make runs what makes data on a new file system, that is a file in the end.
func (b *bench) make(ctx context.Context, path string, data func(*disk.Volume) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	v, err := disk.New(ctx, path)
	if err != nil {
		return err
	}
	if err := errors.Join(data(v), v.Flush()); err != nil {
		return errors.Join(err, v.Remove())
	}
	return errors.Join(v.Detach(), os.Rename(path+".img", path+".whole"))
}

// copyImage keeps its holes.
func copyImage(ctx context.Context, from, to string) error {
	out, err := exec.CommandContext(ctx, "cp", "--sparse=always", from, to+".new").CombinedOutput()
	if err != nil {
		return fmt.Errorf("copy of %s: %w\n%s", from, err, out)
	}
	return os.Rename(to+".new", to)
}

// data runs the application's script.
func (b *bench) data(ctx context.Context, a catalogue.Application, v *disk.Volume) error {
	return v.Run(ctx, "", "env", "INPUT="+b.inputs, "/bin/sh", "-ec", a.Data)
}

// prepareBackground makes the files of the generator.
func (b *bench) prepareBackground(ctx context.Context) error {
	to := filepath.Join(b.imageFolder(), b.images[backgroundSlot])
	if exists(to) {
		return nil
	}
	made := filepath.Join(b.work(), "made", backgroundSlot)
	err := b.make(ctx, made, func(v *disk.Volume) error {
		for _, name := range generatorFiles {
			megabytes := fmt.Sprintf("count=%d", generatorFileBytes>>20)
			if err := v.Run(ctx, "", "dd", "if=/dev/urandom", "of="+name, "bs=1M", megabytes, "status=none"); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, os.MkdirAll(b.imageFolder(), 0o755), os.Rename(made+".whole", to))
}

// attach makes a slot and its file system.
func (b *bench) attach(ctx context.Context, slot string) error {
	if err := b.slots.create(slot); err != nil {
		return err
	}
	v, err := b.disk.Volume(ctx, filepath.Join(b.work(), slot), b.images[slot], false)
	if err != nil {
		return err
	}
	b.volumes[slot] = v
	return v.LikeSmall(readAheadBytes, dirtyBytes)
}

// command is a program in a slot: its control groups, its memory, its CPU and its folder.
func (b *bench) command(ctx context.Context, slot string, argv ...string) *exec.Cmd {
	cpu := fmt.Sprint(b.cpu)
	return b.volumes[slot].InGroup(ctx, "", append([]string{"/bin/sh", "-c", joinSlot, slot, "taskset", "-c", cpu}, argv...)...)
}

func (b *bench) startGenerator(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	// Interrupted, this program ends it.
	b.generator, err = startGenerator(b.command(context.WithoutCancel(ctx), backgroundSlot, self, generatorWorker, b.volumes[backgroundSlot].Dir))
	if err != nil {
		return err
	}
	return b.generator.set(backgrounds.Level{})
}

// limited has the disk take its time, once what was written before is on it.
func (b *bench) limited(slots ...string) error {
	for _, slot := range slots {
		if err := b.volumes[slot].Flush(); err != nil {
			return err
		}
	}
	return b.disk.Limit()
}

// What is new in a slot runs for a while before it is measured.
const slotWarm = 2 * time.Second

// occupy starts an application in its slot, on a disk that is not limited, and waits until it
// does what it does for ever.
func (b *bench) occupy(ctx context.Context, a catalogue.Application, slot string) (*occupant, error) {
	if err := b.disk.Free(); err != nil {
		return nil, err
	}
	ports, err := freePorts(1)
	if err != nil {
		return nil, err
	}
	place := catalogue.Place{Workload: b.workload, Cores: 1, Listen: "127.0.0.1:" + ports[0]}
	o, err := startOccupant(ctx, slot, place.Listen, b.command(ctx, slot, a.Argv(place)...))
	if err != nil {
		return nil, err
	}
	if err := cluster.Sleep(ctx, slotWarm+time.Duration(a.WarmSeconds)*time.Second); err != nil {
		return nil, errors.Join(err, o.end())
	}
	return o, nil
}

func (b *bench) close() error {
	var problems []error
	if b.target != nil {
		problems = append(problems, b.target.end())
	}
	if b.generator != nil {
		problems = append(problems, b.generator.end())
	}
	if b.disk != nil {
		problems = append(problems, b.disk.Free())
	}
	for _, v := range b.volumes {
		problems = append(problems, v.Detach())
	}
	if b.disk != nil {
		problems = append(problems, b.disk.End())
	}
	if b.slots.open() {
		problems = append(problems, b.slots.close())
	}
	unix.Sync()
	return errors.Join(problems...)
}
