package driver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/nomad-placer/nomad-placer/driver/executor"
)

// The metrics of the kernels that run at the moment of a scrape. A number that
// is not known has no sample, and a task that is gone has none: there are never
// more series than kernels.
var (
	kernelLabels = []string{"alloc_id", "task", "kernel", "source"}

	tasksMetric = prometheus.NewDesc("ibench_tasks",
		"Tasks of the driver that run.", nil, nil)
	unreadMetric = prometheus.NewDesc("ibench_tasks_unreadable",
		"Running tasks that did not answer this scrape.", nil, nil)
	intensityMetric = prometheus.NewDesc("ibench_kernel_intensity_percent",
		"Intensity demanded of the kernel.", kernelLabels, nil)
	achievedMetric = prometheus.NewDesc("ibench_kernel_achieved_percent",
		"Intensity reached since the scrape before: the demanded one times the share of the demanded work done.", kernelLabels, nil)
	pausedMetric = prometheus.NewDesc("ibench_kernel_paused",
		"1 while the kernel is paused.", kernelLabels, nil)
	opsMetric = prometheus.NewDesc("ibench_kernel_ops_total",
		"Operations done, in the unit of the source.", append(kernelLabels[:len(kernelLabels):len(kernelLabels)], "unit"), nil)
	demandMetric = prometheus.NewDesc("ibench_kernel_demanded_ops_total",
		"Operations the intensity asked for, in the unit of the source.", append(kernelLabels[:len(kernelLabels):len(kernelLabels)], "unit"), nil)
	busyMetric = prometheus.NewDesc("ibench_kernel_busy_seconds_total",
		"Time the kernel's threads were at work.", kernelLabels, nil)
	speedMetric = prometheus.NewDesc("ibench_kernel_speed_ops_per_second",
		"The kernel's own performance since the scrape before: it falls when the workload takes the resource.", kernelLabels, nil)
	residentMetric = prometheus.NewDesc("ibench_kernel_resident_bytes",
		"Memory the kernel occupies by intent.", kernelLabels, nil)
)

// collector reads the kernels of all tasks for one scrape.
type collector struct{ driver *Driver }

// Describe lists the metrics.
func (c collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		tasksMetric, unreadMetric, intensityMetric, achievedMetric, pausedMetric,
		opsMetric, demandMetric, busyMetric, speedMetric, residentMetric,
	} {
		ch <- d
	}
}

// scrapeTimeout bounds the question to one task.
const scrapeTimeout = time.Second

// Collect asks all tasks at once.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	running := c.driver.running()
	answers := make([]*executor.Response, len(running))
	var wait sync.WaitGroup
	for i, h := range running {
		wait.Go(func() {
			ctx, cancel := context.WithTimeout(c.driver.ctx, scrapeTimeout)
			defer cancel()
			if r, err := executor.Call(ctx, h.socket(), executor.Request{Command: executor.CommandStats}); err == nil {
				answers[i] = &r
			}
		})
	}
	wait.Wait()
	unread := 0
	for i, h := range running {
		if answers[i] == nil {
			unread++
			continue
		}
		for j, k := range answers[i].Kernels {
			collectKernel(ch, k, h.task.GetAllocId(), h.task.GetName(), strconv.Itoa(j), string(k.Source))
		}
	}
	ch <- gauge(tasksMetric, float64(len(running)))
	ch <- gauge(unreadMetric, float64(unread))
}

func collectKernel(ch chan<- prometheus.Metric, k executor.KernelStatus, labels ...string) {
	ch <- gauge(intensityMetric, k.IntensityPct, labels...)
	paused := 0.0
	if k.Paused {
		paused = 1
	}
	ch <- gauge(pausedMetric, paused, labels...)
	if k.AchievedPercent != nil {
		ch <- gauge(achievedMetric, *k.AchievedPercent, labels...)
	}
	if k.SpeedOpsPerSec != nil {
		ch <- gauge(speedMetric, *k.SpeedOpsPerSec, labels...)
	}
	ch <- gauge(residentMetric, float64(k.ResidentBytes), labels...)
	ch <- counter(busyMetric, k.BusyNanoseconds/1e9, labels...)
	withUnit := append(labels[:len(labels):len(labels)], k.Unit)
	ch <- counter(opsMetric, k.Ops, withUnit...)
	ch <- counter(demandMetric, k.DemandOps, withUnit...)
}

func gauge(d *prometheus.Desc, v float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func counter(d *prometheus.Desc, v float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
}

// listenRetry is the time between two tries to get the address of the metrics:
// the plugin of an agent that is just ending may still hold it.
const listenRetry = 2 * time.Second

// serveMetrics serves the metrics at the address until ctx ends.
func (d *Driver) serveMetrics(ctx context.Context, address string) {
	var listener net.Listener
	for {
		var err error
		if listener, err = listenMetrics(address); err == nil {
			break
		}
		d.logger.Error("metrics are not served; trying again", "address", address, "error", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(listenRetry):
		}
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector{d})
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // scrapes under way are not worth waiting for
	defer stop()
	d.logger.Info("serving metrics", "address", listener.Addr().String())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		d.logger.Error("metrics are no longer served", "error", err)
	}
}

// listenMetrics listens on host:port, or on the unix socket of an absolute path.
// A socket without a process behind it is left from a killed plugin and replaced.
func listenMetrics(address string) (net.Listener, error) {
	if !filepath.IsAbs(address) {
		return net.Listen("tcp", address)
	}
	if conn, err := net.Dial("unix", address); err == nil {
		_ = conn.Close() // only whether a process listens counts
		return nil, fmt.Errorf("another process listens on %s", address)
	}
	if info, err := os.Lstat(address); err == nil && info.Mode()&os.ModeSocket != 0 {
		if err := os.Remove(address); err != nil {
			return nil, err
		}
	}
	return net.Listen("unix", address)
}

// running lists the tasks that have not ended.
func (d *Driver) running() []*handle {
	var out []*handle
	for _, id := range d.Tasks() {
		if h, err := d.task(id); err == nil && h.running() {
			out = append(out, h)
		}
	}
	return out
}
