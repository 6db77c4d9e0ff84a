package classify

import (
	"fmt"
	"math"
)

// inLogs lets a classifier work on the logarithms of a ratio matrix: twice as
// fast and half as fast are then equally far from the same, and no predicted
// speed can be negative. Other matrices are passed on as they are.
type inLogs struct{ inner Classifier }

func (c inLogs) Fit(m Matrix, seed uint64) (Model, error) {
	if !m.Ratio {
		return c.inner.Fit(m, seed)
	}
	logs := Matrix{Columns: m.Columns, Rows: make([][]float64, len(m.Rows)), Always: m.Always}
	for i, row := range m.Rows {
		var err error
		if logs.Rows[i], err = logsOf(row, len(m.Columns)); err != nil {
			return nil, fmt.Errorf("row %d: %w", i, err)
		}
	}
	inner, err := c.inner.Fit(logs, seed)
	if err != nil {
		return nil, err
	}
	logged := logModel{inner, len(m.Columns)}
	if p, ok := inner.(Planner); ok {
		return plannedLogs{logged, p}, nil
	}
	return logged, nil
}

func logsOf(row []float64, columns int) ([]float64, error) {
	at, values, err := observed(row, columns)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(row))
	for j := range out {
		out[j] = math.NaN()
	}
	for i, j := range at {
		if values[i] <= 0 {
			return nil, fmt.Errorf("%w: column %d is %v, and a ratio must be positive", ErrRow, j, values[i])
		}
		out[j] = math.Log(values[i])
	}
	return out, nil
}

type logModel struct {
	inner   Model
	columns int
}

func (m logModel) Complete(row []float64) ([]Cell, error) {
	logs, err := logsOf(row, m.columns)
	if err != nil {
		return nil, err
	}
	out, err := m.inner.Complete(logs)
	if err != nil {
		return nil, err
	}
	for j, c := range out {
		if c.Measured {
			out[j] = Cell{Value: row[j], Low: row[j], High: row[j], Measured: true, Known: true}
			continue
		}
		out[j].Value, out[j].Low, out[j].High = math.Exp(c.Value), math.Exp(c.Low), math.Exp(c.High)
	}
	return out, nil
}
