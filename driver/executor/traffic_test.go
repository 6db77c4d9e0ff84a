package executor

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/network"
	"github.com/nomad-placer/nomad-placer/profiler/workload/network/replay"
)

// trafficSpec plays the first of two servers, which sends 10,000 bytes every 20 ms.
func trafficSpec(t *testing.T, peer string) Spec {
	t.Helper()
	top, err := network.Uniform(1, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	var records []network.Record
	for at := time.Duration(0); at < time.Minute; at += 20 * time.Millisecond {
		records = append(records, network.Record{At: at, Source: 0, Destination: 1, Bytes: 10_000})
	}
	traffic, err := network.NewTable(top, network.Span{To: time.Minute, Bin: time.Second}, records)
	if err != nil {
		t.Fatal(err)
	}
	o := network.DefaultFit()
	o.Windows = network.OneWindow()
	model, err := network.Fit(t.Context(), traffic, o)
	if err != nil {
		t.Fatal(err)
	}
	row, err := replay.Row(model, 0)
	if err != nil {
		t.Fatal(err)
	}
	return Spec{
		Name: "x", AllocID: "a", AllocDir: t.TempDir(), Task: "server-0", MaxDuration: time.Minute, KillSwitch: filepath.Join(t.TempDir(), "stop"),
		Peers:   []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Traffic: &replay.Request{Format: replay.Format, Row: row, Listen: "127.0.0.1:0", Key: "a key of the job", LimitBytesPerSecond: 10e6, Peers: []replay.Peer{{Server: 1, Address: peer}}},
	}
}

func trafficRoom(t *testing.T, s Spec) *room {
	t.Helper()
	return &room{spec: s, dir: t.TempDir(), now: time.Now, stderr: io.Discard, journal: newJournal(io.Discard, time.Now)}
}

// TestTrafficUntilTheKillSwitch: it sends, says what it sent, and ends by the first look
// after the operator's file is there.
func TestTrafficUntilTheKillSwitch(t *testing.T) {
	t.Parallel()
	to, err := replay.Listen("127.0.0.1:0", "a key of the job")
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	r := trafficRoom(t, trafficSpec(t, to.Address()))
	var looks atomic.Int64 // at what the work depends on: each asks for the time
	r.now = func() time.Time {
		looks.Add(1)
		return time.Now()
	}
	ended := make(chan error, 1)
	go func() { ended <- r.work(t.Context()) }()
	var report *replay.Report
	for report == nil || report.Sent < 100_000 {
		select {
		case err := <-ended:
			t.Fatalf("ended: %v", err)
		case <-time.After(20 * time.Millisecond):
		}
		if answer, err := Call(t.Context(), filepath.Join(r.dir, SocketFile), Request{Command: CommandStats}); err == nil {
			report = answer.Traffic
		}
	}
	if _, err := Call(t.Context(), filepath.Join(r.dir, SocketFile), Request{Command: CommandSet, Percent: 1}); err == nil || !strings.Contains(err.Error(), "traffic follows its model") {
		t.Errorf("an intensity was set: %v", err)
	}
	if err := os.WriteFile(r.spec.KillSwitch, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	before := looks.Load()
	if err := <-ended; !errors.Is(err, errKillSwitch) {
		t.Errorf("ended with %v", err)
	}
	if more := looks.Load() - before; more > 1 {
		t.Errorf("it was looked %d times more, and the first look could see the switch", more)
	}
}

// TestTrafficRefuses: addresses that the operator does not allow, and a place that is taken.
func TestTrafficRefuses(t *testing.T) {
	t.Parallel()
	taken, err := replay.Listen("127.0.0.1:0", "a key of the job")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, c := range map[string]struct {
		spoil func(*Spec)
		want  string
	}{
		"peer elsewhere": {func(s *Spec) { s.Traffic.Peers[0].Address = "192.0.2.1:80" }, "the operator of this node"},
		"place is taken": {func(s *Spec) { s.Traffic.Listen = taken.Address() }, "address already in use"},
	} {
		s := trafficSpec(t, "127.0.0.1:1")
		c.spoil(&s)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		err := trafficRoom(t, s).work(ctx)
		cancel()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", name, err, c.want)
		}
	}
}
