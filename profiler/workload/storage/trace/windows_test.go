package trace_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/trace"
)

const windowsHead = "volume,window,ts,read_block_req_count,write_block_req_count,read_io_request_size_sum,write_io_request_size_sum,read_seq_count,write_seq_count,range\n"

func readWindows(text string) ([]trace.Window, error) {
	w, err := trace.NewWindows("f", strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	var out []trace.Window
	for {
		var v trace.Window
		switch err := w.Next(&v); {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return out, err
		}
		out = append(out, v)
	}
}

func TestWindows(t *testing.T) {
	t.Parallel()
	got, err := readWindows(windowsHead + "w1,0,5,10,20,4096,8192,1,2,1000\nw1,3,9,0,0,0,0,0,0,0\nw2,0,1,1,0,512,0,0,0,512\n")
	if err != nil || len(got) != 3 {
		t.Fatalf("%d windows, %v", len(got), err)
	}
	want := trace.Window{Volume: "w1", Reads: 10, Writes: 20, ReadBytes: 4096, WriteBytes: 8192, SequentialReads: 1, SequentialWrites: 2, RangeBytes: 1000}
	if got[0] != want || got[1].Number != 3 || got[2].Volume != "w2" {
		t.Errorf("got %+v", got)
	}
}

func TestBadWindowsAreLocated(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                     "f: the file is empty",
		"volume,window,ts\n":   "f:1: missing column read_block_req_count (needed: volume, window",
		windowsHead + "w1,0\n": "f:2: the line ends after 2 columns (the file may be cut short)",
		windowsHead + "w1,0,5,10,20,1,1,1,2,3,4\n":                   "f:2: the line has more columns",
		windowsHead + "w1,0,5,x,20,1,1,1,2,3\n":                      `f:2: read_block_req_count "x": not a whole number`,
		windowsHead + "w1,0,5,1,20,1,1,9,2,3\n":                      "f:2: more sequential I/Os than I/Os",
		windowsHead + "w1,1,5,1,2,1,1,1,2,3\nw1,1,5,1,2,1,1,1,2,3\n": "f:3: window 1 of w1 is behind window 1 (sort the table",
		windowsHead + "w1,99999999999,5,1,2,1,1,1,2,3\n":             "f:2: window 99999999999 (windows are counted from 0",
	} {
		if _, err := readWindows(text); !errors.Is(err, trace.ErrFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestStatisticsAreToldFromTraces(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, c := range map[string]struct {
		text string
		want bool
	}{"windows": {windowsHead, true}, "trace": {fio3, false}, "empty": {"", false}} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := trace.IsWindows(path); err != nil || got != c.want {
			t.Errorf("%s: %t, %v", name, got, err)
		}
	}
}
