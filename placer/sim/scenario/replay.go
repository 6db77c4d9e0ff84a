package scenario

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/trace"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// defaultApplications is how many applications the jobs of a trace are drawn
// from.
const defaultApplications = 400

// path is relative to the folder of the scenario file.
func (s *Scenario) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(s.folder, p)
}

// replay is a trace as a source of jobs.
type replay struct {
	reader       trace.Reader
	block        *traceBlock
	applications []*truth.Application
	random       *rand.Rand
	number       int
	skipped      map[string]int
	largest      cluster.Resources
}

// replay opens the trace of the scenario.
func (s *Scenario) replay(m *truth.Model, h *hardware, rows []profile.Profile, seed uint64) (*replay, error) {
	b := &s.file.Traces[0]
	o := trace.Options{Files: b.Files, From: must(b.From), To: must(b.To), Sample: b.Sample, SampleSeed: seed, Limit: int64(b.Limit)}
	var err error
	if o.Map, err = b.columns(); err != nil {
		return nil, err
	}
	if b.Cores > 0 {
		o.LargestCores = b.Cores
	}
	if b.MemoryMB > 0 {
		o.LargestMemoryBytes = b.MemoryMB * mib
	}
	reader, err := trace.Open(s.path(b.Path), b.Format, o)
	if err != nil {
		return nil, err
	}
	if reader, err = b.fill(reader, seed); err != nil {
		return nil, err
	}
	r := &replay{reader: reader, block: b, random: rand.New(rand.NewPCG(seed, streamTrace)), skipped: map[string]int{}}
	for _, n := range h.nodes {
		r.largest.CPUMHz, r.largest.MemoryMB = max(r.largest.CPUMHz, n.mhz), max(r.largest.MemoryMB, n.memoryMB)
	}
	if len(b.Classes) == 0 {
		return r, nil
	}
	count := b.Applications
	if count == 0 {
		count = defaultApplications
	}
	r.applications, err = applications(m, rows, truth.Spec{Classes: b.Classes, Count: count, Platforms: truth.Platforms(b.Platforms)}, seed)
	return r, err
}

// replayed wires a run of a trace. Without classes its jobs have no applications, so
// there is nothing to know and no interference.
func (r *runs) replayed(c *sim.Config, t task) (*replay, error) {
	if len(r.scenario.file.Traces[0].Classes) == 0 {
		c.Truth = nil
	} else {
		shared, err := r.submitted(t)
		if err != nil {
			return nil, err
		}
		if err := r.know(c, t, shared); err != nil {
			return nil, err
		}
	}
	replay, err := r.scenario.replay(r.model, r.hardware, r.rows.submitted, c.Seed)
	if err != nil {
		return nil, err
	}
	c.Jobs = replay
	return replay, nil
}

func closing(r *replay) func(map[string]int) error {
	return func(skipped map[string]int) error {
		for why, n := range r.skips() {
			skipped[why] = max(skipped[why], n) // the same in every run
		}
		return r.close()
	}
}

// columns says which column of a table of one's own is which field.
func (b *traceBlock) columns() (trace.ColumnMap, error) {
	switch {
	case b.Format == trace.OwnTable:
		return trace.ParseColumnMap(b.Columns)
	case b.Columns != "":
		return trace.ColumnMap{}, fmt.Errorf("columns are of the format %q: those of %q are known", trace.OwnTable, b.Format)
	default:
		return trace.ColumnMap{}, nil
	}
}

// fill draws what the trace does not say.
func (b *traceBlock) fill(r trace.Reader, seed uint64) (trace.Reader, error) {
	f := trace.Filling{Seed: seed}
	f.Tasks, f.Cores, f.Memory = b.Tasks.distribution(1), b.TaskCPU.distribution(1), b.TaskMB.distribution(mib)
	if b.Duration != nil {
		d, err := b.Duration.distribution()
		if err != nil {
			return nil, err
		}
		f.Duration = d
	}
	return trace.Fill(r, f)
}

// distribution is of numbers in a unit; nil where nothing is drawn.
func (b *spreadBlock) distribution(unit float64) trace.Distribution {
	if b == nil {
		return nil
	}
	return trace.LogNormal{Median: b.Median * unit, Sigma: b.Sigma, Most: b.Most * unit}
}

