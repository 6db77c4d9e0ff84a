package nomadapi

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/nomadapi/nomadtest"
)

const (
	ownSecret = "00000000-0000-0000-0000-00000000000a"
	webSecret = "00000000-0000-0000-0000-00000000000b"
	allSecret = "00000000-0000-0000-0000-00000000000c"
)

// withCallers is a Nomad with an agent that may do everything and callers who may not.
func withCallers(t *testing.T) *nomadtest.Server {
	s := nomadtest.New(t)
	s.Tokens = map[string]nomadtest.Token{
		ownSecret: {Name: "agent"},
		webSecret: {Name: "web", May: []string{"read-job web"}},
		allSecret: {Name: "all", May: []string{"read-job web", "submit-job web", "node read", "variables default"}},
	}
	return s
}

// Callers are judged by their own tokens, however the agent has its own.
func TestCallersAreJudgedByTheirOwnTokens(t *testing.T) {
	t.Parallel()
	s := withCallers(t)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(ownSecret), 0o400); err != nil {
		t.Fatal(err)
	}
	for how, o := range map[string]Options{
		"token": {Address: s.URL, Token: ownSecret}, "token file": {Address: s.URL, TokenFile: file},
	} {
		w, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		if w.Token() != ownSecret {
			t.Errorf("%s: the agent's own is %q", how, w.Token())
		}
		ask := map[string]func(token string) (bool, error){
			"known":      func(token string) (bool, error) { return w.KnowsToken(t.Context(), token) },
			"jobs":       func(token string) (bool, error) { return w.MayReadJobs(t.Context(), token, "web") },
			"other jobs": func(token string) (bool, error) { return w.MayReadJobs(t.Context(), token, "secret") },
			"submit":     func(token string) (bool, error) { return w.MaySubmitJobs(t.Context(), token, "web") },
			"elsewhere":  func(token string) (bool, error) { return w.MaySubmitJobs(t.Context(), token, "secret") },
			"nodes":      func(token string) (bool, error) { return w.MayReadNodes(t.Context(), token) },
			"records": func(token string) (bool, error) {
				return w.MayReadVariables(t.Context(), token, "default", "nomad-placer/")
			},
		}
		want := map[string]map[string]bool{
			"":        {},
			"unknown": {},
			webSecret: {"known": true, "jobs": true},
			allSecret: {"known": true, "jobs": true, "submit": true, "nodes": true, "records": true},
		}
		for token, rights := range want {
			for right, may := range ask {
				if yes, err := may(token); yes != rights[right] || err != nil {
					t.Errorf("%s: token %q, right %q: %v, %v", how, token, right, yes, err)
				}
			}
		}
	}
}

// An answer that says nothing of rights is no answer.
func TestAnUnclearAnswerIsNoRight(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
	}{
		{http.StatusInternalServerError, "No cluster leader"}, {http.StatusInternalServerError, "rpc error: not found"},
		{http.StatusTooManyRequests, "slow down"}, {http.StatusBadGateway, ""}, {http.StatusBadRequest, "what?"},
	} {
		s := withCallers(t)
		s.Fail("GET", "/v1/", c.status, 100, c.body)
		s.Fail("PUT", "/v1/", c.status, 100, c.body)
		w, err := New(Options{Address: s.URL, Token: ownSecret})
		if err != nil {
			t.Fatal(err)
		}
		for right, may := range map[string]func(context.Context, string, string) (bool, error){"read": w.MayReadJobs, "submit": w.MaySubmitJobs} {
			if yes, err := may(t.Context(), allSecret, "web"); yes || err == nil {
				t.Errorf("%d %q: right to %s: %v, %v", c.status, c.body, right, yes, err)
			}
		}
		if on, err := w.AccessControlled(t.Context()); !on || err == nil {
			t.Errorf("%d %q: access control: %v, %v", c.status, c.body, on, err)
		}
	}
}

func TestAccessControlIsOnOrOff(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{true, false} {
		s := withCallers(t)
		if !on {
			s.Tokens = nil
		}
		w, err := New(Options{Address: s.URL, Token: ownSecret})
		if err != nil {
			t.Fatal(err)
		}
		if is, err := w.AccessControlled(t.Context()); is != on || err != nil {
			t.Errorf("access control is %v: %v, %v", on, is, err)
		}
		if writes := s.Writes(); len(writes) > 0 {
			t.Errorf("asking wrote: %v", writes)
		}
	}
}
