// Package dataset reads public measurements into utility matrices that
// classifiers are evaluated on: one file per data set, one line in readers.go.
//
// The files are gzip-compressed CSV with a header line. They are not part of
// this repository; each reader's comment names the publication. A value that
// cannot be read is an error with file and line. A row that cannot be used is
// skipped, counted and the first of its kind named; nothing is left out
// silently.
package dataset
