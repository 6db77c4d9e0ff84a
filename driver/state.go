package driver

import (
	"encoding/json"
	"fmt"
	"time"
)

// stateVersion is the version of taskState; Nomad keeps it with the state.
// Version 0 is Nomad's own.
const stateVersion = 1

// taskState is what Nomad keeps for RecoverTask.
type taskState struct {
	Dir        string    `json:"dir"` // runtime directory of the child
	Name       string    `json:"name"`
	PID        int       `json:"pid"`
	StartTicks uint64    `json:"start_ticks"` // with the boot id, tells the child from a later process
	BootID     string    `json:"boot_id"`
	StartedAt  time.Time `json:"started_at"`
}

func (s taskState) encode() ([]byte, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("task state: %w", err)
	}
	return data, nil
}

func decodeState(version int32, data []byte) (taskState, error) {
	if version != stateVersion {
		return taskState{}, fmt.Errorf("task state: version %d, this release reads %d", version, stateVersion)
	}
	var s taskState
	if err := json.Unmarshal(data, &s); err != nil {
		return taskState{}, fmt.Errorf("task state: %w", err)
	}
	return s, nil
}
