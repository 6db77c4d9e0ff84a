package dashboard

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"github.com/nomad-placer/nomad-placer/placer/access"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// The metrics are read from the records at each scrape; an unknown number has
// no sample.
var (
	upMetric = prometheus.NewDesc("placer_records_readable",
		"1 if the records could be read for this scrape.", nil, nil)
	outcomeMetric = prometheus.NewDesc("placer_workloads",
		"Workloads by the outcome of their newest decision.", []string{"outcome"}, nil)
	evaluationMetric = prometheus.NewDesc("placer_evaluations",
		"Evaluations by stage.", []string{"stage"}, nil)
	refusedMetric = prometheus.NewDesc("placer_jobs_release_refused",
		"Held jobs that Nomad did not let this replica release when it tried last: they stay held until their user or the operator acts.", nil, nil)
	targetMetric = prometheus.NewDesc("placer_workload_target",
		"Target of the workload, in its unit.", workloadLabels, nil)
	predictedMetric = prometheus.NewDesc("placer_workload_predicted",
		"Performance predicted when the workload was placed, in its unit.", workloadLabels, nil)
	measuredMetric = prometheus.NewDesc("placer_workload_measured",
		"Performance measured last, in the target's unit.", workloadLabels, nil)
	headroomMetric = prometheus.NewDesc("placer_node_headroom_percent",
		"Least pressure any resident of the node tolerates: what a newcomer may exert, in points.", []string{"node", "source"}, nil)
	pressureMetric = prometheus.NewDesc("placer_node_pressure_percent",
		"Pressure the residents of the node exert together: what a newcomer must tolerate, in points.", []string{"node", "source"}, nil)
	cpuMetric = prometheus.NewDesc("placer_workload_cpu_megahertz",
		"CPU the workload's allocations take, as their control groups count it.", groupLabels, nil)
	memoryMetric = prometheus.NewDesc("placer_workload_memory_bytes",
		"Memory the workload's allocations take, as their control groups count it.", groupLabels, nil)

	actionMetric = prometheus.NewDesc("placer_adaptation_actions_total",
		"Changes to running jobs, by kind and by result (done, refused, failed), since this replica became leader.", []string{"kind", "result"}, nil)
	belowMetric = prometheus.NewDesc("placer_workload_below_target",
		"1 if the newest measurement of the workload is below its target, 0 if not.", groupLabels, nil)
	belowTimeMetric = prometheus.NewDesc("placer_workload_below_target_seconds_total",
		"Time the workload was measured below its target, since this replica became leader.", groupLabels, nil)
	belowCountMetric = prometheus.NewDesc("placer_workloads_below_target",
		"Workloads whose newest measurement is below their target.", nil, nil)
	observeMetric = prometheus.NewDesc("placer_observation_seconds",
		"Time an observation of a workload took, since this replica became leader.", nil, nil)
	observeErrorMetric = prometheus.NewDesc("placer_observation_errors_total",
		"Observations of a workload that failed as a whole, since this replica became leader.", nil, nil)
	unavailableMetric = prometheus.NewDesc("placer_observation_unavailable_total",
		"Observations of an allocation that gave no usable number, since this replica became leader.", nil, nil)
	refusedProfilesMetric = prometheus.NewDesc("placer_profiles_refused",
		"Stored profiles that are not used: damaged, or with numbers that cannot have been measured. Found when this replica became leader, and since.", nil, nil)

	groupLabels    = []string{"namespace", "job", "group"}
	workloadLabels = []string{"namespace", "job", "group", "unit"}
)

// collector turns records into samples for one scrape.
type collector struct {
	ctx     context.Context
	records Records
}

func (c collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		upMetric, outcomeMetric, evaluationMetric, refusedMetric, targetMetric, predictedMetric, measuredMetric, headroomMetric, pressureMetric,
		cpuMetric, memoryMetric, actionMetric, belowMetric, belowTimeMetric, belowCountMetric, observeMetric, observeErrorMetric, unavailableMetric, refusedProfilesMetric,
	} {
		ch <- d
	}
}

