package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/disk"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/blockio"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

func twinPlayCommand() *command.Command {
	return &command.Command{
		Name: "twin play", Arguments: "MODEL", MinArgs: 1, MaxArgs: 1, Synopsis: "Play a storage model on a disk",
		About: "Plays the load of a model on a scratch file, past the page cache, and prints the throughput and latency that the disk has with it. The file is made in the folder of -dir, filled, and removed at the end; devices and files that are there are never written to. " +
			"With several intensities the load is played at each, the lightest first. With -latency that stops behind the first that is above the limit, and the disk is rated by sequential reads: the highest part of that bandwidth at which the limit holds is what the workload can use of such a disk.",
		Example: "nomad-placer twin play -dir /scratch app.twin\n" +
			"nomad-placer twin play -dir /scratch -intensity 4,2,1,0.5,0.25 -latency 5ms app.twin",
		Setup: func(f *flag.FlagSet) command.Runner {
			var c twinPlay
			c.out.Add(f)
			c.disk.add(f)
			f.StringVar(&c.intensities, "intensity", "1", "Scale gaps by each of these `factors`, divided by commas: 0.5 has twice the I/Os in the same time.")
			f.DurationVar(&c.limit, "latency", 0, "The highest mean latency that the workload tolerates, as `time`. By default there is no limit.")
			return func(ctx context.Context, s *command.Shell, args []string) error { return c.run(ctx, s, args[0]) }
		},
	}
}

type twinPlay struct {
	out         command.OutputFlags
	disk        diskFlags
	intensities string
	limit       time.Duration
}

// ratedFor is how long a disk is rated (chosen by us).
const ratedFor = 5 * time.Second

// playReport is the report as -json prints it.
type playReport struct {
	Folder       string         `json:"folder"`
	Seed         uint64         `json:"seed"`
	ScratchBytes int64          `json:"scratch_bytes"`
	Steps        []blockio.Step `json:"steps"`
	// With a limit on the latency: it, what the disk is rated at, and the most that is used
	// of that within the limit; missing where the first step is above it.
	LimitMilliseconds float64          `json:"limit_milliseconds,omitempty"`
	Rated             *blockio.Played  `json:"rated,omitempty"`
	Most              *blockio.MostUse `json:"most,omitempty"`
}

func (c *twinPlay) run(ctx context.Context, s *command.Shell, path string) error {
	if err := c.disk.check(); err != nil {
		return err
	}
	intensities, err := c.factors()
	if err != nil {
		return err
	}
	m, err := c.disk.model(path)
	if err != nil {
		return err
	}
	progress := command.NewProgress(s, command.StillEvery)
	report, err := c.play(ctx, m, intensities, progress)
	progress.End()
	if err != nil {
		return playHint(err)
	}
	return c.out.Print(s, report, func(p *command.Page) { playPage(p, report) })
}

// factors are the intensities, with the lightest load first.
func (c *twinPlay) factors() ([]float64, error) {
	if c.limit < 0 {
		return nil, command.UsageError("-latency is not negative")
	}
	var out []float64
	for text := range strings.SplitSeq(c.intensities, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || !(v > 0) {
			return nil, command.UsageError("-intensity has factors above 0, divided by commas, not %q", text)
		}
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b float64) int { return cmp.Compare(b, a) })
	return slices.Compact(out), nil
}

func (c *twinPlay) play(ctx context.Context, m *model.Model, intensities []float64, progress *command.Progress) (report *playReport, err error) {
	twin, err := c.disk.twin(ctx, m, progress.Share("twin play"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, twin.Scratch.Remove()) }()
	report = &playReport{
		Folder: c.disk.dir, Seed: twin.Seed, ScratchBytes: twin.Scratch.Bytes, LimitMilliseconds: float64(c.limit) / float64(time.Millisecond),
	}
	if c.limit > 0 {
		progress.Show("twin play: rating the disk")
		if report.Rated, err = twin.Scratch.Rated(ctx, ratedFor); err != nil {
			return nil, err
		}
	}
	for _, v := range intensities {
		progress.Show(fmt.Sprintf("twin play: intensity %g, %s", v, wording.Duration(c.disk.length)))
		step, err := twin.Play(ctx, v)
		if err != nil {
			return nil, err
		}
		report.Steps = append(report.Steps, step)
		if c.limit > 0 && !step.Within(c.limit) {
			break
		}
	}
	if c.limit > 0 {
		report.Most = blockio.MostWithin(report.Steps, c.limit, report.Rated.BytesPerSec)
	}
	return report, nil
}

func playPage(p *command.Page, r *playReport) {
	p.Fact("Scratch", fmt.Sprintf("%s in %s, removed", sizeText(r.ScratchBytes), r.Folder))
	p.Fact("Player", fmt.Sprintf("direct I/O; seed %d", r.Seed))
	if r.Rated != nil {
		p.Fact("Disk", fmt.Sprintf("%s/s by sequential reads: in the node's metadata %s = %q", sizeText(int64(r.Rated.BytesPerSec)), disk.RatedKey, strconv.FormatFloat(math.Floor(r.Rated.BytesPerSec/bytesPerMB), 'f', -1, 64)))
	}
	p.Section("Load")
	var rows [][]command.Cell
	for _, s := range r.Steps {
		rows = append(rows, append([]command.Cell{command.Number(strconv.FormatFloat(s.Intensity, 'g', 4, 64))}, stepCells(s)...))
	}
	p.Table(append([]string{"Intensity"}, stepHeader...), rows)
	if last := r.Steps[len(r.Steps)-1]; last.PlayerBehind() {
		p.Line()
		p.Line(command.Text(fmt.Sprintf("At intensity %g the player fell behind the load's times, not the disk: what the disk does with that much is not known.", last.Intensity)))
	}
	if r.LimitMilliseconds == 0 {
		return
	}
	p.Line()
	if r.Most == nil {
		p.Line(command.Text(fmt.Sprintf("No load was within %s ms: a larger -intensity is a lighter load.", wording.Number(r.LimitMilliseconds))))
		return
	}
	upTo := "up to"
	if !r.Most.Bounded {
		upTo = "at least up to"
	}
	p.Line(command.Text(fmt.Sprintf("A mean of %s ms holds %s %s/s, %s of the disk's bandwidth.", wording.Number(r.LimitMilliseconds), upTo, sizeText(int64(r.Most.BytesPerSec)), percent(r.Most.Share))))
	p.Line(command.Text("In the job's block disk { }: " + mostUseLine(r.Most.Share)))
	if !r.Most.Bounded && !r.Steps[len(r.Steps)-1].PlayerBehind() {
		p.Line(command.Text("No load was above it: a smaller -intensity is a heavier load."))
	}
}

// stepHeader is the header of stepCells.
var stepHeader = []string{"I/Os", "IOPS", "Bandwidth", "Mean, ms", "Median", "95 %", "99 %", "Behind"}

// stepCells are what a disk did with load.
func stepCells(s blockio.Step) []command.Cell {
	behind := command.Text("–")
	if s.Behind() {
		behind = command.Cell{Text: wording.Number(s.Seconds-s.PlannedSeconds) + " s", Hue: command.Bad}
	}
	return []command.Cell{
		command.Number(wording.Number(float64(s.IOs))), command.Number(wording.Number(s.IOPS)), command.Number(sizeText(int64(s.BytesPerSec)) + "/s"),
		command.Number(wording.Number(s.MeanMilliseconds)), command.Number(wording.Number(s.P50Milliseconds)), command.Number(wording.Number(s.P95Milliseconds)), command.Number(wording.Number(s.P99Milliseconds)), behind,
	}
}
