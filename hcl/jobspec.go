package hcl

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	hclv2 "github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// MetaKey is the key of a group's meta that carries the text of its
// performance block, and the name of the block.
const MetaKey = "performance"

// MaxJobspecBytes is the longest jobspec Extract reads: what Nomad keeps of a
// submission by default (job_max_source_size).
const MaxJobspecBytes = 1 << 20

// Errors of Attach.
var (
	ErrNoGroup      = errors.New("the job has no such group")
	ErrMetaTaken    = errors.New("the group's meta already has a performance key")
	ErrMalformedJob = errors.New("not a job in the JSON form that Nomad uses")
)

// Block is a performance block cut out of a jobspec.
type Block struct {
	Text    string // from the word performance to the closing brace, as written
	Line    int    // where the text starts in the jobspec, from 1
	Column  int
	EndLine int
}

// Extract cuts the performance blocks out of the groups of a native jobspec.
//
// stripped is the jobspec without them, with every other line at its old
// number, so that what Nomad says of it is right for the user's file. blocks
// are by name of the group. Texts inside meta are left where they are. The
// blocks are not decoded: DecodeBlock does that.
//
// A jobspec in JSON, and one that never says performance, comes back as it is:
// what is wrong with it is Nomad's to say. So does one that cannot be read, with what
// is wrong with it; there is no stripped jobspec where a block itself is wrong.
func Extract(src []byte, filename string) (stripped []byte, blocks map[string]Block, ds Diagnostics) {
	trimmed := bytes.TrimSpace(src)
	if bytes.HasPrefix(trimmed, []byte("{")) {
		return src, nil, nil
	}
	named := bytes.Contains(src, []byte(MetaKey))
	if !named && len(src) > MaxJobspecBytes {
		return src, nil, nil
	}
	s := newSource(src, filename, position{line: 1, column: 1})
	body := s.parse(MaxJobspecBytes)
	if body == nil {
		if !named {
			return src, nil, nil
		}
		return src, nil, s.problems.sorted()
	}
	x := &extraction{source: s, stripped: slices.Clone(src), blocks: map[string]Block{}}
	x.file(body)
	if s.problems.HasErrors() {
		return nil, nil, s.problems.sorted()
	}
	return dropBlanked(x.stripped), x.blocks, s.problems.sorted()
}

// blanked marks a byte of a block that was cut out. It is never in UTF-8 text.
const blanked = 0xff

func dropBlanked(b []byte) []byte {
	return slices.DeleteFunc(b, func(c byte) bool { return c == blanked })
}

// extraction walks a jobspec.
type extraction struct {
	*source
	stripped []byte
	blocks   map[string]Block
}

func (x *extraction) file(body *hclsyntax.Body) {
	x.misplaced(body, "at the top of the file")
	for _, b := range body.Blocks {
		if b.Type == "job" {
			x.job(b.Body)
		}
	}
}

func (x *extraction) job(body *hclsyntax.Body) {
	x.misplaced(body, "directly in job")
	for _, b := range body.Blocks {
		switch {
		case b.Type == "group":
			x.group(b)
		case b.Type == "task":
			x.misplaced(b.Body, "in a task")
		case b.Type == "dynamic" && len(b.Labels) == 1 && b.Labels[0] == "group":
			x.dynamicGroup(b)
		}
	}
}

func (x *extraction) group(group *hclsyntax.Block) {
	var first *hclsyntax.Block
	if a := group.Body.Attributes[MetaKey]; a != nil {
		x.fail(a.NameRange, message{
			summary: "performance is a block of group, not an attribute",
			hint:    "write performance { … }, without =; or put the text into meta { performance = <<EOT … EOT }",
		})
	}
	for _, b := range group.Body.Blocks {
		switch {
		case b.Type == MetaKey && first == nil:
			first = b
		case b.Type == MetaKey:
			x.fail(b.DefRange(), message{
				summary: fmt.Sprintf("a second performance block in one group; the first is on line %d", first.TypeRange.Start.Line),
				hint:    "a group has one performance block; put both into one, or make two groups",
			})
		case b.Type == "task":
			x.misplaced(b.Body, "in a task")
		case b.Type == "dynamic" && slices.Contains(b.Labels, MetaKey):
			x.fail(b.DefRange(), message{
				summary: "a performance block cannot be dynamic",
				hint:    "write performance { … } once, with plain values",
			})
		default:
			x.misspelt(b)
		}
	}
	if first != nil {
		x.cut(group, first)
	}
}

// cut takes the block out of its group. Line ends stay, so lines keep their
// numbers.
func (x *extraction) cut(group, b *hclsyntax.Block) {
	if len(group.Labels) != 1 {
		x.fail(group.DefRange(), message{summary: "group takes one label, its name", hint: `write group "name" { … }`})
		return
	}
	name := group.Labels[0]
	if earlier, ok := x.blocks[name]; ok {
		x.fail(b.DefRange(), message{
			summary: fmt.Sprintf("a second group %q with a performance block; the first is on line %d", shorten(name), earlier.Line),
			hint:    "give each group of the job its own name",
		})
		return
	}
	if line := metaLine(group.Body); line > 0 {
		x.fail(b.DefRange(), message{
			summary: fmt.Sprintf("group %q has a performance block and, on line %d, a performance text in its meta", shorten(name), line),
			hint:    "keep one of them",
		})
		return
	}
	at := b.Range()
	text := x.text[at.Start.Byte:at.End.Byte]
	if len(text) > MaxTextBytes {
		x.fail(b.DefRange(), message{
			summary: fmt.Sprintf("the performance block is %d bytes long", len(text)),
			detail:  fmt.Sprintf("At most %d bytes are read.", MaxTextBytes),
			hint:    "a performance block is a few lines; look for a missing } at its end",
		})
		return
	}
	x.blocks[name] = Block{
		Text: string(text), Line: at.Start.Line, Column: at.Start.Column, EndLine: at.End.Line,
	}
	for i := at.Start.Byte; i < at.End.Byte; i++ {
		if x.stripped[i] != '\n' && x.stripped[i] != '\r' {
			x.stripped[i] = blanked
		}
	}
}

