package capture

import (
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/network"
	"github.com/nomad-placer/nomad-placer/profiler/workload/network/capture/capturetest"
)

const port = 8080

// cluster is a namespace for each of two allocations of a node, one of another node, and
// one that nobody knows.
func cluster(t testing.TB) (*capturetest.Cluster, *Addresses) {
	t.Helper()
	c := capturetest.New(t, "web", "db", "far", "stranger")
	known := NewAddresses()
	known.Add(netip.AddrPortFrom(c.Address("web"), 0), web)
	known.Add(netip.AddrPortFrom(c.Address("db"), 0), db)
	known.Add(netip.AddrPortFrom(c.Address("far"), port), far)
	return c, known
}

var (
	web = Endpoint{"r1/n1", "default/shop/web"}
	db  = Endpoint{"r1/n1", "default/shop/db"}
	far = Endpoint{"r2/n2", "default/log/far"}
)

// host is the test's own machine, whose other connections are no part of the test.
var host = Endpoint{Node: "host"}

func watching(t testing.TB, folder string) *Capture {
	t.Helper()
	watch, err := New([]string{folder, "/does/not/exist"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(watch.Close)
	return watch
}

// folderOf is a folder with some of the namespaces.
func folderOf(t testing.TB, c *capturetest.Cluster, names ...string) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range names {
		if err := os.Symlink(c.Folder+"/"+name, folder+"/"+name); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func sample(t testing.TB, watch *Capture, known Directory) Sample {
	t.Helper()
	s, err := watch.Read(host, known)
	if err != nil {
		t.Fatal(err)
	}
	s.Flows = slices.DeleteFunc(s.Flows, func(f Flow) bool { return f.From == host || f.To == host })
	return s
}

// settle waits until the kernel has ended connections that were closed.
func settle() { time.Sleep(200 * time.Millisecond) }

func exchange(t testing.TB, conn net.Conn, send, receive int64) {
	t.Helper()
	if err := capturetest.Exchange(conn, send, receive); err != nil {
		t.Fatal(err)
	}
}

// TestWhoTalksToWhom has a connection that ends between two readings, one that stays,
// and one from outside; and bytes from before the capture, which do not count.
func TestWhoTalksToWhom(t *testing.T) {
	t.Parallel()
	c, known := cluster(t)
	go capturetest.Answer(c.Listen("db", port))
	go capturetest.Answer(c.Listen("far", port))
	stays := c.Dial("web", "db", port)
	defer stays.Close()
	exchange(t, stays, 5_000, 6_000)
	watch := watching(t, folderOf(t, c, "web", "db")) // the others are not of this node

	exchange(t, stays, 100_000, 300_000)
	ends := c.Dial("web", "far", port)
	exchange(t, ends, 20_000, 40)
	ends.Close()
	stranger := c.Dial("stranger", "db", port)
	exchange(t, stranger, 1_000, 7_000)
	stranger.Close()
	settle()
	s := sample(t, watch, known)
	want := []Flow{
		{Outside, db, network.Write, 1_000},
		{db, Outside, network.Read, 7_000},
		{db, web, network.Read, 300_000},
		{web, db, network.Write, 100_000},
		{web, far, network.Write, 20_000},
		{far, web, network.Read, 40},
	}
	equalFlows(t, s.Flows, want)
	if s.Lost != 0 || s.Namespaces != 3 {
		t.Errorf("%d lost, %d namespaces, want 0 and 3", s.Lost, s.Namespaces)
	}
	exchange(t, stays, 50_000, 16)
	equalFlows(t, sample(t, watch, known).Flows, []Flow{{db, web, network.Read, 16}, {web, db, network.Write, 50_000}})
}

// TestConnectionThatWasReset: one end resets the connection, and the other keeps it open while the
// capture reads. Its bytes count once.
func TestConnectionThatWasReset(t *testing.T) {
	t.Parallel()
	c, known := cluster(t)
	l := c.Listen("db", port)
	accepted := make(chan net.Conn, 1)
	go func() {
		if conn, err := l.Accept(); err == nil {
			accepted <- conn
		}
	}()
	watch := watching(t, folderOf(t, c, "web"))
	conn := c.Dial("web", "db", port)
	defer conn.Close()
	if _, err := conn.Write(make([]byte, 40_000)); err != nil {
		t.Fatal(err)
	}
	other := (<-accepted).(*net.TCPConn)
	if _, err := io.ReadFull(other, make([]byte, 40_000)); err != nil {
		t.Fatal(err)
	}
	sent := func() (sum int64) {
		for _, f := range sample(t, watch, known).Flows {
			if f.From == web {
				sum += f.Bytes
			}
		}
		return sum
	}
	got := []int64{sent()}
	if err := other.SetLinger(0); err != nil { // its end is a reset
		t.Fatal(err)
	}
	other.Close()
	settle()
	got = append(got, sent(), sent())
	conn.Close()
	settle()
	if got = append(got, sent()); !slices.Equal(got, []int64{40_000, 0, 0, 0}) {
		t.Errorf("sent by reading: %v, want 40,000 once", got)
	}
}

// equalFlows allows a byte more for each connection whose end was received.
func equalFlows(t *testing.T, got, want []Flow) {
	t.Helper()
	same := slices.EqualFunc(got, want, func(g, w Flow) bool {
		more := g.Bytes - w.Bytes
		g.Bytes = w.Bytes
		return g == w && more >= 0 && more <= 1
	})
	if !same {
		t.Errorf("flows\n%v\nwant\n%v", got, want)
	}
}

// TestInterfacesCountMore: what the interfaces counted is at least the payload, and not
// much more.
func TestInterfacesCountMore(t *testing.T) {
	t.Parallel()
	c, known := cluster(t)
	go capturetest.Answer(c.Listen("db", port))
	watch := watching(t, c.Folder)
	conn := c.Dial("web", "db", port)
	defer conn.Close()
	exchange(t, conn, 5_000_000, 1_000_000)
	for _, counted := range sample(t, watch, known).Counted {
		if counted.Endpoint != web {
			continue
		}
		if counted.TalkedSent != 5_000_000 || counted.TalkedReceived != 1_000_000 {
			t.Errorf("connections have %d and %d bytes", counted.TalkedSent, counted.TalkedReceived)
		}
		if counted.Sent < 5_000_000 || counted.Sent > 5_500_000 || counted.Received < 1_000_000 || counted.Received > 1_200_000 {
			t.Errorf("interfaces counted %d and %d bytes of 5,000,000 and 1,000,000", counted.Sent, counted.Received)
		}
		return
	}
	t.Error("nothing is known of the interface of web")
}

// TestNamespaceVanishes: what it moved is reported, nothing of it stays open, and the
// rest goes on.
func TestNamespaceVanishes(t *testing.T) { // not parallel: it counts open files
	c, known := cluster(t)
	go capturetest.Answer(c.Listen("db", port))
	before := openFiles(t)
	watch := watching(t, c.Folder)
	opened := openFiles(t)
	conn := c.Dial("web", "db", port)
	exchange(t, conn, 9_000, 16)
	conn.Close()
	settle()
	c.Remove("web")
	if err := watch.Poll(); err != nil {
		t.Fatal(err)
	}
	if now := openFiles(t); now != opened-3 {
		t.Errorf("%d open files with one namespace less, %d before; each has 3", now, opened)
	}
	s := sample(t, watch, known)
	equalFlows(t, s.Flows, []Flow{{db, web, network.Read, 16}, {web, db, network.Write, 9_000}})
	if s.Vanished != 1 || s.Namespaces != 4 {
		t.Errorf("%d vanished, %d left, want 1 and 4", s.Vanished, s.Namespaces)
	}
	watch.Close()
	if now := openFiles(t); now != before {
		t.Errorf("%d open files at the end, %d at the beginning", now, before)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// TestNamespaceIsNew: a namespace that comes while the capture runs counts from its
// beginning, and a file that is none is left alone.
func TestNamespaceIsNew(t *testing.T) {
	t.Parallel()
	c, known := cluster(t)
	go capturetest.Answer(c.Listen("db", port))
	later := folderOf(t, c)
	watch := watching(t, later)
	conn := c.Dial("web", "db", port)
	defer conn.Close()
	exchange(t, conn, 3_000, 16)
	if err := os.Symlink(c.Folder+"/web", later+"/web"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(later+"/rubbish", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := sample(t, watch, known)
	equalFlows(t, s.Flows, []Flow{{db, web, network.Read, 16}, {web, db, network.Write, 3_000}})
	if s.Namespaces != 2 {
		t.Errorf("%d namespaces, want 2", s.Namespaces)
	}
}

// BenchmarkPoll measures what the capture costs while 1,000 connections end: ns/op over
// 1e9 is the part of a core at 1,000 connections a second.
func BenchmarkPoll(b *testing.B) {
	c, known := cluster(b)
	go capturetest.Answer(c.Listen("db", port))
	watch := watching(b, c.Folder)
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		for range 1_000 {
			conn := c.Dial("web", "db", port)
			exchange(b, conn, 100, 100)
			conn.Close()
		}
		settle()
		b.StartTimer()
		if err := watch.Poll(); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	if s := sample(b, watch, known); s.Lost > 0 {
		b.Errorf("%d lost", s.Lost)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e9*100, "%core")
}
