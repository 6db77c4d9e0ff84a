package command

import (
	"flag"
	"strings"
	"testing"
)

func TestParseInterspersed(t *testing.T) {
	t.Parallel()
	cases := []struct {
		raw, args string
		x         bool
	}{
		{"a -x b", "a b", true},
		{"-x a b", "a b", true},
		{"a b", "a b", false},
		{"a -- -x b", "a -x b", false},
		{"-- -x", "-x", false},
		{"", "", false},
	}
	for _, c := range cases {
		f := flag.NewFlagSet("t", flag.ContinueOnError)
		x := f.Bool("x", false, "")
		args, err := parseInterspersed(f, strings.Fields(c.raw))
		if err != nil || strings.Join(args, " ") != c.args || *x != c.x {
			t.Errorf("%q: got %v, x %v, %v", c.raw, args, *x, err)
		}
	}
}
