//go:build e2e

package placement

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/nomadapi/preflight"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi/rights"
)

// The check of a cluster names the rights that a real Nomad does not give, and has
// nothing to say once the policy is the placer's own.
func TestCheckGoesFromFailedToOK(t *testing.T) {
	ctx := t.Context()
	const name = "check"
	less := rights.Policy{Role: rights.Leader, Without: func(_ string, r rights.Right) bool {
		return r.Capability == "read-fs" || r.Scope == rights.Nodes || r.Scope == rights.HoldPool
	}}
	grant := func(rules string) {
		t.Helper()
		if _, err := shared.API().ACLPolicies().Upsert(&api.ACLPolicy{Name: name, Rules: rules}, nil); err != nil {
			t.Fatal(err)
		}
	}
	grant(less.HCL())
	token, _, err := shared.API().ACLTokens().Create(&api.ACLToken{Name: name, Type: "client", Policies: []string{name}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	me, operator := person{token.SecretID}, person{shared.Token()}

	out, code := me.placer(ctx, t, "", "check")
	for _, want := range []string{`lacks the right "read-fs" in namespace default`, `lacks the right "read" of nodes`, `lacks the right "read" of node pool placer`} {
		if code != 1 || !contains(strings.Join(strings.Fields(out), " "), want) {
			t.Errorf("exit code %d, want %q in\n%s", code, want, out)
		}
	}
	if out, code := (person{"00000000-0000-0000-0000-000000000000"}).placer(ctx, t, "", "check"); code != 1 || !contains(out, "does not accept the token") {
		t.Errorf("exit code %d for a wrong token:\n%s", code, out)
	}
	if out, code := operator.placer(ctx, t, "", "check", "-hold-pool", "elsewhere"); code != 1 || !contains(out, "Node pool elsewhere does not exist") {
		t.Errorf("exit code %d without a hold pool:\n%s", code, out)
	}

	grant(rights.Policy{Role: rights.Leader}.HCL())
	allOK(t, me, "leader")
	allOK(t, operator, "")
}

// allOK wants every line to be ok, but for the calibration, which the nodes of this
// cluster are without, and what is unknown to this person.
func allOK(t *testing.T, p person, unknown string) {
	t.Helper()
	out, code := p.placer(t.Context(), t, "", "check", "-json")
	var found struct{ Lines []preflight.Line }
	if err := json.Unmarshal([]byte(out), &found); err != nil || code != 0 {
		t.Fatalf("exit code %d, %v:\n%s", code, err, out)
	}
	for _, l := range found.Lines {
		excused := l.Check == "calibration" || l.Check == unknown && l.State == preflight.Unknown
		if l.State != preflight.OK && !excused {
			t.Errorf("%s is %s: %s", l.Check, l.State, l.Text)
		}
	}
}
