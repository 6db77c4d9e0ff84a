package catalogue

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclparse"
)

//go:embed *.hcl colocated/*.hcl
var files embed.FS

// Application is a program with an input.
type Application struct {
	ID       string   `hcl:",label"`
	About    string   `hcl:"about"`
	Packages []string `hcl:"packages"` // Debian
	Stresses []string `hcl:"stresses"`
	Inputs   []string `hcl:"inputs,optional"` // names of package input
	Loop     []string `hcl:"loop,optional"`   // arguments of the loop; none is one run per unit
	Unit     string   `hcl:"unit"`            // of work
	Run      string   `hcl:"run"`
	// MemoryMB is what the whole of it takes at most.
	MemoryMB int `hcl:"memory_mb"`
	// Threads is how many CPUs it can use; default 1.
	Threads int `hcl:"threads,optional"`
	// MemorySizesMB are the sizes to try, ascending, where memory matters to its
	// speed. The last is the usual one.
	MemorySizesMB []int `hcl:"memory_sizes_mb,optional"`
	// Disk says that its speed depends on the file system.
	Disk bool `hcl:"disk,optional"`
	// Data is a script that makes what it works on, in the folder it runs in: for Colocated.
	Data string `hcl:"data,optional"`
	// WarmSeconds are how long it takes until it does what it does for ever: for Colocated.
	WarmSeconds int `hcl:"warm_seconds,optional"`
	// Tier 1 is measured before tier 2; default 1.
	Tier int `hcl:"tier,optional"`
}

// ErrUnknown: the catalogue has no application of that name.
var ErrUnknown = errors.New("no such application")

// Load reads the catalogue: first tier first, and by name.
func Load() ([]Application, error) {
	all, err := readFolder(".")
	slices.SortStableFunc(all, func(a, b Application) int { return a.Tier - b.Tier })
	return all, err
}

// Colocated reads the eight that are measured next to each other on one disk, by name.
func Colocated() ([]Application, error) {
	all, err := readFolder("colocated")
	for _, a := range all {
		if a.Data == "" {
			err = errors.Join(err, fmt.Errorf("catalogue: %s: data is needed", a.ID))
		}
	}
	return all, err
}

func readFolder(folder string) ([]Application, error) {
	entries, err := files.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("catalogue: %w", err)
	}
	var all []Application
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		a, err := read(path.Join(folder, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("catalogue: %w", err)
		}
		all = append(all, a)
	}
	return all, nil
}

func read(file string) (Application, error) {
	src, err := files.ReadFile(file)
	if err != nil {
		return Application{}, err
	}
	parsed, problems := hclparse.NewParser().ParseHCL(src, file)
	if problems.HasErrors() {
		return Application{}, problems
	}
	var root struct {
		Applications []Application `hcl:"application,block"`
	}
	if problems := gohcl.DecodeBody(parsed.Body, nil, &root); problems.HasErrors() {
		return Application{}, problems
	}
	if len(root.Applications) != 1 || root.Applications[0].ID+".hcl" != path.Base(file) {
		return Application{}, fmt.Errorf("%s: want one application, named as the file", file)
	}
	a := root.Applications[0]
	a.Threads, a.Tier = max(1, a.Threads), max(1, a.Tier)
	return a, a.check()
}

// Paced reports that it is not asked for all it can do.
func (a Application) Paced() bool { return slices.Contains(a.Loop, "-pause") }

var validID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]*$`)

func (a Application) check() error {
	switch {
	case !validID.MatchString(a.ID):
		return fmt.Errorf("%s: not a name", a.ID)
	case a.MemoryMB <= 0 || len(a.Packages) == 0 || a.Unit == "" || strings.TrimSpace(a.Run) == "":
		return fmt.Errorf("%s: memory_mb, packages, unit and run are needed", a.ID)
	case len(a.MemorySizesMB) > 0 && len(a.MemorySizesMB) < 3 || !slices.IsSorted(a.MemorySizesMB):
		return fmt.Errorf("%s: memory_sizes_mb: at least three sizes, ascending", a.ID)
	}
	return nil
}

// Choose returns those with the given names, in the catalogue's order; no names
// are all.
func Choose(all []Application, names []string) ([]Application, error) {
	if len(names) == 0 {
		return all, nil
	}
	var out []Application
	for _, a := range all {
		if slices.Contains(names, a.ID) {
			out = append(out, a)
		}
	}
	for _, n := range names {
		if !slices.ContainsFunc(all, func(a Application) bool { return a.ID == n }) {
			return nil, fmt.Errorf("%w: %s", ErrUnknown, n)
		}
	}
	return out, nil
}

// Place is where an application runs.
type Place struct {
	Workload string // the workload program of e2e/cmd
	Inputs   string // folder
	CPUs     []int  // it is bound to; none is all it was given
	Cores    int    // it should use
	SizeMB   int    // of its memory, one of MemorySizesMB; 0 is the usual one
	Listen   string // address of its counter, host:port
	AppPort  string // for a server of its own
}

// UsualSizeMB is the size of its memory unless another is asked for.
func (a Application) UsualSizeMB() int {
	if n := len(a.MemorySizesMB); n > 0 {
		return a.MemorySizesMB[n-1]
	}
	return a.MemoryMB
}

// bytesOf4K is a value of 4 KiB with what stores add to it, for KEYS_4K.
const bytesOf4K = 4300

// Environment are the variables its script needs.
func (a Application) Environment(p Place) map[string]string {
	size := p.SizeMB
	if size == 0 {
		size = a.UsualSizeMB()
	}
	return map[string]string{
		"INPUT":     p.Inputs,
		"CORES":     strconv.Itoa(min(max(1, p.Cores), a.Threads)),
		"MEMORY_MB": strconv.Itoa(size),
		"KEYS_4K":   strconv.Itoa(size * 1_000_000 / bytesOf4K),
		"APP_PORT":  p.AppPort,
	}
}

// Argv is the command that runs it as an endless workload.
func (a Application) Argv(p Place) []string {
	env := a.Environment(p)
	var argv []string
	if len(p.CPUs) > 0 {
		argv = append(argv, "taskset", "-c", list(p.CPUs))
	}
	argv = append(argv, p.Workload, "loop", "-listen", p.Listen)
	for _, word := range a.Loop {
		argv = append(argv, os.Expand(word, func(name string) string { return env[name] }))
	}
	return append(argv, "--", "/bin/sh", "-c", a.Run)
}

func list(cpus []int) string {
	words := make([]string, len(cpus))
	for i, cpu := range cpus {
		words[i] = strconv.Itoa(cpu)
	}
	return strings.Join(words, ",")
}

// NeedsPort says whether it listens on a port of its own.
func (a Application) NeedsPort() bool {
	return strings.Contains(a.Run+strings.Join(a.Loop, " "), "APP_PORT")
}