func (c collector) Collect(ch chan<- prometheus.Metric) {
	readable := 1.0
	for _, part := range []func(chan<- prometheus.Metric) error{c.decisions, c.evaluations, c.nodes} {
		if err := part(ch); err != nil {
			readable = 0
		}
	}
	ch <- gauge(upMetric, readable)
	c.adaptation(ch)
	if r, ok := c.records.(releasing); ok {
		ch <- gauge(refusedMetric, float64(r.RefusedReleases()))
	}
	if r, ok := c.records.(refusing); ok {
		ch <- gauge(refusedProfilesMetric, float64(r.RefusedProfiles()))
	}
}

// releasing are records of a replica that releases jobs.
type releasing interface{ RefusedReleases() int }

// refusing are records of whose profiles some may not be used.
type refusing interface{ RefusedProfiles() int }

// adapted are records that count what adaptation does. A replica that does not lead
// has none to count.
type adapted interface {
	AdaptationStats() cluster.AdaptationStats
}

func (c collector) adaptation(ch chan<- prometheus.Metric) {
	records, ok := c.records.(adapted)
	if !ok {
		return
	}
	stats := records.AdaptationStats()
	for a, n := range stats.Actions {
		ch <- counter(actionMetric, float64(n), a.Kind, a.Result)
	}
	below := 0
	for id, is := range stats.Below {
		v := 0.0
		if is {
			v = 1
			below++
		}
		ch <- gauge(belowMetric, v, id.Namespace, id.Job, id.Group)
	}
	for id, d := range stats.BelowTime {
		ch <- counter(belowTimeMetric, d.Seconds(), id.Namespace, id.Job, id.Group)
	}
	ch <- gauge(belowCountMetric, float64(below))
	ch <- prometheus.MustNewConstSummary(observeMetric, uint64(stats.Observed), stats.ObserveTime.Seconds(), nil)
	ch <- counter(observeErrorMetric, float64(stats.Failed))
	ch <- counter(unavailableMetric, float64(stats.Unavailable))
}

func counter(d *prometheus.Desc, v float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
}

