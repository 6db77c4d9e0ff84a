// Package bolt keeps documents in one bbolt file, for a placer on one machine.
//
// The file has a bucket "nomad-placer/1"; the number is the version of the
// layout. A key is a document's path, a value is its index (8 bytes, big
// endian) followed by its data. The index comes from the bucket's sequence, so
// an index is never used twice, not even after a delete. A file with another
// version's bucket is refused rather than guessed at.
//
// One process at a time may have the file open; the second gets an error.
//
// # Differences from the paper
//
// No paper describes it: the papers leave persistence open (Delimitrou 2015,
// §3.5).
package bolt
