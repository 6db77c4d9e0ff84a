// Command vulnerable calls what testdata/database says is vulnerable.
package main

import (
	"os"
	"text/tabwriter"
)

func main() { tabwriter.NewWriter(os.Stdout, 0, 8, 1, ' ', 0) }
