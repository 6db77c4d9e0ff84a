package trace_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/trace"
)

// dataVariable names the folder with published traces; beside the repository it is found
// without it. They are too large for the repository.
const (
	dataVariable = "NOMAD_PLACER_TRACES"
	dataBeside   = "../../../../../shared/data"
)

// TestPublishedTrace reads the trace of CloudPhysics whole; the number of rows is that of
// its README.
func TestPublishedTrace(t *testing.T) {
	t.Parallel()
	folder := os.Getenv(dataVariable)
	if folder == "" {
		folder = dataBeside
	}
	path := filepath.Join(folder, "block-io-cloudphysics/io_first.csv.gz")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%v: the published traces are not in the repository (%s)", err, dataVariable)
	}
	tr, err := trace.Open(path, "")
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	n := 0
	var r storage.Record
	for {
		err := tr.Next(&r)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 75914 || len(tr.Skips()) != 0 || tr.Format() != "cloudphysics" {
		t.Errorf("%d I/Os of %s, skips %v", n, tr.Format(), tr.Skips())
	}
}
