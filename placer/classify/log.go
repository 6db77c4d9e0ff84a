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
	logs := Matrix{Columns: m.Columns, Rows: make([][]float64, len(m.Rows)), Always: m.Always, Groups: m.Groups}
	if m.Deviations != nil {
		if len(m.Deviations) != len(m.Rows) {
			return nil, fmt.Errorf("%w: deviations of %d rows for %d rows", ErrRow, len(m.Deviations), len(m.Rows))
		}
		logs.Deviations = make([][]float64, len(m.Rows))
	}
	for i, row := range m.Rows {
		var err error
		var deviations []float64
		if logs.Rows[i], deviations, err = logsOf(row, m.deviations(i), len(m.Columns)); err != nil {
			return nil, fmt.Errorf("row %d: %w", i, err)
		}
		if m.Deviations != nil {
			logs.Deviations[i] = deviations
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

// mostLog is the widest half of an interval of a logarithm: a thousand times as fast or slow
// is no better known than more (chosen by us).
var mostLog = math.Log(1000)

// logsOf also turns deviations into those of the logarithms, which for small ones are
// relative.
func logsOf(row, deviations []float64, columns int) (logs, relative []float64, err error) {
	at, values, err := observed(row, deviations, columns)
	if err != nil {
		return nil, nil, err
	}
	logs = make([]float64, len(row))
	if deviations != nil {
		relative = make([]float64, len(row))
	}
	for j := range logs {
		logs[j] = math.NaN()
	}
	for i, j := range at {
		if values[i] <= 0 {
			return nil, nil, fmt.Errorf("%w: column %d is %v, and a ratio must be positive", ErrRow, j, values[i])
		}
		logs[j] = math.Log(values[i])
		if deviations != nil {
			relative[j] = deviations[j] / values[i]
		}
	}
	return logs, relative, nil
}

type logModel struct {
	inner   Model
	columns int
}

func (m logModel) Complete(row, deviations []float64) ([]Cell, error) {
	logs, relative, err := logsOf(row, deviations, m.columns)
	if err != nil {
		return nil, err
	}
	out, err := m.inner.Complete(logs, relative)
	if err != nil {
		return nil, err
	}
	for j, c := range out {
		if c.Measured && (relative == nil || relative[j] == 0) {
			out[j] = Cell{Value: row[j], Low: row[j], High: row[j], Measured: true, Known: true}
			continue
		}
		out[j].Value, out[j].relative = math.Exp(c.Value), true
		out[j].Low, out[j].High = math.Exp(max(c.Low, c.Value-mostLog)), math.Exp(min(c.High, c.Value+mostLog))
	}
	return out, nil
}
