package figures

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/predict"
	"github.com/nomad-placer/nomad-placer/placer/sim/knowing"
	"github.com/nomad-placer/nomad-placer/placer/sim/report"
	"github.com/nomad-placer/nomad-placer/profiler/training/backgrounds"
)

// traconDrifting is the application that was measured in both environments.
const traconDrifting = "fio-randread"

// The length of the published run, and of the parts in which errors are told.
const (
	driftFirst = 500
	driftAfter = 640
	driftPart  = 160
)

var traconDrift = Experiment{
	ID: "tracon-7", Paper: "tracon", Where: "figure 7", Title: "The disk becomes another: errors until models are learnt anew",
	Compute: &Computation{
		Name: "drift", Source: "profiler/training/backgrounds", Metrics: []string{"before", "part0", "part1", "part2", "part3", "seen", "floor"}, run: driftTable,
	}, Headline: of("runtime, the disk changes"),
	Quantities: []Quantity{
		metric("before", "%", "before").from(published{thePaper: n(12)}),
		metric("after the change, before a rebuild", "%", "part0").from(published{thePaper: n(160)}),
		metric("after the first rebuild", "%", "part1"), metric("after the second", "%", "part2"),
		metric("after the third", "%", "part3").from(published{thePaper: about(10)}),
		metric("seen after", "points", "seen"), metric("floor, the mean beside each background", "%", "floor"),
	},
	Requires: []Requirement{
		atMost("errors of runtime return to 12 % within 480 points", metric("after the third", "%", "part3"), 12, of("runtime, the disk changes")),
		atMost("errors of IOPS return to 12 % within 480 points", metric("after the third", "%", "part3"), 12, of("iops, the disk changes")),
		compared("the change is seen within the window of errors", func(v []float64) bool { return v[0] >= 0 && v[0] <= 64 },
			uses(metric("seen after", "points", "seen"), of("runtime, the disk changes"))...),
		compared("runtime: rebuilding ends nearer to the floor than not rebuilding", func(v []float64) bool { return v[0] < v[1] },
			use{metric("after the third", "%", "part3"), of("runtime, the disk changes")}, use{metric("after the third", "%", "part3"), of("runtime, the disk changes, no rebuild")}),
	},
	Why: "Errors are medians over a part, of an application that reads 4 KiB at random: windows of a third of a second on a virtual disk that others use differ by half between repeats of the same background; the floor is the mean over the repeats of the background in question. Runtimes beside heavy backgrounds are tens of times longer, and least squares follows them where the median point is a light one: a fit to both environments at once is worse for it. The environment that follows is a limit of requests per slot, not a remote disk. ",
}

// driftTable plays 500 points of one environment and then 640 of the other, drawn by
// ten seeds from what was measured.
func driftTable(context.Context, environment) (*Table, error) {
	before, err := backgrounds.Load(backgrounds.Disk)
	if err != nil {
		return nil, err
	}
	after, err := backgrounds.Load(backgrounds.Throttled)
	if err != nil {
		return nil, err
	}
	after.Idle = before.Idle // a neighbour is described by what it does alone on the old disk
	const seeds = 10
	t := &Table{Seeds: seeds}
	for _, response := range responses {
		first, err := observationsOf(before, response)
		if err != nil {
			return nil, err
		}
		second, err := observationsOf(after, response)
		if err != nil {
			return nil, err
		}
		for i := range second {
			second[i].Own = first[0].Own // and so is the application
		}
		for _, run := range []struct {
			label string
			then  []predict.Observation
			every int
		}{{"the disk changes", second, 0}, {"the disk changes, no rebuild", second, 1 << 30}, {"the disk stays", first, 0}} {
			columns := map[string][]float64{}
			for seed := range uint64(seeds) {
				if err := driftRun(columns, first, run.then, run.every, seed); err != nil {
					return nil, fmt.Errorf("%s, %s: %w", response, run.label, err)
				}
			}
			figures := map[string]report.Figure{}
			for name, v := range columns {
				figures[name] = report.Interval(name, v)
			}
			t.Rows = append(t.Rows, TableRow{response + ", " + run.label, figures})
		}
	}
	return t, nil
}

// observationsOf are those of a response.
func observationsOf(set *backgrounds.Set, response string) ([]predict.Observation, error) {
	runtime, iops, err := knowing.Observations(set, traconDrifting, backgrounds.Characteristics.Volume)
	if err != nil {
		return nil, err
	}
	if response == "iops" {
		return iops, nil
	}
	return runtime, nil
}

func driftRun(columns map[string][]float64, first, then []predict.Observation, every int, seed uint64) error {
	random := rand.New(rand.NewPCG(seed, 7))
	draw := func(all []predict.Observation) predict.Observation { return all[random.IntN(len(all))] }
	var start []predict.Observation
	for range driftFirst {
		start = append(start, draw(first))
	}
	r, err := predict.NewRelearning(start, predict.RelearnOptions{Every: every, Bound: func(r predict.Regression) predict.Regression {
		return predict.Bounded{Regression: r, Low: 0, High: 1e12}
	}})
	if err != nil {
		return err
	}
	parts, seen, floors := make([][]float64, driftAfter/driftPart), -1.0, []float64(nil)
	var before []float64
	for range driftPart {
		o := draw(first)
		before = append(before, 100*predict.RelativeError(r.Predict(o.Own, o.Beside), o.Response))
	}
	for i := range driftAfter {
		o := draw(then)
		parts[i/driftPart] = append(parts[i/driftPart], 100*predict.RelativeError(r.Predict(o.Own, o.Beside), o.Response))
		floors = append(floors, 100*predict.RelativeError(meanBeside(then, o), o.Response))
		if r.Add(o) == predict.Drift && seen < 0 {
			seen = float64(i + 1)
		}
	}
	columns["before"] = append(columns["before"], medianOf(before))
	for i, part := range parts {
		name := fmt.Sprintf("part%d", i)
		columns[name] = append(columns[name], medianOf(part))
	}
	columns["seen"] = append(columns["seen"], seen)
	columns["floor"] = append(columns["floor"], medianOf(floors))
	return r.Err()
}

// meanBeside is the mean over the repeats beside the same background.
func meanBeside(all []predict.Observation, o predict.Observation) float64 {
	sum, n := 0.0, 0.0
	for _, other := range all {
		if slices.Equal(other.Beside, o.Beside) {
			sum, n = sum+other.Response, n+1
		}
	}
	if n == 0 {
		return o.Response
	}
	return sum / n
}
