package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/disk"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/blockio"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/trace"
)

const (
	// pairFor is how long a run is measured: one of PostgreSQL's checkpoints.
	pairFor = 30 * time.Second
	// A run begins on a disk without limits, where files are made that a workload begins with,
	// and goes on with them before it is measured (both chosen by us).
	freeWarmUp    = 4 * time.Second
	limitedWarmUp = 7 * time.Second
	// twinInterval is how long a rate is taken as constant: there are as many in a run as in 15
	// hours by half hours, the text's intervals. fineInterval keeps most bursts, and models below
	// their bound of 1 MB (chosen by us, on captures of other runs).
	twinInterval = time.Second
	fineInterval = 20 * time.Millisecond
	// mergeWithin is what the kernel gets at once: adjoining I/Os that it joins come within some
	// tens of µs (chosen by us, on captures of other runs).
	mergeWithin = 100 * time.Microsecond
	// scratchRoom is what a file system needs besides the scratch file.
	scratchRoom = 1 << 30
)

// form is what is run: the workloads, or what stands for them.
type form string

// The forms.
const (
	formReal form = "real" // the workloads
	formTwin form = "twin" // their twins as they are by default, an open loop
	// formClosed is twins of short intervals, reads and writes apart, with as many outstanding as
	// the workloads had at most, and those of batch jobs later by what they wait.
	formClosed form = "closed"
	// formThreads is the same, with one read of a thread at a time.
	formThreads form = "threads"
	// formReplay plays what was captured of the workloads, I/O by I/O, in that way: what it errs
	// by, no model mends.
	formReplay form = "replay"
)

func forms() []form { return []form{formReal, formTwin, formClosed, formThreads, formReplay} }

// rounds in isolation, the first before all pairs and the others after them: what they differ by
// is the error of repetition.
func (f form) rounds() int {
	if f == formReal {
		return 2
	}
	return 1
}

// diskUse is what the shared disk did for one workload, or what stands for it.
type diskUse struct {
	IOPS        float64 `json:"iops"`
	ReadShare   float64 `json:"read_share"` // of the I/Os (0..1)
	BytesPerSec float64 `json:"bytes_per_second"`
	// MeanMilliseconds is the time of an I/O in the disk and its queue.
	MeanMilliseconds float64 `json:"mean_milliseconds"`
	// Share is the part of the time that the disk was busy for it (0..1).
	Share float64 `json:"share"`
	// Outstanding is how many I/Os were in the disk and its queue, while there were any, and
	// MostReads and MostWrites how many of each at most, for 99 of 100 of them that came.
	Outstanding float64 `json:"outstanding"`
	MostReads   int     `json:"most_reads"`
	MostWrites  int     `json:"most_writes"`
}

// useOf is that of some seconds.
func useOf(s disk.Served, seconds float64) diskUse {
	ios := float64(s.Reads + s.Writes)
	if ios == 0 {
		return diskUse{}
	}
	return diskUse{
		IOPS: ios / seconds, ReadShare: float64(s.Reads) / ios, BytesPerSec: float64(s.Bytes) / seconds, MeanMilliseconds: s.WaitSeconds * 1e3 / ios,
		Share: s.BusySeconds / seconds, Outstanding: s.WaitSeconds / s.ActiveSeconds, MostReads: mostAt(s.ReadsAt), MostWrites: mostAt(s.WritesAt),
	}
}

// mostAt is how many were outstanding at most when 99 of 100 came; 0 where none did.
func mostAt(counts []int64) int {
	sum, all := int64(0), int64(0)
	for _, n := range counts {
		all += n
	}
	for at, n := range counts {
		if sum += n; all > 0 && 100*sum >= 99*all {
			return at
		}
	}
	return 0
}

// measured is one workload, or what stands for it, in one run.
type measured struct {
	Name   string        `json:"name"`
	Disk   diskUse       `json:"disk"`
	Own    *own          `json:"own,omitempty"`    // what it says itself
	Played *blockio.Step `json:"played,omitempty"` // what the player says
}

