package command

import (
	"math"
	"strings"
	"testing"
)

// A template sees the numbers of -json with all their digits, and can compare
// them.
func TestTemplateNumbers(t *testing.T) {
	t.Parallel()
	data := map[string]any{"seed": uint64(math.MaxUint64), "share": 0.5, "nodes": []any{map[string]any{"count": 3}, map[string]any{"count": -12}}, "names": []string{"a", "b"}}
	for text, want := range map[string]string{
		`{{.seed}} {{.share}}`: "18446744073709551615 0.5",
		`{{range .nodes}}{{if gt .count 1}}many{{else}}{{.count}}{{end}} {{end}}`: "many -12 ",
		`{{join ", " .names}} {{json .nodes}}`:                                    `a, b [{"count":3},{"count":-12}]`,
	} {
		var f templateFlag
		if err := f.Set(text); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := f.execute(&out, data); err != nil || out.String() != want+"\n" {
			t.Errorf("%s prints %q, %v", text, out.String(), err)
		}
	}
}
