package probe

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"sort"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

const defaultMetricsPath = "/metrics"

// prometheusReader scrapes one endpoint.
type prometheusReader struct {
	spec    performance.ProbeSpec
	reach   Reach
	rate    selector
	latency *selector // nil without a latency histogram
}

func (p *prometheusReader) Read(ctx context.Context) (performance.Reading, error) {
	body, at, err := bounded(ctx, p.spec.Timeout, func(ctx context.Context) ([]byte, error) {
		return p.reach.HTTPGet(ctx, p.spec.Port, p.path())
	})
	if err != nil {
		return performance.Reading{}, p.wrap(err)
	}
	families, err := parseText(body)
	if err != nil {
		return performance.Reading{}, p.wrap(err)
	}
	work, counted, err := sumCounter(families, p.rate)
	if err != nil {
		return performance.Reading{}, p.wrap(err)
	}
	r := stamped(asReading(at, work, performance.ModeTotal), counted)
	if p.latency == nil {
		return r, nil
	}
	if r.Latency, err = sumHistogram(families, *p.latency); err != nil {
		return performance.Reading{}, p.wrap(err)
	}
	return r, nil
}

func (p *prometheusReader) path() string {
	if p.spec.Path == "" {
		return defaultMetricsPath
	}
	return p.spec.Path
}

func (p *prometheusReader) wrap(err error) error {
	return fmt.Errorf("port %s%s: %w", p.spec.Port, p.path(), err)
}

func parseText(body []byte) (families map[string]*dto.MetricFamily, err error) {
	if err := checkSize(body); err != nil {
		return nil, err
	}
	// The library panics at some texts that are none (0.67.5: testdata/fuzz), and any
	// workload may answer with one.
	defer func() {
		if p := recover(); p != nil {
			families, err = nil, fmt.Errorf("not Prometheus text (%s): %w", excerpt(fmt.Sprint(p)), ErrNoSuchData)
		}
	}()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	if families, err = parser.TextToMetricFamilies(bytes.NewReader(body)); err != nil {
		return nil, fmt.Errorf("not Prometheus text (%s): %w", excerpt(err.Error()), ErrNoSuchData)
	}
	return families, nil
}

// sumCounter adds up a counter's matching series. NAME_count of a histogram or
// summary NAME is a counter too. counted is the time stamp all of them carry;
// zero without one.
func sumCounter(families map[string]*dto.MetricFamily, s selector) (sum float64, counted time.Time, err error) {
	family, value, err := findCounter(families, s.name)
	if err != nil {
		return 0, counted, err
	}
	series := s.series(family)
	if len(series) == 0 {
		return 0, counted, fmt.Errorf("%s is there, but no series of it has the labels of the selector: %w", s.name, ErrNoSuchData)
	}
	for _, m := range series {
		v := value(m)
		if !usable(v) {
			return 0, counted, fmt.Errorf("%s is %v: %w", s.name, v, ErrBadNumber)
		}
		sum += v
	}
	if !usable(sum) {
		return 0, counted, fmt.Errorf("%s adds up to %v: %w", s.name, sum, ErrBadNumber)
	}
	return sum, commonStamp(series), nil
}

// commonStamp is the time stamp that every series carries: a sum of counts from
// different moments is exact at none.
func commonStamp(series []*dto.Metric) time.Time {
	for _, m := range series {
		if m.TimestampMs == nil || *m.TimestampMs != series[0].GetTimestampMs() {
			return time.Time{}
		}
	}
	return time.UnixMilli(series[0].GetTimestampMs())
}

func findCounter(families map[string]*dto.MetricFamily, name string) (*dto.MetricFamily, func(*dto.Metric) float64, error) {
	if f, ok := families[name]; ok {
		switch f.GetType() {
		case dto.MetricType_COUNTER:
			return f, func(m *dto.Metric) float64 { return m.GetCounter().GetValue() }, nil
		case dto.MetricType_UNTYPED:
			return f, func(m *dto.Metric) float64 { return m.GetUntyped().GetValue() }, nil
		}
		return nil, nil, fmt.Errorf("%s is a %s; a running total of work is needed (a counter, or the _count of a histogram): %w",
			name, strings.ToLower(f.GetType().String()), ErrNoSuchData)
	}
	if f, ok := families[strings.TrimSuffix(name, "_count")]; ok {
		switch f.GetType() {
		case dto.MetricType_HISTOGRAM:
			return f, func(m *dto.Metric) float64 { return float64(m.GetHistogram().GetSampleCount()) }, nil
		case dto.MetricType_SUMMARY:
			return f, func(m *dto.Metric) float64 { return float64(m.GetSummary().GetSampleCount()) }, nil
		}
	}
	return nil, nil, fmt.Errorf("no metric %s among %d: %w", name, len(families), ErrNoSuchData)
}

