// Package sim is the scenarios of this folder, so that the program can run them
// by name wherever it is.
package sim

import "embed"

// Files holds the scenario files.
//
//go:embed *.hcl
var Files embed.FS
