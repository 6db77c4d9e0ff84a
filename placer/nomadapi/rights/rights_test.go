package rights_test

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/nomadapi/rights"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The policies that operators apply are those of the list.
func TestPolicyFilesAreOfTheList(t *testing.T) {
	t.Parallel()
	for file, role := range map[string]rights.Role{
		"../policy.hcl": rights.Leader,
		"../../../examples/install/pages.policy.hcl": rights.Pages,
		"../../../examples/install/user.policy.hcl":  rights.User,
	} {
		want := rights.Policy{Role: role}.HCL()
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%s is not what the list says (make golden writes it): %v\n%s", file, err, want)
		}
	}
}

// What an agent may do depends on the namespaces that it serves: elsewhere it sees what
// runs, and does nothing.
func TestPoliciesOfNamespaces(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		policy rights.Policy
		// rules have, by the beginning of the rule, what must be in it and what must not.
		rules map[string][2][]string
	}{
		"all": {rights.Policy{Role: rights.Leader}, map[string][2][]string{
			`namespace "*"`:       {{"read-job", "submit-job"}, {"alloc-exec", "alloc-node-exec", "variables"}},
			`namespace "default"`: {{"read-job", "submit-job", `path "nomad-placer/*"`, `"destroy"`}, {"alloc-exec"}},
			"node {":              {{`policy = "read"`}, nil},
			`node_pool "placer"`:  {{`policy = "read"`}, nil},
		}},
		"two, and one of its own": {rights.Policy{Role: rights.Leader, Namespaces: []string{"a", "b"}, Namespace: "own", Path: "records", HoldPool: "wait"}, map[string][2][]string{
			`namespace "*"`:    {{"read-job"}, {"submit-job", "list-jobs", "read-fs"}},
			`namespace "a"`:    {{"read-job", "submit-job", "read-fs"}, {"variables"}},
			`namespace "b"`:    {{"read-job", "submit-job"}, {"variables"}},
			`namespace "own"`:  {{"read-job", `path "nomad-placer/*"`, `path "records/*"`}, {"submit-job"}},
			`node_pool "wait"`: {{`policy = "read"`}, nil},
		}},
		"all, and one of its own": {rights.Policy{Role: rights.Leader, Namespace: "own"}, map[string][2][]string{
			`namespace "*"`:   {{"submit-job"}, nil},
			`namespace "own"`: {{"read-job", "variables"}, {"submit-job"}},
		}},
		"with all options": {rights.Policy{Role: rights.Leader, With: []rights.Option{rights.ExecProbes, rights.NodeMetadata, rights.CreateHoldPool}}, map[string][2][]string{
			`namespace "*"`:      {{`"alloc-exec"`, `"alloc-node-exec"`}, nil},
			"node {":             {{`policy = "write"`}, {`policy = "read"`}},
			`node_pool "placer"`: {{`policy = "write"`}, {`policy = "read"`}},
		}},
		"pages": {rights.Policy{Role: rights.Pages}, map[string][2][]string{
			`namespace "default"`: {{"list-jobs", "read-job", `"read"`}, {"submit-job", `"write"`, `"destroy"`}},
			"node {":              {{`policy = "read"`}, nil},
		}},
		"people of one namespace": {rights.Policy{Role: rights.User, Namespaces: []string{"a"}}, map[string][2][]string{
			`namespace "a"`:       {{"parse-job", "submit-job"}, {"variables"}},
			`namespace "default"`: {{`"read"`}, {"submit-job"}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := c.policy.HCL()
			for rule, want := range c.rules {
				_, after, found := strings.Cut(text, "\n"+rule)
				body, _, _ := strings.Cut(after, "\n}")
				for _, w := range want[0] {
					if !found || !strings.Contains(body, w) {
						t.Errorf("%s lacks %s:\n%s", rule, w, text)
					}
				}
				for _, w := range want[1] {
					if strings.Contains(body, w) {
						t.Errorf("%s has %s:\n%s", rule, w, text)
					}
				}
			}
		})
	}
}

// Every right is there for a call, and for somebody.
func TestEveryRightIsNeeded(t *testing.T) {
	t.Parallel()
	for _, role := range rights.Roles() {
		for _, r := range rights.Of(rights.Role(role), rights.ExecProbes, rights.NodeMetadata, rights.CreateHoldPool) {
			if len(r.Calls) == 0 || r.Why == "" || len(r.Roles) == 0 {
				t.Errorf("%s: %q is for nothing: %+v", role, r.Name(), r)
			}
		}
	}
}

// A right is noted once, when a call that needs it was not refused.
func TestUsedRightsAreNoted(t *testing.T) {
	t.Parallel()
	var used, unlisted []string
	book := rights.Book{
		First:    func(r rights.Right) { used = append(used, r.Name()) },
		Unlisted: func(r *http.Request) { unlisted = append(unlisted, r.URL.Path) },
	}
	for range 2 {
		book.NoteCall(httptest.NewRequest(http.MethodPut, "/v1/job/a%2Fb/scale", nil))
		book.NoteCall(httptest.NewRequest(http.MethodPut, "/v1/var/nomad-placer/leader?lock-renew", nil))
		book.NoteCall(httptest.NewRequest(http.MethodPut, "/v1/job/x", nil))
		book.Note(rights.Mount("host")...)
		book.Note(rights.Mount("csi")...)
		book.Note(rights.Exec()...)
	}
	book.NoteCall(httptest.NewRequest(http.MethodPut, "/v1/system/gc", nil))
	want := []string{
		"served submit-job", "variables write", "host_volume mount-readwrite", "served csi-mount-volume", "plugin read", "served alloc-exec", "served alloc-node-exec",
	}
	if !slices.Equal(used, want) || !slices.Equal(unlisted, []string{"/v1/system/gc"}) {
		t.Errorf("used %q, want %q; not in the list: %q", used, want, unlisted)
	}
}
