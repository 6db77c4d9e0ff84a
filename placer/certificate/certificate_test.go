package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/authority"
)

// watch is a clock that is set by hand.
type watch struct {
	mu  sync.Mutex
	now time.Time
}

func (w *watch) read() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *watch) pass() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(lookEvery)
}

func issue(t *testing.T, a *authority.Authority, name string) authority.Pair {
	t.Helper()
	pair, err := a.Issue(name)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

func newAuthority(t *testing.T, dir, name string) *authority.Authority {
	t.Helper()
	a, err := authority.New(dir, name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// shown connects and returns the serial number of the certificate it is shown.
func shown(t *testing.T, url string, ca string, own *tls.Certificate) (string, error) {
	t.Helper()
	text, err := os.ReadFile(ca)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	config := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	if own != nil {
		config.Certificates = []tls.Certificate{*own}
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
	answer, err := client.Get(url)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.TLS.PeerCertificates[0].SerialNumber.String(), nil
}

func serve(t *testing.T, files Files, clock *watch, out io.Writer) (string, *Server) {
	t.Helper()
	server, err := NewServer(files, clock.read, slog.New(slog.NewTextHandler(out, nil)))
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Listener = tls.NewListener(s.Listener, server.Config())
	s.Start()
	t.Cleanup(s.Close)
	return strings.Replace(s.URL, "http://", "https://", 1), server
}

func TestARenewedCertificateIsShown(t *testing.T) {
	t.Parallel()
	a, clock, said := newAuthority(t, t.TempDir(), "ca"), &watch{now: time.Now()}, &strings.Builder{}
	pair := issue(t, a, "agent")
	url, server := serve(t, Files{Cert: pair.Cert, Key: pair.Key}, clock, said)
	serial := func() string {
		t.Helper()
		s, err := shown(t, url, a.File(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first := serial()
	issue(t, a, "agent")
	if serial() != first {
		t.Error("files are looked at for every connection")
	}
	clock.pass()
	second := serial()
	if second == first {
		t.Error("the renewed certificate is not shown")
	}
	// Half of a renewal: the old one stays, and is said once.
	whole, err := os.ReadFile(pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(pair.Key, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		clock.pass()
		if serial() != second {
			t.Error("a certificate without its key is shown")
		}
	}
	if err := server.Reload(); err == nil {
		t.Error("a reload of half a key is no error")
	}
	if n := strings.Count(said.String(), "level=ERROR"); n != 1 || !strings.Contains(said.String(), "agent-key.pem") {
		t.Errorf("it was said %d times:\n%s", n, said)
	}
	issue(t, a, "agent")
	if err := server.Reload(); err != nil {
		t.Error(err)
	}
	if third := serial(); third == second || third == first {
		t.Error("the certificate after the reload is an old one")
	}
}

func TestCallersNeedACertificateOfTheAuthority(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, other, clock := newAuthority(t, dir, "ca"), newAuthority(t, t.TempDir(), "other"), &watch{now: time.Now()}
	pair := issue(t, a, "agent")
	callers := filepath.Join(dir, "callers.pem")
	link := func(to string) {
		t.Helper()
		text, err := os.ReadFile(to)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(callers, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link(a.File())
	url, server := serve(t, Files{Cert: pair.Cert, Key: pair.Key, ClientCA: callers}, clock, io.Discard)
	load := func(p authority.Pair) *tls.Certificate {
		c, err := tls.LoadX509KeyPair(p.Cert, p.Key)
		if err != nil {
			t.Fatal(err)
		}
		return &c
	}
	mine, strangers := load(issue(t, a, "me")), load(issue(t, other, "stranger"))
	for name, c := range map[string]struct {
		own *tls.Certificate
		ok  bool
	}{"own": {mine, true}, "stranger": {strangers, false}, "none": {nil, false}} {
		if _, err := shown(t, url, a.File(), c.own); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	link(other.File())
	if err := server.Reload(); err != nil {
		t.Fatal(err)
	}
	if _, err := shown(t, url, a.File(), mine); err == nil {
		t.Error("an authority that is trusted no more lets callers in")
	}
	if _, err := shown(t, url, a.File(), strangers); err != nil {
		t.Errorf("the new authority: %v", err)
	}
}

func TestOldVersionsOfTLSAreRefused(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, t.TempDir(), "ca")
	pair := issue(t, a, "agent")
	url, _ := serve(t, Files{Cert: pair.Cert, Key: pair.Key}, &watch{now: time.Now()}, io.Discard)
	config := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	if _, err := (&http.Client{Transport: &http.Transport{TLSClientConfig: config}}).Get(url); err == nil {
		t.Error("TLS 1.1 is taken")
	}
}

func TestFilesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := newAuthority(t, dir, "ca")
	one, two := issue(t, a, "one"), issue(t, a, "two")
	empty := filepath.Join(dir, "empty.pem")
	if err := os.WriteFile(empty, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		files Files
		want  string
	}{
		"no file":          {Files{Cert: filepath.Join(dir, "none.pem"), Key: one.Key}, "none.pem"},
		"another's key":    {Files{Cert: one.Cert, Key: two.Key}, "two-key.pem"},
		"no authority":     {Files{Cert: one.Cert, Key: one.Key, ClientCA: filepath.Join(dir, "no-ca.pem")}, "no-ca.pem"},
		"an authority's 0": {Files{Cert: one.Cert, Key: one.Key, ClientCA: empty}, "empty.pem"},
	} {
		if _, err := NewServer(c.files, time.Now, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A transport is made anew for new files, and goes on with the old ones while the new
// ones cannot be used.
func TestATransportIsMadeAnew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "cert.pem")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("1")
	clock, made := &watch{now: time.Now()}, ""
	transport, err := NewTransport([]string{dir, ""}, func() (*http.Transport, error) {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		made += string(text)
		return &http.Transport{}, nil
	}, clock.read, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(s.Close)
	client := &http.Client{Transport: transport}
	ask := func() {
		t.Helper()
		clock.pass()
		answer, err := client.Get(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
	}
	ask()
	write("22")
	ask()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	ask()
	if err := transport.Reload(); err == nil {
		t.Error("a reload without a file is no error")
	}
	write("333")
	ask()
	ask()
	if made != "122333" {
		t.Errorf("made of %q", made)
	}
	client.CloseIdleConnections()
}