// sumHistogram adds up a histogram's matching series bucket by bucket.
func sumHistogram(families map[string]*dto.MetricFamily, s selector) ([]performance.Bucket, error) {
	name := strings.TrimSuffix(s.name, "_bucket")
	f, ok := families[name]
	if !ok {
		return nil, fmt.Errorf("no metric %s among %d: %w", name, len(families), ErrNoSuchData)
	}
	switch f.GetType() {
	case dto.MetricType_HISTOGRAM:
	case dto.MetricType_SUMMARY:
		return nil, fmt.Errorf("%s is a summary, whose quantiles cover the process's own past and cannot be read over a window; export it as a histogram: %w",
			name, ErrNoSuchData)
	default:
		return nil, fmt.Errorf("%s is a %s, not a histogram of seconds: %w", name, strings.ToLower(f.GetType().String()), ErrNoSuchData)
	}
	series := s.series(f)
	if len(series) == 0 {
		return nil, fmt.Errorf("%s is there, but no series of it has the labels of the selector: %w", name, ErrNoSuchData)
	}
	return addBuckets(name, series)
}

func addBuckets(name string, series []*dto.Metric) ([]performance.Bucket, error) {
	counts, seen := map[float64]float64{}, map[float64]int{}
	add := func(upper, count float64) {
		counts[upper] += count
		seen[upper]++
	}
	for _, m := range series {
		h := m.GetHistogram()
		if len(h.GetBucket()) == 0 {
			return nil, fmt.Errorf("%s has no buckets: %w", name, ErrNoSuchData)
		}
		infinite := false
		for _, b := range h.GetBucket() {
			add(b.GetUpperBound(), bucketCount(b))
			infinite = infinite || math.IsInf(b.GetUpperBound(), 1)
		}
		if !infinite {
			add(math.Inf(1), float64(h.GetSampleCount()))
		}
	}
	for _, n := range seen {
		if n != len(series) {
			return nil, fmt.Errorf("the series of %s have different buckets and cannot be added up; choose one with a label: %w", name, ErrNoSuchData)
		}
	}
	return sortBuckets(name, counts)
}

func bucketCount(b *dto.Bucket) float64 {
	if b.CumulativeCountFloat != nil {
		return b.GetCumulativeCountFloat()
	}
	return float64(b.GetCumulativeCount())
}

func sortBuckets(name string, counts map[float64]float64) ([]performance.Bucket, error) {
	var out []performance.Bucket
	for upper, count := range counts {
		if math.IsNaN(upper) || !usable(count) {
			return nil, fmt.Errorf("%s has a bucket le=%v with %v: %w", name, upper, count, ErrBadNumber)
		}
		out = append(out, performance.Bucket{UpperSeconds: upper, Count: count})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].UpperSeconds < out[j].UpperSeconds })
	for i := 1; i < len(out); i++ {
		if out[i].Count < out[i-1].Count {
			return nil, fmt.Errorf("the buckets of %s are not cumulative: %w", name, ErrBadNumber)
		}
	}
	return out, nil
}

func validatePrometheus(spec performance.ProbeSpec, target performance.Target) error {
	c := check("prometheus", spec, target).common().progressing().
		uses("port", "path", "rate", "latency").needs("port", "rate")
	for _, a := range [][2]string{{"rate", spec.Rate}, {"latency", spec.Latency}} {
		name, text := a[0], a[1]
		if text == "" {
			continue
		}
		if _, err := parseSelector(text); err != nil {
			c.fail(name, "%s", err)
		}
	}
	if target.Latency != nil && spec.Latency == "" {
		c.fail("latency", "missing; the target bounds a latency, so a histogram of it is needed")
	}
	if spec.Path != "" && !strings.HasPrefix(spec.Path, "/") {
		c.fail("path", "%q does not start with /", excerpt(spec.Path))
	}
	return c.err()
}

func newPrometheus(spec performance.ProbeSpec, reach Reach, _ string) (Probe, error) {
	rate, err := parseSelector(spec.Rate)
	if err != nil {
		return nil, &AttributeError{"prometheus", "rate", err.Error()}
	}
	p := &prometheusReader{spec: spec, reach: reach, rate: rate}
	if spec.Latency == "" {
		return p, nil
	}
	latency, err := parseSelector(spec.Latency)
	if err != nil {
		return nil, &AttributeError{"prometheus", "latency", err.Error()}
	}
	p.latency = &latency
	return p, nil
}

var prometheusProbe = Descriptor{
	Name:     "prometheus",
	Summary:  "scrapes a counter of work and a histogram of latencies over HTTP",
	Validate: validatePrometheus,
	New:      newPrometheus,
	Progress: true,
}
