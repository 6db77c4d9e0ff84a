package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/nomadapi/nomadtest"
)

// The cluster state the agent is fed.
const (
	benchNodes  = 1000
	benchAllocs = 5000
	// settled is how long the agent goes on listing, deciding and publishing
	// before its memory is read.
	settled = 5 * time.Second
)

// BenchmarkAgentMemory runs the agent's own binary against a Nomad of that size
// and reads what it has resident.
func BenchmarkAgentMemory(b *testing.B) {
	dir := b.TempDir()
	binary := filepath.Join(dir, "nomad-placer")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	var most float64
	for i := range b.N {
		most = max(most, agentMiB(b, binary, filepath.Join(dir, fmt.Sprintf("%d.db", i))))
	}
	b.ReportMetric(most, "MiB-rss")
}

func agentMiB(b *testing.B, binary, records string) float64 {
	b.Helper()
	nomad := nomadtest.Large(b, benchNodes, benchAllocs)
	listen := freeAddress(b)
	cmd := exec.Command(binary, "agent", "-address", nomad.URL, "-bolt", records, "-listen", listen)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill() // it may have ended on its own, which the wait shows
		_ = cmd.Wait()
	}()
	awaitNodes(b, "http://"+listen+"/v1/nodes", benchNodes)
	time.Sleep(settled)
	return resident(b, cmd.Process.Pid)
}

func freeAddress(b *testing.B) string {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// awaitNodes waits until the agent's pages list every node.
func awaitNodes(b *testing.B, url string, want int) {
	b.Helper()
	until := time.Now().Add(time.Minute)
	for {
		got, err := countNodes(url)
		if got == want {
			return
		}
		if time.Now().After(until) {
			b.Fatalf("the agent lists %d nodes, want %d (%v)", got, want, err)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

func countNodes(url string) (int, error) {
	response, err := http.Get(url)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	var nodes []json.RawMessage
	err = json.NewDecoder(response.Body).Decode(&nodes)
	return len(nodes), err
}

func resident(b *testing.B, pid int) float64 {
	b.Helper()
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, found := strings.Cut(string(data), "VmRSS:")
	if !found {
		b.Fatal("no VmRSS")
	}
	kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	if err != nil {
		b.Fatal(err)
	}
	return kib / 1024
}
