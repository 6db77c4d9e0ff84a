package certificate

import (
	"log/slog"
	"net/http"
	"time"
)

// Transport is a round tripper that is made again when the files of its certificates
// change. Requests under way end on the old one.
type Transport struct{ current fresh[*http.Transport] }

// NewTransport makes one of the files at paths, which may be folders.
func NewTransport(paths []string, make func() (*http.Transport, error), now func() time.Time, log *slog.Logger) (*Transport, error) {
	t := &Transport{current: fresh[*http.Transport]{what: "the certificates for Nomad", paths: paths, now: now, log: log}}
	t.current.make = func() (*http.Transport, error) {
		next, err := make()
		if err == nil && t.current.value != nil {
			t.current.value.CloseIdleConnections()
		}
		return next, err
	}
	return t, t.current.first()
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	return t.current.get().RoundTrip(r)
}

// CloseIdleConnections is called by http.Client's method of that name.
func (t *Transport) CloseIdleConnections() { t.current.get().CloseIdleConnections() }

// Reload reads the files again. With an error the old ones stay in use.
func (t *Transport) Reload() error { return t.current.reload() }
