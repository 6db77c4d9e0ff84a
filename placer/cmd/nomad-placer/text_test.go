package main

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTablesKeepThePageWidth(t *testing.T) {
	t.Parallel()
	p := &page{}
	p.table([]string{"A", "N", "Text"}, [][]cell{
		{text("ü"), number("1"), text(strings.Repeat("word ", 60))},
		{text("longer"), number("1,000"), text("short")},
	})
	var b strings.Builder
	if err := p.print(&b); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(b.String(), "\n") {
		if utf8.RuneCountInString(line) > pageWidth || strings.HasSuffix(line, " ") {
			t.Errorf("%d wide: %q", utf8.RuneCountInString(line), line)
		}
	}
	if !strings.Contains(b.String(), "  ü           1  word") {
		t.Errorf("columns are not aligned:\n%s", b.String())
	}
}
