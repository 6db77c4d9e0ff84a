package nomadapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/hashicorp/nomad/api"
)

// What a caller may do is asked of Nomad with the caller's own token, by requests that
// need the right and change nothing. There are no such requests for rights as such, so
// they name a job, a version and a variable that there is not: who has the right is
// told that there is none, all others that they may not ask.
const (
	askedJob      = "nomad-placer-asks-for-a-right"
	askedVersion  = 1 << 52 // of a job, if there is one of that name after all
	askedVariable = "asks-for-a-right"
)

// callersClient sends no token but those it is given, and notes no right as used: what
// others may do is not what we need.
func callersClient(conf api.Config, transport http.RoundTripper) (*api.Client, error) {
	conf.SecretID = ""
	if transport != nil {
		conf.HttpClient = &http.Client{Transport: plain{transport}}
	}
	return api.NewClient(&conf)
}

// Token is the token that this World shows, as it is now.
func (w *World) Token() string { return w.nomad.own() }

// AccessControlled reports whether Nomad's access control is on.
func (w *World) AccessControlled(ctx context.Context) (bool, error) {
	err := w.nomad.ask(ctx, "/v1/acl/policies", api.QueryOptions{AuthToken: w.nomad.own()})
	switch {
	case statusOf(err) == http.StatusBadRequest && strings.Contains(err.Error(), "ACL support disabled"):
		return false, nil
	case isDenied(err):
		return true, nil // our own token is not good, which is another matter
	}
	return true, wrap(err, "access control")
}

// KnowsToken reports whether a token is one of Nomad's that is still good.
func (w *World) KnowsToken(ctx context.Context, token string) (bool, error) {
	// Any token of Nomad's may list the namespaces it has rights in.
	return w.mayRead(ctx, "/v1/namespaces", api.QueryOptions{AuthToken: token, Prefix: api.DefaultNamespace})
}

// MayReadJobs reports whether the caller has read-job in a namespace.
func (w *World) MayReadJobs(ctx context.Context, token, namespace string) (bool, error) {
	return w.mayRead(ctx, jobSummaryPath, api.QueryOptions{AuthToken: token, Namespace: namespace})
}

const jobSummaryPath = "/v1/job/" + askedJob + "/summary"

// MayReadNodes reports whether the caller may read nodes.
func (w *World) MayReadNodes(ctx context.Context, token string) (bool, error) {
	return w.mayRead(ctx, "/v1/nodes", api.QueryOptions{AuthToken: token, PerPage: 1})
}

// MayReadVariables reports whether the caller may read the Variables below a prefix.
func (w *World) MayReadVariables(ctx context.Context, token, namespace, prefix string) (bool, error) {
	path := "/v1/var/" + (&url.URL{Path: strings.Trim(prefix, "/") + "/" + askedVariable}).EscapedPath()
	return w.mayRead(ctx, path, api.QueryOptions{AuthToken: token, Namespace: namespace})
}

// MaySubmitJobs reports whether the caller has submit-job in a namespace. To revert a
// job is the smallest request that needs it (or, since Nomad 1.11, revert-job).
func (w *World) MaySubmitJobs(ctx context.Context, token, namespace string) (bool, error) {
	if token == "" {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	in := map[string]any{"JobID": askedJob, "JobVersion": askedVersion, "EnforcePriorVersion": askedVersion}
	q := (&api.WriteOptions{AuthToken: token, Namespace: namespace}).WithContext(ctx)
	_, err := w.nomad.callers.Raw().Write("/v1/job/"+askedJob+"/revert", in, nil, q)
	return permitted(err)
}

func (w *World) mayRead(ctx context.Context, path string, q api.QueryOptions) (bool, error) {
	if q.AuthToken == "" {
		return false, nil
	}
	return permitted(w.nomad.ask(ctx, path, q))
}

// ask reads path once and throws the answer away.
func (c *client) ask(ctx context.Context, path string, q api.QueryOptions) error {
	return once(ctx, func(ctx context.Context) error {
		var ignored json.RawMessage
		_, err := c.callers.Raw().Query(path, &ignored, q.WithContext(ctx))
		return err
	})
}

// permitted reads an answer to a request that needs a right. Whatever is neither a
// refusal nor what was asked for says nothing of rights, and is an error.
func permitted(err error) (bool, error) {
	switch {
	case err == nil, isNotFound(err):
		return true, nil
	case isDenied(err):
		return false, nil
	case statusOf(err) == http.StatusInternalServerError && strings.Contains(bodyOf(err), askedJob) && strings.Contains(bodyOf(err), "not found"):
		return true, nil // as Nomad answers to a revert of a job that there is not
	}
	return false, wrap(err, "asking what a token may do")
}

func isDenied(err error) bool {
	status := statusOf(err)
	return status == http.StatusForbidden || status == http.StatusUnauthorized
}
