package generate

import (
	"cmp"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

// Jobs generates I/Os with one generator for every transition into a state of the last
// level (§A.3.4): each has its category, its range of addresses and its own rate, and
// continues its own runs. Generators are served in the order of their next times, every
// one until it has its share, so that all are active all the time. Shares are kept, the
// order between states is not. It is a storage.Reader.
type Jobs struct {
	model   *model.Model
	options Options
	rng     *rand.Rand
	places  places
	jobs    []job
	queue   queue
	ios     int64
}

// job is one generator.
type job struct {
	of, state, category int
	mean                float64 // of its gaps in µs
	end                 int64
	left                int64 // I/Os; -1: without end
}

// jobOf is what a generator is for.
type jobOf struct{ of, state, category int }

// NewJobs starts the generators. Without a number of I/Os each makes those of the model.
func NewJobs(m *model.Model, o Options) (*Jobs, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	j := &Jobs{model: m, options: o, rng: rand.New(rand.NewPCG(o.Seed, 1)), places: newPlaces(m.Device, m.Levels)}
	span := m.Capture.Seconds * 1e6
	weights := jobWeights(m)
	for _, of := range sortedJobs(weights) {
		n := weights[of]
		left := int64(-1)
		if o.IOs == 0 {
			left = int64(n/o.Intensity/o.Compression + 0.5)
		}
		if left != 0 {
			j.jobs = append(j.jobs, job{of: of.of, state: of.state, category: of.category, mean: span / n * o.Intensity, left: left, end: -1 << 40})
		}
	}
	for i := range j.jobs {
		// The first I/Os are spread over a gap, as those of a process that runs for long.
		at := time.Duration(j.rng.Float64() * j.jobs[i].mean * float64(time.Microsecond))
		j.queue.push(queued{at, int32(i)})
	}
	return j, nil
}

// jobWeights are the I/Os of every generator: those of a transition, and for one into a
// coarse state, by where in it such transitions go.
func jobWeights(m *model.Model) map[jobOf]float64 {
	out := map[jobOf]float64{}
	for i := range m.Types {
		t := &m.Types[i]
		into := map[model.StateOf][]model.Crossing{}
		sums := map[model.StateOf]float64{}
		for _, c := range t.Entries {
			s := model.StateOf{Level: c.Level, State: model.Ancestor(c.State, m.Levels, c.Level)}
			into[s] = append(into[s], c)
			sums[s] += float64(c.IOs)
		}
		for _, x := range t.Transitions {
			if x.Level == m.Levels {
				out[jobOf{i, x.To, x.Category}] += float64(x.IOs)
				continue
			}
			s := model.StateOf{Level: x.Level, State: x.To}
			for _, c := range into[s] {
				out[jobOf{i, c.State, x.Category}] += float64(x.IOs) * float64(c.IOs) / sums[s]
			}
		}
	}
	return out
}

func sortedJobs(weights map[jobOf]float64) []jobOf {
	var all []jobOf
	for of := range weights {
		all = append(all, of)
	}
	slices.SortFunc(all, func(a, b jobOf) int {
		return cmp.Or(cmp.Compare(a.of, b.of), cmp.Compare(a.state, b.state), cmp.Compare(a.category, b.category))
	})
	return all
}

// Next fills the next I/O; io.EOF after the last.
func (j *Jobs) Next(r *storage.Record) error {
	if len(j.queue) == 0 || (j.options.IOs > 0 && j.ios == j.options.IOs) {
		return io.EOF
	}
	first := j.queue[0]
	g := &j.jobs[first.index]
	c := j.model.Categories[g.category]
	*r = storage.Record{
		At: first.at, Offset: j.places.place(g.state, c, g.end, false, j.rng), Bytes: c.Bytes, Thread: uint32(first.index), Op: c.Op,
	}
	g.end = r.End()
	j.ios++
	if g.left > 0 {
		g.left--
	}
	if g.left == 0 {
		j.queue.removeFirst()
		return nil
	}
	gap := g.mean * (jitterLow + (1-jitterLow)*2*j.rng.Float64())
	j.queue.replaceFirst(queued{first.at + time.Duration(gap*float64(time.Microsecond)), first.index})
	return nil
}

// jitterLow is the least gap of a generator over its mean; the greatest is as far above. The
// text adjusts the idle time of a generator until its share is held; gaps that are as far
// apart as exponential ones would lose it (chosen by us).
const jitterLow = 0.5
