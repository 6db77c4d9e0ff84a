package network

import (
	"math"
	"testing"
	"time"
)

// TestSendersAreTheModel: the parts of all servers expect together what the model does, and
// what one generates is sent by it.
func TestSendersAreTheModel(t *testing.T) {
	t.Parallel()
	m := smallModel(t)
	wantSent, wantReceived := m.Expected()
	sent, received := make([]float64, len(wantSent)), make([]float64, len(wantSent))
	for server := range m.Topology.Servers() {
		part, err := m.Sender(server)
		if err == nil {
			err = part.Check()
		}
		if err != nil {
			t.Fatal(err)
		}
		partSent, partReceived := part.Expected()
		for node := range partSent {
			if node != server && partSent[node] != 0 {
				t.Fatalf("server %d sends %g for node %d", server, partSent[node], node)
			}
			sent[node] += partSent[node]
			received[node] += partReceived[node]
		}
	}
	for node := range wantSent {
		if math.Abs(sent[node]-wantSent[node]) > 1e-6*wantSent[node] || math.Abs(received[node]-wantReceived[node]) > 1e-6*wantReceived[node] {
			t.Errorf("node %d: %g sent and %g received, want %g and %g", node, sent[node], received[node], wantSent[node], wantReceived[node])
		}
	}
}

// TestSenderGeneratesItsRate: over a long time a part sends what it expects.
func TestSenderGeneratesItsRate(t *testing.T) {
	t.Parallel()
	m := smallModel(t)
	const server = 3
	part, err := m.Sender(server)
	if err != nil {
		t.Fatal(err)
	}
	span := Span{From: m.Capture.From, To: m.Capture.From + 4*week, Bin: 5 * time.Minute}
	made, err := part.Generate(t.Context(), Generation{Span: span, Seed: 1, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	bytes := 0.0
	for _, r := range made.Records() {
		if r.Source != server {
			t.Fatalf("%d sends", r.Source)
		}
		bytes += float64(r.Bytes)
	}
	expected, _ := part.Expected()
	want := expected[server] * float64(span.To-span.From) / float64(m.Capture.To-m.Capture.From)
	// 5 %: four weeks of a bursty server, whose sizes have a heavy tail.
	if math.Abs(bytes-want) > 0.05*want {
		t.Errorf("%.4g bytes in four weeks, want %.4g", bytes, want)
	}
}

// TestSenderIsThinned: where all servers of a group send at once to another group, the part of one
// sends now and then, and not the messages of all of them at once and then nothing for long.
func TestSenderIsThinned(t *testing.T) {
	t.Parallel()
	const servers, bytes = 8, 1000
	var records []Record
	for at := time.Duration(0); at < day; at += bin {
		for server := range int32(servers) {
			records = append(records, Record{At: at, Source: server, Destination: servers + (server+int32(at/bin))%servers, Bytes: bytes})
		}
	}
	span := Span{To: day, Bin: bin}
	m := fit(t, table(t, topology(t, 2, 1, servers, false), span, records), func(o *FitOptions) { o.Windows = []Window{{0, 0, 0, day}} })
	const length = 2 * time.Hour
	away, n := 0.0, 0.0
	for server := range servers {
		part, err := m.Sender(server)
		if err != nil {
			t.Fatal(err)
		}
		made, err := part.Generate(t.Context(), Generation{Span: span, Seed: uint64(server), Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		sums := make([]float64, day/length)
		for _, r := range made.Records() {
			sums[r.At/length] += float64(r.Bytes)
		}
		want := float64(bytes * length / bin)
		for _, sum := range sums {
			away += math.Abs(sum-want) / want
			n++
		}
	}
	// 24 messages that are drawn apart are off by 0.8/√24 = 16 % on average; with the gaps of all
	// servers' messages, only longer, it would be 34 %.
	if mean := away / n; mean > 0.25 {
		t.Errorf("two hours of one server are off by %.0f %% on average", 100*mean)
	}
}

func TestSenderRefuses(t *testing.T) {
	t.Parallel()
	m := smallModel(t)
	for _, server := range []int{-1, m.Topology.Servers()} {
		if _, err := m.Sender(server); err == nil {
			t.Errorf("server %d was taken", server)
		}
	}
}
