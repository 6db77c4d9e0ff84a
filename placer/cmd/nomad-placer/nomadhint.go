package main

import (
	"errors"
	"net/http"
	"strings"
	"syscall"

	"github.com/hashicorp/nomad/api"
)

// nomadHint is what is known of errors of the way to Nomad.
func nomadHint(err error) string {
	var answer api.UnexpectedResponseError
	if errors.As(err, &answer) && answer.HasStatusCode() && answer.StatusCode() == http.StatusForbidden {
		return "give a token with -token or NOMAD_TOKEN, and check what its policy allows"
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "nothing listens there: is it running, and is the address right (-address or NOMAD_ADDR; -placer-address or NOMAD_PLACER_ADDR)?"
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
