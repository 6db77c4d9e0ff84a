package hcl

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

const logBlock = `target { rate = 5 }
probe "log" {
  pattern = "n=([0-9]+"
  task    = "t"
}
`

func problemsOf(t *testing.T, err error) Diagnostics {
	t.Helper()
	var ds Diagnostics
	if !errors.As(err, &ds) {
		t.Fatalf("error of type %T: %v", err, err)
	}
	return ds
}

func TestDecodeRefusesLongText(t *testing.T) {
	t.Parallel()
	for _, size := range []int{MaxTextBytes + 1, 1 << 20} {
		_, _, err := known.Decode([]byte(strings.Repeat("a", size)), "job.hcl")
		ds := problemsOf(t, err)
		if len(ds) != 1 || ds[0].Snippet != "" || !strings.Contains(ds[0].Summary, fmt.Sprint(size)) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

func TestDecodeReadsTextAtTheLimit(t *testing.T) {
	t.Parallel()
	text := "target { best_effort = true }\n#"
	text += strings.Repeat("x", MaxTextBytes-len(text))
	if _, _, err := known.Decode([]byte(text), "job.hcl"); err != nil {
		t.Error(err)
	}
}

// Texts made to cost the parser time or stack are refused or read, quickly.
func TestDecodeSurvivesBombs(t *testing.T) {
	t.Parallel()
	fill := func(unit string) string { return strings.Repeat(unit, MaxTextBytes/2/len(unit)) }
	for name, text := range map[string]string{
		"lists":        "policy = " + fill("["),
		"objects":      "policy = " + fill("{a="),
		"parentheses":  "policy = " + fill("("),
		"blocks":       fill("a {\n"),
		"templates":    "policy = " + fill(`"${`),
		"unary":        "policy = " + fill("!"),
		"minus":        "policy = " + fill("-"),
		"conditionals": "policy = " + fill("a?b:"),
		"operators":    "policy = 1" + fill("+1"),
		"traversal":    "policy = a" + fill(".b"),
		"index":        "policy = a" + fill("[0]"),
		"splat":        "policy = a" + fill("[*]"),
		"big number":   "target { qps = 1e" + strings.Repeat("9", 4000) + " }",
		"long number":  "target { qps = " + fill("9") + " }",
		"attributes":   manyLines("a%d = 1\n"),
		"repeated":     fill("a = 1\n"),
		"nested for":   "policy = " + strings.Repeat("[for a in [1,2,3,4,5,6,7,8,9]: ", 100) + "a" + strings.Repeat("]", 100),
		"heredocs":     fill("a = <<A\n"),
		"quotes":       "policy = " + fill(`"`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := known.Decode([]byte(text), "job.hcl")
			if err == nil {
				t.Fatal("no error")
			}
			wellFormed(t, err)
		})
	}
}

func manyLines(format string) string {
	var b strings.Builder
	for i := 0; b.Len() < MaxTextBytes/2; i++ {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func TestDecodeReportsEveryProblemUpToABound(t *testing.T) {
	t.Parallel()
	_, _, err := known.Decode([]byte(manyLines("unknown%d = 1\n")), "job.hcl")
	ds := problemsOf(t, err)
	if len(ds) != maxDiagnostics+1 {
		t.Fatalf("%d problems", len(ds))
	}
	if last := ds[maxDiagnostics].Summary; !strings.HasSuffix(last, "more problems are not shown") {
		t.Errorf("last is %q", last)
	}
}

func TestDecodeNamesATextWithoutFile(t *testing.T) {
	t.Parallel()
	_, _, err := known.Decode([]byte("x = 1"), "")
	if got := problemsOf(t, err)[0].File; got != "performance" {
		t.Errorf("file %q", got)
	}
}

func TestOptionsNameThePolicies(t *testing.T) {
	t.Parallel()
	o := Options{Policies: []string{"quasar"}}
	spec, _, err := o.Decode([]byte("target { best_effort = true }\npolicy = \"quasar\"\n"), "job.hcl")
	if err != nil || spec.Policy != "quasar" {
		t.Errorf("read as %+v, %v", spec, err)
	}
	if _, _, err := o.Decode([]byte("target { best_effort = true }\npolicy = \"paragon\"\n"), "job.hcl"); err == nil {
		t.Error("what the options do not list was read")
	}
}

func TestValidateProbe(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  error
		want []string // "line: summary"
	}{
		{"nothing wrong", nil, nil},
		{"an attribute", errors.New(`probe "log": pattern: missing )`), []string{`3: probe "log": pattern: missing )`}},
		{"an attribute that is not given", errors.New(`probe "log": stream: what`), []string{`2: probe "log": stream: what`}},
		{"the probe", errors.New("no such thing"), []string{`2: probe "log": no such thing`}},
		{
			"two", errors.Join(errors.New(`probe "log": task: a`), errors.New(`probe "log": pattern: b`)),
			[]string{`3: probe "log": pattern: b`, `4: probe "log": task: a`},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var asked performance.ProbeSpec
			o := Options{ValidateProbe: func(p performance.ProbeSpec, _ performance.Target) error {
				asked = p
				return test.err
			}}
			_, _, err := o.Decode([]byte(logBlock), "job.hcl")
			var got []string
			if err != nil {
				for _, d := range problemsOf(t, err) {
					got = append(got, fmt.Sprintf("%d: %s", d.Line, d.Summary))
				}
			}
			if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if asked.Pattern != "n=([0-9]+" || asked.Task != "t" {
				t.Errorf("asked about %+v", asked)
			}
		})
	}
}

func TestValidateProbeIsNotAskedAboutABrokenBlock(t *testing.T) {
	t.Parallel()
	o := Options{ValidateProbe: func(performance.ProbeSpec, performance.Target) error {
		t.Error("asked")
		return nil
	}}
	if _, _, err := o.Decode([]byte(logBlock+"policy = 5\n"), "job.hcl"); err == nil {
		t.Error("no error")
	}
}

func TestDiagnosticsAreJSON(t *testing.T) {
	t.Parallel()
	_, _, err := known.Decode([]byte("target { qps = -1 }\nprobe \"prometheus\" {\n  port = \"m\"\n  rate = \"r\"\n}\n"), "job.hcl")
	out, jsonErr := json.Marshal(problemsOf(t, err))
	if jsonErr != nil {
		t.Fatal(jsonErr)
	}
	const want = `[{"file":"job.hcl","line":1,"column":16,"severity":"error","summary":"qps is the number -1",` +
		`"detail":"qps takes a number of requests/s, more than 0 and at most 1e12.",` +
		`"snippet":"target { qps = -1 }","snippet_column":16,"snippet_width":2}]`
	if string(out) != want {
		t.Errorf("got  %s\nwant %s", out, want)
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	known := []string{"mem_bw", "mem_cap", "llc_bw", "int", "fp", "slowdown_max", "policy"}
	for word, want := range map[string]string{
		"mem-bw": "mem_bw", "MEM_BW": "mem_bw", "membw": "mem_bw", "mem_wb": "mem_bw",
		"polcy": "policy", "slowdown": "slowdown_max", "itn": "int", "fpp": "fp",
		"gpu": "", "": "", "zzzzzz": "", "mem_": "", strings.Repeat("policy", 100): "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestEditDistance(t *testing.T) {
	t.Parallel()
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"abc", "abc", 0},
		{"kitten", "sitting", 3}, {"ab", "ba", 1}, {"ca", "abc", 3}, {"é", "e", 1},
	}
	for _, test := range tests {
		if got := editDistance([]rune(test.a), []rune(test.b)); got != test.want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", test.a, test.b, got, test.want)
		}
	}
}