// pairRun is a run of one or two.
type pairRun struct {
	Form    form       `json:"form"`
	Names   []string   `json:"names"`
	Round   int        `json:"round"`
	Machine string     `json:"machine"`
	Members []measured `json:"members"`
	// IdleShare is the part of the processors' time that was idle (0..1).
	IdleShare float64 `json:"idle_share"`
}

func (r *pairRun) file(folder string) string {
	return filepath.Join(folder, fmt.Sprintf("%s.%s.%d.json", r.Form, strings.Join(r.Names, "+"), r.Round))
}

// plan lists the runs of a form: in isolation, all pairs, and in isolation again. What needs
// more than the disk has is not tried in every form: BLOC does not ask for it.
func (s settings) plan(f form, known []*pairRun) []*pairRun {
	chosen := s.chosen()
	isolated := func(round int) (out []*pairRun) {
		for _, w := range chosen {
			out = append(out, &pairRun{Form: f, Names: []string{w.name}, Round: round})
		}
		return out
	}
	out := isolated(1)
	for i, a := range chosen {
		for _, b := range chosen[i+1:] {
			if (f != formThreads && f != formReplay) || !tooMuch(known, a.name, b.name) {
				out = append(out, &pairRun{Form: f, Names: []string{a.name, b.name}, Round: 1})
			}
		}
	}
	for round := 2; round <= f.rounds(); round++ {
		out = append(out, isolated(round)...)
	}
	return out
}

// tooMuch says that two need more than the disk has: the pair is trimmed (§B.3). The text adds
// up bandwidths; here the parts of the time that the disk is busy are, for small I/Os take more
// of it than their bytes say.
func tooMuch(known []*pairRun, a, b string) bool {
	return isolatedShare(known, a)+isolatedShare(known, b) > 1
}

// isolatedShare is the mean of the rounds; 0 where there are none yet.
func isolatedShare(known []*pairRun, name string) float64 {
	sum, n := 0.0, 0
	for _, m := range isolated(known, formReal, name) {
		sum, n = sum+m.Disk.Share, n+1
	}
	return sum / float64(max(1, n))
}

// isolated are the rounds of one workload that were measured.
func isolated(known []*pairRun, f form, name string) (out []*measured) {
	for _, r := range known {
		if r.Form == f && len(r.Names) == 1 && r.Names[0] == name && r.done() {
			out = append(out, &r.Members[0])
		}
	}
	return out
}

func (r *pairRun) done() bool { return len(r.Members) == len(r.Names) }

// readPairs reads the runs that are kept; others have no members.
func (s settings) readPairs() (all, missing []*pairRun) {
	for _, f := range forms() {
		for _, r := range s.plan(f, all) {
			if data, err := os.ReadFile(r.file(s.pairFolder())); err != nil || json.Unmarshal(data, r) != nil || !r.done() {
				missing = append(missing, r)
			}
			all = append(all, r)
		}
	}
	return all, missing
}

// takes is how long a run is.
func (r *pairRun) takes() time.Duration {
	if r.Form == formReal {
		return freeWarmUp + limitedWarmUp + pairFor
	}
	return pairFor
}

func (s settings) pairFolder() string { return filepath.Join(s.work, "pairs") }

// pairs measures what is missing of the pairs on one disk.
func (s settings) pairs(ctx context.Context) (all []*pairRun, err error) {
	if err := os.MkdirAll(s.pairFolder(), 0o755); err != nil {
		return nil, err
	}
	all, missing := s.readPairs()
	if len(missing) == 0 || s.printOnly {
		return all, nil
	}
	for _, w := range s.chosen() {
		if err := needs(w); err != nil {
			return nil, err
		}
	}
	b, err := newBench(ctx, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.end()) }()
	for len(missing) > 0 {
		remain := time.Duration(0)
		for _, r := range missing {
			remain += r.takes()
		}
		r := missing[0]
		what := strings.Join(r.Names, " and ")
		progress("pairs: %s of %s; %d runs remain, %s", r.Form, what, len(missing), wording.Duration(remain))
		if err := b.measure(ctx, all, r); err != nil {
			return nil, fmt.Errorf("%s of %s: %w", r.Form, what, err)
		}
		if err := keep(r.file(s.pairFolder()), r); err != nil {
			return nil, err
		}
		all, missing = s.readPairs()
	}
	return all, nil
}

