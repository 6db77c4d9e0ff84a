package scenario

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

// drawnDemand is what a provision block submits.
type drawnDemand struct {
	batchJobs, batchCores  float64 // per service, per core of services
	minutes                float64 // mean length of a job
	medianCores, mostCores float64 // needed over time
}

// demandOf draws the jobs of a shipped scenario at a scale.
func demandOf(t *testing.T, name string, scale float64) drawnDemand {
	t.Helper()
	s, err := Load(filepath.Join("../../../examples/sim", name+".hcl"))
	if err != nil {
		t.Fatal(err)
	}
	p := *s.file.Provision
	p.Scale = scale
	d, err := p.draw(truth.NewModel(s.Columns, p.hardware().machines), profilingBlock{}, 7, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out drawnDemand
	var jobs, coreHours [2]float64
	for _, j := range d.jobs {
		side := 0
		if j.Shape == sim.Service {
			side = 1
		}
		jobs[side]++
		coreHours[side] += coresOfJob(j) * j.Duration.Hours()
		out.minutes += j.Duration.Minutes() / float64(len(d.jobs))
	}
	out.batchJobs, out.batchCores = jobs[0]/jobs[1], coreHours[0]/coreHours[1]
	var needed []float64
	last := d.jobs[len(d.jobs)-1].At
	for at := 5 * time.Minute; at < last; at += time.Minute {
		sum := 0.0
		for _, j := range d.jobs {
			if j.At <= at && at < j.At+j.Duration {
				sum += coresOfJob(j)
			}
		}
		needed = append(needed, sum)
	}
	slices.Sort(needed)
	out.medianCores, out.mostCores = needed[len(needed)/2], needed[len(needed)-1]
	return out
}

// The cores that jobs need follow the published curves, and jobs and cores are divided as published
// (table 8.2). At a tenth of the scale there are 700 jobs, of which chance leaves twice as much over.
func TestDemandFollowsItsCurve(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]drawnDemand{
		"hcloud-static": {4.2, 1.4, 12.9, 854, 897}, "hcloud-low": {3.6, 1.17, 12.9, 605, 900}, "hcloud-high": {4.1, 1.5, 8.1, 210, 1226},
	} {
		for scale, off := range map[float64]float64{1: 0.15, 0.1: 0.3} {
			got := demandOf(t, name, scale)
			for _, c := range []struct {
				what      string
				got, want float64
			}{
				{"batch jobs per service", got.batchJobs, want.batchJobs}, {"cores of batch jobs per core of services", got.batchCores, want.batchCores},
				{"minutes of a job", got.minutes, want.minutes}, {"median of the needed cores", got.medianCores / scale, want.medianCores}, {"most of them", got.mostCores / scale, want.mostCores},
			} {
				if c.got < (1-off)*c.want || c.got > (1+off)*c.want {
					t.Errorf("%s at a scale of %g: %s: %.4g, want %.4g ± %g %%", name, scale, c.what, c.got, c.want, 100*off)
				}
			}
		}
	}
}

func coresOfJob(j sim.Job) float64 { return float64(j.Size.CPUMHz) / mhzPerCore }

// A size is one of the two around what is wanted, such that the mean is that.
func TestSizesKeepTheMean(t *testing.T) {
	t.Parallel()
	random := newTestRandom()
	for _, want := range []float64{0.25, 0.4, 1, 3.1, 11, 16} {
		sum := 0.0
		const draws = 20000
		for range draws {
			size := nearSize(want, random)
			if !slices.Contains(sizesCores, size) {
				t.Fatalf("%g is no size", size)
			}
			sum += size
		}
		if mean := sum / draws; mean < 0.97*want || mean > 1.03*want {
			t.Errorf("sizes around %g have a mean of %g", want, mean)
		}
	}
	if got := nearSize(-3, random); got != 0.25 {
		t.Errorf("where too much is there already the size is %g, want the least", got)
	}
	if got := nearSize(100, random); got != 16 {
		t.Errorf("where much is missing the size is %g, want the most", got)
	}
}

// Jobs count as sensitive by the threshold of P2, and the share asked for is drawn.
func TestShareOfSensitiveJobs(t *testing.T) {
	t.Parallel()
	program := func(tolerated float64) *truth.Application {
		return &truth.Application{Cores: 1, Isolated: []float64{1}, Phases: []truth.Phase{{Share: 1, Response: []truth.Curve{truth.Planted(tolerated, 0.1)}, Pressure: []float64{0}}}}
	}
	pool := []*truth.Application{program(10), program(70), program(15), program(90)}
	random := newTestRandom()
	for _, want := range []float64{0, 0.3, 1} {
		n := 0
		const draws = 4000
		for range draws {
			if isSensitive(pick(pool, &want, random)) {
				n++
			}
		}
		if got := float64(n) / draws; got < want-0.03 || got > want+0.03 {
			t.Errorf("a share of %g is sensitive, want %g", got, want)
		}
	}
}

func newTestRandom() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
