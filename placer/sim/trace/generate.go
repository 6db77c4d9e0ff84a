package trace

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"time"
)

// Generator describes synthetic submissions. Each property has its own stream
// of random numbers: another distribution of cores does not change the arrivals.
type Generator struct {
	Jobs     int
	Arrivals Arrivals
	Duration Distribution // seconds; nil: unknown
	Tasks    Distribution // rounded, at least 1; nil: 1
	Cores    Distribution // per task; nil: unknown
	Memory   Distribution // bytes per task; nil: unknown
	Kind     string
	Class    Class
	Seed     uint64
}

// Streams of random numbers.
const (
	arrivalStream uint64 = iota + 1
	durationStream
	tasksStream
	coresStream
	memoryStream
)

// Generate makes the jobs. Same generator, same jobs.
func Generate(g Generator) (Reader, error) {
	if g.Jobs < 0 || g.Arrivals == nil {
		return nil, fmt.Errorf("%w: a generator of %d jobs needs arrivals", ErrDistribution, g.Jobs)
	}
	if err := g.Arrivals.Check(); err != nil {
		return nil, fmt.Errorf("arrivals: %w", err)
	}
	for _, d := range []struct {
		name string
		of   Distribution
	}{{"duration", g.Duration}, {"tasks", g.Tasks}, {"cores", g.Cores}, {"memory", g.Memory}} {
		if d.of == nil {
			continue
		}
		if err := d.of.Check(); err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
	}
	stream := func(n uint64) *rand.Rand { return rand.New(rand.NewPCG(g.Seed, n)) }
	return &generated{
		generator: g, times: g.Arrivals.Times(g.Jobs, stream(arrivalStream)),
		duration: stream(durationStream), tasks: stream(tasksStream), cores: stream(coresStream), memory: stream(memoryStream),
	}, nil
}

// generated is a Reader of jobs that are drawn as they are read.
type generated struct {
	generator                      Generator
	times                          []time.Duration
	next                           int
	duration, tasks, cores, memory *rand.Rand
}

// Next draws the next job.
func (g *generated) Next() (Job, error) {
	if g.next >= len(g.times) {
		return Job{}, io.EOF
	}
	j := Job{
		Sequence: int64(g.next), ID: strconv.Itoa(g.next + 1), Kind: g.generator.Kind, Class: g.generator.Class,
		Submit: g.times[g.next], Duration: Unknown, Tasks: 1,
		Cores: drawOr(g.generator.Cores, g.cores), MemoryBytes: drawOr(g.generator.Memory, g.memory),
		DiskBytes: nan, InputBytes: nan, ShuffleBytes: nan, OutputBytes: nan,
	}
	if g.generator.Duration != nil {
		j.Duration = seconds(g.generator.Duration.Draw(g.duration))
	}
	if g.generator.Tasks != nil {
		j.Tasks = wholeTasks(g.generator.Tasks.Draw(g.tasks))
	}
	g.next++
	return j, nil
}

// Origin is 0.
func (g *generated) Origin() time.Duration { return 0 }

// Skips is empty.
func (g *generated) Skips() map[string]int { return map[string]int{} }

// Close ends it.
func (g *generated) Close() error { g.next = len(g.times); return nil }

func drawOr(d Distribution, random *rand.Rand) float64 {
	if d == nil {
		return nan
	}
	return d.Draw(random)
}

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
	Tasks, Cores, Memory, Duration Distribution // as in Generator
	Seed                           uint64
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

// Slice is a reader of jobs that are there, in the order of their submission.
func Slice(jobs []Job) Reader { return &slice{jobs: jobs} }

type slice struct{ jobs []Job }

// Next returns the next job.
func (s *slice) Next() (Job, error) {
	if len(s.jobs) == 0 {
		return Job{}, io.EOF
	}
	j := s.jobs[0]
	s.jobs = s.jobs[1:]
	return j, nil
}

// Origin is 0.
func (s *slice) Origin() time.Duration { return 0 }

// Skips is empty.
func (s *slice) Skips() map[string]int { return map[string]int{} }

// Close ends it.
func (s *slice) Close() error { s.jobs = nil; return nil }
