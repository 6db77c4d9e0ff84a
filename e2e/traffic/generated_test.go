//go:build e2e

package traffic

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/nomad-placer/nomad-placer/profiler/workload/network"
	"github.com/nomad-placer/nomad-placer/profiler/workload/network/replay"
)

const (
	playKey   = "the key of these tests"
	playLimit = 50e6 // bytes per second of one node
	playSeed  = 1
	// deviationMost is how far what a pair of nodes exchanges may be from the original, in
	// percent. The model asks for a message a second of each pair: two of the twenty that are
	// measured may fall on the other side of the beginning and the end.
	deviationMost = 10
	exactPairs    = 16 // more than there are
)

// generated fits a model to what was captured, has a generator for every node send it, captures
// that, and compares both.
func (s *site) generated(t *testing.T, original *network.Reading) {
	o := network.DefaultFit()
	o.Windows, o.TopPairs = network.OneWindow(), exactPairs
	m, err := network.Fit(t.Context(), original.Table, o)
	if err != nil {
		t.Fatal(err)
	}
	var players []*player
	for _, n := range nodes {
		players = append(players, s.player(t, m, original.Names, n.name))
	}
	for _, p := range players {
		p.tell(t)
	}
	made := s.capture(filepath.Join(t.TempDir(), "generated.csv"), *span)
	for _, p := range players {
		if r := p.stop(t); r.Capped > 0 || r.Unanswered > 0 || len(r.Silent) > 0 {
			t.Errorf("%s: %s", p.node, r)
		}
	}
	want, got := ratesOf(original), ratesOf(made)
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\nfrom\tto\tcaptured, MB/s\tgenerated, MB/s\tapart, %%\n")
	for _, pair := range sortedPairs(want) {
		apart := 100 * (got[pair]/want[pair] - 1)
		fmt.Fprintf(w, "%s\t%s\t%.3f\t%.3f\t%+.1f\n", pair[0], pair[1], want[pair]/1e6, got[pair]/1e6, apart)
		if !(apart > -deviationMost && apart < deviationMost) {
			t.Errorf("%s to %s: %.3g bytes/s were captured, %.3g generated", pair[0], pair[1], want[pair], got[pair])
		}
	}
	_ = w.Flush() // into memory
	t.Log(out.String())
	for pair := range got {
		if want[pair] == 0 {
			t.Errorf("%s sends %s %.3g bytes/s that the original has not", pair[0], pair[1], got[pair])
		}
	}
}

func sortedPairs(rates map[[2]string]float64) [][2]string {
	var out [][2]string
	for pair := range rates {
		out = append(out, pair)
	}
	slices.SortFunc(out, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	return out
}

// player is a generator in the namespace of a node.
type player struct {
	node  string
	cmd   *exec.Cmd
	told  io.WriteCloser
	said  *bufio.Reader
	error strings.Builder
}

// player starts the generator of a node.
func (s *site) player(t *testing.T, m *network.Model, names []string, node string) *player {
	t.Helper()
	server := func(node string) int { return slices.Index(names, rackOf(node)+"/"+node) }
	r := replay.Request{Server: server(node), Listen: s.address(node, generator)}
	for _, n := range nodes {
		if n.name != node {
			r.Peers = append(r.Peers, replay.Peer{Server: server(n.name), Address: s.address(n.name, generator)})
		}
	}
	return startPlayer(t, m, r, node, filepath.Join(s.spaces.Folder, space(node, generator)))
}

// startPlayer starts a generator in a network namespace, and waits until it listens. The request
// says whose part of the model it plays, and to whom.
func startPlayer(t *testing.T, m *network.Model, r replay.Request, node, space string) *player {
	t.Helper()
	var err error
	if r.Row, err = replay.Row(m, r.Server); err != nil {
		t.Fatal(err)
	}
	r.Format, r.Key, r.LimitBytesPerSecond, r.Seed = replay.Format, playKey, playLimit, playSeed
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), node+".json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &player{node: node, cmd: exec.CommandContext(t.Context(), "nsenter", "--net="+space, self, plays, file)}
	p.cmd.Stderr = &p.error
	if p.told, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	said, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.said = bufio.NewReader(said)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := p.said.ReadString('\n'); err != nil {
		t.Fatalf("the generator of %s does not listen: %q, %v: %s", node, line, err, p.ended())
	}
	return p
}

// ended is what a generator has complained of before its end.
func (p *player) ended() string {
	err := p.cmd.Wait()
	return fmt.Sprint(p.error.String(), err)
}

// tell has it begin.
func (p *player) tell(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(p.told, "play\n"); err != nil {
		t.Fatalf("the generator of %s: %v: %s", p.node, err, p.ended())
	}
}

// stop ends it and returns what it did.
func (p *player) stop(t *testing.T) replay.Report {
	t.Helper()
	if err := p.told.Close(); err != nil {
		t.Fatal(err)
	}
	var r replay.Report
	if err := json.NewDecoder(p.said).Decode(&r); err != nil {
		t.Fatalf("the generator of %s: %v: %s", p.node, err, p.ended())
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("the generator of %s: %v: %s", p.node, err, p.error.String())
	}
	return r
}
