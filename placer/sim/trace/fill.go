package trace

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Streams of random numbers: each field has its own, so that another distribution of
// cores does not change the memory.
const (
	durationStream uint64 = iota + 2
	tasksStream
	coresStream
	memoryStream
)

// seconds is a span, at most the longest there is.
func seconds(v float64) time.Duration {
	if v *= float64(time.Second); v < math.MaxInt64 {
		return time.Duration(v)
	}
	return math.MaxInt64
}

func wholeTasks(v float64) int { return int(min(max(1, math.Round(v)), 1<<30)) }

// Filling says where to draw what a trace does not give. A nil distribution
// leaves it unknown.
type Filling struct {
	Tasks    Distribution // rounded, at least 1
	Cores    Distribution // per task
	Memory   Distribution // bytes per task
	Duration Distribution // seconds
	Seed     uint64
}

// Fill is a reader of the same jobs, with unknown fields drawn and marked in
// Job.Drawn. What is drawn depends on the seed and the job's ID alone, so it is the
// same in any sample of the trace. A drawn duration is at least Job.AtLeast.
func Fill(r Reader, f Filling) (Reader, error) {
	for _, d := range []Distribution{f.Tasks, f.Cores, f.Memory, f.Duration} {
		if d == nil {
			continue
		}
		if err := d.Check(); err != nil {
			return nil, fmt.Errorf("fill: %w", err)
		}
	}
	return &filled{Reader: r, filling: f}, nil
}

type filled struct {
	Reader
	filling Filling
}

// Next returns the next job, filled.
func (f *filled) Next() (Job, error) {
	j, err := f.Reader.Next()
	if err != nil {
		return j, err
	}
	name := hash(j.ID, f.filling.Seed)
	draw := func(d Distribution, stream uint64) float64 { return d.Draw(rand.New(rand.NewPCG(name, stream))) }
	if j.Tasks < 0 && f.filling.Tasks != nil {
		j.Tasks = wholeTasks(draw(f.filling.Tasks, tasksStream))
		j.Drawn |= TasksField
	}
	if math.IsNaN(j.Cores) && f.filling.Cores != nil {
		j.Cores = draw(f.filling.Cores, coresStream)
		j.Drawn |= CoresField
	}
	if math.IsNaN(j.MemoryBytes) && f.filling.Memory != nil {
		j.MemoryBytes = draw(f.filling.Memory, memoryStream)
		j.Drawn |= MemoryField
	}
	if !j.Known() && f.filling.Duration != nil {
		j.Duration = max(j.AtLeast, seconds(draw(f.filling.Duration, durationStream)))
		j.Drawn |= DurationField
	}
	return j, nil
}
