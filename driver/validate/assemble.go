package validate

import (
	"encoding/json"
	"fmt"
)

func marshal(result any) (json.RawMessage, error) {
	data, err := json.Marshal(result)
	if err != nil {
		return nil, fmt.Errorf("encode a result: %w", err)
	}
	return data, nil
}

// assemble reads the cells into the report, in the order of cells.
func (r *Report) assemble(st state, cells []cell) error {
	for _, c := range cells {
		saved, ok := st.load(c.key)
		if !ok {
			continue
		}
		r.MeasuredSeconds += saved.Seconds
		if saved.Error != "" {
			r.Failures = append(r.Failures, Failure{Cell: c.title, Reason: saved.Error})
			continue
		}
		if err := r.add(c.stage, saved.Result); err != nil {
			return fmt.Errorf("cell %s: %w", c.key, err)
		}
	}
	return nil
}

func (r *Report) add(s stage, result json.RawMessage) error {
	switch s {
	case stageLinearity:
		return appendResult(&r.Linearity, result)
	case stageVictim:
		return appendResult(&r.Victims, result)
	case stageDisplacement:
		return appendResult(&r.Displacements, result)
	case stageCrossTalk:
		return appendResult(&r.CrossTalk, result)
	case stageOffTarget:
		return appendResult(&r.OffTarget, result)
	case stageYardstick:
		return appendResult(&r.Yardsticks, result)
	}
	return fmt.Errorf("unknown stage %q", s)
}

func appendResult[T any](list *[]T, data json.RawMessage) error {
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	*list = append(*list, v)
	return nil
}
