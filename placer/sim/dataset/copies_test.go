package dataset_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/nomad-placer/nomad-placer/placer/sim/dataset"
)

func zippedFile(t *testing.T, text string) *fstest.MapFile {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &fstest.MapFile{Data: out.Bytes()}
}

// A row that is there ten times is one measurement; copies are counted.
func TestCopiesOfRows(t *testing.T) {
	t.Parallel()
	r, err := dataset.Lookup("eth-ibench-parsec-memcached")
	if err != nil {
		t.Fatal(err)
	}
	text := "source,suite,app,interference,rep,real_s\n"
	for _, kernel := range []string{"none", "cpu", "l1d", "l1i", "l2"} {
		text += strings.Repeat("a/b,s,x,"+kernel+",1,4\n", 10)
	}
	sets, err := r.Read(fstest.MapFS{"parsec_under_ibench.csv.gz": zippedFile(t, text)})
	if err != nil {
		t.Fatal(err)
	}
	s := sets[0]
	if len(s.Skipped) != 1 || s.Skipped[0].Count != 45 || s.Skipped[0].First != "parsec_under_ibench.csv.gz:3" {
		t.Errorf("skipped %+v", s.Skipped)
	}
	for _, runs := range s.Rows[0].Cells {
		if len(runs) != 1 {
			t.Errorf("%d runs in a cell, want 1", len(runs))
		}
	}
}

// Where repetitions are not numbered equal rows are measurements, unless all of the table is
// there twice.
func TestATableJoinedWithItself(t *testing.T) {
	t.Parallel()
	r, err := dataset.Lookup("c3o-spark")
	if err != nil {
		t.Fatal(err)
	}
	var rows string
	for n := 2; n <= 12; n += 2 {
		rows += fmt.Sprintf("%d,m4,1,60\n%d,r4,1,50\n", n, n)
	}
	header := "instance_count,machine_type,data_size_MB,gross_runtime\n"
	files := func(text string) fstest.MapFS {
		f := zippedFile(t, text)
		return fstest.MapFS{"grep.csv.gz": f, "sgd.csv.gz": f, "sort.csv.gz": f}
	}
	if _, err := r.Read(files(header + rows + "2,m4,1,60\n")); err != nil {
		t.Errorf("a repetition in whole seconds: %v", err)
	}
	_, err = r.Read(files(header + rows + rows))
	if err == nil || !strings.Contains(err.Error(), "grep.csv.gz: every row is there 2 times or more (was the file joined with itself?") {
		t.Errorf("joined with itself: %v", err)
	}
}
