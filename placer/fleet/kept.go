package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler"
)

// Kept is a result of a unit, as it is in the folder of a campaign.
type Kept struct {
	Unit          json.RawMessage  `json:"unit"` // what it says
	Node          cluster.NodeID   `json:"node_id"`
	NodeName      string           `json:"node"`
	Configuration string           `json:"configuration"`
	Calibration   string           `json:"calibration,omitempty"` // of the node then; empty: it had none
	Taken         time.Time        `json:"taken"`
	Seconds       float64          `json:"seconds"` // that it took
	Receipt       profiler.Receipt `json:"receipt"`
	Result        []byte           `json:"result"`
}

// key is what a unit is known by. What any node of a choice may do is of that choice: on other
// machines it is another measurement.
func (u *Unit) key(of Choice) (key string, says []byte, err error) {
	if u.Node != "" {
		of = Choice{}
	}
	says, err = json.Marshal(struct {
		Kind string         `json:"kind"`
		Node cluster.NodeID `json:"node,omitempty"`
		On   Choice         `json:"on,omitzero"`
		Says any            `json:"says"`
	}{u.Kind, u.Node, of, u.Says})
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", u.Name, err)
	}
	sum := sha256.Sum256(says)
	return u.Kind + "-" + hex.EncodeToString(sum[:8]), says, nil
}

// load reads a kept result; nil where there is none. A file that is not whole is profiler.ErrTorn.
func load(folder, key string) (*Kept, error) {
	data, err := os.ReadFile(filepath.Join(folder, key+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var k Kept
	if err := json.Unmarshal(data, &k); err != nil {
		return nil, fmt.Errorf("%w: %w", profiler.ErrTorn, err)
	}
	if err := k.Receipt.Check(k.Result); err != nil {
		return nil, fmt.Errorf("%w: %w", profiler.ErrTorn, err)
	}
	return &k, nil
}

// save replaces a file in one step.
func save(folder, key string, k Kept) error {
	data, err := json.Marshal(k)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, "."+key+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(folder, key+".json"))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
