package trace_test

import (
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/sim/trace"
)

// TestArrivals checks counts, order and the moments each process is named for,
// within five standard errors.
func TestArrivals(t *testing.T) {
	t.Parallel()
	const n = 20_000
	for name, c := range map[string]struct {
		of            trace.Arrivals
		mean, sigma   float64 // of the gaps, seconds
		meanTolerance float64
	}{
		"constant": {trace.Constant{Gap: 10 * time.Second}, 10, 0, 1e-9},
		"poisson":  {trace.Poisson{MeanGap: 10 * time.Second}, 10, 10, 5 * 10 / math.Sqrt(n)},
		"gaussian": {trace.GaussianGaps{MeanGap: 10 * time.Second, Sigma: time.Second}, 10, 1, 5 * 1 / math.Sqrt(n)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			times := c.of.Times(n, rand.New(rand.NewPCG(3, 4)))
			if len(times) != n || !slices.IsSorted(times) || times[0] < 0 {
				t.Fatalf("%d times, first %s", len(times), times[0])
			}
			var sum, squares float64
			for i := 1; i < n; i++ {
				gap := (times[i] - times[i-1]).Seconds()
				sum += gap
				squares += gap * gap
			}
			mean := sum / (n - 1)
			if math.Abs(mean-c.mean) > c.meanTolerance {
				t.Errorf("mean gap %v s, want %v ± %v", mean, c.mean, c.meanTolerance)
			}
			sigma := math.Sqrt(max(0, squares/(n-1)-mean*mean))
			if math.Abs(sigma-c.sigma) > 0.05*c.mean {
				t.Errorf("standard deviation of the gaps %v s, want %v", sigma, c.sigma)
			}
		})
	}
}

// TestBurst is the oversubscribed scenario of Delimitrou 2015, §3.4: 7,500 jobs a
// second apart and 1,000 less than 0.1 s apart after the first 3,750.
func TestBurst(t *testing.T) {
	t.Parallel()
	b := trace.Burst{Base: trace.Constant{Gap: time.Second}, After: 3750, Count: 1000, Gap: 90 * time.Millisecond}
	times := b.Times(8500, rand.New(rand.NewPCG(1, 1)))
	if len(times) != 8500 || !slices.IsSorted(times) {
		t.Fatalf("%d times", len(times))
	}
	if last := times[len(times)-1]; last != 7499*time.Second {
		t.Errorf("the last is at %s, want 2h4m59s", last)
	}
	within := 0
	for _, at := range times {
		if at > 3749*time.Second && at <= 3839*time.Second {
			within++
		}
	}
	if within != 1090 {
		t.Errorf("%d jobs in the 90 s after the 3,750th, want the burst of 1000 and the 90 of that time", within)
	}
}

func TestGaussianTimesAreAWave(t *testing.T) {
	t.Parallel()
	times := trace.GaussianTimes{Middle: 1000 * time.Second, Sigma: 100 * time.Second}.Times(10_000, rand.New(rand.NewPCG(5, 6)))
	if !slices.IsSorted(times) {
		t.Fatal("not in order")
	}
	if middle := times[5000]; (middle - 1000*time.Second).Abs() > 10*time.Second {
		t.Errorf("median %s, want 1000 s ± 10", middle)
	}
}

func TestDistributionsAreChecked(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for _, d := range []trace.Distribution{
		trace.Fixed(-1), trace.Fixed(nan), trace.LogUniform{0, 1}, trace.LogUniform{1, math.Inf(1)},
		trace.LogNormal{Median: 0}, trace.LogNormal{Median: 2, Most: 1}, trace.LogNormal{Median: 1, Sigma: nan},
	} {
		if err := d.Check(); !errors.Is(err, trace.ErrDistribution) {
			t.Errorf("%#v: %v", d, err)
		}
		if _, err := trace.Fill(nil, trace.Filling{Cores: d}); !errors.Is(err, trace.ErrDistribution) {
			t.Errorf("filled with %#v: %v", d, err)
		}
	}
	for _, a := range []trace.Arrivals{
		trace.Constant{-1}, trace.Poisson{-1}, trace.GaussianGaps{1, -1}, trace.GaussianTimes{-1, 0},
		trace.Burst{}, trace.Burst{Base: trace.Constant{-1}},
	} {
		if err := a.Check(); !errors.Is(err, trace.ErrDistribution) {
			t.Errorf("arrivals %#v: %v", a, err)
		}
	}
}

