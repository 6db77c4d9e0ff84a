package capture

import (
	"maps"
	"math"
	"net/netip"
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/workload/network"
)

func at(text string) netip.AddrPort { return netip.MustParseAddrPort(text) }

func TestTallyCountsEveryByteOnce(t *testing.T) {
	t.Parallel()
	c := func(cookie, sent, received uint64) connection {
		return connection{cookie: cookie, local: at("10.0.0.1:40000"), remote: at("10.0.0.2:80"), sent: sent, received: received}
	}
	n := newTally()
	n.begin(c(1, 100, 10)) // before the capture
	n.seen(c(1, 150, 10))
	n.ended(c(1, 170, 30)) // known: the rest only
	n.ended(c(2, 5, 0))    // came and went between two lists
	n.seen(c(3, 1_000, 0))
	n.seen(c(3, 40, 0)) // went back: counted anew
	want := map[talk]amounts{{at("10.0.0.1:0"), at("10.0.0.2:80"), true}: {50 + 20 + 5 + 1_000 + 40, 20}}
	if got := n.take(); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	n.seen(c(4, 7_000, 0))
	lost := 0
	for range absentMost {
		lost += n.keep(map[uint64]bool{})
	}
	n.ended(c(4, 7_001, 0)) // its notice came late: the rest only
	want[talk{at("10.0.0.1:0"), at("10.0.0.2:80"), true}] = amounts{7_001, 0}
	if got := n.take(); !maps.Equal(got, want) || lost != 0 {
		t.Errorf("%v, %d lost, want %v", got, lost, want)
	}
	if lost := n.keep(map[uint64]bool{}); lost != 1 || len(n.open) != 0 {
		t.Errorf("%d lost, %d open; connection 3 is gone without a notice", lost, len(n.open))
	}
	if got := n.take(); len(got) != 0 {
		t.Errorf("%v was taken twice", got)
	}
}

func TestAConnectionThatWaitsForItsNoticeIsCountedOnce(t *testing.T) {
	t.Parallel()
	c := connection{cookie: 1, local: at("10.0.0.1:40000"), remote: at("10.0.0.2:80"), sent: 100, received: 10}
	n := newTally()
	n.seen(c)
	n.seen(connection{cookie: 1, local: c.local, remote: c.remote}) // in FIN-WAIT-2, as the kernel keeps it
	n.ended(c)
	want := map[talk]amounts{{at("10.0.0.1:0"), at("10.0.0.2:80"), true}: {100, 10}}
	if got := n.take(); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestAServerThatClosesItsPortFirstDidNotBegin(t *testing.T) {
	t.Parallel()
	c := connection{cookie: 1, local: at("10.0.0.1:80"), remote: at("10.0.0.2:50001"), received: 10}
	n := newTally()
	n.listens(map[uint16]bool{80: true})
	n.begin(connection{cookie: 2, local: c.local, remote: at("10.0.0.2:50002"), received: 5})
	n.seen(c)
	n.listens(nil)
	c.received = 30
	n.seen(c)
	n.ended(connection{cookie: 2, local: c.local, remote: at("10.0.0.2:50002"), received: 6})
	want := map[talk]amounts{{at("10.0.0.1:80"), at("10.0.0.2:0"), false}: {0, 31}}
	if got := n.take(); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestTallyTellsWhoBegan(t *testing.T) {
	t.Parallel()
	n := newTally()
	n.listens(map[uint16]bool{80: true})
	for cookie, pair := range [][2]string{
		{"10.0.0.1:80", "10.0.0.2:50001"}, {"10.0.0.1:80", "10.0.0.2:50002"}, // two clients' ports, one talk
		{"10.0.0.1:50000", "10.0.0.2:80"},
		{"127.0.0.1:50000", "127.0.0.1:80"}, {"[::1]:50000", "[::1]:80"}, // not across the network
		{"10.0.0.1:50000", "0.0.0.0:0"}, // never connected
	} {
		n.ended(connection{cookie: uint64(cookie), local: at(pair[0]), remote: at(pair[1]), sent: 1})
	}
	want := map[talk]amounts{
		{at("10.0.0.1:80"), at("10.0.0.2:0"), false}: {2, 0},
		{at("10.0.0.1:0"), at("10.0.0.2:80"), true}:  {1, 0},
	}
	if got := n.take(); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestTallyIsBounded(t *testing.T) {
	t.Parallel()
	n := newTally()
	for i := range maxTalks + 3 {
		remote := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)}), uint16(1+i>>16))
		n.ended(connection{cookie: uint64(i), local: at("10.0.0.1:40000"), remote: remote, sent: 1})
	}
	if len(n.talks) != maxTalks || n.missed != 3 {
		t.Errorf("%d talks, %d missed, want %d and 3", len(n.talks), n.missed, maxTalks)
	}
}

