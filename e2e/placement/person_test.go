//go:build e2e

package placement

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"
)

// person is somebody at a terminal with a token of their own.
type person struct{ token string }

// newPerson gets the policy of that file, or none.
func newPerson(t *testing.T, name, policyFile string) person {
	t.Helper()
	rules := "node { policy = \"deny\" }\n"
	if policyFile != "" {
		text, err := os.ReadFile(policyFile)
		if err != nil {
			t.Fatal(err)
		}
		rules = string(text)
	}
	if _, err := shared.API().ACLPolicies().Upsert(&api.ACLPolicy{Name: name, Rules: rules}, nil); err != nil {
		t.Fatal(err)
	}
	token, _, err := shared.API().ACLTokens().Create(&api.ACLToken{Name: name, Type: "client", Policies: []string{name}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return person{token.SecretID}
}

// placer runs the command line and returns what it printed and its exit code.
func (p person) placer(ctx context.Context, t *testing.T, env string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(ctx, filepath.Join(binDir, "nomad-placer"), args...)
	cmd.Env = append(shared.Env(os.Environ()), "NOMAD_TOKEN="+p.token, env)
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// The policy that the operator guide gives to people is enough for every command
// about jobs, nodes and profiles, and somebody without it is told what is missing.
func TestThePolicyForPeopleIsEnough(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	me := newPerson(t, "placer-user", "../../examples/install/user.policy.hcl")
	const id = "personal"
	file := jobFileOf(t, id, "person", "performance {\n"+countingBlock+"\n}")
	t.Cleanup(func() {
		if err := shared.Purge(context.Background(), id); err != nil {
			t.Error(err)
		}
	})
	node := shared.Client(0).Name
	for _, c := range []struct{ command, want string }{
		{"job validate " + file, "is valid: 1 performance block"},
		{"job plan " + file, "All tasks can be placed"},
		{"job run " + file, "Job " + id + " runs: 1 allocation"},
		{"job status " + id, id + " / main"},
		{"job explain -verbose " + id, "Target      50 units/s"},
		{"node list", node},
		{"node status " + node, "Headroom and pressure"},
		{"profile list -json", `"workload"`},
		{"job release " + id, "is not held; nothing was changed"},
		{"job strip " + id, "is stripped: version"},
		{"job strip " + id, "has added nothing"},
	} {
		out, code := me.placer(ctx, t, "", strings.Fields(c.command)...)
		if code != 0 || !strings.Contains(out, c.want) {
			t.Errorf("%s: exit code %d, want %q in\n%s", c.command, code, c.want, out)
		}
	}
	if out, _ := me.placer(ctx, t, "COMP_LINE=nomad-placer job strip pers", "nomad-placer"); out != id+"\n" {
		t.Errorf("the shell is told %q", out)
	}
	if out, _ := me.placer(ctx, t, "COMP_LINE=nomad-placer node status ", "nomad-placer"); !slices.Contains(strings.Fields(out), node) {
		t.Errorf("the shell is told %q", out)
	}
	nobody := newPerson(t, "nobody", "")
	out, code := nobody.placer(ctx, t, "", "job", "run", file)
	if code != 1 || !strings.Contains(out, "Hint: give a token with -token or NOMAD_TOKEN") {
		t.Errorf("exit code %d without a policy:\n%s", code, out)
	}
}