func TestDistributionsHaveTheirMoments(t *testing.T) {
	t.Parallel()
	const n = 50_000
	for name, c := range map[string]struct {
		of     trace.Distribution
		median float64
		within float64 // relative
	}{
		"fixed":       {trace.Fixed(3), 3, 0},
		"log-uniform": {trace.LogUniform{60, 6000}, 600, 0.05},
		"lognormal":   {trace.LogNormal{Median: 100, Sigma: 1}, 100, 0.03},
	} {
		random := rand.New(rand.NewPCG(8, 9))
		values := make([]float64, n)
		for i := range values {
			values[i] = c.of.Draw(random)
		}
		slices.Sort(values)
		if got := values[n/2]; math.Abs(got-c.median) > c.within*c.median {
			t.Errorf("%s: median %v, want %v", name, got, c.median)
		}
	}
}

// jobReader gives jobs that are there.
type jobReader struct{ jobs []trace.Job }

func sliceReader(jobs []trace.Job) trace.Reader { return &jobReader{jobs} }

func (s *jobReader) Next() (trace.Job, error) {
	if len(s.jobs) == 0 {
		return trace.Job{}, io.EOF
	}
	j := s.jobs[0]
	s.jobs = s.jobs[1:]
	return j, nil
}

func (s *jobReader) Origin() time.Duration { return 0 }
func (s *jobReader) Skips() map[string]int { return nil }
func (s *jobReader) Close() error          { return nil }

func TestFillDrawsOnlyWhatIsUnknown(t *testing.T) {
	t.Parallel()
	f := trace.Filling{
		Tasks: trace.Fixed(3), Cores: trace.LogUniform{1, 8}, Memory: trace.Fixed(1 << 30), Duration: trace.Fixed(60), Seed: 1,
	}
	rows := "submit_us,job_id\n"
	for _, id := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
		rows += id + "," + id + "\n"
	}
	read := func(o trace.Options) map[string]trace.Job {
		d, err := trace.Lookup("google-2011")
		if err != nil {
			t.Fatal(err)
		}
		r, err := d.Open(folderOf(map[string]string{"f.csv": rows}), o)
		if err != nil {
			t.Fatal(err)
		}
		if r, err = trace.Fill(r, f); err != nil {
			t.Fatal(err)
		}
		jobs := map[string]trace.Job{}
		for _, j := range drain(t, r) {
			jobs[j.ID] = j
		}
		return jobs
	}
	all := read(trace.Options{})
	for id, j := range all {
		if j.Drawn != trace.TasksField|trace.CoresField|trace.MemoryField|trace.DurationField || j.Tasks != 3 || j.Duration != time.Minute {
			t.Errorf("job %s: %+v", id, j)
		}
	}
	for id, j := range read(trace.Options{Sample: 0.5}) {
		if j.Cores != all[id].Cores {
			t.Errorf("job %s has %v cores in a sample, %v in the whole trace", id, j.Cores, all[id].Cores)
		}
	}
	kept := trace.Job{ID: "x", Duration: trace.Unknown, AtLeast: time.Hour, Tasks: 2, Cores: 1, MemoryBytes: 5}
	r, err := trace.Fill(sliceReader([]trace.Job{kept}), f)
	if err != nil {
		t.Fatal(err)
	}
	j, err := r.Next()
	if err != nil || j.Tasks != 2 || j.Cores != 1 || j.MemoryBytes != 5 || j.Drawn != trace.DurationField || j.Duration != time.Hour {
		t.Errorf("%+v, %v: known fields stay, and a drawn duration is not below what was seen", j, err)
	}
	if _, err := trace.Fill(sliceReader(nil), trace.Filling{Cores: trace.Fixed(-1)}); !errors.Is(err, trace.ErrDistribution) {
		t.Errorf("a filling that cannot be drawn: %v", err)
	}
}
