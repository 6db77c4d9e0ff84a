package load

import (
	"net"
	"net/http"
)

// serveAt serves /metrics on an address; without one it does nothing.
func serveAt(address string, metrics http.Handler) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", metrics)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: readHeaderLimit}
	done := make(chan struct{})
	go func() {
		defer close(done)
		// Serve returns when the server is closed; before that only if the
		// listener breaks, and then scrapers see the refused connection.
		_ = server.Serve(listener)
	}()
	return func() {
		_ = server.Close()
		<-done
	}, nil
}
