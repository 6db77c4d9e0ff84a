package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agext/levenshtein"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// MaxFileBytes bounds a scenario file.
const MaxFileBytes = 1 << 20

// ErrScenario: a file is no scenario; the text says where and why.
var ErrScenario = errors.New("not a usable scenario")

// Scenario is a checked file.
type Scenario struct {
	Name    string // of the file, without its ending
	Title   string
	Source  string
	Notes   []string
	Seeds   []uint64
	Loads   []float64 // at least one; 0 where the file has none
	Columns []interference.Source

	folder string // paths of traces are relative to it
	file   file
	body   *hclsyntax.Body
	limit  time.Duration
	world  *truth.Parameters // nil: the default ones
}

// Policies lists the names of the policies in the order of the file.
func (s *Scenario) Policies() []string {
	var out []string
	for _, p := range s.file.Policies {
		out = append(out, p.Name)
	}
	return out
}

// Selector is what a policy of the file chooses nodes by; empty where there is none of the name.
func (s *Scenario) Selector(policy string) string {
	for _, p := range s.file.Policies {
		if p.Name == policy {
			return cmp.Or(p.Selector, p.Name)
		}
	}
	return ""
}

// paragonColumns are the ten sources of Paragon: its families, as the text
// leaves them open (Delimitrou 2015, §3.3.2).
var paragonColumns = []interference.Source{
	interference.MemoryCapacity, interference.MemoryBandwidth, interference.StorageBandwidth, interference.NetworkBandwidth,
	interference.LLCCapacity, interference.LLCBandwidth, interference.L2Capacity, interference.L1Instruction, interference.L1Data, interference.TLB,
}

// Load reads a scenario file, and the files it is based on.
func Load(path string) (*Scenario, error) {
	folder := filepath.Dir(path)
	return Open(os.DirFS(folder), filepath.Base(path), folder)
}

// Open reads a scenario of a folder, and the files it is based on. Errors call the folder by
// its name, and paths of traces are relative to it.
func Open(files fs.FS, name, folder string) (*Scenario, error) {
	r := reader{files: files, folder: folder}
	src, err := r.text(name)
	if err != nil {
		return nil, fmt.Errorf("scenario: %s: %w", filepath.Join(folder, name), err)
	}
	return r.decode(src, name)
}

// Decode reads the text of a scenario without a base; filename is what errors call
// it.
func Decode(src []byte, filename string) (*Scenario, error) {
	r := reader{folder: filepath.Dir(filename)}
	return r.decode(src, filepath.Base(filename))
}

func (r *reader) decode(src []byte, name string) (*Scenario, error) {
	if isBase(name) {
		return nil, fmt.Errorf("%w: %s is a base for scenarios, and none itself: run one that is based on it, or write one that begins with base = %q", ErrScenario, filepath.Join(r.folder, name), name)
	}
	body, problems := r.body(src, name, nil)
	if problems.HasErrors() {
		return nil, asError(problems)
	}
	s := &Scenario{Name: strings.TrimSuffix(name, filepath.Ext(name)), folder: r.folder, body: body}
	if problems = gohcl.DecodeBody(body, nil, &s.file); problems.HasErrors() {
		return nil, asError(problems)
	}
	c := checker{body: body, file: &s.file}
	c.check(s)
	if len(c.problems) > 0 {
		return nil, asError(c.problems)
	}
	return s, nil
}

// asError prints diagnostics as compilers do.
func asError(problems hcl.Diagnostics) error {
	var lines []string
	for _, d := range problems {
		if d.Severity != hcl.DiagError {
			continue
		}
		line := d.Summary
		if d.Detail != "" {
			line += ": " + d.Detail
		}
		if d.Subject != nil {
			line = fmt.Sprintf("%s:%d:%d: %s", d.Subject.Filename, d.Subject.Start.Line, d.Subject.Start.Column, line)
		}
		lines = append(lines, line)
	}
	return fmt.Errorf("%w:\n%s", ErrScenario, strings.Join(lines, "\n"))
}

// checker says what is wrong with values that have the right type.
type checker struct {
	body     *hclsyntax.Body
	file     *file
	problems hcl.Diagnostics
}

// at is where an attribute of a block is; without the attribute the block,
// without the block the file. path is block types and numbers, then the name.
func (c *checker) at(attribute string, path ...blockAt) hcl.Range {
	body, where := c.body, c.body.Range()
	for _, p := range path {
		n := 0
		for _, b := range body.Blocks {
			if b.Type != p.kind {
				continue
			}
			if n == p.number {
				body, where = b.Body, b.DefRange()
				break
			}
			n++
		}
	}
	if a, ok := body.Attributes[attribute]; ok {
		return a.SrcRange
	}
	return where
}

// blockAt is the number-th block of a kind.
type blockAt struct {
	kind   string
	number int
}

func (c *checker) fail(at hcl.Range, format string, args ...any) {
	c.problems = append(c.problems, &hcl.Diagnostic{Severity: hcl.DiagError, Summary: fmt.Sprintf(format, args...), Subject: &at})
}

// span reads a duration; empty is the fallback.
func (c *checker) span(text string, fallback time.Duration, attribute string, path ...blockAt) time.Duration {
	if text == "" {
		return fallback
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		c.fail(c.at(attribute, path...), "%s = %q is no duration such as \"90s\" or \"1h30m\"", attribute, text)
		return fallback
	}
	return d
}

// oneOf checks a name, and offers the nearest known one.
func (c *checker) oneOf(name string, known []string, attribute string, path ...blockAt) {
	if !slices.Contains(known, name) {
		c.fail(c.at(attribute, path...), "%s", unknown(attribute, name, known))
	}
}

// unknown says that there is no such name of a kind of things, and which there are.
func unknown(kind, name string, known []string) string {
	hint := "."
	if near := nearest(name, known); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Sprintf("unknown %s %q%s Known: %s", kind, name, hint, strings.Join(known, ", "))
}

// nearest is the known name with the least edit distance, if that is at most a
// third of it.
func nearest(word string, known []string) string {
	best, least := "", len(word)/3+1
	for _, k := range known {
		if d := levenshtein.Distance(word, k, nil); d <= least && (best == "" || d < levenshtein.Distance(word, best, nil)) {
			best = k
		}
	}
	return best
}
