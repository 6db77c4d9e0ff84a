package nomadapi

import (
	"net"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// Over a socket, as in a task, Nomad answers as over the network, and uncompressed.
func TestSocket(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "api.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan string, 1)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case asked <- r.Header.Get("Accept-Encoding"):
		default:
		}
		http.NotFound(w, r)
	})}
	go func() { _ = server.Serve(listener) }() // until it is closed
	t.Cleanup(func() { _ = server.Close() })
	world, err := New(Options{Address: "unix://" + path})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := world.Job(t.Context(), cluster.JobID{Namespace: "default", ID: "web"}); err == nil {
		t.Error("a job that is not there was read")
	}
	if got := <-asked; got != "identity" {
		t.Errorf("Accept-Encoding %q", got)
	}
	if got := world.Address(); got != "unix://"+path {
		t.Errorf("address %q", got)
	}
}