// TestAttribution restates the rules of who reports a connection.
func TestAttribution(t *testing.T) {
	t.Parallel()
	known := NewAddresses()
	known.Add(at("172.26.64.2:0"), web)
	known.Add(at("192.0.2.2:9000"), far)
	known.Add(at("192.0.2.2:0"), Endpoint{Node: "r2/n2"})
	self := Endpoint{Node: "r1/n1"}
	for _, c := range []struct {
		name string
		talk talk
		want []Flow
	}{
		{"began, to a task group by its port", talk{at("172.26.64.2:0"), at("192.0.2.2:9000"), true},
			[]Flow{{web, far, network.Write, 10}, {far, web, network.Read, 4}}},
		{"began, to a node's port of nobody", talk{at("172.26.64.2:0"), at("192.0.2.2:22"), true},
			[]Flow{{web, Endpoint{Node: "r2/n2"}, network.Write, 10}, {Endpoint{Node: "r2/n2"}, web, network.Read, 4}}},
		{"began, to the world", talk{at("172.26.64.2:0"), at("203.0.113.5:443"), true},
			[]Flow{{Outside, web, network.Read, 4}, {web, Outside, network.Write, 10}}},
		{"began by the node itself, to its own bridge", talk{at("192.0.2.1:0"), at("172.26.64.1:53"), true}, nil},
		{"answers the world", talk{at("172.26.64.2:80"), at("203.0.113.5:0"), false},
			[]Flow{{Outside, web, network.Write, 4}, {web, Outside, network.Read, 10}}},
		{"answers a node of the cluster, which reports it", talk{at("172.26.64.2:80"), at("192.0.2.2:0"), false}, nil},
		{"answers through its own bridge, as by masquerading", talk{at("172.26.64.2:80"), at("172.26.64.1:0"), false}, nil},
	} {
		a := attribution{self: self, directory: known, own: map[netip.Addr]bool{netip.MustParseAddr("172.26.64.1"): true}, flows: map[Flow]int64{}, talked: map[Endpoint]amounts{}}
		a.talk(c.talk, amounts{sent: 10, received: 4})
		got := slices.DeleteFunc(a.sorted(), func(f Flow) bool { return f.From == f.To })
		slices.SortFunc(c.want, func(x, y Flow) int { return compareEndpoints(x.From, y.From) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// FuzzReadMessages: whatever the kernel writes, reading it neither fails badly nor goes on
// for ever.
func FuzzReadMessages(f *testing.F) {
	f.Add([]byte{})
	whole := make([]byte, 16+messageBytes+8)
	whole[0], whole[4] = byte(len(whole)), byFamily
	whole[16] = 2
	whole[16+messageBytes] = 8
	f.Add(whole)
	f.Fuzz(func(t *testing.T, text []byte) {
		seen := 0
		_, err := readMessages(text, func(connection) { seen++ })
		if seen > len(text)/messageBytes {
			t.Errorf("%d connections in %d bytes, error %v", seen, len(text), err)
		}
	})
}

// TestInterfaceCounters: a counter of an interface that wraps, or that begins again as a driver is
// reset, counts what it has; one of an interface that is new counts all of it.
func TestInterfaceCounters(t *testing.T) {
	t.Parallel()
	n := &namespace{last: map[string]amounts{"eth0": {1_000, 5_000}, "gone": {7, 7}}}
	for i, c := range []struct{ now, want map[string]amounts }{
		{map[string]amounts{"eth0": {1_500, 5_000}, "eth1": {30, 40}}, map[string]amounts{"eth0": {500, 0}, "eth1": {30, 40}}},
		{map[string]amounts{"eth0": {math.MaxUint64 - 1, 12}, "eth1": {30, 40}}, map[string]amounts{"eth0": {math.MaxUint64 - 1_501, 12}, "eth1": {}}},
		{map[string]amounts{"eth0": {9, 12}, "eth1": {0, 41}}, map[string]amounts{"eth0": {9, 0}, "eth1": {0, 1}}},
	} {
		if got := n.counted(c.now); !maps.Equal(got, c.want) {
			t.Errorf("reading %d: %v, want %v", i, got, c.want)
		}
	}
}
