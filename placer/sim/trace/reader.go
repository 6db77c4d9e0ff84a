package trace

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Reader gives the jobs of a trace in order of submission. It is for one
// goroutine.
type Reader interface {
	// Next returns the next job; io.EOF after the last.
	Next() (Job, error)
	// Origin is the time on the trace's own clock that Job.Submit counts from.
	// It is known once Next has returned a job.
	Origin() time.Duration
	// Skips counts the rows left out so far, by reason.
	Skips() map[string]int
	Close() error
}

// NodeReader gives the machines of a trace in order of time. Machine tables are
// small: they are read whole before the first event.
type NodeReader interface {
	// Next returns the next event; io.EOF after the last.
	Next() (NodeEvent, error)
	// Skips counts the rows left out, by reason.
	Skips() map[string]int
	Close() error
}

// Role is what a file of a trace holds.
type Role string

// The roles every format may have; a format may have more, which are jobs in
// another form.
const (
	NoRole        Role = ""
	Jobs          Role = "jobs"
	Machines      Role = "machines"
	MachineEvents Role = "machine events"
)

func (r Role) jobs() bool     { return r != NoRole && !r.machines() }
func (r Role) machines() bool { return r == Machines || r == MachineEvents }

// Descriptor is one line of the table of formats.
type Descriptor struct {
	Name    string // on the command line and in scenario files
	Summary string
	Source  string // where the trace is described
	Order   string // how its jobs are put in order, and what that holds in memory

	// Detect says what a file holds, from its first record that is not a comment;
	// NoRole where it is not of this format.
	Detect func(first string) Role
	// Open reads the jobs of a folder (or of Options.Files in it).
	Open func(folder fs.FS, o Options) (Reader, error)
	// OpenNodes reads its machines; nil where the trace has none.
	OpenNodes func(folder fs.FS, o Options) (NodeReader, error)
}

// Open reads the jobs of a file or folder. An empty format is detected.
func Open(path, format string, o Options) (Reader, error) {
	folder, d, o, err := resolve(path, format, o, Role.jobs)
	if err != nil {
		return nil, err
	}
	return d.Open(folder, o)
}

// OpenNodes reads the machines of a file or folder. An empty format is detected.
func OpenNodes(path, format string, o Options) (NodeReader, error) {
	folder, d, o, err := resolve(path, format, o, Role.machines)
	if err != nil {
		return nil, err
	}
	if d.OpenNodes == nil {
		return nil, fmt.Errorf("%s: the format %s has no machines", path, d.Name)
	}
	return d.OpenNodes(folder, o)
}

// resolve turns a path and the name of a format into what a descriptor opens.
func resolve(path, format string, o Options, wanted func(Role) bool) (fs.FS, Descriptor, Options, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, Descriptor{}, o, fmt.Errorf("trace: %w", err)
	}
	folder := os.DirFS(path)
	if !info.IsDir() {
		folder, o.Files = os.DirFS(filepath.Dir(path)), []string{filepath.Base(path)}
	}
	if format == "" {
		if format, err = detect(folder, o, wanted); err != nil {
			return nil, Descriptor{}, o, fmt.Errorf("%s: %w", path, err)
		}
	}
	d, err := Lookup(format)
	return folder, d, o, err
}

// detect names the one format that finds a wanted table in the folder.
func detect(folder fs.FS, o Options, wanted func(Role) bool) (string, error) {
	names, err := candidates(folder, o)
	if err != nil {
		return "", err
	}
	var found []string
	for _, name := range names {
		first, err := firstRecord(folder, name)
		if err != nil {
			return "", err
		}
		for _, d := range Readers() {
			if wanted(d.Detect(first)) && !slices.Contains(found, d.Name) {
				found = append(found, d.Name)
			}
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("%w: no file looks like a known trace; known: %s (for any other table use the format csv with a column map)",
			ErrFormat, strings.Join(Names(), ", "))
	case 1:
		return found[0], nil
	default:
		return "", fmt.Errorf("%w: the files look like several formats: %s; name one", ErrFormat, strings.Join(found, ", "))
	}
}

// candidates are the files of a folder, or those the options name, sorted.
func candidates(folder fs.FS, o Options) ([]string, error) {
	if len(o.Files) > 0 {
		return o.Files, nil
	}
	var names []string
	err := fs.WalkDir(folder, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !entry.IsDir() && isTable(name) {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	slices.Sort(names)
	return names, nil
}

// isTable tells tables from what else lies in a folder, by name: traces of many
// parts have hundreds of files, and a README is not one.
func isTable(name string) bool {
	name = strings.TrimSuffix(strings.ToLower(name), ".gz")
	for _, ending := range []string{".csv", ".tsv", ".swf", ".txt"} {
		if strings.HasSuffix(name, ending) {
			return true
		}
	}
	return false
}

// byRole sorts the files of a folder into the tables of a format.
func byRole(folder fs.FS, o Options, of func(first string) Role) (map[Role][]string, error) {
	names, err := candidates(folder, o)
	if err != nil {
		return nil, err
	}
	roles := map[Role][]string{}
	for _, name := range names {
		first, err := firstRecord(folder, name)
		if err != nil {
			return nil, err
		}
		role := of(first)
		roles[role] = append(roles[role], name)
	}
	return roles, nil
}

// one is the only file of a role.
func one(roles map[Role][]string, role Role, format, hint string) (string, error) {
	switch names := roles[role]; len(names) {
	case 1:
		return names[0], nil
	case 0:
		return "", fmt.Errorf("%w: no file with the %s of %s: %s", ErrFormat, role, format, hint)
	default:
		return "", fmt.Errorf("%w: %d files with the %s of %s, and they are separate traces: name one of %s",
			ErrFormat, len(names), role, format, strings.Join(names, ", "))
	}
}
