package scenario

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Needs vary around the mean of a class and are never below 0 or above the largest machine; with
// one draw, by the same factor for both resources.
func TestNeedsOfAJob(t *testing.T) {
	t.Parallel()
	h := &hardware{mhz: 1e6, memoryMB: 1e6}
	c := &jobClass{need: [2]float64{0.025, 0.4}}
	for name, oneDraw := range map[string]bool{"each": false, "one draw": true} {
		j := &jobClassesBlock{Variation: 0.5, OneDraw: oneDraw}
		random := rand.New(rand.NewPCG(1, 0))
		var sum, squares, apart float64
		const jobs = 20_000
		for range jobs {
			size := j.size(c, h, random)
			cpu, memory := float64(size.CPUMHz)/h.mhz, float64(size.MemoryMB)/h.memoryMB
			if cpu < 0 || cpu > 1 || memory < 0 || memory > 1 {
				t.Fatalf("%s: %v", name, size)
			}
			sum += cpu / c.need[0]
			squares += cpu * cpu / c.need[0] / c.need[0]
			apart = max(apart, math.Abs(cpu/c.need[0]-memory/c.need[1]))
		}
		// A Gaussian of deviation 0.5 cut off at 0 has a mean of 1.028 (phi(2)/Phi(2)/2 more), and less deviation.
		mean := sum / jobs
		if deviation := math.Sqrt(squares/jobs - mean*mean); math.Abs(mean-1.028) > 0.02 || math.Abs(deviation-0.47) > 0.02 {
			t.Errorf("%s: mean %.3f, deviation %.3f", name, mean, deviation)
		}
		if together := apart < 0.01; together != oneDraw {
			t.Errorf("%s: both needs are at most %.2f apart", name, apart)
		}
	}
}

// Tasks at the start are those of the trace that some machine can hold; one that never ended runs
// to the end. Arrivals vary as the whole hours of the trace do.
func TestTheStartOfATrace(t *testing.T) {
	t.Parallel()
	s := &Scenario{folder: t.TempDir()}
	for name, text := range map[string]string{
		"initial.csv": "submit_us,job_id,task_index,user,scheduling_class,priority,runtime_us,end_us_or_minus1,cpu_request_norm,mem_request_norm\n" +
			"0,10,0,u,2,9,60000000,60000000,0.1,0.2\n0,10,1,u,2,9,60000000,-1,0.1,0.2\n0,11,0,u,2,9,60000000,60000000,0.9,0.2\n",
		"arrivals.csv": "submit_us,job_id\n0,10\n60000000,20\n120000000,21\n3660000000,22\n3720000000,23\n3780000000,24\n3840000000,25\n7260000000,26\n",
	} {
		if err := os.WriteFile(filepath.Join(s.folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h := &hardware{mhz: 100 * mhzPerCore, memoryMB: 1000, cores: 50, nodes: []node{{cores: 50, mhz: 50 * mhzPerCore, memoryMB: 500}}}
	j := &jobClassesBlock{For: "720h", Trace: &classTraceBlock{Path: ".", Initial: "initial.csv", Share: 1, Arrivals: "arrivals.csv"}}
	got, err := j.begin(s, h, rand.New(rand.NewPCG(1, 0)))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.jobs) != 2 || math.Abs(got.held-0.4) > 1e-9 { // two tasks of ten cores of fifty
		t.Fatalf("%d tasks hold %.2f", len(got.jobs), got.held)
	}
	if a, b := got.jobs[0], got.jobs[1]; a.Duration != time.Minute || b.Duration != 720*time.Hour || a.Size.CPUMHz != 10*mhzPerCore || a.Size.MemoryMB != 200 {
		t.Errorf("%+v, %+v", a, b)
	}
	if !slices.Equal(got.hourly, []float64{2. / 3, 4. / 3}) { // the third hour is not whole
		t.Errorf("by hour %v", got.hourly)
	}
	j.Trace.Initial = "none.csv"
	if _, err := j.begin(s, h, rand.New(rand.NewPCG(1, 0))); err == nil || !strings.Contains(err.Error(), "none.csv") {
		t.Errorf("a file that is not there: %v", err)
	}
}
