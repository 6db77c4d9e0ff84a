//go:build e2e

package placement

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// page is what the browser saw.
type page struct {
	Text         string   `json:"text"`
	Errors       []string `json:"errors"`
	BrokenImages []string `json:"brokenImages"`
	Failure      string   `json:"failure"`
}

// TestTheDecisionIsExplained places a job and reads the explanation in each
// place a person may look: command line, Nomad UI, dashboard, scaling events,
// node metadata, placement tab.
func TestTheDecisionIsExplained(t *testing.T) {
	ctx := t.Context()
	submit(ctx, t, held("explained", countingBlock, counting+" # explained"))
	released(ctx, t, "explained", 2*time.Minute)
	if err := shared.WaitRunning(ctx, "explained"); err != nil {
		t.Fatal(err)
	}
	d, err := book(t).Decision(ctx, workload("explained"))
	if err != nil || len(d.Candidates) == 0 {
		t.Fatalf("decision %+v, %v", d, err)
	}
	nodes, err := shared.Nodes("explained")
	if err != nil || !slices.Contains(nodes, d.Candidates[0].Name) {
		t.Errorf("Nomad placed it on %v, the decision's first choice is %s (%v)", nodes, d.Candidates[0].Name, err)
	}
	t.Run("command line", func(t *testing.T) {
		var out bytes.Buffer
		if err := shared.Placer(ctx, &out, "job", "explain", "explained"); err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		wantAll(t, out.String(), "50 units/s", d.Candidates[0].Name, d.Policy, string(interference.Integer))
	})
	t.Run("json", func(t *testing.T) {
		var out bytes.Buffer
		if err := shared.Placer(ctx, &out, "job", "explain", "-json", "explained"); err != nil {
			t.Fatal(err)
		}
		if !json.Valid(out.Bytes()) {
			t.Errorf("not JSON: %.200s", out.String())
		}
	})
	t.Run("nomad ui", func(t *testing.T) {
		p := open(ctx, t, shared.Addr()+"/ui/jobs/explained@default", "Placement of main", shared.Token())
		wantAll(t, p.Text, "50 units/s", d.Candidates[0].Name, "predicted")
		if len(p.BrokenImages) > 0 {
			t.Errorf("images that do not load: %v", p.BrokenImages)
		}
	})
	t.Run("dashboard", func(t *testing.T) {
		leader, err := shared.World.Leader(ctx)
		if err != nil {
			t.Fatal(err)
		}
		address := leader.Address + "/job/default/explained/main"
		stranger := open(ctx, t, address, "Log in with a Nomad token", "")
		if strings.Contains(stranger.Text, "50 units/s") {
			t.Errorf("the page is shown without a login:\n%s", stranger.Text)
		}
		p := open(ctx, t, address, "50 units/s", shared.Token())
		wantAll(t, p.Text, d.Candidates[0].Name, d.Policy, "integer units")
		if len(p.Errors) > 0 {
			t.Errorf("console errors: %v", p.Errors)
		}
	})
	t.Run("scaling events", func(t *testing.T) {
		status, _, err := shared.API().Jobs().ScaleStatus("explained", nil)
		if err != nil {
			t.Fatal(err)
		}
		events := status.TaskGroups["main"].Events
		if len(events) == 0 || !strings.Contains(events[0].Message, d.Candidates[0].Name) {
			t.Errorf("no scaling event names the node: %+v", events)
		}
	})
	t.Run("node metadata", func(t *testing.T) { checkNodeMeta(ctx, t, string(d.Candidates[0].Node)) })
	t.Run("tab", func(t *testing.T) { checkTab(ctx, t, "explained", d) })
}

// checkNodeMeta waits for the node's headroom to reach the servers; Nomad takes
// up to ten seconds for it.
func checkNodeMeta(ctx context.Context, t *testing.T, node string) {
	t.Helper()
	eventually(ctx, t, "the node's metadata shows its headroom", 45*time.Second, func() bool {
		info, _, err := shared.API().Nodes().Info(node, nil)
		if err != nil {
			return false
		}
		for key := range info.Meta {
			if strings.HasPrefix(key, "unique.placer_headroom_") {
				return true
			}
		}
		return false
	})
}

func wantAll(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%q is missing from:\n%s", p, text)
		}
	}
}

// open loads a page in headless Chromium. Its screenshot is kept in the folder
// $E2E_SCREENSHOTS where that is set.
func open(ctx context.Context, t *testing.T, url, waitFor, token string) page {
	t.Helper()
	folder := os.Getenv("E2E_SCREENSHOTS")
	if folder == "" {
		folder = t.TempDir()
	}
	png := filepath.Join(folder, strings.ReplaceAll(t.Name(), "/", "-")+".png")
	cmd := exec.CommandContext(ctx, "node", filepath.Join("..", "browser", "page.mjs"), url, png, waitFor, token)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("browser: %v\n%s", err, stderr.String())
	}
	var p page
	if err := json.Unmarshal(out, &p); err != nil {
		t.Fatal(err)
	}
	if p.Failure != "" {
		t.Fatalf("%s: %s\nconsole: %v\npage: %s", url, p.Failure, p.Errors, p.Text)
	}
	if info, err := os.Stat(png); err != nil || info.Size() == 0 {
		t.Error(fmt.Errorf("no screenshot: %w", err))
	}
	return p
}
