package scenario

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/trace"
)

// googleTrace is the format of the traces that jobs of classes begin with.
const googleTrace = "google-2011"

// classesBegin is what is there before the first job of a class arrives.
type classesBegin struct {
	jobs   []sim.Job
	held   float64   // of the cores, by them
	hourly []float64 // rate of arrivals relative to its mean, by hour, again and again
}

// begin draws the tasks at the start and reads how arrivals vary; without a trace there are
// none, and they do not.
func (j *jobClassesBlock) begin(s *Scenario, h *hardware, random *rand.Rand) (classesBegin, error) {
	out := classesBegin{hourly: []float64{1}}
	if j.Trace == nil {
		return out, nil
	}
	tasks, err := s.ofTrace(j.Trace, j.Trace.Initial, trace.Options{LargestCores: h.mhz / mhzPerCore, LargestMemoryBytes: h.memoryMB * mib})
	if err != nil {
		return out, err
	}
	for i := range tasks {
		t, size := &tasks[i], sizeOf(&tasks[i])
		fits := func(n node) bool { return size.CPUMHz <= n.mhz && size.MemoryMB <= n.memoryMB }
		if random.Float64() >= j.Trace.Share || !slices.ContainsFunc(h.nodes, fits) {
			continue
		}
		job := sim.Job{Number: len(out.jobs), Shape: sim.Batch, Count: 1, Size: size, Duration: t.Duration}
		if !t.Known() {
			job.Duration = max(t.AtLeast, must(j.For)) // it ran to the end
		}
		out.jobs = append(out.jobs, job)
		out.held += t.Cores / h.cores
	}
	arrivals, err := s.ofTrace(j.Trace, j.Trace.Arrivals, trace.Options{})
	if err != nil {
		return out, err
	}
	out.hourly, err = hourly(arrivals)
	return out, err
}

// ofTrace reads all of one file.
func (s *Scenario) ofTrace(b *classTraceBlock, file string, o trace.Options) (out []trace.Job, err error) {
	o.Files = []string{file}
	r, err := trace.Open(s.path(b.Path), googleTrace, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		job, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, job)
	}
}

// hourly is the number of jobs in each whole hour, relative to the mean. What is submitted at 0
// ran before.
func hourly(jobs []trace.Job) ([]float64, error) {
	counts := map[int]int{}
	last := time.Duration(0)
	for i := range jobs {
		if at := jobs[i].Submit; at > 0 {
			counts[int(at.Hours())]++
			last = max(last, at)
		}
	}
	hours, sum := int(last.Hours()), 0
	for hour := range hours {
		sum += counts[hour]
	}
	if sum == 0 {
		return nil, fmt.Errorf("%d jobs of the trace arrive in a whole hour: how arrivals vary is not known", sum)
	}
	out := make([]float64, hours)
	for hour := range out {
		out[hour] = float64(counts[hour]) * float64(hours) / float64(sum)
	}
	return out, nil
}
