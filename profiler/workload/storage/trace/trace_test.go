package trace_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/workload/storage"
	"github.com/nomad-placer/nomad-placer/profiler/workload/storage/trace"
)

const ms = time.Millisecond

// readAll reads a text to its end or its error.
func readAll(format, text string) ([]storage.Record, storage.Trace, error) {
	t, err := trace.New("f", format, strings.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	var records []storage.Record
	for {
		var r storage.Record
		switch err := t.Next(&r); {
		case errors.Is(err, io.EOF):
			return records, t, nil
		case err != nil:
			return records, t, err
		}
		records = append(records, r)
	}
}

const (
	fio2 = "fio version 2 iolog\n/a add\n/b add\n/a open\n/a wait 100\n/a write 4096 8192\n/b wait 900\n/b read 0 512\n/a sync 0 0\n/a trim 0 4096\n/a read 12288 4096\n/a close\n"
	fio3 = "fio version 3 iolog\n0 /a add\n0 /a open\n1500 /a read 8192 4096\n1500 /a datasync\n2500 /a write 12288 512\n9000 /a close\n"
	blk  = `  8,0    3        1     1.000000000   697  G   W 223490 + 8 [kjournald]
  8,0    3        2     1.000001000   697  Q  WS 223488 + 8 [jbd2/sda1-8]
  8,0    3        3     1.000002000   697  D  WS 223488 + 8 [jbd2/sda1-8]
  8,16   1        1     1.002000000    12  Q  RA 16 + 256 [two words]
  8,0    1        4     1.002500000    12  Q   D 16 + 256 [fstrim]
  8,0    1        5     1.003000000    12  Q FWS [postgres]
  8,0    0        6     1.004000000     0  m   N cfq1 slice
  8,0    1        7     1.005000000    12  C   R 16 + 256 [0]
CPU0 (8,0):
 Reads Queued:           1,      128KiB	 Writes Queued:           1,        4KiB
Total (8,0):
`
	cloud = "version,time,op,size,lbn\n1,5633898,2a,512,42932745\n1,5633898,28,65536,1\n1,5633900.5,35,0,0\n1,5633901.25,8a,4096,8\n"
)

// records of the texts above: thread, volume, op, offset, bytes, time.
func rec(thread, volume uint32, op storage.Op, offset, size int64, at time.Duration) storage.Record {
	return storage.Record{At: at, Offset: offset, Bytes: size, Thread: thread, Volume: volume, Op: op}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		format, text string
		want         []storage.Record
		threads      []string
		skipped      int64
	}{
		"fio 2": {"fio", fio2, []storage.Record{
			rec(0, 0, storage.Write, 4096, 8192, 0), rec(1, 1, storage.Read, 0, 512, 900*time.Microsecond), rec(0, 0, storage.Read, 12288, 4096, 900*time.Microsecond),
		}, []string{"/a", "/b"}, 8},
		"fio 3": {"fio", fio3, []storage.Record{
			rec(0, 0, storage.Read, 8192, 4096, 0), rec(0, 0, storage.Write, 12288, 512, ms),
		}, []string{"/a"}, 4},
		"blkparse": {"blkparse", blk, []storage.Record{
			rec(0, 0, storage.Write, 223488*512, 4096, 0), rec(1, 1, storage.Read, 16*512, 128<<10, 1999*time.Microsecond),
		}, []string{"697 jbd2/sda1-8", "12 two words"}, 9},
		"cloudphysics": {"cloudphysics", cloud, []storage.Record{
			rec(0, 0, storage.Write, 42932745*512, 512, 0), rec(0, 0, storage.Read, 512, 65536, 0), rec(0, 0, storage.Write, 4096, 4096, 3250*ms),
		}, []string{""}, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, format := range []string{"", c.format} {
				for _, text := range []string{c.text, strings.ReplaceAll(c.text, "\n", "\r\n"), zipped(t, c.text)} {
					got, tr, err := readAll(format, text)
					if err != nil || !slices.Equal(got, c.want) {
						t.Fatalf("got %+v, %v\nwant %+v", got, err, c.want)
					}
					skipped := int64(0)
					for _, n := range tr.Skips() {
						skipped += n
					}
					if tr.Format() != c.format || !slices.Equal(tr.Threads(), c.threads) || skipped != c.skipped {
						t.Errorf("format %s, threads %q, skips %v; want %s, %q, %d", tr.Format(), tr.Threads(), tr.Skips(), c.format, c.threads, c.skipped)
					}
				}
			}
		})
	}
}

