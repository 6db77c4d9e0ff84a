package proxy_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/proxy"
)

// blockingFor is how long BenchmarkBlockingQueries watches the proxy's memory.
var blockingFor = flag.Duration("blocking-for", 10*time.Second, "how long the benchmark of blocking queries runs")

// upstreamKey makes the test program a proxy before the address of its value, so
// that its memory is measured without that of clients and Nomad.
const upstreamKey = "PLACER_PROXY_BENCH_UPSTREAM"

func TestMain(m *testing.M) {
	if upstream := os.Getenv(upstreamKey); upstream != "" {
		if err := serveAlone(upstream); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// serveAlone is a proxy in a process of its own, until its standard input ends.
func serveAlone(upstream string) error {
	u, err := url.Parse(upstream)
	if err != nil {
		return err
	}
	p, err := proxy.New(proxy.Options{Nomad: u, Placer: &placer{}, HoldPool: "placer", RunPool: "default", Clock: wallClock{}})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + listener.Addr().String())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	return http.Serve(listener, p)
}

// alone starts a proxy as a process and returns its address and process id.
func alone(b testing.TB, upstream string) (address string, pid int) {
	b.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^$")
	cmd.Env = append(os.Environ(), upstreamKey+"="+upstream)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(line), cmd.Process.Pid
}

// memoryMiB is what a process holds in memory (VmRSS), or the most that it held (VmHWM).
func memoryMiB(t testing.TB, pid int, field string) float64 {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib / 1024
		}
	}
	t.Fatal("no " + field)
	return 0
}

// benchJob is a registration of the size of a usual job, without a performance
// block.
func benchJob() []byte {
	task := map[string]any{"Name": "t", "Driver": "docker", "Config": map[string]any{"image": "example/web:1"}, "Env": map[string]any{}}
	for i := range 100 {
		task["Env"].(map[string]any)[fmt.Sprintf("VARIABLE_%d", i)] = strings.Repeat("v", 60)
	}
	data, err := json.Marshal(map[string]any{"Job": map[string]any{"ID": "web", "TaskGroups": []any{map[string]any{"Name": "g", "Count": 3, "Tasks": []any{task, task}}}}})
	if err != nil {
		panic(err)
	}
	return data
}

// benchUpstream answers reads with 8 KiB of JSON, and writes as Nomad does.
func benchUpstream(b *testing.B) string {
	b.Helper()
	list, err := json.Marshal(strings.Repeat("x", 8<<10))
	if err != nil {
		b.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			_, _ = w.Write(list)
			return
		}
		_, _ = io.WriteString(w, `{"EvalID":"e","JobModifyIndex":1,"Warnings":""}`)
	}))
	b.Cleanup(s.Close)
	return s.URL
}

// added reports what the proxy adds: each request is made directly and through it
// in turn, so that whatever else the machine does falls on both.
func added(b *testing.B, method, path string, body []byte) {
	b.Helper()
	direct := benchUpstream(b)
	through, _ := alone(b, direct)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}}
	once := func(base string) time.Duration {
		r, err := http.NewRequestWithContext(b.Context(), method, base+path, bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		answer, err := client.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		_, err = io.Copy(io.Discard, answer.Body)
		took := time.Since(start)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK {
			b.Fatalf("%s %v", answer.Status, err)
		}
		return took
	}
	for range 50 { // connections, and what is made at first use
		once(direct)
		once(through)
	}
	var without, with []time.Duration
	for b.Loop() {
		without = append(without, once(direct))
		with = append(with, once(through))
	}
	for _, q := range []struct {
		name  string
		share float64
	}{{"p50", 0.5}, {"p99", 0.99}} {
		b.ReportMetric(ms(quantile(without, q.share)), q.name+"-direct-ms")
		b.ReportMetric(ms(quantile(with, q.share)), q.name+"-proxy-ms")
		b.ReportMetric(ms(quantile(with, q.share)-quantile(without, q.share)), q.name+"-added-ms")
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func quantile(list []time.Duration, share float64) time.Duration {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}

func BenchmarkProxyRead(b *testing.B) { added(b, http.MethodGet, "/v1/jobs?prefix=x", nil) }

func BenchmarkProxyWrite(b *testing.B) { added(b, http.MethodPut, "/v1/jobs", benchJob()) }

// BenchmarkBlockingQueries keeps 1,000 blocking queries going through one proxy,
// each answered after five seconds and asked again, and reports the memory of the
// proxy's process: before them, and after each fifth of the time.
func BenchmarkBlockingQueries(b *testing.B) {
	const clients, wait = 1000, 5 * time.Second
	var waiting, answered, failed atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		waiting.Add(1)
		defer waiting.Add(-1)
		select {
		case <-time.After(wait):
		case <-r.Context().Done():
			return
		}
		w.Header().Set("X-Nomad-Index", "7")
		_, _ = w.Write(make([]byte, 2<<10))
	}))
	b.Cleanup(s.Close)
	address, pid := alone(b, s.URL)
	for b.Loop() {
		idle := memoryMiB(b, pid, "VmRSS")
		ctx, stop := context.WithCancel(b.Context())
		transport := &http.Transport{MaxIdleConnsPerHost: clients}
		var group sync.WaitGroup
		for range clients {
			group.Go(func() {
				for ctx.Err() == nil {
					if err := query(ctx, transport, address); err == nil {
						answered.Add(1)
					} else if ctx.Err() == nil {
						failed.Add(1)
					}
				}
			})
		}
		var most int64
		for fifth := 1; fifth <= 5; fifth++ {
			for end := time.Now().Add(*blockingFor / 5); time.Now().Before(end); time.Sleep(*blockingFor / 50) {
				most = max(most, waiting.Load())
			}
			b.ReportMetric(memoryMiB(b, pid, "VmRSS"), fmt.Sprintf("MiB-after-%d/5", fifth))
		}
		stop()
		group.Wait()
		transport.CloseIdleConnections()
		b.ReportMetric(float64(most), "at-once")
		b.ReportMetric(float64(answered.Load()), "answers")
		b.ReportMetric(float64(failed.Load()), "failed")
		b.ReportMetric(idle, "MiB-idle")
	}
}

func query(ctx context.Context, transport http.RoundTripper, address string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/v1/jobs?index=6&wait=5m", nil)
	if err != nil {
		return err
	}
	answer, err := transport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}
