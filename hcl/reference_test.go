package hcl

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The reference in the documentation says what the tables of the grammar say.
func TestReferenceIsTheGrammar(t *testing.T) {
	t.Parallel()
	const name = "../placer/docs/performance-block.md"
	old, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text := string(old)
	for _, schema := range []block{performanceSchema(known), agentSchema(known), pricesSchema()} {
		var b strings.Builder
		reference(&b, schema, nil)
		text = replaceBetween(t, text, "<!-- begin "+schema.name+" -->\n", "<!-- end "+schema.name+" -->", b.String())
	}
	if text == string(old) {
		return
	}
	if !*update {
		t.Fatalf("%s differs from the grammar; rewrite it with -update", name)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func replaceBetween(t *testing.T, text, begin, end, with string) string {
	t.Helper()
	head, rest, ok := strings.Cut(text, begin)
	_, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("no %q … %q", begin, end)
	}
	return head + begin + with + end + tail
}

// reference writes a block, its variants and the blocks in it.
func reference(b *strings.Builder, schema block, parents []string) {
	path := append(append([]string(nil), parents...), schema.name)
	fmt.Fprintf(b, "\n### `%s`\n\n%s.\n", strings.Join(path, " > "), sentenceCase(schema.summary))
	if len(schema.attributes) > 0 {
		b.WriteString("\n| attribute | value | default | example | meaning |\n| --- | --- | --- | --- | --- |\n")
		for _, a := range schema.attributes {
			fmt.Fprintf(b, "| `%s` | %s | %s | `%s` | %s |\n", a.name, cell(a.want()), cell(whenAbsent(a)), cell(a.name+" = "+a.example), cell(a.summary))
		}
	}
	for _, name := range schema.variantNames() {
		v, _ := schema.variant(name)
		reference(b, v, parents)
	}
	for _, child := range schema.blocks {
		reference(b, child, path)
	}
}

func whenAbsent(a attribute) string {
	switch {
	case a.required:
		return "required"
	case a.byDefault == "":
		return "–"
	default:
		return a.byDefault
	}
}

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

func sentenceCase(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// Every attribute's example is a value the attribute takes, so that hints and
// the reference can be copied.
func TestExamplesAreValid(t *testing.T) {
	t.Parallel()
	for _, schema := range []block{performanceSchema(known), agentSchema(known), pricesSchema()} {
		checkExamples(t, schema)
	}
}

func checkExamples(t *testing.T, schema block) {
	t.Helper()
	for _, a := range schema.attributes {
		if a.example == "" || a.summary == "" {
			t.Errorf("%s of %s has no example or no summary", a.name, schema.name)
			continue
		}
		s := newSource([]byte(a.name+" = "+a.example+"\n"), "example", position{line: 1, column: 1})
		body := s.parse(MaxTextBytes)
		if body == nil {
			t.Errorf("%s: %v", a.name, s.problems)
			continue
		}
		one := block{name: schema.name, attributes: []attribute{a}}
		s.read(body, body.Range(), one, one)
		if len(s.problems) > 0 {
			t.Errorf("example of %s in %s: %v", a.name, schema.name, s.problems)
		}
	}
	for _, v := range schema.variants {
		checkExamples(t, v)
	}
	for _, b := range schema.blocks {
		checkExamples(t, b)
	}
}
