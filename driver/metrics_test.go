package driver

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/nomad-placer/nomad-placer/driver/protocol"
)

// A running kernel has its series, and takes them along when it ends. The
// socket of a plugin that was killed is in no one's way.
func TestMetrics(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	dir := t.TempDir()
	socket := filepath.Join(dir, "metrics.sock")
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	if err := stale.Close(); err != nil {
		t.Fatal(err)
	}
	a := startPlugin(t, dir, func(c m) { c["metrics_address"] = socket })
	if got := scrape(ctx, t, socket); !strings.Contains(got, "\nibench_tasks 0\n") || strings.Contains(got, "ibench_kernel_") {
		t.Errorf("without a task:\n%s", got)
	}
	task := newTask(t, quiet())
	a.start(ctx, t, task)
	a.exec(ctx, t, task.GetId(), "set", "5")
	labels := `{alloc_id="` + task.GetAllocId() + `",kernel="0",source="int",task="noise"}`
	for _, name := range []string{"intensity_percent", "paused", "resident_bytes", "busy_seconds_total", "achieved_percent", "speed_ops_per_second"} {
		// The last two are known when the kernel has run for a moment.
		for !strings.Contains(scrape(ctx, t, socket), "\nibench_kernel_"+name+labels+" ") {
			if ctx.Err() != nil {
				t.Fatalf("no %s%s in\n%s", name, labels, scrape(t.Context(), t, socket))
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	if got := scrape(ctx, t, socket); !strings.Contains(got, "ibench_kernel_intensity_percent"+labels+" 5\n") || !strings.Contains(got, `unit="`) {
		t.Errorf("metrics:\n%s", got)
	}
	if _, err := a.driver.StopTask(ctx, &protocol.StopTaskRequest{TaskId: task.GetId(), Timeout: durationpb.New(20 * time.Second)}); err != nil {
		t.Fatal(err)
	}
	if got := scrape(ctx, t, socket); strings.Contains(got, "ibench_kernel_") {
		t.Errorf("an ended task still has series:\n%s", got)
	}
	a.clean(ctx, t, task, dir)
	a.plugin.exportMetrics("")
	for {
		if _, err := os.Stat(socket); os.IsNotExist(err) {
			break
		}
		if ctx.Err() != nil {
			t.Fatal("the socket is left")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// An address in use is tried again, and said.
func TestMetricsAddressInUse(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if l, err := listenMetrics(taken.Addr().String()); err == nil {
		l.Close()
		t.Error("listened twice")
	}
}

// scrape reads the metrics; the server takes a moment to listen.
func scrape(ctx context.Context, t *testing.T, socket string) string {
	t.Helper()
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://plugin/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := client.Do(request)
		if err == nil {
			defer r.Body.Close()
			text, err := io.ReadAll(r.Body)
			if err != nil || r.StatusCode != http.StatusOK {
				t.Fatalf("status %d, %v", r.StatusCode, err)
			}
			return string(text)
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
