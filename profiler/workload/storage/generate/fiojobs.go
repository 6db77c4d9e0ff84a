package generate

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/model"
)

// JobOptions say what a job file of fio runs.
type JobOptions struct {
	Data, Logs string        // as in LogOptions
	Runtime    time.Duration // 0: the length of the interval
	// Interval is the number of the interval, from 1, whose rate is taken; 0: the mean of all.
	Interval int
	// Intensity scales all gaps; 0 is 1.
	Intensity float64
	// Depth runs with so many outstanding I/Os instead of at a rate; 0: at the rate. The text
	// has the two as exclusive modes (§A.3.4).
	Depth int
}

// ErrInterval: the model has no such interval, or nothing happens in it.
var ErrInterval = fmt.Errorf("%w: interval", ErrOptions)

// section is a job of the file.
type section struct {
	of       *model.Type
	category model.Category
	iops     float64
	states   []float64 // I/Os by state of a level
}

// WriteJobs writes a job file of fio: a job for every category of every type of threads,
// at its rate, with its part of the address range. What a job file cannot say is said in
// its head.
func WriteJobs(w io.Writer, m *model.Model, o JobOptions) error {
	checked, err := (Options{Intensity: o.Intensity}).complete()
	if err != nil {
		return err
	}
	sections, length, err := sectionsOf(m, o, checked.Intensity)
	if err != nil {
		return err
	}
	if o.Runtime == 0 {
		o.Runtime = length
	}
	out := bufio.NewWriter(w)
	writeHead(out, m, o)
	for _, s := range sections {
		writeSection(out, m, s, o)
	}
	return out.Flush()
}

func sectionsOf(m *model.Model, o JobOptions, intensity float64) ([]section, time.Duration, error) {
	if o.Interval < 0 {
		return nil, 0, fmt.Errorf("%w %d", ErrInterval, o.Interval)
	}
	level := min(m.Levels, zonedLevels)
	var out []section
	length := m.Capture.Span()
	weights := jobWeights(m)
	inOrder := sortedJobs(weights)
	for i := range m.Types {
		t := &m.Types[i]
		rate := float64(t.IOs) / m.Capture.Seconds
		if o.Interval > 0 {
			if o.Interval > len(t.Intervals) {
				return nil, 0, fmt.Errorf("%w %d: the model has %d", ErrInterval, o.Interval, len(t.Intervals))
			}
			v := t.Intervals[o.Interval-1]
			rate, length = float64(v.IOs)/v.Seconds, time.Duration(v.Seconds*float64(time.Second))
		}
		byCategory := map[int]*section{}
		for _, of := range inOrder {
			n := weights[of]
			if of.of != i || rate == 0 {
				continue
			}
			s := byCategory[of.category]
			if s == nil {
				s = &section{of: t, category: m.Categories[of.category], states: make([]float64, model.States(level))}
				byCategory[of.category] = s
			}
			s.states[model.Ancestor(of.state, m.Levels, level)] += n
			s.iops += n / float64(t.IOs) * rate / intensity
		}
		for _, s := range byCategory {
			out = append(out, *s)
		}
	}
	if len(out) == 0 {
		return nil, 0, fmt.Errorf("%w %d: nothing happens in it", ErrInterval, o.Interval)
	}
	slices.SortFunc(out, func(a, b section) int { return cmp.Compare(a.name(), b.name()) })
	return out, length, nil
}

// zonedLevels is the depth of the zones of a job file: fio takes 256 zones at most.
const zonedLevels = 4

func (s section) name() string {
	return fmt.Sprintf("%s-%s-%s-%d", s.of.Name, s.category.Op, s.category.Kind, s.category.Bytes)
}