// Every listed format is detected by one text above and by no other.
func TestOneFormatDetects(t *testing.T) {
	t.Parallel()
	for format, text := range map[string]string{"fio": fio3, "blkparse": blk, "cloudphysics": cloud} {
		first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
		for _, f := range trace.Formats() {
			if f.Detect([]byte(first)) != (f.Name == format) {
				t.Errorf("%s detects the first line of %s: %t", f.Name, format, f.Name != format)
			}
		}
	}
	if !slices.IsSorted(trace.Names()) || len(trace.Names()) != 3 {
		t.Errorf("formats %v: every one has a text above, and they are sorted", trace.Names())
	}
}

func zipped(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestBadInputIsLocated(t *testing.T) {
	t.Parallel()
	const three = "fio version 3 iolog\n"
	long := three + strings.Repeat("1 /a read 0 4096\n", 100_000)
	cases := map[string]struct {
		text string
		want []string
	}{
		"empty":             {"", []string{"f: the file is empty", "before its first I/O"}},
		"foreign":           {"PK\x03\x04 a zip archive\n", []string{"f:1:", "first line of no known format", "known: blkparse, cloudphysics, fio"}},
		"binary":            {strings.Repeat("\x01", 2<<20), []string{"f:1:", "a line of more than", "text file?"}},
		"no I/O":            {three + "0 /a add\n0 /a open\n", []string{"f: the file has no I/O", "2 lines were left out: a file is added"}},
		"truncated line":    {three + "1 /a read 0 4096\n2 /a read 0", []string{"f:3:", "ends too early", "cut short"}},
		"truncated word":    {three + "1", []string{"f:2:", "ends too early"}},
		"truncated gzip":    {zipped(t, long)[:500], []string{"f:", "the gzip stream is cut short", "fetch the file again"}},
		"damaged gzip":      {damaged(zipped(t, long)), []string{"f:", "damaged"}},
		"unordered":         {three + "5 /a read 0 4096\n3 /a read 0 4096\n", []string{"f:3:", "2µs before the one above it", "sort the trace by time"}},
		"huge":              {three + "1 /a read 0 99999999999\n", []string{"f:2:", "99999999999 bytes", "right unit"}},
		"far":               {three + "1 /a read 9000000000000000000 1\n", []string{"f:2:", "at byte 9000000000000000000"}},
		"number too large":  {three + "1 /a read 99999999999999999999999 1\n", []string{"f:2:", "the offset", "not a whole number of bytes"}},
		"negative":          {three + "1 /a read -5 512\n", []string{"f:2:", `"-5"`}},
		"time":              {three + "1.5 /a read 0 512\n", []string{"f:2:", `"1.5"`, "microseconds"}},
		"version 2 lines":   {three + "/a read 0 512\n", []string{"f:2:", "begin with a time"}},
		"wait in version 3": {three + "1 /a wait 5\n", []string{"f:2:", "no wait"}},
		"wait":              {"fio version 2 iolog\n/a wait x\n", []string{"f:2:", "the wait"}},
		"action":            {three + "1 /a flush 0 512\n", []string{"f:2:", `"flush"`, "known: read, write"}},
		"blk short":         {"8,0 1 1 1.0 5 Q R 8 + 8 [a]\n8,0 1 2 1.0 5 Q\n", []string{"f:2:", "ends too early", "blkparse -f"}},
		"blk sector":        {"8,0 1 2 1.0 5 Q R x + 8 [a]\n", []string{"f:1:", "the sector", `"x"`}},
		"blk size":          {"8,0 1 2 1.0 5 Q R 8 + y [a]\n", []string{"f:1:", "the size", `"y"`}},
		"blk unordered":     {"8,0 1 2 1.5 5 Q R 8 + 8 [a]\n8,0 1 3 1.25 5 Q R 8 + 8 [a]\n", []string{"f:2:", "250ms before"}},
		"cloud columns":     {"version,time,op,size,lbn\n1,2,28,512\n", []string{"f:2:", "not 5 columns"}},
		"cloud more":        {"version,time,op,size,lbn\n1,2,28,512,4,9\n", []string{"f:2:", "not 5 columns"}},
		"cloud op":          {"version,time,op,size,lbn\n1,2,zz,512,4\n", []string{"f:2:", "the operation", "28 is a read"}},
		"cloud time":        {"version,time,op,size,lbn\n1,NaN,28,512,4\n", []string{"f:2:", "the time", `"NaN"`}},
		"cloud block":       {"version,time,op,size,lbn\n1,2,28,512,99999999999999999\n", []string{"f:2:", "the block"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := readAll("", c.text)
			if !errors.Is(err, trace.ErrFormat) {
				t.Fatalf("got %v, want ErrFormat", err)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q does not say %q", err, part)
				}
			}
		})
	}
}

