package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/command"
)

// securedNomad answers "job not found" to callers who trust its certificate and
// show one of their own.
type securedNomad struct {
	url, cert, key string // cert is its authority's, and good for a caller too
}

func newSecuredNomad(t *testing.T) securedNomad {
	t.Helper()
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // refused callers are the test
	s.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12}
	s.StartTLS()
	t.Cleanup(s.Close)
	pair := s.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	write := func(name, kind string, data []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return securedNomad{s.URL, write("cert.pem", "CERTIFICATE", pair.Certificate[0]), write("key.pem", "PRIVATE KEY", key)}
}

// Both ways to Nomad, the plain client and the agent's world, obey the options
// of TLS, and a failure says which one is missing.
func TestTLSOptions(t *testing.T) {
	t.Parallel()
	n := newSecuredNomad(t)
	cases := []struct {
		name, options, want string
	}{
		{"all", "-ca-cert " + n.cert + " -client-cert " + n.cert + " -client-key " + n.key + " -tls-server-name example.com", "404"},
		{"another name", "-ca-cert " + n.cert + " -client-cert " + n.cert + " -client-key " + n.key + " -tls-server-name nomad.wrong", "Hint: give the name in the certificate with -tls-server-name"},
		{"unchecked", "-tls-skip-verify -client-cert " + n.cert + " -client-key " + n.key, "404"},
		{"no authority", "-client-cert " + n.cert + " -client-key " + n.key, "Hint: give the authority's certificate with -ca-cert"},
		{"no certificate", "-ca-cert " + n.cert, "Hint: this Nomad requires a client certificate"},
	}
	for _, c := range cases {
		for _, line := range []string{"job release x", "job explain x"} {
			t.Run(c.name+"/"+line, func(t *testing.T) {
				t.Parallel()
				out := &output{}
				s := &command.Shell{Out: out, Err: out, Now: time.Now, Getenv: func(string) string { return "" }}
				code := nomadPlacer().Run(t.Context(), s, append(strings.Fields(line), strings.Fields(c.options+" -address "+n.url)...))
				if code != command.ExitFailed || !strings.Contains(out.String(), c.want) && (c.want != "404" || !isAnswered(out.String())) {
					t.Errorf("exit %d, want %q:\n%s", code, c.want, out)
				}
			})
		}
	}
}

// isAnswered: there was an answer, and it was that there is no such thing.
func isAnswered(text string) bool {
	return strings.Contains(text, "no such record") || strings.Contains(text, "gone") || strings.Contains(text, "not found")
}
