package hcl

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
)

const twoGroups = `job "x" {
  group "a" {
    performance {
      target {
        qps = -5
      }
      probe "log" { pattern = "([0-9]+)" }
    }
  }
  group "b" {
    performance { target { best_effort = true } }
  }
}
`

func TestExtractKeepsTheRestOfTheFile(t *testing.T) {
	t.Parallel()
	const src = "job \"x\" {\n  group \"g\" {\n    # é ünï\n    performance {\n      policy = \"é\"\n    } # tail\n    count = 2\n  }\n}\n"
	stripped, blocks, ds := Extract([]byte(src), "job.hcl")
	if ds != nil {
		t.Fatal(ds)
	}
	before, after := strings.Split(src, "\n"), strings.Split(string(stripped), "\n")
	if len(before) != len(after) {
		t.Fatalf("%d lines became %d", len(before), len(after))
	}
	for i, line := range after {
		inside := i+1 >= blocks["g"].Line && i+1 <= blocks["g"].EndLine
		if !inside && line != before[i] {
			t.Errorf("line %d: %q became %q", i+1, before[i], line)
		}
		if inside && strings.TrimSpace(line) != "" && strings.TrimSpace(line) != "# tail" {
			t.Errorf("line %d is left as %q", i+1, line)
		}
	}
}

func TestDecodeBlockPointsIntoTheJobspec(t *testing.T) {
	t.Parallel()
	src := strings.Replace(twoGroups, "{ target { best_effort = true } }", "{ policy = 5 }", 1)
	_, blocks, ds := Extract([]byte(src), "job.hcl")
	if ds != nil {
		t.Fatal(ds)
	}
	for group, want := range map[string]Diagnostic{
		"a": {Line: 5, Column: 15, Snippet: "        qps = -5", SnippetColumn: 15, SnippetWidth: 2},
		"b": {Line: 11, Column: 5, Snippet: "    performance { policy = 5 }", SnippetColumn: 5, SnippetWidth: 11},
	} {
		_, _, err := known.DecodeBlock(blocks[group], "job.hcl")
		got := problemsOf(t, err)[0]
		if got.Line != want.Line || got.Column != want.Column || got.Snippet != want.Snippet ||
			got.SnippetColumn != want.SnippetColumn || got.SnippetWidth != want.SnippetWidth {
			t.Errorf("group %s: %+v", group, got)
		}
	}
}

func TestExtractBounds(t *testing.T) {
	t.Parallel()
	padding := "# " + strings.Repeat("x", MaxJobspecBytes) + "\n"
	if got, blocks, ds := Extract([]byte(padding), "job.hcl"); ds != nil || blocks != nil || string(got) != padding {
		t.Errorf("a long jobspec without performance was touched: %v", ds)
	}
	if _, _, ds := Extract([]byte(padding+"# performance\n"), "job.hcl"); !ds.HasErrors() {
		t.Error("a jobspec too long to read was read")
	}
	long := "job \"x\" {\n  group \"g\" {\n    performance {\n" + strings.Repeat("# x\n", MaxTextBytes/4) + "    }\n  }\n}\n"
	if _, _, ds := Extract([]byte(long), "job.hcl"); !ds.HasErrors() {
		t.Error("a block too long to read was cut out")
	}
}

// aJob is a job as /v1/jobs/parse returns it, as far as we look at it.
func aJob(t *testing.T) map[string]any {
	t.Helper()
	var job map[string]any
	const text = `{"ID": "x", "Meta": null, "TaskGroups": [
		{"Name": "a", "Count": 1, "Meta": null},
		{"Name": "b", "Meta": {"team": "web"}},
		{"Name": "c", "Meta": {"performance": "target { best_effort = true }"}}
	]}`
	if err := json.Unmarshal([]byte(text), &job); err != nil {
		t.Fatal(err)
	}
	return job
}

func TestAttachAndFromMeta(t *testing.T) {
	t.Parallel()
	job := aJob(t)
	if err := Attach(job, map[string]Block{"a": {Text: "A"}, "b": {Text: "B"}}); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a": "A", "b": "B", "c": "target { best_effort = true }"}
	if got := FromMeta(job); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	groups, err := groupsOf(job)
	if err != nil {
		t.Fatal(err)
	}
	if meta, _ := metaOf(groups["b"]); meta["team"] != "web" {
		t.Errorf("the user's meta became %v", meta)
	}
}

func TestAttachErrorsWriteNothing(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		blocks map[string]Block
		want   error
	}{
		{"no such group", map[string]Block{"a": {Text: "A"}, "z": {Text: "Z"}}, ErrNoGroup},
		{"meta taken", map[string]Block{"a": {Text: "A"}, "c": {Text: "C"}}, ErrMetaTaken},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			job := aJob(t)
			if err := Attach(job, test.blocks); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if got := FromMeta(job); len(got) != 1 {
				t.Errorf("texts are now %v", got)
			}
		})
	}
}

func TestMalformedJobs(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"groups no list":  `{"TaskGroups": 5}`,
		"group no object": `{"TaskGroups": [5]}`,
		"group no name":   `{"TaskGroups": [{}]}`,
		"meta no object":  `{"TaskGroups": [{"Name": "a", "Meta": [1]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var job map[string]any
			if err := json.Unmarshal([]byte(text), &job); err != nil {
				t.Fatal(err)
			}
			if err := Attach(job, map[string]Block{"a": {}}); !errors.Is(err, ErrMalformedJob) {
				t.Errorf("got %v", err)
			}
			if got := FromMeta(job); len(got) != 0 {
				t.Errorf("texts %v", got)
			}
		})
	}
	if got := FromMeta(nil); len(got) != 0 {
		t.Errorf("texts of nothing: %v", got)
	}
}
