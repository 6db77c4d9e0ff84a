package preflight

import (
	"slices"
	"testing"
	"time"
)

// Rules combine as in Nomad: a rule with the very name counts before patterns, the
// closest pattern before others, denial before all, and policies add up.
func TestRulesCombineAsInNomad(t *testing.T) {
	t.Parallel()
	const wide = `namespace "*" { policy = "write" }
node { policy = "read" }
node_pool "*" { policy = "write" }`
	for name, c := range map[string]struct {
		policies   []string
		namespace  string
		want, lack string
	}{
		"shorthand":         {[]string{wide}, "prod", "submit-job", "alloc-node-exec"},
		"the name replaces": {[]string{wide, `namespace "prod" { policy = "read" }`}, "prod", "read-job", "submit-job"},
		"closest pattern":   {[]string{wide, `namespace "pr*" { capabilities = ["list-jobs"] }`}, "prod", "list-jobs", "submit-job"},
		"denied":            {[]string{`namespace "prod" { policy = "write" }`, `namespace "prod" { policy = "deny" }`}, "prod", "", "read-job"},
		"added up":          {[]string{`namespace "prod" { policy = "read" }`, `namespace "prod" { capabilities = ["read-fs"] }`}, "prod", "read-fs", "submit-job"},
		"JSON":              {[]string{`{"namespace":{"prod":{"capabilities":["read-fs"]}}}`}, "prod", "read-fs", "submit-job"},
		"other blocks":      {[]string{`host_volume "x" { policy = "read" }` + "\n" + `agent { policy = "read" }` + "\n" + `namespace "prod" { policy = "read" }`}, "prod", "read-job", "read-fs"},
		"nothing":           {nil, "prod", "", "read-job"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var policies []policy
			for _, text := range c.policies {
				p, err := parsePolicy("p", text)
				if err != nil {
					t.Fatal(err)
				}
				policies = append(policies, p)
			}
			has := newGrants(policies).namespaces.of(c.namespace)
			if c.want != "" && !slices.Contains(has, c.want) || slices.Contains(has, c.lack) {
				t.Errorf("has %v, want %q and not %q", has, c.want, c.lack)
			}
		})
	}
}

// A Date header is cut to seconds, and old by the time the answer took: the bounds
// hold the true difference whatever the fractions are.
func TestDifferenceHoldsTheTruth(t *testing.T) {
	t.Parallel()
	base := time.Date(2026, 11, 24, 10, 0, 0, 0, time.UTC)
	for _, ahead := range []time.Duration{0, 300 * time.Millisecond, 5 * time.Minute, -5 * time.Minute, 9999 * time.Millisecond} {
		for _, fraction := range []time.Duration{0, 400 * time.Millisecond, 999 * time.Millisecond} {
			sent := base.Add(fraction)
			received := sent.Add(80 * time.Millisecond)
			wrote := sent.Add(30 * time.Millisecond).Add(ahead)
			d := differenceOf(wrote.Truncate(time.Second), sent, received)
			if ahead < d.least || ahead > d.most || d.surely() > ahead.Abs() || d.atMost() < ahead.Abs() {
				t.Errorf("ahead by %s at %s: bounds %+v", ahead, fraction, d)
			}
		}
	}
}
