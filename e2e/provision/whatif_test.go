//go:build e2e

package provision

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/rig"
	"github.com/nomad-placer/nomad-placer/placer/provision"
)

var (
	// The agent writes runs every minute, and a job is missed for half of one: what has come and gone
	// in the first quarter is written with its end at the first time.
	recordFor = flag.Duration("record", 15*time.Second, "how long jobs come whose runs are replayed")
	keepIn    = flag.String("keep", "", "a folder for what what-if prints")
)

// recordingConfig rents nothing; runs are recorded.
const recordingConfig = `
exec_probes = true
listen      = "127.0.0.1:%d"

pools {
  hold = "placer"
  run  = "default"
}

provision {
  strategy = "SR"
}
`

// TestWhatIfOfRunsOnRecord: jobs come and go on owned nodes for a while, twice as many in the middle
// third, and what-if says what they would have cost under each strategy.
func TestWhatIfOfRunsOnRecord(t *testing.T) {
	r := startConfigured(t, func(*rig.Rig, string) string { return fmt.Sprintf(recordingConfig, agentPort) })
	random := rand.New(rand.NewPCG(28, 0))
	r.agent.start(t)
	began := time.Now()
	known := map[string]bool{}
	ends := map[string]time.Time{}
	submitted := 0
	for next := began; time.Since(began) < *recordFor; time.Sleep(200 * time.Millisecond) {
		for id, at := range ends {
			if time.Now().After(at) {
				delete(ends, id)
				if err := r.rig.Purge(t.Context(), id); err != nil {
					t.Fatal(err)
				}
			}
		}
		if time.Now().Before(next) {
			continue
		}
		kind, tolerated := "tolerant", 80.0
		if random.IntN(5) < 2 {
			kind, tolerated = "sensitive", 10
		}
		id := fmt.Sprintf("%s-%d", kind, submitted)
		r.submit(t, id, kind)
		if !known[kind] {
			known[kind] = true
			r.know(t, id, tolerated)
		}
		submitted++
		ends[id] = time.Now().Add(15*time.Second + time.Duration(random.Int64N(int64(75*time.Second))))
		next = next.Add(8 * time.Second)
		if third := *recordFor / 3; time.Since(began) > third && time.Since(began) < 2*third {
			next = next.Add(-4 * time.Second)
		}
	}
	for id := range ends {
		if err := r.rig.Purge(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), program(t, "nomad-placer", "make build"), append([]string{"provision", "what-if", "-no-color", "-address", r.rig.Addr(), "-since", "2h", "-prices", "../../examples/provision/prices.hcl"}, args...)...)
		cmd.Env = append(os.Environ(), "NOMAD_TOKEN="+r.rig.Token())
		return cmd.Output()
	}
	// A run has ended when its job is missed for 30 s, and is written within a minute.
	eventually(t, "all runs on record have ended", 2*time.Minute, func() bool {
		var c provision.Comparison
		out, err := ask("-json") // an error as long as none is on record
		return err == nil && json.Unmarshal(out, &c) == nil && c.Running == 0 && c.Runs > 0
	})
	text, err := ask()
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	t.Logf("%d jobs in %s:\n%s", submitted, *recordFor, text)
	var c provision.Comparison
	out, err := ask("-json")
	if err == nil {
		err = json.Unmarshal(out, &c)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if len(c.Strategies) != len(provision.Strategies()) {
		t.Fatalf("%+v", c)
	}
	for _, s := range c.Strategies {
		if s.Strategy.Owns() != (s.OwnedNodes > 0) || len(s.Horizons) != len(provision.DefaultWeeks()) {
			t.Errorf("%+v", s)
		}
	}
	if *keepIn != "" {
		if err := os.WriteFile(filepath.Join(*keepIn, "what-if.txt"), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
