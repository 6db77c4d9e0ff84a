package scenario

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// What a file says of its base, and of the policies it takes from it, is read before
// the grammar of file.go.
const (
	baseAttribute     = "base"     // the file of the same folder that a scenario is based on
	policiesAttribute = "policies" // which policies are compared, and in which order
)

// baseEnding ends the name of a file that is a base only: it is never run, nor listed.
const baseEnding = ".base.hcl"

// isBase: a file of that name is a base only.
func isBase(name string) bool { return strings.HasSuffix(name, baseEnding) }

// Files lists the scenarios of a folder, without the files that are bases only.
func Files(folder fs.FS) ([]string, error) {
	names, err := fs.Glob(folder, "*.hcl")
	if err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	return slices.DeleteFunc(names, isBase), nil
}

// reader parses scenario files of a folder, each over its base.
type reader struct {
	files  fs.FS  // nil: there is one text, and no folder
	folder string // what errors call the folder
}

// errTooLong: a file is longer than any scenario.
var errTooLong = fmt.Errorf("%w: more than %d bytes", ErrScenario, MaxFileBytes)

// text reads a file.
func (r *reader) text(name string) ([]byte, error) {
	f, err := r.files.Open(name)
	if err != nil {
		return nil, reason(err)
	}
	defer func() { _ = f.Close() }() // read only
	src, err := io.ReadAll(io.LimitReader(f, MaxFileBytes+1))
	switch {
	case err != nil:
		return nil, reason(err)
	case len(src) > MaxFileBytes:
		return nil, errTooLong
	}
	return src, nil
}

// reason is an error without its path, which lacks the folder.
func reason(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}

// body parses a text and puts it over its base, if it names one. above are the
// files that led here.
func (r *reader) body(src []byte, name string, above []string) (*hclsyntax.Body, hcl.Diagnostics) {
	parsed, problems := hclsyntax.ParseConfig(src, filepath.Join(r.folder, name), hcl.InitialPos)
	if problems.HasErrors() {
		return nil, problems
	}
	own := parsed.Body.(*hclsyntax.Body)
	based, policies := take(own, baseAttribute), take(own, policiesAttribute)
	whole := own
	if based != nil {
		base, problems := r.base(based, append(above, name))
		if problems.HasErrors() {
			return nil, problems
		}
		if whole, problems = over(own, base); problems.HasErrors() {
			return nil, problems
		}
	}
	if policies == nil {
		return whole, nil
	}
	return only(whole, own, policies)
}

// take removes an attribute from a body and returns it; nil where there is none.
func take(body *hclsyntax.Body, name string) *hclsyntax.Attribute {
	out := body.Attributes[name]
	delete(body.Attributes, name)
	return out
}

// base reads the file that the attribute names.
func (r *reader) base(named *hclsyntax.Attribute, above []string) (*hclsyntax.Body, hcl.Diagnostics) {
	var name string
	if problems := gohcl.DecodeExpression(named.Expr, nil, &name); problems.HasErrors() {
		return nil, problems
	}
	at := named.Expr.Range()
	switch {
	case r.files == nil:
		return nil, problem(at, "base = %q: this text is not read from a folder, so it has no base", name)
	case name == "." || !fs.ValidPath(name) || strings.ContainsAny(name, `/\`):
		return nil, problem(at, "base = %q is no file name: a base is a file of the same folder, such as \"paragon-ec2-high.hcl\"", name)
	case slices.Contains(above, name):
		return nil, problem(at, "base = %q leads back to itself (%s): one of them must do without a base", name, strings.Join(append(above, name), ", "))
	}
	src, err := r.text(name)
	if err != nil {
		return nil, problem(at, "base = %q cannot be read: %s%s", name, err, r.hint(name))
	}
	return r.body(src, name, above)
}

// hint offers the nearest file of the folder.
func (r *reader) hint(name string) string {
	known, _ := fs.Glob(r.files, "*.hcl") // the pattern is a good one
	if near := nearest(name, known); near != "" && near != name {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return "; a base is a file of the same folder"
}

// over is what a file says over what its base says: an attribute replaces the one
// of its name; a block goes over the one of its type and labels, by the same rule;
// what the base does not have is added at the end. Positions stay those of the
// file in which something was written.
func over(own, base *hclsyntax.Body) (*hclsyntax.Body, hcl.Diagnostics) {
	out := *own
	out.Attributes = maps.Clone(base.Attributes)
	maps.Copy(out.Attributes, own.Attributes)
	out.Blocks = slices.Clone(base.Blocks)
	places, times := map[string][]int{}, map[string]int{}
	for i, b := range base.Blocks {
		places[heading(b)] = append(places[heading(b)], i)
	}
	for _, b := range own.Blocks {
		times[heading(b)]++
	}
	for _, b := range own.Blocks {
		there := places[heading(b)]
		switch {
		case len(there) == 0:
			out.Blocks = append(out.Blocks, b)
		case len(there) > 1 || times[heading(b)] > 1:
			return nil, problem(b.DefRange(), "block %s: the base has %d of them and this file %d, so which goes over which cannot be said; "+
				"leave them as the base has them, or do without this base", heading(b), len(there), times[heading(b)])
		default:
			merged, problems := over(b.Body, base.Blocks[there[0]].Body)
			if problems.HasErrors() {
				return nil, problems
			}
			block := *b
			block.Body = merged
			out.Blocks[there[0]] = &block
		}
	}
	return &out, nil
}

// only keeps the policies that the attribute names, in its order. A policy that the
// file itself has and does not name would be lost without a word, so that is an error.
func only(whole, own *hclsyntax.Body, named *hclsyntax.Attribute) (*hclsyntax.Body, hcl.Diagnostics) {
	var names []string
	if problems := gohcl.DecodeExpression(named.Expr, nil, &names); problems.HasErrors() {
		return nil, problems
	}
	out := *whole
	out.Blocks = nil
	var known []string
	blocks := map[string][]*hclsyntax.Block{} // by name; several are an error of the grammar
	for _, b := range whole.Blocks {
		if !isPolicy(b) {
			out.Blocks = append(out.Blocks, b)
			continue
		}
		known = append(known, b.Labels[0])
		blocks[b.Labels[0]] = append(blocks[b.Labels[0]], b)
	}
	for i, name := range names {
		switch {
		case blocks[name] == nil:
			return nil, problem(named.Expr.Range(), "%s", unknown("policy", name, known))
		case slices.Contains(names[:i], name):
			return nil, problem(named.Expr.Range(), "policies names %q twice", name)
		}
		out.Blocks = append(out.Blocks, blocks[name]...)
	}
	for _, b := range own.Blocks {
		if isPolicy(b) && !slices.Contains(names, b.Labels[0]) {
			return nil, problem(b.DefRange(), "policy %q is not named in policies (line %d): name it there, or leave the block out", b.Labels[0], named.SrcRange.Start.Line)
		}
	}
	return &out, nil
}

// isPolicy: a policy block without exactly one label is left to the grammar.
func isPolicy(b *hclsyntax.Block) bool { return b.Type == "policy" && len(b.Labels) == 1 }

// heading is the type and the labels of a block.
func heading(b *hclsyntax.Block) string {
	out := b.Type
	for _, label := range b.Labels {
		out += fmt.Sprintf(" %q", label)
	}
	return out
}

func problem(at hcl.Range, format string, args ...any) hcl.Diagnostics {
	return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: fmt.Sprintf(format, args...), Subject: &at}}
}
