package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/profiler/workload/network"
	"github.com/nomad-placer/nomad-placer/profiler/workload/network/capture/capturetest"
)

// runNow runs a command at the real time.
func runNow(t *testing.T, ctx context.Context, args ...string) (code int, out, errors string) {
	t.Helper()
	return runBy(t, ctx, time.Now, time.After, args...)
}

func runBy(t *testing.T, ctx context.Context, now func() time.Time, after func(time.Duration) <-chan time.Time, args ...string) (code int, out, errors string) {
	t.Helper()
	var stdout, stderr strings.Builder
	s := &command.Shell{In: strings.NewReader(""), Out: &stdout, Err: &stderr, Getenv: func(string) string { return "" }, Now: now, After: after}
	code = nomadPlacer().Run(ctx, s, args)
	return code, stdout.String(), stderr.String()
}

// addressFile names the namespaces of two nodes.
func addressFile(t *testing.T, c *capturetest.Cluster) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "addresses.csv")
	text := fmt.Sprintf("address,node,group\n%s,r1/n1,default/shop/web\n%s:8080,r2/n2,default/shop/db\n", c.Address("web"), c.Address("db"))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// scripted is a clock that goes on when it is waited for, after what happens until then.
type scripted struct {
	now     time.Time
	happens func(now time.Time)
}

func (s *scripted) Now() time.Time { return s.now }

func (s *scripted) After(d time.Duration) <-chan time.Time {
	s.happens(s.now)
	s.now = s.now.Add(d)
	over := make(chan time.Time, 1)
	over <- s.now
	return over
}

// begins is in the middle of a second: the first bin begins at the next one.
var begins = time.Date(2026, 1, 1, 12, 0, 0, 5e8, time.UTC)

// TestCaptureThenFit captures a node of a cluster of network namespaces, and reads what was
// written by node and by task group.
func TestCaptureThenFit(t *testing.T) {
	t.Parallel()
	c := capturetest.New(t, "web", "db")
	go capturetest.Answer(c.Listen("db", 8080))
	table := filepath.Join(t.TempDir(), "n1.csv")
	args := []string{"traffic", "capture", "-json", "-addresses", addressFile(t, c), "-node", "r1/n1", "-namespaces", c.Folder, "-bin", "1s", "-poll", "100ms", "-for", "3s", "-o", table}
	// From the beginning of the first bin on, before each poll: three messages, 60 in all.
	conn, left := c.Dial("web", "db", 8080), 60
	defer conn.Close()
	clock := &scripted{now: begins, happens: func(now time.Time) {
		if left == 0 || now.Before(begins.Truncate(time.Second).Add(time.Second)) {
			return
		}
		for range 3 {
			if err := capturetest.Exchange(conn, 10_000, 1_000); err != nil {
				t.Error(err)
			}
			left--
		}
		if left == 0 {
			conn.Close()
		}
	}}
	code, out, errors := runBy(t, t.Context(), clock.Now, clock.After, args...)
	if code != 0 {
		t.Fatalf("exit %d, %s", code, errors)
	}
	var report trafficCaptureReport
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	if report.Bins != 3 || report.Lost != 0 {
		t.Errorf("%+v", report)
	}
	if a := float64(report.AttributedPercent); a < 85 || a > 100 {
		t.Errorf("%.1f %% of what the interface counted is in connections; the rest is headers", a)
	}
	for _, groups := range []bool{false, true} {
		r, err := network.ReadTraffic(t.Context(), filepath.Dir(table), network.ReadOptions{Bin: time.Second, Groups: groups})
		if err != nil {
			t.Fatal(err)
		}
		sent := map[string]int64{}
		for _, record := range r.Table.Records() {
			if int(record.Source) < len(r.Names) && int(record.Destination) < len(r.Names) {
				sent[r.Names[record.Source]+" "+record.Direction.String()] += record.Bytes
			}
		}
		want := map[bool][2]string{false: {"r1/n1 write", "r2/n2 read"}, true: {"default/shop/web write", "default/shop/db read"}}[groups]
		// One byte more stands for the end of the stream that was received.
		for i, most := range []int64{600_000, 60_000 + 1} {
			if got := sent[want[i]]; got > most || got < most*9/10 {
				t.Errorf("groups %t: %s is %d of %d bytes (%v)", groups, want[i], got, most, sent)
			}
		}
	}
	// It is added to; another table is not touched.
	clock.happens = func(time.Time) {}
	if code, _, errors := runBy(t, t.Context(), clock.Now, clock.After, append(args[:len(args)-4], "-for", "1s", "-o", table)...); code != 0 {
		t.Errorf("a second time: %s", errors)
	}
	text, err := os.ReadFile(table)
	if err != nil || strings.Count(string(text), "unix_s") != 1 || strings.Contains(string(text), c.Address("db").String()) {
		t.Errorf("%v, table:\n%s", err, text)
	}
}

