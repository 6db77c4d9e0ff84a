package dataset

import (
	"fmt"
	"io/fs"
	"strings"
)

// Reader is one line of the table of data sets.
type Reader struct {
	Name    string // of the folder, and on the command line
	Summary string
	Source  string
	Read    func(fs.FS) ([]Set, error)
}

// Readers lists every data set that is a utility matrix, sorted by name.
func Readers() []Reader {
	return []Reader{
		aslibReader,
		c3oReader,
		parsecReader,
		gavelReader,
		lumosReader,
		oboeReader,
		siaReader,
		specReader,
	}
}

// Lookup returns the reader of that name, or an error that lists the known
// ones.
func Lookup(name string) (Reader, error) {
	all := Readers()
	names := make([]string, len(all))
	for i, r := range all {
		if r.Name == name {
			return r, nil
		}
		names[i] = r.Name
	}
	return Reader{}, fmt.Errorf("unknown data set %q; known: %s", name, strings.Join(names, ", "))
}
