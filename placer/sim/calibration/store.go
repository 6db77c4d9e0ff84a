package calibration

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/nomad-placer/nomad-placer/placer/sim/scenario"
)

// ResultFormat is part of the name of everything that is kept. It is raised when a change of the
// world, of a classifier or of a statistic changes results.
const ResultFormat = 1

// outcome is what one seed of a shape has of the statistics of a group; nil where it has nothing of
// the kind.
type outcome struct {
	Classifier string              `json:"classifier"`
	Rows       int                 `json:"rows"`
	Of         map[string]*float64 `json:"of"`
	Measured   map[string]*float64 `json:"measured"`
}

// store keeps outcomes in a folder; without one nothing is kept.
type store struct{ folder string }

// outcome takes the kept one where it has all that is asked for, or draws and judges.
func (s *store) outcome(in *scenario.Scenario, seed uint64, count int, g Group, of []*Statistic) (*outcome, error) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %d %s %s", ResultFormat, seed, count, g, in.Identity()))
	path := filepath.Join(s.folder, "calibration-"+hex.EncodeToString(sum[:12])+".json")
	if s.folder != "" {
		out, err := load(path)
		if err != nil || out != nil && out.has(of) {
			return out, err
		}
	}
	drawn, err := draw(in, seed, count, g)
	if err != nil {
		return nil, err
	}
	out := &outcome{Classifier: drawn.Classifier, Rows: drawn.Rows, Of: map[string]*float64{}, Measured: map[string]*float64{}}
	for _, k := range of {
		out.Of[k.Name] = known(k.Of(drawn))
		if k.Measured != nil {
			out.Measured[k.Name] = known(k.Measured(drawn))
		}
	}
	if s.folder == "" {
		return out, nil
	}
	return out, out.write(path)
}

// known is nil of NaN.
func known(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

func (o *outcome) has(of []*Statistic) bool {
	for _, k := range of {
		_, ok := o.Of[k.Name]
		_, measured := o.Measured[k.Name]
		if !ok || k.Measured != nil && !measured {
			return false
		}
	}
	return true
}

// load is nil where nothing is kept.
func load(path string) (*outcome, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := &outcome{}
	if err := json.Unmarshal(data, out); err != nil {
		return nil, fmt.Errorf("%s is damaged; remove it, and it is drawn again: %w", path, err)
	}
	return out, nil
}

func (o *outcome) write(path string) error {
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return WriteWhole(path, data)
}

// WriteWhole writes a file and its folder: the whole file or none.
func WriteWhole(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	part := path + ".new"
	if err := os.WriteFile(part, data, 0o644); err != nil {
		return err
	}
	return os.Rename(part, path)
}
