package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"os"
	"time"
)

// Files of a listener.
type Files struct {
	Cert, Key string
	ClientCA  string // callers must have a certificate of these authorities; empty: callers need none
}

// Server is the certificate of a listener.
type Server struct{ config fresh[*tls.Config] }

// NewServer reads the files.
func NewServer(files Files, now func() time.Time, log *slog.Logger) (*Server, error) {
	s := &Server{config: fresh[*tls.Config]{
		what: "the listener's certificate", paths: []string{files.Cert, files.Key, files.ClientCA},
		make: files.config, now: now, log: log,
	}}
	return s, s.config.first()
}

// Config is for tls.NewListener and http.Server. It takes TLS 1.2 and later.
func (s *Server) Config() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return s.config.get(), nil },
	}
}

// Reload reads the files again. With an error the old ones stay in use.
func (s *Server) Reload() error { return s.config.reload() }

func (f Files) config() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(f.Cert, f.Key)
	if err != nil {
		return nil, fmt.Errorf("certificate %s with key %s: %w", f.Cert, f.Key, err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"}}
	if f.ClientCA == "" {
		return config, nil
	}
	config.ClientAuth = tls.RequireAndVerifyClientCert
	config.ClientCAs, err = pool(f.ClientCA)
	return config, err
}

func pool(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("authorities of clients: %w", err)
	}
	out := x509.NewCertPool()
	if !out.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("authorities of clients: %s has no certificate in PEM", path)
	}
	return out, nil
}