// bench is the disk with a volume for each workload and one for what stands for it.
type bench struct {
	settings
	disk    *disk.Attached
	real    map[string]*disk.Volume
	scratch map[string]*disk.Volume
	files   map[string]*blockio.Scratch
}

// Names of the files of a workload on the disk.
func realImage(name string) string    { return name + ".img" }
func scratchImage(name string) string { return name + ".scratch.img" }

func newBench(ctx context.Context, s settings) (b *bench, err error) {
	if os.Geteuid() != 0 {
		return nil, errors.New("run this as root: it makes loop devices and records them")
	}
	b = &bench{settings: s, real: map[string]*disk.Volume{}, scratch: map[string]*disk.Volume{}, files: map[string]*blockio.Scratch{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.end())
		}
	}()
	images := filepath.Join(s.pairFolder(), "images")
	if err := os.MkdirAll(images, 0o755); err != nil {
		return b, err
	}
	prepared := map[string]bool{}
	for _, w := range s.chosen() {
		_, err := os.Stat(b.preparedMark(w))
		if prepared[w.name] = err == nil; !prepared[w.name] {
			if err := disk.EmptyImage(filepath.Join(images, realImage(w.name)), disk.VolumeBytes); err != nil {
				return b, err
			}
		}
		if err := disk.EmptyImage(filepath.Join(images, scratchImage(w.name)), disk.VolumeBytes+scratchRoom); err != nil {
			return b, err
		}
	}
	if b.disk, err = disk.Attach(ctx, disk.GP3, images, filepath.Join(s.pairFolder(), "disk")); err != nil {
		return b, err
	}
	for _, w := range s.chosen() {
		if b.real[w.name], err = b.disk.Volume(ctx, filepath.Join(s.pairFolder(), w.name), realImage(w.name), !prepared[w.name]); err != nil {
			return b, err
		}
		if b.scratch[w.name], err = b.disk.Volume(ctx, filepath.Join(s.pairFolder(), w.name+"-scratch"), scratchImage(w.name), true); err != nil {
			return b, err
		}
		if err := b.prepare(ctx, w, prepared[w.name]); err != nil {
			return b, fmt.Errorf("%s: %w", w.name, err)
		}
	}
	// What was prepared is on the machine's own disk before anything is measured.
	unix.Sync()
	return b, nil
}

func (b *bench) preparedMark(w workload) string {
	return filepath.Join(b.pairFolder(), w.name+".prepared")
}

// prepare makes a workload's data, and the scratch file of its twin.
func (b *bench) prepare(ctx context.Context, w workload, prepared bool) error {
	if !prepared {
		progress("pairs: preparing %s", w.name)
		if w.prepare != nil {
			if err := w.prepare(ctx, b.real[w.name]); err != nil {
				return err
			}
		}
		if err := errors.Join(b.real[w.name].Settle(ctx), os.WriteFile(b.preparedMark(w), nil, 0o644)); err != nil {
			return err
		}
	}
	progress("pairs: filling the scratch file of %s", w.name)
	var err error
	b.files[w.name], err = blockio.NewScratch(ctx, b.scratch[w.name].Dir, disk.VolumeBytes, func(float64) {})
	return err
}