// metaLine is the line of a performance text in the body's meta, as a block or
// as a map, or 0.
func metaLine(body *hclsyntax.Body) int {
	for _, b := range body.Blocks {
		if a := b.Body.Attributes[MetaKey]; b.Type == "meta" && a != nil {
			return a.NameRange.Start.Line
		}
	}
	meta := body.Attributes["meta"]
	if meta == nil {
		return 0
	}
	object, ok := meta.Expr.(*hclsyntax.ObjectConsExpr)
	if !ok {
		return 0
	}
	for _, item := range object.Items {
		if key, ok := plainKey(item.KeyExpr); ok && key == MetaKey {
			return item.KeyExpr.StartRange().Start.Line
		}
	}
	return 0
}

// plainKey is the key of a map where it is a bare word or a quoted text. It
// evaluates nothing.
func plainKey(e hclsyntax.Expression) (string, bool) {
	if word := hclv2.ExprAsKeyword(e); word != "" {
		return word, true
	}
	key, ok := e.(*hclsyntax.ObjectConsKeyExpr)
	if !ok {
		return "", false
	}
	template, ok := key.Wrapped.(*hclsyntax.TemplateExpr)
	if !ok {
		return "", false
	}
	return templateText(template)
}

// misplaced reports performance, or what looks like it, where no group is.
func (x *extraction) misplaced(body *hclsyntax.Body, where string) {
	m := message{
		summary: "performance is not allowed " + where,
		detail:  "A target is met by a group: its tasks are measured, sized and placed together.",
		hint:    "move the block into its group",
	}
	if a := body.Attributes[MetaKey]; a != nil {
		x.fail(a.NameRange, m)
	}
	for _, b := range body.Blocks {
		if b.Type == MetaKey {
			x.fail(b.DefRange(), m)
			continue
		}
		x.misspelt(b)
	}
}

func (x *extraction) dynamicGroup(b *hclsyntax.Block) {
	for _, content := range b.Body.Blocks {
		for _, inner := range content.Body.Blocks {
			if inner.Type == MetaKey {
				x.fail(inner.DefRange(), message{
					summary: "performance is not allowed in a dynamic group",
					detail:  "The groups exist only once Nomad has read the file.",
					hint:    "write it as text: meta { performance = <<EOT … EOT }",
				})
			}
		}
	}
}

// misspelt reports a block that is nearly called performance: Nomad would
// refuse it without naming ours.
func (x *extraction) misspelt(b *hclsyntax.Block) {
	if b.Type == MetaKey || Nearest(b.Type, []string{MetaKey}) == "" {
		return
	}
	x.fail(b.DefRange(), message{
		summary: fmt.Sprintf("unknown block %q", shorten(b.Type)),
		hint:    `did you mean "performance"?`,
	})
}

// Attach puts the text of each block into the meta of its group. job is a job
// as Nomad's /v1/jobs/parse returns it. Nothing is written where there is an
// error.
func Attach(job map[string]any, blocks map[string]Block) error {
	groups, err := groupsOf(job)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(blocks)) {
		group := groups[name]
		if group == nil {
			return fmt.Errorf("group %q: %w", name, ErrNoGroup)
		}
		meta, err := metaOf(group)
		if err != nil {
			return fmt.Errorf("group %q: %w", name, err)
		}
		if _, taken := meta[MetaKey]; taken {
			return fmt.Errorf("group %q: %w", name, ErrMetaTaken)
		}
	}
	for name, b := range blocks {
		meta, _ := metaOf(groups[name])
		if meta == nil {
			meta = map[string]any{}
			groups[name]["Meta"] = meta
		}
		meta[MetaKey] = b.Text
	}
	return nil
}

// FromMeta returns the performance texts a job carries, by name of the group.
// A job that is not shaped like one carries none.
func FromMeta(job map[string]any) map[string]string {
	groups, err := groupsOf(job)
	if err != nil {
		return nil
	}
	out := map[string]string{}
	for name, group := range groups {
		meta, err := metaOf(group)
		if err != nil {
			continue
		}
		if text, ok := meta[MetaKey].(string); ok {
			out[name] = text
		}
	}
	return out
}

// IsBlock reports whether a text in meta is meant for the placer. Meta is the user's, and
// performance a common word: without a brace it is a word of their own.
func IsBlock(text string) bool { return strings.ContainsRune(text, '{') }

// groupsOf are the task groups of a job by name.
func groupsOf(job map[string]any) (map[string]map[string]any, error) {
	list, ok := job["TaskGroups"].([]any)
	if !ok && job["TaskGroups"] != nil {
		return nil, fmt.Errorf("TaskGroups: %w", ErrMalformedJob)
	}
	out := map[string]map[string]any{}
	for i, item := range list {
		group, ok := item.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("TaskGroups[%d]: %w", i, ErrMalformedJob)
		}
		name, ok := group["Name"].(string)
		if !ok {
			return nil, fmt.Errorf("TaskGroups[%d].Name: %w", i, ErrMalformedJob)
		}
		out[name] = group
	}
	return out, nil
}

// metaOf is the group's meta; nil where it has none.
func metaOf(group map[string]any) (map[string]any, error) {
	switch meta := group["Meta"].(type) {
	case nil:
		return nil, nil
	case map[string]any:
		return meta, nil
	default:
		return nil, fmt.Errorf("group meta: %w", ErrMalformedJob)
	}
}
