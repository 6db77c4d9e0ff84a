//go:build e2e

package placement

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	placer "github.com/nomad-placer/nomad-placer/placer/cluster"
)

// listens finds the address in the proxy's first log line.
var listens = regexp.MustCompile(`proxy started.* listen=(\S+)`)

// startProxy runs the shipped proxy before the cluster until the test ends.
func startProxy(t *testing.T) (address string) {
	t.Helper()
	return proxyBefore(t, shared.Env(os.Environ()))
}

// proxyBefore runs the shipped proxy in an environment until the test ends.
func proxyBefore(t testing.TB, env []string, options ...string) (address string) {
	t.Helper()
	// Not the test's context: that ends before the cleanup below.
	cmd := exec.Command(filepath.Join(binDir, "nomad-placer"), append([]string{"proxy", "-listen", "127.0.0.1:0"}, options...)...)
	cmd.Env = env
	output, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(output)
	lines.Scan()
	text := lines.Text()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(io.Discard, output) // until it ends
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		<-done
		var exit *exec.ExitError
		if err := cmd.Wait(); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == exitInterrupted) {
			t.Errorf("the proxy ended with %v", err)
		}
	})
	found := listens.FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("the proxy says %q", text)
	}
	return "http://" + found[1]
}

// exitInterrupted is the command line's exit code after an interrupt.
const exitInterrupted = 130