func (b *bench) end() error {
	var errs []error
	for name, v := range b.real {
		if v != nil {
			errs = append(errs, v.Detach())
		}
		if v := b.scratch[name]; v != nil {
			errs = append(errs, v.Detach(), os.RemoveAll(filepath.Join(b.pairFolder(), "images", scratchImage(name))))
		}
	}
	if b.disk != nil {
		errs = append(errs, b.disk.End())
	}
	return errors.Join(errs...)
}

// measure fills a run in.
func (b *bench) measure(ctx context.Context, known []*pairRun, r *pairRun) error {
	r.Machine, r.Members = machine(), make([]measured, len(r.Names))
	for i, name := range r.Names {
		r.Members[i].Name = name
	}
	if r.Form == formReal {
		return b.measureReal(ctx, r)
	}
	return b.measurePlayed(ctx, known, r)
}

// workloadOf finds a workload by its name.
func workloadOf(name string) workload {
	for _, w := range workloads() {
		if w.name == name {
			return w
		}
	}
	panic("no workload " + name) // names are those of workloads
}

func (b *bench) measureReal(ctx context.Context, r *pairRun) (err error) {
	if err := b.disk.Free(); err != nil {
		return err
	}
	var all []*running
	defer func() {
		freeErr := b.disk.Free() // what ends writes fast
		err = errors.Join(err, freeErr)
		for _, run := range all {
			err = errors.Join(err, run.end())
		}
	}()
	var volumes []*disk.Volume
	for _, name := range r.Names {
		run, err := workloadOf(name).ready(ctx, b.real[name])
		if err != nil {
			return err
		}
		all, volumes = append(all, run), append(volumes, b.real[name])
	}
	for _, v := range volumes {
		if err := v.Settle(ctx); err != nil {
			return err
		}
	}
	for _, run := range all {
		if err := run.start(); err != nil {
			return err
		}
	}
	if err := cluster.Sleep(ctx, freeWarmUp); err != nil {
		return err
	}
	if err := b.disk.Limit(); err != nil {
		return err
	}
	if err := cluster.Sleep(ctx, limitedWarmUp); err != nil {
		return err
	}
	begun := time.Now()
	if err := b.during(r, realImage, func() error { return b.watch(ctx, r, volumes) }); err != nil {
		return err
	}
	for i, run := range all {
		if why := run.ended(); why != nil {
			return fmt.Errorf("%s ended while it was measured: %w", r.Names[i], why)
		}
		if run.log != nil {
			r.Members[i].Own = run.log.between(begun, time.Now())
		}
	}
	return nil
}

// watch waits while a run is measured. Its first in isolation is what its twin is made of.
func (b *bench) watch(ctx context.Context, r *pairRun, volumes []*disk.Volume) error {
	if len(r.Names) > 1 || r.Round > 1 {
		return cluster.Sleep(ctx, pairFor)
	}
	var done blockio.Captured
	if err := b.placer(ctx, &done, "twin", "capture", "-for", pairFor.String(), "-o", b.traceOf(r.Names[0]), volumes[0].Device); err != nil {
		return err
	}
	if done.Lost > 0 {
		return fmt.Errorf("%d I/Os were lost by the capture", done.Lost)
	}
	return nil
}

func (b *bench) traceOf(name string) string { return filepath.Join(b.pairFolder(), name+".txt") }

// during measures the disk while something is done.
func (b *bench) during(r *pairRun, image func(string) string, do func() error) error {
	servedBefore, err := b.disk.Served()
	if err != nil {
		return err
	}
	idleBefore, err := processorTime()
	if err != nil {
		return err
	}
	begun := time.Now()
	if err := do(); err != nil {
		return err
	}
	seconds := time.Since(begun).Seconds()
	idle, err := processorTime()
	if err != nil {
		return err
	}
	r.IdleShare = (idle.Idle + idle.Iowait - idleBefore.Idle - idleBefore.Iowait) / (total(idle) - total(idleBefore))
	servedAfter, err := b.disk.Served()
	if err != nil {
		return err
	}
	for i := range r.Members {
		file := image(r.Names[i])
		if r.Members[i].Disk = useOf(servedAfter[file].Minus(servedBefore[file]), seconds); r.Members[i].Disk.IOPS == 0 {
			return fmt.Errorf("%s: the disk was asked for nothing", r.Names[i])
		}
	}
	return nil
}

