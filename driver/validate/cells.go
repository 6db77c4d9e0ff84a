package validate

import (
	"context"
	"errors"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// stage is one of the questions.
type stage string

// The stages, in the order measured.
const (
	stageLinearity    stage = "linearity"
	stageVictim       stage = "victim"
	stageDisplacement stage = "displacement"
	stageCrossTalk    stage = "cross-talk"
	stageOffTarget    stage = "off-target"
	stageYardstick    stage = "yardstick"
)

// cell is one measurement.
type cell struct {
	key     string
	title   string
	stage   stage
	expect  time.Duration
	measure func(ctx context.Context) (any, error)
}

// session is what all cells share.
type session struct {
	bench   bench
	pace    pace
	machine ibench.Machine
	layout  layout
	storage string
	cast    *cast
}

// startTime is about what it takes to start and stop a kernel.
const startTime = 300 * time.Millisecond

// cells lists what is to be measured of the sources that run here.
func (s *session) cells(sources []interference.Source) []cell {
	var out []cell
	for _, source := range sources {
		out = append(out, s.linearity(source))
	}
	for _, source := range sources {
		if _, ok := victimOf(source); ok {
			out = append(out, s.victim(source))
		}
	}
	for _, source := range sources {
		if _, ok := probeOf(source); ok {
			out = append(out, s.displacement(source))
		}
	}
	for _, from := range sources {
		for _, to := range sources {
			if from != to {
				out = append(out, s.crossTalk(from, to))
			}
		}
	}
	for _, from := range sources {
		for _, of := range sources {
			if from != of {
				out = append(out, s.offTarget(from, of))
			}
		}
	}
	for _, source := range sources {
		for _, y := range yardsticks() {
			if y.source == source {
				out = append(out, s.yardstick(y))
			}
		}
	}
	return out
}

func (s *session) linearity(source interference.Source) cell {
	level := s.pace.level
	if s.layout.kernelPlace(source).Same {
		level = max(level, s.pace.sameLevel)
	}
	levels := linearPasses * (100/s.pace.linearStep + 1)
	return cell{
		key: "linearity--" + string(source), title: "linearity of " + string(source), stage: stageLinearity,
		expect: startTime + time.Duration(levels)*(level+s.pace.settle),
		measure: func(ctx context.Context) (any, error) {
			return s.measureLinearity(ctx, source)
		},
	}
}

func (s *session) victim(source interference.Source) cell {
	v, _ := victimOf(source)
	length := v.length(s.pace)
	if s.layout.kernelPlace(source).Same {
		length = max(length, sameWindow)
	}
	return cell{
		key: "victim--" + string(source), title: "victim of " + string(source), stage: stageVictim,
		expect: 2*startTime + time.Duration(100/s.pace.victimStep*2*s.pace.curvePairs*s.pace.passes)*(length+s.pace.settle),
		measure: func(ctx context.Context) (any, error) {
			return s.measureVictim(ctx, source)
		},
	}
}

func (s *session) displacement(source interference.Source) cell {
	pr, _ := probeOf(source)
	return cell{
		key: "displacement--" + string(source), title: "displacement by " + string(source), stage: stageDisplacement,
		expect: 3*startTime + time.Duration(100/s.pace.victimStep+3)*max(s.pace.probe, probesPerLevel*pr.idle),
		measure: func(ctx context.Context) (any, error) {
			return s.measureDisplacement(ctx, source)
		},
	}
}

func (s *session) crossTalk(from, to interference.Source) cell {
	return cell{
		key: "cross-talk--" + string(from) + "--" + string(to), title: "cross-talk of " + string(from) + " on " + string(to),
		stage: stageCrossTalk, expect: expectPair(s.pace, s.pace.window),
		measure: func(ctx context.Context) (any, error) {
			return s.measureCrossTalk(ctx, from, to)
		},
	}
}

// offTargetPace makes the second matrix cheaper: what it shows is also in the
// first.
func offTargetPace(p pace) pace {
	p.pairs = max(2, p.pairs*2/3)
	return p
}

func (s *session) offTarget(from, of interference.Source) cell {
	cheap := *s
	cheap.pace = offTargetPace(s.pace)
	return cell{
		key: "off-target--" + string(from) + "--" + string(of), title: "the victim of " + string(of) + " under " + string(from),
		stage: stageOffTarget, expect: expectPair(cheap.pace, cheap.pace.window),
		measure: func(ctx context.Context) (any, error) {
			return cheap.measureOffTarget(ctx, from, of)
		},
	}
}

func (s *session) yardstick(y yardstick) cell {
	return cell{
		key: "yardstick--" + string(y.source) + "--" + slug(y.name), title: string(y.source) + " against " + y.name,
		stage: stageYardstick, expect: y.expect,
		measure: func(ctx context.Context) (any, error) {
			return s.measureYardstick(ctx, y)
		},
	}
}

// slug makes a file name of a title.
func slug(title string) string {
	out := []byte(title)
	for i, c := range out {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			out[i] = '-'
		}
	}
	return string(out)
}

// runCells measures the cells that are not done yet. A cell that fails is kept
// with its reason; only the end of ctx, and a disk that cannot be written to,
// ends the run.
func (s *session) runCells(ctx context.Context, st state, cells []cell, now func() time.Time, p progress) error {
	todo := make([]cell, 0, len(cells))
	for _, c := range cells {
		if !st.done(c.key) {
			todo = append(todo, c)
		}
	}
	p.plan(cells, todo)
	last := stage("")
	var err error
	for _, c := range todo {
		if c.stage != last {
			err = errors.Join(err, s.cast.end())
			last = c.stage
		}
		if err != nil || ctx.Err() != nil {
			break
		}
		p.begin(c)
		begin := now()
		saved := savedCell{Key: c.key, Measured: begin.UTC()}
		result, failure := c.measure(ctx)
		if ctx.Err() != nil {
			break // cut short: not a result
		}
		saved.Seconds = now().Sub(begin).Seconds()
		err = errors.Join(s.keep(&saved, result, failure), st.save(saved))
		p.end(c, now().Sub(begin), failure)
	}
	return errors.Join(err, s.cast.end(), ctx.Err())
}

// keep puts the result or the failure of a cell into what is saved. After a
// failure no kernel or victim of the cast is trusted any more: the next cell starts anew.
func (s *session) keep(saved *savedCell, result any, failure error) (err error) {
	if failure != nil {
		saved.Error = failure.Error()
		_ = s.cast.end() // what failed may not end properly either
		return nil
	}
	saved.Result, err = marshal(result)
	return err
}