// stock runs the stock command line against an address.
func stock(ctx context.Context, t *testing.T, address string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(ctx, shared.Nomad(), args...)
	cmd.Env = append(shared.Env(os.Environ()), "NOMAD_ADDR="+address, "NOMAD_CLI_NO_COLOR=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// toldProgress is a line of `nomad job run` about a held job.
var toldProgress = regexp.MustCompile(`Evaluation status changed: .* -> "nomad-placer: `)

const proxiedJob = `
job "%s" {
  type = "service"
  group "main" {
    restart {
      attempts = 0
      mode     = "fail"
    }
    update {
      min_healthy_time = "1s"
    }
    %s
    task "main" {
      driver      = "raw_exec"
      kill_signal = "SIGKILL"
      config {
        command = "/bin/bash"
        args    = ["-c", "i=0; while true; do i=$((i+1)); echo \"units $i\"; sleep 0.01; done", %q]
      }
      resources {
        cpu    = 100
        memory = 32
      }
    }
  }
}
`

// jobFileOf writes a job whose task says what it is for: jobs of the same purpose have
// the same content, and share a profile.
func jobFileOf(t *testing.T, id, purpose, more string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), id+".nomad.hcl")
	if err := os.WriteFile(path, []byte(fmt.Sprintf(proxiedJob, id, more, purpose)), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Through the proxy, the stock command line needs nothing of ours: a job with
// targets is held, profiled and placed while `nomad job run` tells the progress;
// it then follows the released version and ends with 0; planning it again changes nothing.
func TestTheStockCommandLineThroughTheProxy(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	address := startProxy(t)
	const id = "proxied"
	t.Cleanup(func() {
		if err := shared.Purge(context.Background(), id); err != nil {
			t.Error(err)
		}
	})
	file := jobFileOf(t, id, "proxy", "meta {\n performance = <<EOT\n"+countingBlock+"\nEOT\n}")
	out, err := stock(ctx, t, address, "job", "run", file)
	if err != nil {
		t.Fatalf("nomad job run: %v\n%s", err, out)
	}
	for _, want := range []string{"nomad-placer: ", `finished with status "complete"`} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if !toldProgress.MatchString(out) {
		t.Errorf("no progress is told in\n%s", out)
	}
	job := released(ctx, t, id, time.Minute)
	if d, err := book(t).Decision(ctx, workload(id)); err != nil || d.Outcome != "placed" {
		t.Errorf("decision %+v, %v", d, err)
	}
	if *job.NodePool == "placer" {
		t.Error("the job is still held")
	}
	knownJob(ctx, t, address)
	// Exit code 0 of a plan: no allocation is created or destroyed.
	if out, err := stock(ctx, t, address, "job", "plan", file); err != nil || regexp.MustCompile(`\d+ (create|destroy)`).MatchString(out) {
		t.Errorf("nomad job plan: %v\n%s", err, out)
	}
}

// knownJob submits a job of the same content under another name: nothing has to be
// measured, so it is registered once, as it runs, and the record of the decision follows.
func knownJob(ctx context.Context, t *testing.T, address string) {
	t.Helper()
	const id = "proxied-known"
	t.Cleanup(func() {
		if err := shared.Purge(context.Background(), id); err != nil {
			t.Error(err)
		}
	})
	out, err := stock(ctx, t, address, "job", "run", jobFileOf(t, id, "proxy", "meta {\n performance = <<EOT\n"+countingBlock+"\nEOT\n}"))
	if err != nil || !strings.Contains(out, `finished with status "complete"`) || toldProgress.MatchString(out) {
		t.Errorf("nomad job run: %v\n%s", err, out)
	}
	job := released(ctx, t, id, time.Minute)
	if *job.Version != 0 || *job.NodePool == "placer" {
		t.Errorf("version %d in pool %s", *job.Version, *job.NodePool)
	}
	d, err := book(t).Decision(ctx, workload(id))
	if err != nil || d.Outcome != "placed" || d.JobVersion != 0 || len(d.Candidates) == 0 {
		t.Fatalf("decision %+v, %v", d, err)
	}
	allocations, _, err := shared.API().Jobs().Allocations(id, true, nil)
	if err != nil || len(allocations) != 1 || allocations[0].NodeID != string(d.Candidates[0].Node) {
		t.Errorf("allocations %v, decided %s, %v", allocations, d.Candidates[0].Node, err)
	}
	if e, err := book(t).Evaluation(ctx, d.Workload.JobID()); !errors.Is(err, placer.ErrNoRecord) {
		t.Errorf("a job that waited for nothing has an evaluation: %+v, %v", e, err)
	}
	if !slices.ContainsFunc(job.Constraints, func(c *api.Constraint) bool {
		return c.Operand == "regexp" && strings.HasPrefix(c.RTarget, "^("+placerMark+"|") && strings.Contains(c.RTarget, string(d.Candidates[0].Node)[:8])
	}) {
		t.Errorf("no constraint of the job names the node: %v", job.Constraints)
	}
}

// A job without targets is none of ours, and a wrong block is refused before
// anything is registered.
func TestOtherJobsThroughTheProxy(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	address := startProxy(t)
	const id = "unconcerned"
	t.Cleanup(func() {
		if err := shared.Purge(context.Background(), id); err != nil {
			t.Error(err)
		}
	})
	out, err := stock(ctx, t, address, "job", "run", jobFileOf(t, id, "proxy", ""))
	if err != nil || strings.Contains(out, "nomad-placer") {
		t.Errorf("nomad job run: %v\n%s", err, out)
	}
	checkExec(ctx, t, address, id)
	wrong := jobFileOf(t, "wrong", "proxy", "meta {\n performance = <<EOT\ntarget {\n  rat = 50\n}\nEOT\n}")
	out, err = stock(ctx, t, address, "job", "run", wrong)
	if err == nil || !strings.Contains(out, "rate") || !strings.Contains(out, "2:3") {
		t.Errorf("nomad job run of a wrong block: %v\n%s", err, out)
	}
	if _, _, err := shared.API().Jobs().Info("wrong", nil); err == nil {
		t.Error("the wrong job was registered")
	}
	checkPassesThrough(ctx, t, address)
}

// checkExec runs a command in an allocation, over a web socket.
func checkExec(ctx context.Context, t *testing.T, address, id string) {
	t.Helper()
	if err := shared.WaitRunning(ctx, id); err != nil {
		t.Fatal(err)
	}
	allocations, _, err := shared.API().Jobs().Allocations(id, false, nil)
	if err != nil || len(allocations) == 0 {
		t.Fatalf("allocations %v, %v", allocations, err)
	}
	out, err := stock(ctx, t, address, "alloc", "exec", "-i=false", "-t=false", "-task", "main", allocations[0].ID, "/bin/echo", "through the proxy")
	if err != nil || !strings.Contains(out, "through the proxy") {
		t.Errorf("nomad alloc exec: %v\n%s", err, out)
	}
}

// checkPassesThrough looks at the UI and the event stream through the proxy.
func checkPassesThrough(ctx context.Context, t *testing.T, address string) {
	t.Helper()
	for path, want := range map[string]string{"/ui/": "<html", "/v1/event/stream?index=0": "{"} {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, address+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Nomad-Token", shared.Token())
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		buffer := make([]byte, 512)
		n, _ := io.ReadAtLeast(answer.Body, buffer, 1)
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK || !strings.Contains(strings.ToLower(string(buffer[:n])), want) {
			t.Errorf("%s: %s %q", path, answer.Status, buffer[:n])
		}
	}
}