func gauge(d *prometheus.Desc, v float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func (c collector) decisions(ch chan<- prometheus.Metric) error {
	list, err := c.records.Decisions(c.ctx)
	if err != nil {
		return err
	}
	outcomes := map[cluster.Outcome]int{cluster.Placed: 0, cluster.Stock: 0, cluster.Queued: 0}
	for _, d := range list {
		outcomes[d.Outcome]++
		if err := c.workload(ch, d); err != nil {
			return err
		}
	}
	for outcome, n := range outcomes {
		ch <- gauge(outcomeMetric, float64(n), string(outcome))
	}
	return nil
}

func (c collector) workload(ch chan<- prometheus.Metric, d cluster.Decision) error {
	id := d.Workload
	if v, unit, ok := d.Target.Value(); ok {
		ch <- gauge(targetMetric, v, id.Namespace, id.Job, id.Group, unit)
	}
	if e := wording.Expect(d.Predicted, d.Target); e.Known {
		ch <- gauge(predictedMetric, e.Value, id.Namespace, id.Job, id.Group, e.Unit)
	}
	observations, err := c.records.Observations(c.ctx, id)
	if err != nil {
		return err
	}
	if m := wording.Measure(d.Target, observations); m.Known {
		ch <- gauge(measuredMetric, m.Value, id.Namespace, id.Job, id.Group, m.Unit)
	}
	c.use(ch, id, observations)
	return nil
}

// use sums what the allocations of the newest window take, where all of them tell.
func (c collector) use(ch chan<- prometheus.Metric, id cluster.WorkloadID, observations []cluster.Observation) {
	newest := map[string]cluster.Observation{}
	var last time.Time
	for _, o := range observations {
		newest[o.Allocation] = o
		if o.At.After(last) {
			last = o.At
		}
	}
	cpu, memory, counted := 0.0, 0.0, 0
	for _, o := range newest {
		if last.Sub(o.At) > useAge {
			continue // it is gone
		}
		if o.Use == nil {
			return
		}
		counted++
		cpu, memory = cpu+o.Use.CPUMHz, memory+o.Use.MemoryBytes
	}
	if counted > 0 {
		ch <- gauge(cpuMetric, cpu, id.Namespace, id.Job, id.Group)
		ch <- gauge(memoryMetric, memory, id.Namespace, id.Job, id.Group)
	}
}

// useAge is how much older than the newest an observation of the same window may be.
const useAge = 10 * time.Second

func (c collector) evaluations(ch chan<- prometheus.Metric) error {
	list, err := c.records.Evaluations(c.ctx)
	if err != nil {
		return err
	}
	stages := map[cluster.Stage]int{}
	for _, e := range list {
		stages[e.Stage]++
	}
	for stage, n := range stages {
		ch <- gauge(evaluationMetric, float64(n), string(stage))
	}
	return nil
}

func (c collector) nodes(ch chan<- prometheus.Metric) error {
	list, err := c.records.Nodes(c.ctx)
	if err != nil {
		return err
	}
	for _, n := range list {
		for _, info := range interference.Sources() {
			if v, ok := n.Pressure.Tolerated[info.Source].Score.Percent(); ok {
				ch <- gauge(headroomMetric, v, nodeLabel(n.Node), string(info.Source))
			}
			if v, ok := n.Pressure.Caused[info.Source].Score.Percent(); ok {
				ch <- gauge(pressureMetric, v, nodeLabel(n.Node), string(info.Source))
			}
		}
	}
	return nil
}

// nodeLabel tells nodes apart even where two have one name.
func nodeLabel(n cluster.Node) string { return n.Name + "/" + shortID(n.ID) }

// MetricsFor says who may read /metrics, which tell of all namespaces.
type MetricsFor string

// The choices. Where Nomad's access control is off they are for everybody.
const (
	MetricsForLoopback MetricsFor = "loopback" // callers on this machine, and those with a token
	MetricsForToken    MetricsFor = "token"    // callers whose token may read the placer's Variables
	MetricsForAll      MetricsFor = "all"      // everybody who reaches the pages
)

// mayReadMetrics is nil for callers who may.
func (s *server) mayReadMetrics(r *http.Request) error {
	if s.options.Access == nil || s.options.Metrics == MetricsForAll || s.options.Metrics != MetricsForToken && onThisMachine(r) {
		return nil
	}
	caller, err := s.options.Access.Caller(r)
	if err != nil {
		return err
	}
	yes, err := caller.MayReadRecords(r.Context())
	if err == nil && !yes {
		err = errNoMetrics
	}
	return err
}

var errNoMetrics = &access.Refusal{Status: http.StatusForbidden,
	Message: "metrics tell of all namespaces: your token needs a policy that lets it read the placer's Variables"}

// onThisMachine: the caller is, and did not come through a proxy here.
func onThisMachine(r *http.Request) bool {
	for _, passed := range []string{"Forwarded", "X-Forwarded-For", "Via"} {
		if r.Header.Get(passed) != "" {
			return false
		}
	}
	address, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && address.Addr().Unmap().IsLoopback()
}

func (s *server) metrics(w http.ResponseWriter, r *http.Request) {
	if err := s.mayReadMetrics(r); err != nil {
		tellHow(w, err)
		http.Error(w, wording.Capital(err.Error()), statusOf(err))
		return
	}
	registry := prometheus.NewRegistry()
	for _, c := range []prometheus.Collector{collector{r.Context(), s.records}, stalls{s.options.Root}} {
		if err := registry.Register(c); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	families, err := prometheus.Gatherers{registry, prometheus.DefaultGatherer}.Gather()
	if err != nil {
		s.options.Log.Warn("some metrics could not be gathered", "error", err)
	}
	format := expfmt.NewFormat(expfmt.TypeTextPlain)
	w.Header().Set("Content-Type", string(format))
	encoder := expfmt.NewEncoder(w, format)
	for _, f := range families {
		if err := encoder.Encode(f); err != nil {
			return // the reader is gone
		}
	}
}
