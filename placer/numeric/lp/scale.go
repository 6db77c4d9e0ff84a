package lp

import "math"

// scalePasses of alternating rows and columns bring the entries near 1.
const scalePasses = 4

// scaling is by powers of two, so that it rounds nothing.
func scaling(rows int, columns []Column) (row, column []float64) {
	row, column = make([]float64, rows), make([]float64, len(columns))
	for i := range row {
		row[i] = 1
	}
	for j := range column {
		column[j] = 1
	}
	low, high := make([]float64, rows), make([]float64, rows)
	for range scalePasses {
		for i := range row {
			low[i], high[i] = math.Inf(1), 0
		}
		for j := range columns {
			for _, e := range columns[j].Entries {
				if v := math.Abs(e.Value) * column[j]; v > 0 {
					low[e.Row], high[e.Row] = min(low[e.Row], v), max(high[e.Row], v)
				}
			}
		}
		for i := range row {
			if high[i] > 0 {
				row[i] = 1 / math.Sqrt(low[i]*high[i])
			}
		}
		for j := range columns {
			column[j] = columnScale(&columns[j], row)
		}
	}
	for i := range row {
		row[i] = power(row[i])
	}
	for j := range columns {
		column[j] = power(columnScale(&columns[j], row))
	}
	return row, column
}

// columnScale is the factor that centres a column's scaled entries on 1.
func columnScale(c *Column, row []float64) float64 {
	low, high := math.Inf(1), 0.0
	for _, e := range c.Entries {
		if v := math.Abs(e.Value) * row[e.Row]; v > 0 {
			low, high = min(low, v), max(high, v)
		}
	}
	if high == 0 {
		return 1
	}
	return 1 / math.Sqrt(low*high)
}

func power(v float64) float64 { return math.Exp2(math.Round(math.Log2(v))) }