// TestCaptureIsInterrupted: it ends at once, with a report, and an idle bin is written as
// such.
func TestCaptureIsInterrupted(t *testing.T) {
	t.Parallel()
	c := capturetest.New(t, "web", "db")
	table := filepath.Join(t.TempDir(), "n1.csv")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	clock := &scripted{now: begins, happens: func(now time.Time) {
		if now.Sub(begins) > 2*time.Second { // in the second bin
			cancel()
		}
	}}
	code, out, errors := runBy(t, ctx, clock.Now, clock.After, "traffic", "capture", "-addresses", addressFile(t, c), "-node", "r1/n1", "-namespaces", c.Folder, "-bin", "1s", "-poll", "100ms", "-o", table)
	if code != 0 || !strings.Contains(out, "r1/n1") {
		t.Fatalf("exit %d: %s%s", code, out, errors)
	}
	text, err := os.ReadFile(table)
	if err != nil || !strings.HasPrefix(string(text), capturedHeader+"\n") {
		t.Fatalf("%v: %s", err, text)
	}
	if rows := strings.Count(string(text), "\n") - 1; rows < 1 {
		t.Errorf("no bin was written:\n%s", text)
	}
}

func TestCaptureRefuses(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := write("good.csv", "address,node,group\n10.0.0.1,r1/n1,\n")
	foreign := write("foreign.csv", "a,b\n1,2\n")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no table":        {[]string{"-addresses", good, "-node", "r1/n1"}, "-o names the table"},
		"no node":         {[]string{"-addresses", good, "-o", "x"}, "-addresses needs -node"},
		"bin too short":   {[]string{"-bin", "10ms", "-o", "x"}, "-bin is at least 1s"},
		"less than a bin": {[]string{"-for", "1m", "-o", "x"}, "-for is at least one bin"},
		"header":          {[]string{"-addresses", foreign, "-node", "n", "-o", "x"}, "foreign.csv:1: the header is not address,node,group"},
		"address":         {[]string{"-addresses", write("bad.csv", "address,node,group\nhere,n,\n"), "-node", "n", "-o", "x"}, `bad.csv:2: "here" of node "n" is no address`},
		"columns":         {[]string{"-addresses", write("short.csv", "address,node,group\n10.0.0.1,n\n"), "-node", "n", "-o", "x"}, "wrong number of fields"},
		"another table":   {[]string{"-addresses", good, "-node", "n", "-o", foreign}, "foreign.csv:1: it is no captured table"},
		"no Nomad":        {[]string{"-address", "http://127.0.0.1:1", "-o", filepath.Join(folder, "y")}, "-addresses works without Nomad"},
	} {
		code, _, errors := runNow(t, t.Context(), append([]string{"traffic", "capture"}, c.args...)...)
		if code == 0 || !strings.Contains(errors, c.want) {
			t.Errorf("%s: exit %d, %s; want %q", name, code, errors, c.want)
		}
	}
	if text, err := os.ReadFile(foreign); err != nil || string(text) != "a,b\n1,2\n" {
		t.Errorf("%v: another table was changed: %s", err, text)
	}
}
