//go:build e2e

package storage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/rig"
	placer "github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/consolidate"
	"github.com/nomad-placer/nomad-placer/placer/disk"
	"github.com/nomad-placer/nomad-placer/profiler/blockio"
)

const (
	basePort = 17000
	binDir   = "../../bin"
	example  = "../../examples/storage/ingest.nomad.hcl"
	// diskMBPerSec is what the emulated disk of a node does: enough for one of the jobs, which
	// moves 25 MB/s, and not for two.
	diskMBPerSec = 40
	jobMBPerSec  = 25.
	// scratchBytes has room for the states of a model that is as deep as any of this load was,
	// and once more.
	scratchBytes = 1 << 29
	// played is how long load is recorded and measured.
	played = 8 * time.Second
	// replayed is how long a twin is played: its gaps are drawn one by one, and the I/Os of the
	// job come in bursts, so that the rate of 8 s was seen to differ by 20 % from what was asked.
	replayed = 40 * time.Second
)

func TestMain(m *testing.M) {
	cluster.Reexec()
	os.Exit(m.Run())
}

// start starts two nodes that are alike. Each says what its disk does; that it does no more is
// seen to later (limitDisks).
func start(ctx context.Context, t *testing.T) *rig.Rig {
	t.Helper()
	meta := map[string]string{disk.RatedKey: fmt.Sprint(diskMBPerSec)}
	r, err := rig.Start(ctx, rig.Options{
		Bin: binDir, BasePort: basePort, RunID: "storage",
		Clients: []cluster.Client{{Name: "left", Meta: meta}, {Name: "right", Meta: meta}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(context.Background()); err != nil {
			t.Error("stopping the cluster:", err)
		}
	})
	return r
}

func limitDisks(t *testing.T, r *rig.Rig) {
	t.Helper()
	for i := range r.Clients() {
		if err := r.LimitDisk(i, r.Dir(), diskMBPerSec*1e6); err != nil {
			t.Fatal(err)
		}
	}
}

// job is the example under another name, with what its twin says.
func job(t *testing.T, r *rig.Rig, name string, promise float64) rig.JobFile {
	t.Helper()
	text, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	changed := string(text)
	for old, with := range map[string]string{`job "ingest"`: fmt.Sprintf("job %q", name), "bandwidth = 26": fmt.Sprintf("bandwidth = %.1f", promise)} {
		if strings.Count(changed, old) != 1 {
			t.Fatalf("%s has %q %d times", example, old, strings.Count(changed, old))
		}
		changed = strings.Replace(changed, old, with, 1)
	}
	path := filepath.Join(t.TempDir(), name+".nomad.hcl")
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := r.ReadJobFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// command runs nomad-placer with -json and reads what it prints.
func command[T any](ctx context.Context, t *testing.T, r *rig.Rig, args ...string) T {
	t.Helper()
	cmd := exec.CommandContext(ctx, filepath.Join(binDir, "nomad-placer"), append(args, "-json")...)
	cmd.Env = r.Env(os.Environ())
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		t.Fatalf("nomad-placer %s: %v\n%s", strings.Join(args, " "), err, complaints.String())
	}
	var v T
	if err := json.Unmarshal(out.Bytes(), &v); err != nil {
		t.Fatalf("nomad-placer %s: %v\n%s", strings.Join(args, " "), err, out.String())
	}
	return v
}

// twin records what a job that runs asks of the disk, and fits its model.
func twin(ctx context.Context, t *testing.T, r *rig.Rig, id string) (path string, mbPerSec float64) {
	t.Helper()
	allocs, _, err := r.API().Jobs().Allocations(id, false, nil)
	if err != nil || len(allocs) != 1 {
		t.Fatalf("%s: %d allocations, %v", id, len(allocs), err)
	}
	trace, path := filepath.Join(t.TempDir(), "trace.txt"), filepath.Join(t.TempDir(), "ingest.twin")
	captured := command[struct {
		IOs  int64 `json:"ios"`
		Lost int64 `json:"lost"`
	}](ctx, t, r, "twin", "capture", "-alloc", allocs[0].ID, "-for", played.String(), "-o", trace, r.Dir())
	fitted := command[struct {
		Bandwidth []float64 `json:"bandwidth_mb_per_sec"`
	}](ctx, t, r, "twin", "fit", "-o", path, trace)
	if len(fitted.Bandwidth) != 1 || captured.Lost != 0 {
		t.Fatalf("captured %+v, fitted %+v", captured, fitted)
	}
	return path, fitted.Bandwidth[0]
}

// placed is where a job is, and what it does there.
type placed struct {
	node     string
	mbPerSec float64
}

// measure watches jobs for a time, all at once.
func measure(ctx context.Context, t *testing.T, r *rig.Rig, window time.Duration, jobs ...rig.JobFile) []placed {
	t.Helper()
	out, errs := make([]placed, len(jobs)), make([]error, len(jobs))
	var all sync.WaitGroup
	for i, f := range jobs {
		all.Go(func() { out[i], errs[i] = measureOne(ctx, r, window, f) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return out
}

func measureOne(ctx context.Context, r *rig.Rig, window time.Duration, f rig.JobFile) (placed, error) {
	nodes, err := r.Nodes(f.ID)
	if err != nil || len(nodes) != 1 {
		return placed{}, fmt.Errorf("%s is on %v: %w", f.ID, nodes, err)
	}
	seen, err := r.World.Observe(ctx, f.Workload(), window)
	if err != nil || len(seen) != 1 || seen[0].Unavailable != "" {
		return placed{}, fmt.Errorf("%s: %+v: %w", f.ID, seen, err)
	}
	return placed{nodes[0], seen[0].Measure.RatePerSec}, nil
}

func running(ctx context.Context, t *testing.T, r *rig.Rig, f rig.JobFile) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := r.WaitRunning(ctx, f.ID); err != nil {
		t.Fatal(err)
	}
}

// TestDiskBoundJobsArePlacedApart: what a job does to a disk is recorded, its twin is fitted and
// plays the same load; stock Nomad stacks two of the jobs onto one of two nodes, where neither
// does what it must, and the placer, which is told what the twin said, puts them apart.
func TestDiskBoundJobsArePlacedApart(t *testing.T) {
	ctx := t.Context()
	r := start(ctx, t)
	first, second := job(t, r, "ingest-1", jobMBPerSec), job(t, r, "ingest-2", jobMBPerSec)
	if err := r.SubmitStock(first); err != nil {
		t.Fatal(err)
	}
	running(ctx, t, r, first)
	model, promise := twin(ctx, t, r, first.ID)
	if math.Abs(promise/jobMBPerSec-1) > 0.15 {
		t.Errorf("the twin says %.1f MB/s, the job moves %.0f", promise, jobMBPerSec)
	}
	again := play(ctx, t, r, model)
	if math.Abs(again/promise-1) > 0.15 {
		t.Errorf("the twin plays %.1f MB/s and says %.1f", again, promise)
	}
	limitDisks(t, r)

	if err := r.SubmitStock(second); err != nil {
		t.Fatal(err)
	}
	running(ctx, t, r, second)
	stock := measure(ctx, t, r, played, first, second)
	for _, f := range []rig.JobFile{first, second} {
		if err := r.Purge(ctx, f.ID); err != nil {
			t.Fatal(err)
		}
	}

	if err := r.InstallPlacer(ctx); err != nil {
		t.Fatal(err)
	}
	first, second = job(t, r, "ingest-1", promise), job(t, r, "ingest-2", promise)
	for _, f := range []rig.JobFile{first, second} {
		var out bytes.Buffer
		if ok, err := r.SubmitPlacer(ctx, f, &out); err != nil || !ok {
			t.Fatalf("%s is left to stock Nomad (%t, %v):\n%s", f.ID, !ok, err, out.String())
		}
	}
	ours := measure(ctx, t, r, played, first, second)
	t.Logf("\n%s", table(promise, again, []string{first.ID, second.ID}, stock, ours))

	if stock[0].node != stock[1].node {
		t.Errorf("stock Nomad did not stack them: there is nothing to show")
	}
	if ours[0].node == ours[1].node {
		t.Errorf("the placer stacked them on %s", ours[0].node)
	}
	target, _, _ := first.Spec.Target.Value()
	for i := range stock {
		if stock[i].mbPerSec >= target {
			t.Errorf("stacked, %.1f MB/s reach the target", stock[i].mbPerSec)
		}
		if ours[i].mbPerSec < target {
			t.Errorf("apart, %.1f MB/s do not reach the target", ours[i].mbPerSec)
		}
	}
	checkRecords(ctx, t, r, second, ours[0].node)
	checkOutlook(ctx, t, r, first)
}

// play plays the twin outside of the nodes, whose disks are bounded.
func play(ctx context.Context, t *testing.T, r *rig.Rig, model string) float64 {
	t.Helper()
	scratch := filepath.Join(r.Dir(), "scratch")
	if err := os.Mkdir(scratch, 0o700); err != nil {
		t.Fatal(err)
	}
	report := command[struct {
		Steps []blockio.Step `json:"steps"`
	}](ctx, t, r, "twin", "play", "-dir", scratch, "-size", fmt.Sprint(scratchBytes), "-for", replayed.String(), model)
	if len(report.Steps) != 1 {
		t.Fatalf("%+v", report)
	}
	return report.Steps[0].BytesPerSec / 1e6
}

func table(promise, again float64, names []string, stock, ours []placed) string {
	var b strings.Builder
	fmt.Fprintf(&b, "disks of %d MB/s; twin of ingest-1: %.1f MB/s, played %.1f MB/s\n", diskMBPerSec, promise, again)
	fmt.Fprintf(&b, "%-10s  %-24s  %-24s\n", "job", "stock Nomad", "nomad-placer")
	for i, name := range names {
		fmt.Fprintf(&b, "%-10s  %-6s %8.1f MB/s      %-6s %8.1f MB/s\n", name, stock[i].node, stock[i].mbPerSec, ours[i].node, ours[i].mbPerSec)
	}
	return b.String()
}

// checkRecords wants the second decision to say what was promised, and why the first job's node
// was refused.
func checkRecords(ctx context.Context, t *testing.T, r *rig.Rig, f rig.JobFile, taken string) {
	t.Helper()
	explained := command[[]struct {
		Decision placer.Decision `json:"decision"`
	}](ctx, t, r, "job", "explain", f.ID)
	if len(explained) != 1 {
		t.Fatalf("%d decisions on %s", len(explained), f.ID)
	}
	d := explained[0].Decision
	if d.Disk == nil || !strings.Contains(d.Disk.Said, "its disk does 40 MB/s; 39.2 may be promised") {
		t.Errorf("the record says of disks: %+v", d.Disk)
	}
	refused := slices.IndexFunc(d.Rejected, func(x placer.Rejection) bool { return x.Name == taken })
	if refused < 0 || d.Rejected[refused].Reason != placer.RejectBandwidth {
		t.Fatalf("%s is not refused for its disk: %+v", taken, d.Rejected)
	}
	t.Logf("%s: %s", taken, d.Rejected[refused].Detail)
}

// checkOutlook wants no node short by what is promised, one by what is recorded, and the free
// bandwidth on the nodes.
func checkOutlook(ctx context.Context, t *testing.T, r *rig.Rig, f rig.JobFile) {
	t.Helper()
	for _, n := range command[[]consolidate.Outlook](ctx, t, r, "consolidate", "plan") {
		if n.Short || n.Problem != "" || n.Empty || n.MostMBPerSec != diskMBPerSec {
			t.Errorf("by promises: %+v", n)
		}
	}
	use := filepath.Join(t.TempDir(), "use.csv")
	recorded := command[struct {
		Rows int `json:"rows"`
	}](ctx, t, r, "consolidate", "record", "-sample", "1s", "-for", played.String(), "-o", use)
	if recorded.Rows < 2 {
		t.Fatalf("%d rows of two jobs were recorded", recorded.Rows)
	}
	for _, n := range command[[]consolidate.Outlook](ctx, t, r, "consolidate", "plan", use) {
		if n.Short || math.Abs(n.ExpectedMBPerSec/jobMBPerSec-1) > 0.15 {
			t.Errorf("by what was recorded: %+v", n)
		}
	}
	text, err := os.ReadFile(use)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("recorded:\n%s", text)
	// As if it were to move more than the disk does.
	row := fmt.Sprintf("%s\n%s,default,%s,main,x,60\n", consolidate.UsesHeader(), time.Now().UTC().Format(time.RFC3339), f.ID)
	if err := os.WriteFile(use, []byte(row), 0o600); err != nil {
		t.Fatal(err)
	}
	short := 0
	for _, n := range command[[]consolidate.Outlook](ctx, t, r, "consolidate", "plan", use) {
		if n.Short && n.ExpectedMBPerSec == 60 {
			short++
		}
	}
	if short != 1 {
		t.Errorf("%d nodes are short where one job is expected to use 60 of 40 MB/s", short)
	}
}