func writeHead(w io.Writer, m *model.Model, o JobOptions) {
	rate := "with exponential gaps at the rate of the model"
	if o.Depth > 0 {
		rate = fmt.Sprintf("with %d outstanding I/Os each, at whatever rate the device has", o.Depth)
	}
	fmt.Fprintf(w, `; A storage workload model as jobs of fio (3.31 or newer).
; One job for every kind and size of I/O of every type of threads, %s.
; What this form cannot say:
; - which state follows which: every job has its own part of the addresses, all the time;
; - gaps other than exponential ones; the log form (read_iolog) has both;
; - shares of addresses finer than 1 %% of a job: states are joined until they have that;
; - rates below %d I/Os per second, which are whole numbers: those jobs wait (thinktime)
;   after every I/O.
; Near-sequential I/Os are random ones here.
; It writes to its file: never name a device with data.
[global]
ioengine=libaio
direct=1
time_based=1
runtime=%d
size=%d
group_reporting=0
`, rate, slowRate, max(int64(math.Ceil(o.Runtime.Seconds())), 1), m.Device.Bytes)
}

func writeSection(w io.Writer, m *model.Model, s section, o JobOptions) {
	file := o.Data
	if s.of.Function == model.Log && o.Logs != "" {
		file = o.Logs
	}
	fmt.Fprintf(w, "\n[%s]\nfilename=%s\nrw=%s\nbs=%d\nblockalign=%d\n", s.name(), file, s.mode(), s.category.Bytes, m.Device.SectorBytes)
	switch {
	case o.Depth > 0:
		fmt.Fprintf(w, "iodepth=%d\n", o.Depth)
	case s.iops >= slowRate:
		fmt.Fprintf(w, "iodepth=%d\nio_submit_mode=offload\nrate_process=poisson\nrate_iops=%d\n", openDepth, int64(s.iops+0.5))
	default:
		fmt.Fprintf(w, "iodepth=1\nthinktime=%d\nthinktime_blocks=1\n", int64(1e6/s.iops))
	}
	if s.category.Kind == storage.Sequential {
		// A run begins where most of the job's I/Os are.
		offset := m.Device.Begin(busiest(s.states), levelOf(s.states))
		fmt.Fprintf(w, "offset=%d\nsize=%d\n", offset, m.Device.Bytes-offset)
		return
	}
	fmt.Fprintf(w, "norandommap=1\nrandom_distribution=zoned_abs:%s\n", zones(m.Device, s.states))
}

// openDepth is how many I/Os may be outstanding before a job at a rate falls behind it
// (chosen by us: an open loop has no bound, fio needs one).
const openDepth = 256

// slowRate is below what rate, in I/Os per second, a job waits instead of having a rate:
// rates are whole numbers, so that above it they are off by 5 % at most (chosen by us).
const slowRate = 10

func (s section) mode() string {
	prefix := "rand"
	if s.category.Kind == storage.Sequential {
		prefix = ""
	}
	return prefix + s.category.Op.String()
}

func busiest(states []float64) int {
	best := 0
	for i, v := range states {
		if v > states[best] {
			best = i
		}
	}
	return best
}

// levelOf is the level with so many states.
func levelOf(states []float64) int {
	level := 0
	for model.States(level) < len(states) {
		level++
	}
	return level
}

// zone is a part of the addresses with a share of a job's I/Os.
type zone struct {
	percent int
	bytes   int64
}

// zonesOf divides the addresses so that every zone has a whole percent, as fio reads them:
// neighbouring states are joined until they have one, and what is left behind the last
// goes to it.
func zonesOf(d model.Device, states []float64) []zone {
	total := 0.0
	for _, v := range states {
		total += v
	}
	var out []zone
	sum, done, begin := 0.0, 0, int64(0)
	level := levelOf(states)
	for i, v := range states {
		sum += v
		if percent := int(math.Round(100 * sum / total)); percent > done {
			end := d.Begin(i+1, level)
			out = append(out, zone{percent - done, end - begin})
			done, begin = percent, end
		}
	}
	out[len(out)-1].bytes += d.Bytes - begin
	return out
}

func zones(d model.Device, states []float64) string {
	var parts []string
	for _, z := range zonesOf(d, states) {
		parts = append(parts, fmt.Sprintf("%d/%d", z.percent, z.bytes))
	}
	return strings.Join(parts, ":")
}
