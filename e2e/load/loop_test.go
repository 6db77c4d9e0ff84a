package load_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/load"
)

// loopFor is long enough for any command of these tests to do some work.
const loopFor = 400 * time.Millisecond

func shell(script string) []string { return []string{"/bin/sh", "-c", script} }

func TestLoopCounts(t *testing.T) {
	t.Parallel()
	input := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(input, []byte(strings.Repeat("0123456789abcde\n", 4096)), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := map[string]load.LoopConfig{
		"repeat":          {Mode: load.LoopRepeat, Command: shell("exit 0")},
		"repeat at once":  {Mode: load.LoopRepeat, Command: shell("exit 0"), Parallel: 2},
		"feed":            {Mode: load.LoopFeed, Command: shell("exec cat > /dev/null"), Feed: load.FeedConfig{File: input}},
		"feed to gzip":    {Mode: load.LoopFeed, Command: []string{"gzip", "-c"}, Feed: load.FeedConfig{File: input, ChunkBytes: 4096}},
		"feed, output":    {Mode: load.LoopFeed, Command: []string{"cat"}, Feed: load.FeedConfig{File: input, Output: true}},
		"feed, restarted": {Mode: load.LoopFeed, Command: shell("head -c 5000 > /dev/null"), Feed: load.FeedConfig{File: input, ChunkBytes: 4096}},
		"lines":           {Mode: load.LoopLines, Command: shell("while :; do echo; sleep 0.002; done")},
		"lines of awk":    {Mode: load.LoopLines, Command: []string{"awk", `BEGIN { for (;;) { print ++n; fflush() } }`}},
		"io":              {Mode: load.LoopIO, Command: shell("exec dd if=/dev/zero of=/dev/null bs=512 2>/dev/null")},
		"io of a child":   {Mode: load.LoopIO, IO: load.IOWriteBytes, Command: shell("dd if=/dev/zero of=/dev/null bs=4096 2>/dev/null; true")},
	}
	for name, config := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config.Duration = loopFor
			got, err := load.Loop(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			if got.Units <= 0 || got.Ticks == 0 {
				t.Errorf("no work: %v", got)
			}
		})
	}
}