func processorTime() (procfs.CPUStat, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return procfs.CPUStat{}, err
	}
	stat, err := fs.Stat()
	return stat.CPUTotal, err
}

func total(c procfs.CPUStat) float64 {
	return c.User + c.Nice + c.System + c.Idle + c.Iowait + c.IRQ + c.SoftIRQ + c.Steal
}

// measurePlayed plays what stands for the workloads.
func (b *bench) measurePlayed(ctx context.Context, known []*pairRun, r *pairRun) error {
	var loads []blockio.Load
	for _, name := range r.Names {
		load, err := b.load(ctx, r.Form, name, loopOf(known, r.Form, name))
		if err != nil {
			return err
		}
		loads = append(loads, load)
	}
	if err := b.disk.Limit(); err != nil {
		return err
	}
	return b.during(r, scratchImage, func() error {
		steps, err := blockio.PlayTogether(ctx, loads...)
		if err != nil {
			return err
		}
		for i := range steps {
			r.Members[i].Played = &steps[i]
		}
		return nil
	})
}

// load is what stands for a workload.
func (b *bench) load(ctx context.Context, f form, name string, loop model.Loop) (blockio.Load, error) {
	if f == formReplay {
		return func(ctx context.Context) (step blockio.Step, err error) {
			t, err := trace.Open(b.traceOf(name), "")
			if err != nil {
				return step, err
			}
			defer func() { err = errors.Join(err, t.Close()) }()
			return blockio.PlayStream(ctx, b.files[name], storage.Merge(t, mergeWithin), blockio.LoopOf(&loop))
		}, nil
	}
	m, err := b.twin(ctx, f, name, loop)
	if err != nil {
		return nil, err
	}
	t := &blockio.Twin{Model: m, Scratch: b.files[name], Seed: m.Seed, Length: pairFor}
	return func(ctx context.Context) (blockio.Step, error) { return t.Play(ctx, 1) }, nil
}

// loopOf is how a workload waits, by the run that was captured.
func loopOf(known []*pairRun, f form, name string) model.Loop {
	loop := model.Loop{Reads: 1, Writes: 1, Waits: workloadOf(name).batch}
	if f == formThreads || f == formReplay {
		loop.ThreadReads = 1
	}
	if real := isolated(known, formReal, name); len(real) > 0 {
		loop.Reads, loop.Writes = max(1, real[0].Disk.MostReads), max(1, real[0].Disk.MostWrites)
	}
	return loop
}

// twin is the model of a workload, by its first run in isolation.
func (b *bench) twin(ctx context.Context, f form, name string, loop model.Loop) (*model.Model, error) {
	path := filepath.Join(b.pairFolder(), fmt.Sprintf("%s.%s.twin", name, f))
	if older(b.traceOf(name), path) {
		if m, err := readModel(path); err == nil {
			return m, nil
		}
	}
	args := []string{"twin", "fit", "-merge", mergeWithin.String(), "-device-bytes", fmt.Sprint(disk.VolumeBytes), "-o", path}
	if f == formTwin {
		args = append(args, "-interval-length", twinInterval.String())
	} else {
		args = append(args, "-interval-length", fineInterval.String(), "-directions", "-outstanding", fmt.Sprintf("%d,%d", loop.Reads, loop.Writes), "-thread-reads", fmt.Sprint(loop.ThreadReads), "-waits="+strconv.FormatBool(loop.Waits))
	}
	var fitted json.RawMessage
	if err := b.placer(ctx, &fitted, append(args, b.traceOf(name))...); err != nil {
		return nil, err
	}
	return readModel(path)
}

func readModel(path string) (*model.Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return model.Read(path, f)
}
