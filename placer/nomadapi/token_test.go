package nomadapi

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/rights"
)

// asked answers every request with 404 and keeps the tokens of them, by path.
func asked(t *testing.T) (address string, tokens chan string) {
	t.Helper()
	tokens = make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tokens <- r.URL.Path + " " + r.Header.Get(tokenHeader)
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, tokens
}

// Nomad renews a task's identity by writing its file anew: each request has the newest
// token, those that open a stream to a task included, and an empty file is one that is
// being written.
func TestTheTokenFileIsReadAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	written := time.Unix(1000, 0)
	write := func(text string) {
		t.Helper()
		written = written.Add(time.Second)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, written, written); err != nil {
			t.Fatal(err)
		}
	}
	address, tokens := asked(t)
	write("first\n")
	w, err := New(Options{Address: address, Token: "another", TokenFile: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.API().Close)
	ask := func(want string) {
		t.Helper()
		_, _ = w.Job(t.Context(), cluster.JobID{Namespace: "default", ID: "web"}) // there is none
		if got := <-tokens; got != "/v1/job/web "+want {
			t.Errorf("asked %q, want the token %s", got, want)
		}
	}
	ask("first")
	write("second")
	ask("second")
	write("")
	ask("second")
	write("third")
	r := &reach{w: w, namespace: "default", allocID: "a", nodeID: "n"}
	if _, err := r.Exec(t.Context(), "main", []string{"true"}); err == nil || strings.Contains(err.Error(), "unsupported transport") {
		t.Errorf("a command in a task: %v, want Nomad's answer", err)
	}
	close(tokens)
	commands := 0
	for got := range tokens {
		if !strings.HasSuffix(got, " third") {
			t.Errorf("asked %q, want the token third", got)
		}
		if strings.HasSuffix(got, "/exec third") {
			commands++
		}
	}
	if commands == 0 {
		t.Error("Nomad was not asked to run the command")
	}
}

// A token that others can read is used, and said; one that is not there is an error.
func TestATokenFileThatIsNotAsItShouldBe(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	open, empty := filepath.Join(folder, "open"), filepath.Join(folder, "empty")
	for path, text := range map[string]string{open: "secret", empty: " "} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	if _, err := openTokenFile(open, logger); err != nil || !strings.Contains(log.String(), "others on this machine can read") || strings.Contains(log.String(), "secret") {
		t.Errorf("%v, logged %q", err, log.String())
	}
	for _, path := range []string{empty, filepath.Join(folder, "none")} {
		if _, err := openTokenFile(path, logger); err == nil || !strings.Contains(err.Error(), "token") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// The rights that were used are told once each; those to volumes where a job has some.
func TestUsedRightsAreTold(t *testing.T) {
	t.Parallel()
	w, server, ctx := testWorld(t)
	var used []string
	w.nomad.book.First = func(r rights.Right) { used = append(used, r.Name()) }
	job := testJob("web", "ok")
	group := job["TaskGroups"].([]any)[0].(map[string]any)
	group["Volumes"] = map[string]any{"data": map[string]any{"Type": "host", "Source": "data"}}
	server.Submit(job, "")
	if _, err := w.ReleaseJob(ctx, cluster.JobID{Namespace: "default", ID: "web"}); err != nil {
		t.Fatal(err)
	}
	server.Fail("PUT", "/v1/allocation", http.StatusForbidden, 1, "Permission denied")
	_ = w.StopAllocation(ctx, cluster.WorkloadID{Namespace: "default", Job: "web"}, "a") // it is refused
	if got, want := fmt.Sprint(used), "[everywhere read-job served submit-job host_volume mount-readwrite]"; got != want {
		t.Errorf("used %s, want %s", got, want)
	}
}
