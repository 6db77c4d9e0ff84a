package nomadtest

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

const authHeader = "X-Nomad-Token"

// Management is the type of tokens that may do everything.
const Management = "management"

// Token is an ACL token.
type Token struct {
	Name, Type string
	Policies   []string
	// May are rights, each with its namespace: "read-job team", "submit-job team",
	// "variables default", and "node read". They are enforced; nil: everything is allowed.
	May []string
}

// Policy is an ACL policy; Job is what it is attached to, in the namespace default.
type Policy struct{ Rules, Job string }

// aclDisabled is what a server without access control says of it.
const aclDisabled = "ACL support disabled"

func (s *Server) aclRoutes(handle func(string, handler)) {
	handle("GET /v1/acl/policies", s.listPolicies)
	handle("GET /v1/acl/policy/{name}", s.getPolicy)
	handle("GET /v1/acl/token/self", s.self)
	handle("GET /v1/namespaces", s.listNamespaces)
}

// denies reports whether the caller lacks the right that a request needs.
func (s *Server) denies(r *http.Request) bool {
	t := s.Tokens[r.Header.Get(authHeader)]
	need := ""
	switch path := r.URL.Path; {
	case t.May == nil:
		return false
	case strings.HasSuffix(path, "/revert"):
		need = "submit-job " + namespaceOf(r)
	case strings.HasPrefix(path, "/v1/job"):
		need = "read-job " + namespaceOf(r)
	case strings.HasPrefix(path, "/v1/node"):
		need = "node read"
	case strings.HasPrefix(path, "/v1/var"):
		need = "variables " + namespaceOf(r)
	default:
		return false
	}
	return !slices.Contains(t.May, need)
}

func (s *Server) knows(r *http.Request) bool {
	_, known := s.Tokens[r.Header.Get(authHeader)]
	return known
}

// shows reports whether the caller may read the policy.
func (s *Server) shows(r *http.Request, policy string) bool {
	t := s.Tokens[r.Header.Get(authHeader)]
	return t.Type == Management || slices.Contains(t.Policies, policy)
}

func (s *Server) listPolicies(r *http.Request) (any, uint64, *refusal) {
	if s.Tokens == nil {
		return nil, 0, &refusal{http.StatusBadRequest, aclDisabled}
	}
	out := []Object{}
	for _, name := range slices.Sorted(maps.Keys(s.Policies)) {
		if s.shows(r, name) {
			out = append(out, s.policyJSON(name))
		}
	}
	return out, s.index, nil
}

func (s *Server) getPolicy(r *http.Request) (any, uint64, *refusal) {
	name := r.PathValue("name")
	if !s.shows(r, name) {
		return nil, 0, &refusal{http.StatusForbidden, "Permission denied"}
	}
	out := s.policyJSON(name)
	out["Rules"] = s.Policies[name].Rules
	return out, s.index, nil
}

func (s *Server) policyJSON(name string) Object {
	out := Object{"Name": name}
	if job := s.Policies[name].Job; job != "" {
		out["JobACL"] = Object{"Namespace": "default", "JobID": job}
	}
	return out
}

func (s *Server) self(r *http.Request) (any, uint64, *refusal) {
	t := s.Tokens[r.Header.Get(authHeader)]
	if r.Header.Get(authHeader) == "" {
		t = Token{Name: "Anonymous Token", Type: "client", Policies: []string{"anonymous"}}
	}
	return Object{"AccessorID": "a", "Name": t.Name, "Type": t.Type, "Policies": t.Policies}, s.index, nil
}

func (s *Server) listNamespaces(*http.Request) (any, uint64, *refusal) {
	out := []Object{{"Name": "default"}}
	for _, name := range s.Namespaces {
		out = append(out, Object{"Name": name})
	}
	return out, s.index, nil
}
