package figures

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/nomad-placer/nomad-placer/placer/sim/report"
	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
)

// ResultFormat is part of the key of every kept result. It is raised when a
// change of the world, of a policy or of what is known of jobs changes results
// in a way that the canaries (canary.go) do not show.
const ResultFormat = 2

// kept is one run: a policy of a scenario under a seed, at every load.
type kept struct {
	Scenario    string        `json:"scenario"`
	Policy      string        `json:"policy"`
	Seed        uint64        `json:"seed"`
	HostSeconds float64       `json:"host_seconds"`
	Lines       []report.Line `json:"lines"`
	Failed      string        `json:"failed,omitempty"` // why there are no lines; of a league only
}

// store is a folder of kept results; without a folder nothing is kept.
type store struct {
	folder    string
	canary    string
	colocated string // the canary of scenarios with colocation, in addition
	own       string // and that of runs of our own policy
}

// key is a hash of everything that a run depends on.
func (s *store) key(of *scenario.Scenario, policy string, seed uint64) string {
	mark := s.canary
	if of.Colocated() {
		mark += s.colocated
	}
	if of.Selector(policy) == ours {
		mark += s.own
	}
	return keyOf("run", strconv.Itoa(report.Format), mark, of.IdentityOf(policy), policy, strconv.FormatUint(seed, 10))
}

// keyOf hashes parts so that no two lists of them are alike.
func keyOf(parts ...string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%d ", ResultFormat)
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (s *store) path(key string) string { return filepath.Join(s.folder, key+".json") }

// get reads a result; false where there is none, or none that can be read: then
// it is made anew.
func (s *store) get(key string, to any) bool {
	if s.folder == "" {
		return false
	}
	data, err := os.ReadFile(s.path(key))
	return err == nil && json.Unmarshal(data, to) == nil
}

// put writes a result whole or not at all.
func (s *store) put(key string, result any) error {
	if s.folder == "" {
		return nil
	}
	data, err := json.Marshal(result)
	if err != nil {
		return fmt.Errorf("figures: keep a result: %w", err)
	}
	if err := s.replace(key, data); err != nil {
		return fmt.Errorf("figures: keep a result: %w", err)
	}
	return nil
}

// replace writes a result whole or not at all. Two scenarios may have a run in common, which ends
// in both at once: each is written to a file of its own first.
func (s *store) replace(key string, data []byte) (err error) {
	f, err := os.CreateTemp(s.folder, "."+key+".*.part")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), s.path(key))
}
