package report

import (
	"math"

	"github.com/nomad-placer/nomad-placer/placer/predict/deadline"
	"github.com/nomad-placer/nomad-placer/placer/sim"
)

// deadlineDetails are the metrics of jobs with deadlines (PP-RTTE, equations 14 to
// 16). Runs without any have none of them.
func deadlineDetails() []Metric {
	of := func(f func(*run) float64) func(*run) float64 {
		return func(r *run) float64 {
			if r.Work == 0 && r.Counters.Late == 0 {
				return math.NaN()
			}
			return f(r)
		}
	}
	return []Metric{
		{"on_time", "%", "jobs that ended before their deadline", of(onTime)},
		{"power_efficiency", "%", "useful work per watt of the nodes that run something, relative to full load", of(powerEfficiency)},
		{"working_efficiency", "%", "the same times the jobs that ended before their deadline", of(func(r *run) float64 { return onTime(r) / 100 * powerEfficiency(r) })},
		{"work_per_joule", "Mflop/J", "work of the jobs that ended in time, by the energy of nodes that run something; a core is 10 Mflop/s", of(workPerJoule)},
		{"energy", "MJ", "energy of nodes that run something", of(func(r *run) float64 { return joules(r) / 1e6 })},
		{"units_per_node", "", "mean allocations on a node that runs something", of(unitsPerNode)},
		{"true_slowdown", "%", "mean slowdown of the tasks that are estimated", of(func(r *run) float64 { return 100 * r.Slowdown.True / float64(r.Slowdown.Windows) })},
		{"estimated_slowdown", "%", "mean of its estimate", of(func(r *run) float64 { return 100 * r.Slowdown.Estimated / float64(r.Slowdown.Windows) })},
		{"slowdown_error", "%", "mean distance between the two", of(func(r *run) float64 { return 100 * r.Slowdown.Error / float64(r.Slowdown.Windows) })},
		{"migrations", "", "moves of tasks", of(func(r *run) float64 { return float64(r.Counters.Migrations) })},
		{"cap_changes", "", "changes of caps of tasks that stay where they are", of(func(r *run) float64 { return float64(r.Counters.Resizes) })},
	}
}

func onTime(r *run) float64 { return outcomes(r, sim.Done) }

// eachActive calls f with the load of every node that ran something, sample by sample.
func eachActive(r *run, f func(load float64), after func(active int)) {
	for _, row := range r.Heat {
		active := 0
		for _, load := range row {
			if load > 0 {
				active++
				f(float64(load))
			}
		}
		after(active)
	}
}

func powerEfficiency(r *run) float64 {
	total, samples, sum := 0.0, 0, 0.0
	eachActive(r, func(load float64) { sum += deadline.PaperPower.Efficiency(load) }, func(active int) {
		if active > 0 {
			total, samples = total+sum/float64(active), samples+1
		}
		sum = 0
	})
	return 100 * total / float64(samples)
}

func joules(r *run) float64 {
	if len(r.Samples) < 2 {
		return math.NaN()
	}
	seconds := (r.Samples[1].At - r.Samples[0].At).Seconds()
	watts := 0.0
	eachActive(r, func(load float64) { watts += deadline.PaperPower.Watts(load) }, func(int) {})
	return watts * seconds
}

// megaflopPerCore is what a core is counted as: 800 Mflop/s are 80 cores.
const megaflopPerCore = 10

// workPerJoule: work is counted in MHz times seconds, a core is a thousand of them.
func workPerJoule(r *run) float64 { return r.Work / 1000 * megaflopPerCore / joules(r) }

func unitsPerNode(r *run) float64 {
	sum, samples, at := 0.0, 0, 0
	eachActive(r, func(float64) {}, func(active int) {
		if active > 0 {
			sum, samples = sum+float64(r.Samples[at].Units)/float64(active), samples+1
		}
		at++
	})
	return sum / float64(samples)
}
