//go:build e2e

package placement

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	placer "github.com/nomad-placer/nomad-placer/placer/cluster"
)

// BenchmarkPlacement profiles, places and releases a new workload each time,
// with two sources at the default length, and reports the whole profile and the
// time from its end to the rewritten job.
func BenchmarkPlacement(b *testing.B) {
	ctx := b.Context()
	block := strings.Replace(countingBlock, "seconds = 8\n  sources = [\"int\"]", "sources = [\"int\", \"llc_cap\"]", 1)
	var profiles, releases []float64
	for i := range b.N {
		id := fmt.Sprintf("bench-placement-%d-%d", b.N, i)
		register(b, held(id, block, fmt.Sprintf("%s # %s", counting, id)))
		e := waitReleased(ctx, b, id)
		d, err := book(b).Decision(ctx, workload(id))
		if err != nil || d.Outcome != placer.Placed {
			b.Fatalf("outcome %s (%s), %v", d.Outcome, d.Reason, err)
		}
		p, err := book(b).Profile(ctx, d.ProfileKey)
		if err != nil {
			b.Fatal(err)
		}
		releases = append(releases, e.StageAt.Sub(p.Taken).Seconds()*1e3)
		profiles = append(profiles, step(e, placer.StageProfile).Seconds())
		purge(b, id)
	}
	b.ReportMetric(median(profiles), "profile-s")
	b.ReportMetric(median(releases), "release-ms")
}

// holdPairs is how many pairs of submissions the hold overhead rests on.
const holdPairs = 5

// BenchmarkHold compares the time from submission to a running allocation of a
// workload whose profile is known with stock Nomad's own, in pairs.
func BenchmarkHold(b *testing.B) {
	ctx := b.Context()
	register(b, held("bench-hold-known", countingBlock, counting+" # hold"))
	waitReleased(ctx, b, "bench-hold-known")
	purge(b, "bench-hold-known")
	var overhead []float64
	for i := range holdPairs * b.N {
		stock := held(fmt.Sprintf("bench-stock-%d-%d", b.N, i), countingBlock, counting+" # hold", func(j *api.Job) {
			j.NodePool = ptr("default")
			j.TaskGroups[0].Meta = nil
		})
		gated := held(fmt.Sprintf("bench-gated-%d-%d", b.N, i), countingBlock, counting+" # hold")
		overhead = append(overhead, (timeToRun(ctx, b, gated) - timeToRun(ctx, b, stock)).Seconds())
	}
	b.ReportMetric(median(overhead), "overhead-s")
}

// timeToRun registers the job, waits for its allocation to run, and purges it.
func timeToRun(ctx context.Context, b *testing.B, job *api.Job) time.Duration {
	b.Helper()
	began := time.Now()
	register(b, job)
	if err := shared.WaitRunning(ctx, *job.ID); err != nil {
		b.Fatal(err)
	}
	took := time.Since(began)
	purge(b, *job.ID)
	return took
}

// idleFor is how long the driver's CPU time is watched.
const idleFor = 10 * time.Second

// BenchmarkIdleDriver watches the plugin processes of all clients while no
// kernel runs; the worst one counts.
func BenchmarkIdleDriver(b *testing.B) {
	pids := driverPIDs(b)
	var cpu, rss float64
	for b.Loop() {
		before := make([]time.Duration, len(pids))
		for i, pid := range pids {
			before[i] = cpuTime(b, pid)
		}
		time.Sleep(idleFor)
		for i, pid := range pids {
			cpu = max(cpu, 100*(cpuTime(b, pid)-before[i]).Seconds()/idleFor.Seconds())
			rss = max(rss, residentMiB(b, pid))
		}
	}
	b.ReportMetric(cpu, "%cpu")
	b.ReportMetric(rss, "MiB-rss")
}

func driverPIDs(b *testing.B) []int {
	b.Helper()
	var out []int
	for i := range shared.Clients() {
		pids, err := shared.Processes(i)
		if err != nil {
			b.Fatal(err)
		}
		for _, pid := range pids {
			exe, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(pid), "exe"))
			if err == nil && filepath.Base(exe) == "nomad-driver-ibench" {
				out = append(out, pid)
			}
		}
	}
	if len(out) == 0 {
		b.Fatal("no plugin process runs")
	}
	return out
}

// cpuTime is user and system time, fields 14 and 15 of /proc/PID/stat, in ticks
// of 10 ms.
func cpuTime(tb testing.TB, pid int) time.Duration {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		tb.Fatal(err)
	}
	text := string(data)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	var ticks int64
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			tb.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

func residentMiB(tb testing.TB, pid int) float64 {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		tb.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			if err != nil {
				tb.Fatal(err)
			}
			return kib / 1024
		}
	}
	tb.Fatalf("process %d has no VmRSS", pid)
	return 0
}

func register(tb testing.TB, job *api.Job) {
	tb.Helper()
	if _, _, err := shared.API().Jobs().Register(job, nil); err != nil {
		tb.Fatal(err)
	}
}

func purge(tb testing.TB, id string) {
	tb.Helper()
	if err := shared.Purge(context.Background(), id); err != nil {
		tb.Fatal(err)
	}
}

// waitReleased waits until the evaluation of the job has ended.
func waitReleased(ctx context.Context, tb testing.TB, id string) placer.Evaluation {
	tb.Helper()
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	for {
		e, err := book(tb).Evaluation(ctx, placer.JobID{Namespace: "default", ID: id})
		if err == nil && e.Stage.Ended() {
			return e
		}
		select {
		case <-ctx.Done():
			tb.Fatalf("%s was not released: %v %+v", id, err, e)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func step(e placer.Evaluation, s placer.Stage) time.Duration {
	var sum time.Duration
	for _, step := range e.Steps {
		if step.Name == string(s) {
			sum += step.Duration
		}
	}
	return sum
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	if n := len(v); n%2 == 0 {
		return (v[n/2-1] + v[n/2]) / 2
	}
	return v[len(v)/2]
}
