package figures

import "github.com/nomad-placer/nomad-placer/placer/sim/report"

// Quantity is a column: something that a row has, and what was published of it.
type Quantity struct {
	Name      string
	Unit      string
	Published published

	of    func(r *results, a At) (report.Figure, bool)
	needs []string // metrics
}

func (q Quantity) from(p published) Quantity { q.Published = p; return q }

func (q Quantity) named(name string) Quantity { q.Name = name; return q }

// metric is one of report.Metrics or Details.
func metric(name, unit, metric string) Quantity {
	return Quantity{Name: name, Unit: unit, needs: []string{metric}, of: func(r *results, a At) (report.Figure, bool) { return r.figure(a, metric) }}
}

// perSeed is a quantity that is computed within each seed from metrics of rows.
func perSeed(name, unit string, rows func(a At) []seedMetric, compute func(v []float64) float64) Quantity {
	var needs []string
	for _, m := range rows(At{}) {
		needs = append(needs, m.metric)
	}
	return Quantity{Name: name, Unit: unit, needs: needs, of: func(r *results, a At) (report.Figure, bool) {
		var columns [][]float64
		for _, m := range rows(a) {
			values, ok := r.seeds(m.at, m.metric)
			if !ok {
				return report.Figure{}, false
			}
			columns = append(columns, values)
		}
		out := make([]float64, len(columns[0]))
		for seed := range out {
			var v []float64
			for _, c := range columns {
				if seed >= len(c) {
					return report.Figure{}, false
				}
				v = append(v, c[seed])
			}
			if out[seed] = compute(v); !finite(out[seed]) {
				return report.Figure{}, false
			}
		}
		return report.Interval(name, out), true
	}}
}

// seedMetric is a metric of a row.
type seedMetric struct {
	at     At
	metric string
}

// against is how much more of a metric a row has than another policy of the same
// scenario and load, percent; the other row itself has none.
func against(base, name, metric string) Quantity {
	q := perSeed(name, "%", func(a At) []seedMetric {
		other := a
		other.Policy = base
		return []seedMetric{{a, metric}, {other, metric}}
	}, func(v []float64) float64 { return 100 * (v[0]/v[1] - 1) })
	inner := q.of
	q.of = func(r *results, a At) (report.Figure, bool) {
		if a.Policy == base {
			return report.Figure{}, false
		}
		return inner(r, a)
	}
	return q
}

// ratio is how much more one metric of a row is than another, percent.
func ratio(name, metric, base string) Quantity {
	return perSeed(name, "%", func(a At) []seedMetric { return []seedMetric{{a, metric}, {a, base}} },
		func(v []float64) float64 { return 100 * (v[0]/v[1] - 1) })
}

// difference of two metrics of a row.
func difference(name, unit, metric, base string) Quantity {
	return perSeed(name, unit, func(a At) []seedMetric { return []seedMetric{{a, metric}, {a, base}} },
		func(v []float64) float64 { return v[0] - v[1] })
}

// rest is what a metric leaves of 100 %.
func rest(name, metric string) Quantity {
	return perSeed(name, "%", func(a At) []seedMetric { return []seedMetric{{a, metric}} },
		func(v []float64) float64 { return 100 - v[0] })
}

// thousandfold is a metric in seconds, in milliseconds.
func thousandfold(name, metric string) Quantity {
	return perSeed(name, "ms", func(a At) []seedMetric { return []seedMetric{{a, metric}} },
		func(v []float64) float64 { return 1000 * v[0] })
}

// The quantities that several experiments have.
var (
	qos              = metric("QoS kept", "%", "qos")
	qosWithWait      = metric("QoS kept from submission", "%", "qos_with_wait")
	within10         = metric("lost at most 10 %", "%", "within_10")
	within20         = metric("lost at most 20 %", "%", "within_20")
	meanPerformance  = metric("mean performance", "%", "performance")
	performanceWaits = metric("mean performance from submission", "%", "performance_with_wait")
	meanLoss         = rest("mean loss", "performance")
	bestPlatform     = metric("on a best configuration", "%", "best_configuration")
	undisturbed      = metric("lost at most 5 % to co-runners", "%", "undisturbed")
	killed           = metric("killed for memory", "%", "killed")
	used             = metric("cores busy", "%", "used")
	usedUntil90      = metric("cores busy until 90 % have ended", "%", "used_until_90")
	allocated        = metric("cores allocated", "%", "allocated")
	coreDeviation    = metric("allocated from required cores", "%", "core_deviation")
	makespan         = metric("until the last job ended", "s", "makespan")
	profilingShare   = metric("profiling, of a job's time", "%", "profiling_share")
	decidingShare    = metric("decisions, of a job's time", "%", "deciding_share")
	waitingShare     = metric("waiting, of a job's time", "%", "waiting_share")
)
