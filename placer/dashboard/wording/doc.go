// Package wording holds the words in which records are printed for people. The
// dashboard's pages and the command line both use it, so that a number reads
// the same wherever it is seen.
//
// Numbers keep three significant digits and carry their unit; a number that is
// not known is printed as "unknown", never as zero.
package wording