// Next implements sim.Source.
func (r *replay) Next() (sim.Job, bool, error) {
	for {
		job, err := r.reader.Next()
		if errors.Is(err, io.EOF) {
			return sim.Job{}, false, r.empty()
		}
		if err != nil {
			return sim.Job{}, false, err
		}
		if why := r.unusable(&job); why != "" {
			r.skipped[why]++
			continue
		}
		return r.job(&job), true, nil
	}
}

// ErrNoJobs: a trace has nothing to run.
var ErrNoJobs = errors.New("the trace has no job that can run")

// empty is the error of a trace of which no job was used: a run of nothing has figures
// that say nothing.
func (r *replay) empty() error {
	if r.number > 0 {
		return nil
	}
	skipped := r.skips()
	if len(skipped) == 0 {
		return fmt.Errorf("%s: %w: it has no rows in the stretch that is read", r.block.Path, ErrNoJobs)
	}
	var reasons []string
	for _, why := range slices.Sorted(maps.Keys(skipped)) {
		reasons = append(reasons, fmt.Sprintf("%d: %s", skipped[why], why))
	}
	return fmt.Errorf("%s: %w: all were left out (%s)", r.block.Path, ErrNoJobs, strings.Join(reasons, "; "))
}

// Replayed is what a run of the scenario would take of its trace.
type Replayed struct {
	Jobs    int            `json:"jobs"`
	Skipped map[string]int `json:"left_out,omitempty"` // by reason
}

// Check reads what a run would read besides the scenario file: the machines, and the trace
// from end to end. It is nil where the scenario has no trace.
func (s *Scenario) Check(ctx context.Context) (*Replayed, error) {
	if len(s.file.Traces) == 0 {
		return nil, nil
	}
	h, err := s.hardware()
	if err != nil {
		return nil, err
	}
	m := s.model(h.machines)
	rows, err := s.loadMeasured(m)
	if err != nil {
		return nil, err
	}
	r, err := s.replay(m, h, rows.submitted, s.Seeds[0])
	if err != nil {
		return nil, err
	}
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return nil, errors.Join(err, r.close())
		}
		if _, more, err = r.Next(); err != nil {
			return nil, errors.Join(err, r.close())
		}
	}
	return &Replayed{Jobs: r.number, Skipped: r.skips()}, r.close()
}

// job is one submission: its tasks run the same program, each on a piece of its
// own.
func (r *replay) job(t *trace.Job) sim.Job {
	j := sim.Job{
		Number: r.number, At: t.Submit, Shape: sim.Batch, Duration: t.Duration, Count: max(1, t.Tasks),
		Priority: t.Priority, BestEffort: t.Class == trace.BestEffort, Size: sizeOf(t),
	}
	if j.Count > 1 {
		j.Shape = sim.Tasks
	}
	r.number++
	if len(r.applications) > 0 {
		j.App = r.applications[r.random.IntN(len(r.applications))]
	}
	return j
}

// unusable says why a job of the trace is left out: it is counted.
func (r *replay) unusable(j *trace.Job) string {
	size := sizeOf(j)
	switch {
	case math.IsNaN(j.Cores) || math.IsNaN(j.MemoryBytes):
		return "no size"
	case j.Duration < 0:
		return "no duration"
	case j.Tasks > maxTasks:
		return "more tasks than a run can hold"
	case size.CPUMHz > r.largest.CPUMHz || size.MemoryMB > r.largest.MemoryMB:
		return "larger than any node"
	default:
		return ""
	}
}

func sizeOf(j *trace.Job) cluster.Resources {
	if math.IsNaN(j.Cores) || math.IsNaN(j.MemoryBytes) {
		return cluster.Resources{}
	}
	return cluster.Resources{CPUMHz: max(1, int(j.Cores*mhzPerCore)), MemoryMB: max(1, int(j.MemoryBytes/mib))}
}

// skips are the reasons for which jobs were left out, of the reader and here.
func (r *replay) skips() map[string]int {
	out := r.reader.Skips()
	for why, n := range r.skipped {
		out[why] += n
	}
	return out
}

func (r *replay) close() error {
	if err := r.reader.Close(); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	return nil
}

var _ sim.Source = (*replay)(nil)