// Who rests between pieces of work cannot have had more of them than the time has rests.
func TestLoopPauses(t *testing.T) {
	t.Parallel()
	input := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(input, make([]byte, 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	const pause, chunk = 20 * time.Millisecond, 4096
	for name, c := range map[string]struct {
		config load.LoopConfig
		piece  float64 // in units
	}{
		"runs":   {load.LoopConfig{Mode: load.LoopRepeat, Command: shell("exit 0")}, 1},
		"chunks": {load.LoopConfig{Mode: load.LoopFeed, Command: shell("exec cat > /dev/null"), Feed: load.FeedConfig{File: input, ChunkBytes: chunk}}, chunk / 1e6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.config.Pause, c.config.Duration = pause, loopFor
			got, err := load.Loop(t.Context(), c.config)
			if err != nil {
				t.Fatal(err)
			}
			if pieces, most := got.Units/c.piece, got.Took.Seconds()/pause.Seconds()+1; got.Units <= 0 || pieces > most+1e-6 {
				t.Errorf("%g pieces in %s, want some and at most %g", pieces, got.Took, most)
			}
		})
	}
	for _, mode := range []load.LoopMode{load.LoopLines, load.LoopIO} {
		if _, err := load.Loop(t.Context(), load.LoopConfig{Mode: mode, Command: shell("exit 0"), Pause: pause}); err == nil || !strings.Contains(err.Error(), "pause") {
			t.Errorf("%s with a pause: %v", mode, err)
		}
	}
}

// A file is fed without its head from the second time on, and in order.
func TestLoopFeedsHeadOnce(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	input, output := filepath.Join(folder, "input"), filepath.Join(folder, "output")
	if err := os.WriteFile(input, []byte("head:body;"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := load.Loop(t.Context(), load.LoopConfig{
		Mode: load.LoopFeed, Duration: loopFor, Feed: load.FeedConfig{File: input, HeadBytes: 5, ChunkBytes: 3},
		// The first run keeps what it got; those after it only take the input.
		Command: shell(`if [ -e "` + output + `" ]; then exec cat > /dev/null; fi; head -c 20 > "` + output + `"`),
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(output)
	if err != nil || string(got) != "head:body;body;body;" {
		t.Errorf("the command got %q, %v", got, err)
	}
}

func TestLoopTellsWhyACommandFailed(t *testing.T) {
	t.Parallel()
	input := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(input, make([]byte, 100), 0o644); err != nil {
		t.Fatal(err)
	}
	failing := shell("echo it broke >&2; exit 3")
	tests := map[string]struct {
		config load.LoopConfig
		want   string
	}{
		"repeat":    {load.LoopConfig{Mode: load.LoopRepeat, Command: failing}, "it broke"},
		"feed":      {load.LoopConfig{Mode: load.LoopFeed, Command: failing, Feed: load.FeedConfig{File: input}}, "it broke"},
		"lines":     {load.LoopConfig{Mode: load.LoopLines, Command: failing}, "it broke"},
		"io":        {load.LoopConfig{Mode: load.LoopIO, Command: failing}, "it broke"},
		"idle":      {load.LoopConfig{Mode: load.LoopLines, Command: shell("exit 0")}, "without any work"},
		"missing":   {load.LoopConfig{Mode: load.LoopRepeat, Command: []string{"/nonexistent/program"}}, "/nonexistent/program"},
		"server":    {load.LoopConfig{Mode: load.LoopRequests, Command: failing, Requests: load.RequestsConfig{Protocol: load.Redis, Target: "127.0.0.1:1"}}, "it broke"},
		"remote":    {load.LoopConfig{Mode: load.LoopRequests, Command: failing, Requests: load.RequestsConfig{Protocol: load.Redis, Target: "192.0.2.1:1"}}, "loopback"},
		"no mode":   {load.LoopConfig{Command: failing}, "unknown mode"},
		"no file":   {load.LoopConfig{Mode: load.LoopFeed, Command: failing, Feed: load.FeedConfig{File: "/nonexistent/file"}}, "/nonexistent/file"},
		"long head": {load.LoopConfig{Mode: load.LoopFeed, Command: failing, Feed: load.FeedConfig{File: input, HeadBytes: 100}}, "leaves nothing"},
		"counter":   {load.LoopConfig{Mode: load.LoopIO, IO: "wishes", Command: failing}, "unknown counter"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := load.Loop(t.Context(), tt.config)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q in it", err, tt.want)
			}
		})
	}
	if _, err := load.Loop(t.Context(), load.LoopConfig{Mode: load.LoopRepeat, Command: failing}); !errors.Is(err, load.ErrCommand) {
		t.Errorf("%v is not ErrCommand", err)
	}
}

// The metrics of a loop are Prometheus text with a time of their own.
func TestLoopMetrics(t *testing.T) {
	t.Parallel()
	address := freeAddress(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := load.Loop(ctx, load.LoopConfig{Mode: load.LoopRepeat, Command: shell("exit 0"), Listen: address})
		ended <- err
	}()
	text := ""
	for !strings.Contains(text, "loop_units_total 1") && t.Context().Err() == nil {
		text = get("http://" + address + "/metrics")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(text) {
		var units float64
		var millis int64
		if n, _ := fmt.Sscanf(line, "loop_units_total %f %d", &units, &millis); n == 2 && millis > 1e12 {
			return
		}
	}
	t.Errorf("no sample with a time in:\n%s", text)
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// get returns a page; empty where there is none yet.
func get(url string) string {
	response, err := http.Get(url)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return ""
	}
	return string(text)
}
