// Package tables reads the tables of public data sets row by row, for those who make
// profiles of them and those who make matrices. What a table is called, which columns
// it has and what they mean is known here, once; a column that only one reader needs
// is read by its name.
//
//	table, err := tables.Open("runs.csv.gz", raw, &problems)
//	for row, err := range table.Rows(tables.LumosRuns) {
//		run := tables.LumosRunOf(row) // a fault is noted in problems
//	}
//
// A table is CSV with a header line, compressed where its name ends in .gz. A value
// that cannot be read is a fault with file, line and column; readers collect faults
// and end with them.
package tables
