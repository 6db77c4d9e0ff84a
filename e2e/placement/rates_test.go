//go:build e2e

package placement

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
)

// The measurement of what the proxy costs.
const (
	ratesPort   = 19500
	ratesJobs   = 50
	ratesRounds = 7
	ratesTime   = 1500 * time.Millisecond // of one side in one round
)

// BenchmarkProxyRates compares requests per second, and the 99th percentile of their
// times, through the proxy and without it, on a real server and in turn, so that whatever
// else the machine does falls on both. Each figure is the median of the rounds.
//
//	go test -tags e2e -run '^$' -bench ProxyRates -benchtime 1x ./e2e/placement
//
// of-direct is to be at least 0.6; p99-added-ms at most 3 for reads and 5 for writes.
func BenchmarkProxyRates(b *testing.B) {
	c, err := cluster.Start(b.Context(), cluster.Config{RunID: "bench-rates", BasePort: ratesPort, ServerOnly: true, LogLevel: "WARN"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := c.Stop(context.Background()); err != nil {
			b.Log(err)
		}
	})
	through := proxyBefore(b, c.Env(os.Environ()))
	job := ratesJob(b)
	for i := range ratesJobs {
		if _, err := request(http.MethodPut, c.Addr()+"/v1/jobs", bytes.ReplaceAll(job, []byte("rates"), fmt.Appendf(nil, "rates-%d", i))); err != nil {
			b.Fatal(err)
		}
	}
	for _, kind := range []struct {
		name, method, path string
		body               []byte
	}{{"read", http.MethodGet, "/v1/jobs", nil}, {"write", http.MethodPut, "/v1/jobs", job}} {
		for _, clients := range []int{1, 8} {
			b.Run(fmt.Sprintf("%s/clients-%d", kind.name, clients), func(b *testing.B) {
				for range b.N {
					report(b, func(base string) side { return load(b, clients, kind.method, base+kind.path, kind.body) }, c.Addr(), through)
				}
			})
		}
	}
}

// side is what one way of asking came to in one round.
type side struct{ perSecond, p99 float64 } // the latter in milliseconds

// report takes rounds of both sides.
func report(b *testing.B, round func(base string) side, direct, through string) {
	b.Helper()
	round(direct) // connections, and what is made at first use
	round(through)
	var ratios, added, rates []float64
	for range ratesRounds {
		d, t := round(direct), round(through)
		ratios, added, rates = append(ratios, t.perSecond/d.perSecond), append(added, t.p99-d.p99), append(rates, d.perSecond)
	}
	b.ReportMetric(median(rates), "direct/s")
	b.ReportMetric(median(ratios), "of-direct")
	b.ReportMetric(1/median(ratios), "direct-over-proxy")
	b.ReportMetric(slices.Min(ratios), "of-direct-least")
	b.ReportMetric(median(added), "p99-added-ms")
}

// load asks as fast as so many clients can, each on a connection of its own.
func load(b *testing.B, clients int, method, url string, body []byte) side {
	b.Helper()
	var mu sync.Mutex
	var times []time.Duration
	var group sync.WaitGroup
	start := time.Now()
	for range clients {
		group.Go(func() {
			var own []time.Duration
			for time.Since(start) < ratesTime {
				took, err := request(method, url, body)
				if err != nil {
					b.Error(err)
					return
				}
				own = append(own, took)
			}
			mu.Lock()
			defer mu.Unlock()
			times = append(times, own...)
		})
	}
	group.Wait()
	if len(times) == 0 {
		return side{}
	}
	slices.Sort(times)
	return side{float64(len(times)) / time.Since(start).Seconds(), float64(times[len(times)*99/100]) / float64(time.Millisecond)}
}

// plainClient asks for no compression, as a program that does not know of it.
var plainClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16, DisableCompression: true}}

func request(method, url string, body []byte) (took time.Duration, err error) {
	r, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	start := time.Now()
	answer, err := plainClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s %.200s", method, url, answer.Status, said)
	}
	return time.Since(start), err
}

// ratesJob is a job of 15 KiB without a performance block.
func ratesJob(b *testing.B) []byte {
	b.Helper()
	env := map[string]string{}
	for i := range 100 {
		env[fmt.Sprintf("VARIABLE_%d", i)] = strings.Repeat("v", 120)
	}
	job, err := json.Marshal(map[string]any{"Job": map[string]any{
		"ID": "rates", "Datacenters": []string{"*"}, "Type": "service",
		"TaskGroups": []any{map[string]any{"Name": "g", "Count": 1, "Tasks": []any{map[string]any{"Name": "t", "Driver": "raw_exec", "Config": map[string]any{"command": "/bin/true"}, "Env": env}}}},
	}})
	if err != nil {
		b.Fatal(err)
	}
	return job
}
