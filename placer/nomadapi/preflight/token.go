package preflight

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
)

// access is who asks, and whose policies are to be looked at.
type access struct {
	off        bool // no access control
	management bool
	anonymous  bool
	name       string
	// subject has the policies: the token itself, or, if it is a management
	// token, the agent's job.
	subject  string
	policies []string
}

// checkToken wants a token that Nomad knows.
func checkToken(_ context.Context, n *nomad) []Line {
	a, err := n.access()
	switch {
	case isForbidden(err):
		return one(Failed, fmt.Sprintf("Nomad does not accept the token: %s.", reason(err)), "Give a valid token with -token or NOMAD_TOKEN; it may have been deleted, or be of another cluster.")
	case err != nil:
		return []Line{unread(n, "What the token is", "any policy", err)}
	case a.off:
		return one(OK, "Access control is off, so every caller may do everything.", "")
	case a.anonymous:
		return one(Warning, "No token is given, so what follows is about the rights that everybody has.", "Give a token with -token or NOMAD_TOKEN.")
	case a.management:
		return one(OK, fmt.Sprintf("Token %q is a management token; the rights that are checked are those of the agent's job.", a.name), "")
	default:
		return one(OK, fmt.Sprintf("Nomad knows token %q, and its rights are the ones that are checked.", a.name), "")
	}
}

func (n *nomad) readAccess(ctx context.Context) (access, error) {
	var stubs []struct {
		Name   string
		JobACL *struct{ Namespace, JobID string }
	}
	err := n.get(ctx, "/v1/acl/policies", api.QueryOptions{}, &stubs)
	if err != nil && statusOf(err) == http.StatusBadRequest && strings.Contains(reason(err), "ACL support disabled") {
		return access{off: true}, nil
	}
	if err != nil {
		return access{}, err
	}
	a, err := n.whoAmI(ctx)
	if err != nil {
		return access{}, err
	}
	a.subject = "token " + a.name
	if a.management {
		a.subject = "job " + nomadapi.DefaultOwner
	}
	for _, s := range stubs {
		if !a.management || s.JobACL != nil && s.JobACL.Namespace == n.o.Namespace && s.JobACL.JobID == nomadapi.DefaultOwner {
			a.policies = append(a.policies, s.Name)
		}
	}
	return a, nil
}

func (n *nomad) whoAmI(ctx context.Context) (access, error) {
	var token struct{ AccessorID, Name, Type string }
	err := n.get(ctx, "/v1/acl/token/self", api.QueryOptions{}, &token)
	switch {
	case statusOf(err) == http.StatusNotFound: // it is not an ACL token
		return access{name: "of a workload identity"}, nil
	case err != nil:
		return access{}, err
	}
	name := token.Name
	if name == "" {
		name = token.AccessorID
	}
	return access{name: name, management: token.Type == "management", anonymous: n.conf.SecretID == ""}, nil
}

// readPolicy returns the text of a policy.
func (n *nomad) readPolicy(ctx context.Context, name string) (string, error) {
	var policy struct{ Rules string }
	err := n.get(ctx, "/v1/acl/policy/"+url.PathEscape(name), api.QueryOptions{}, &policy)
	return policy.Rules, err
}
