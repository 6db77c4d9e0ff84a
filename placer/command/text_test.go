package command

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTablesKeepThePageWidth(t *testing.T) {
	t.Parallel()
	p := &Page{}
	p.Table([]string{"A", "N", "Text"}, [][]Cell{
		{Text("ü"), Number("1"), Text(strings.Repeat("word ", 60))},
		{Text("longer"), Number("1,000"), Text("short")},
	})
	var b strings.Builder
	if err := p.print(&b); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(b.String(), "\n") {
		if utf8.RuneCountInString(line) > PageWidth || strings.HasSuffix(line, " ") {
			t.Errorf("%d wide: %q", utf8.RuneCountInString(line), line)
		}
	}
	if !strings.Contains(b.String(), "  ü           1  word") {
		t.Errorf("columns are not aligned:\n%s", b.String())
	}
}
