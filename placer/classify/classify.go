package classify

// Matrix is a utility matrix: rows are workloads, columns are node
// configurations or sources. NaN marks a missing cell.
type Matrix struct {
	Columns []string
	Rows    [][]float64 // each len(Columns)
	// Deviations are the standard deviations of the measurements, row by row, in the unit of
	// the cells; nil, a nil row and 0 are exact up to the model's own noise. The
	// deviation of a missing cell is not looked at.
	Deviations [][]float64

	// Ratio: cells are positive and only their ratios mean something, so that a
	// classifier of ours may work on logarithms.
	Ratio bool
	// Always lists columns that every new row brings: the reference of rows that
	// were divided by it. Cross-validation shows them too.
	Always []int
	// Groups are the names of what rows belong to, a program or a cluster, where new rows are
	// of none of them: what is held out is then a whole group. Nil: every row is one of
	// its own.
	Groups []string
}

// Cell is one completed cell of a row.
type Cell struct {
	Value    float64
	Low      float64 // 95 % prediction interval from held-out residuals; see Interval for others
	High     float64
	Measured bool   // given, not predicted
	Known    bool   // false: nothing could be said
	Doubt    string // why it deserves little confidence; empty where it does not

	others   belief                   // of a measured cell: what is known of it without its own measurement
	shape    [len(levels) - 1]float64 // half widths of the lower levels, in those of 95 %; 0: as normal
	relative bool                     // the interval is symmetric in logarithms
}

// belief is a normal distribution; a deviation of 0 is none.
type belief struct{ mean, deviation float64 }

// Model completes rows without being refitted.
type Model interface {
	// Complete takes a row, NaN where a cell is missing, with the standard deviations of its
	// cells as in Matrix.Deviations. ErrRow where either is malformed.
	Complete(row, deviations []float64) ([]Cell, error)
}

// Classifier fits a model to a training matrix.
type Classifier interface {
	Fit(m Matrix, seed uint64) (Model, error)
}

// Descriptor is one line of the classifier table.
type Descriptor struct {
	Name    string
	Summary string
	Paper   string
	New     func() Classifier
}
