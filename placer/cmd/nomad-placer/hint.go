package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"syscall"

	"github.com/hashicorp/nomad/api"

	jobhcl "github.com/nomad-placer/nomad-placer/hcl"
)

// hinted is an error that knows what helps against it.
type hinted struct {
	error
	hint string
}

func (h hinted) Unwrap() error { return h.error }

// withHint adds a hint to an error; none is no hint.
func withHint(err error, hint string) error {
	if err == nil || hint == "" {
		return err
	}
	return hinted{err, hint}
}

// hintOf says what helps against an error: what was said where it arose, or
// what is known of errors of the way to Nomad.
func hintOf(err error) string {
	var own hinted
	if errors.As(err, &own) {
		return own.hint
	}
	var answer api.UnexpectedResponseError
	if errors.As(err, &answer) && answer.HasStatusCode() && answer.StatusCode() == http.StatusForbidden {
		return "give a token with -token or NOMAD_TOKEN, and check what its policy allows"
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "nothing listens there: is it running, and is the address right (-address or NOMAD_ADDR; -placer-address or NOMAD_PLACER_ADDR)?"
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "is the path right, seen from the folder you are in?"
	}
	for _, known := range wayHints {
		if strings.Contains(err.Error(), known.says) {
			return known.hint
		}
	}
	return ""
}

// wayHints are known by their text alone: crypto/tls and Nomad have no types for
// them.
var wayHints = []struct{ says, hint string }{
	{"server gave HTTP response to HTTPS client", "this Nomad has no TLS: write http:// in the address"},
	{"HTTP request to an HTTPS server", "this Nomad requires TLS: write https:// in the address, and give -ca-cert or NOMAD_CACERT"},
	{"certificate signed by unknown authority", "give the authority's certificate with -ca-cert or NOMAD_CACERT"},
	{"certificate is valid for", "give the name in the certificate with -tls-server-name or NOMAD_TLS_SERVER_NAME, for example server.global.nomad"},
	{"tls: certificate required", "this Nomad requires a client certificate: -client-cert and -client-key, or NOMAD_CLIENT_CERT and NOMAD_CLIENT_KEY"},
	{"tls: bad certificate", "this Nomad does not accept the client certificate: -client-cert and -client-key, or NOMAD_CLIENT_CERT and NOMAD_CLIENT_KEY"},
	{"No path to region", "check -region or NOMAD_REGION"},
	{"no such host", "check the name in -address or NOMAD_ADDR"},
}

// unknownFlag is how package flag begins the error of a flag that is not
// there; it has no type of its own.
const unknownFlag = "flag provided but not defined: -"

func flagProblem(err error) string {
	if name, ok := strings.CutPrefix(err.Error(), unknownFlag); ok {
		return "unknown option -" + name
	}
	return err.Error()
}

// flagHint names the option that was probably meant.
func flagHint(err error, f *flag.FlagSet) string {
	name, ok := strings.CutPrefix(err.Error(), unknownFlag)
	if !ok {
		return ""
	}
	known := []string{"help"}
	f.VisitAll(func(g *flag.Flag) { known = append(known, g.Name) })
	if near := jobhcl.Nearest(name, known); near != "" {
		return fmt.Sprintf("did you mean -%s?", near)
	}
	return ""
}