// damaged flips a bit in the checksum of a gzip stream.
func damaged(text string) string {
	b := []byte(text)
	b[len(b)-6] ^= 1
	return string(b)
}

func TestAnErrorStays(t *testing.T) {
	t.Parallel()
	tr, err := trace.New("f", "", strings.NewReader("fio version 3 iolog\n1 /a read x 1\n2 /a read 0 512\n"))
	if err != nil {
		t.Fatal(err)
	}
	var r storage.Record
	first, second := tr.Next(&r), tr.Next(&r)
	if first == nil || !errors.Is(second, first) {
		t.Errorf("got %v, then %v", first, second)
	}
}

func TestFormatMayBeNamed(t *testing.T) {
	t.Parallel()
	if _, err := trace.New("f", "fio", strings.NewReader(cloud)); err == nil || !strings.Contains(err.Error(), "not the first line of fio") {
		t.Errorf("got %v", err)
	}
	if _, err := trace.New("f", "msr", strings.NewReader(cloud)); err == nil || !strings.Contains(err.Error(), `no format "msr"; known: blkparse`) {
		t.Errorf("got %v", err)
	}
}

func TestFilesAreOpened(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if _, err := trace.Open(filepath.Join(folder, "missing"), ""); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := trace.Open(folder, ""); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Errorf("got %v", err)
	}
	path := filepath.Join(folder, "a.log")
	if err := os.WriteFile(path, []byte(fio3), 0o600); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Open(path, "")
	if err != nil {
		t.Fatal(err)
	}
	if tr.TotalBytes() != int64(len(fio3)) || tr.ReadBytes() != tr.TotalBytes() {
		t.Errorf("%d of %d bytes", tr.ReadBytes(), tr.TotalBytes())
	}
	if err := tr.Close(); err != nil {
		t.Fatal(err)
	}
	var r storage.Record
	if err := tr.Next(&r); !errors.Is(err, io.EOF) {
		t.Errorf("after Close: %v", err)
	}
}

// Threads beyond the bound share the last number.
func TestThreadsAreBounded(t *testing.T) {
	t.Parallel()
	const threads = 1<<16 + 10
	var b strings.Builder
	b.WriteString("fio version 3 iolog\n")
	for i := range threads {
		b.WriteString("1 /" + strings.Repeat("x", 1+i%7) + string(rune('a'+i%26)) + time.Duration(i).String() + " read 0 512\n")
	}
	got, tr, err := readAll("", b.String())
	if err != nil || len(got) != threads {
		t.Fatalf("%d I/Os, %v", len(got), err)
	}
	if n := len(tr.Threads()); n != 1<<16 || got[threads-1].Thread != 1<<16-1 {
		t.Errorf("%d threads, the last is %d", n, got[threads-1].Thread)
	}
}
