package truth

import (
	_ "embed" // of the world file
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// PublishedWorld is the name of the world that is fitted to what papers publish of their
// workloads and machines (decision 0058).
const PublishedWorld = "published"

//go:embed published.json
var publishedFile []byte

// Calibration is a world file: parameters that a fit found, on which seeds, and what they reach.
type Calibration struct {
	Format     int        `json:"format"`
	Seeds      []uint64   `json:"seeds"` // the fit saw; no scenario has any of them
	Count      int        `json:"applications"`
	Parameters Parameters `json:"parameters"`
	Reached    []Reached  `json:"reached"`
}

// CalibrationFormat is that of world files.
const CalibrationFormat = 1

// Reached is a published statistic of a shape, and what the world has of it.
type Reached struct {
	Shape      string   `json:"shape"`
	Scenario   string   `json:"scenario"` // whose rows, entries, classes and classifier they are
	Classifier string   `json:"classifier"`
	Rows       int      `json:"rows"`    // of training
	Entries    int      `json:"entries"` // of a new row
	Statistic  string   `json:"statistic"`
	Source     string   `json:"source"`
	Unit       string   `json:"unit"`
	Published  float64  `json:"published"`
	Tolerance  float64  `json:"tolerance"`
	Reached    *float64 `json:"reached"` // none where the shape has nothing of the kind
	Residual   *float64 `json:"residual"`
	// Measured is what measuring every cell once would reach in place of predicting it; none
	// where that has no meaning.
	Measured *float64 `json:"measured,omitempty"`
	Bound    bool     `json:"bound"` // else it is shown only
	Holds    bool     `json:"holds"`
}

// ErrWorld: there is no such world, or its file is damaged.
var ErrWorld = errors.New("truth: no usable world")

// WorldNames are those of the worlds that a scenario may be in.
func WorldNames() []string { return []string{PublishedWorld} }

// LookupWorld reads the file of a world.
func LookupWorld(name string) (*Calibration, error) {
	if name != PublishedWorld {
		return nil, fmt.Errorf("%w: %q; known: %s", ErrWorld, name, strings.Join(WorldNames(), ", "))
	}
	var c Calibration
	if err := json.Unmarshal(publishedFile, &c); err != nil {
		return nil, fmt.Errorf("%w: published.json is damaged; \"nomad-placer-sim calibrate\" writes it: %w", ErrWorld, err)
	}
	if c.Format != CalibrationFormat {
		return nil, fmt.Errorf("%w: published.json has format %d, not %d; \"nomad-placer-sim calibrate\" writes it", ErrWorld, c.Format, CalibrationFormat)
	}
	return &c, nil
}
