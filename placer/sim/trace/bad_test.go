package trace_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/nomad-placer/nomad-placer/placer/sim/trace"
)

// folderOf is a folder with files, by name.
func folderOf(files map[string]string) fs.FS {
	folder := fstest.MapFS{}
	for name, text := range files {
		folder[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return folder
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

// readAll reads a folder to its end or its error.
func readAll(format string, folder fs.FS, o trace.Options) (jobs []trace.Job, skips map[string]int, err error) {
	d, err := trace.Lookup(format)
	if err != nil {
		return nil, nil, err
	}
	r, err := d.Open(folder, o)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	for {
		j, err := r.Next()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return jobs, r.Skips(), nil
		}
		if err != nil {
			return jobs, r.Skips(), err
		}
		jobs = append(jobs, j)
	}
}

const phillyHeader = "submit_s,duration_s,num_gpus,virtual_cluster\n"

func TestBadInputIsLocated(t *testing.T) {
	t.Parallel()
	long := phillyHeader + strings.Repeat("1,2,3,a\n", 100_000)
	cases := map[string]struct {
		format, text string
		want         []string // in the error
	}{
		"missing column":      {"philly", "submit_s,num_gpus\n1,2\n", []string{"no file with the jobs of philly", "needed: submit_s, duration_s, num_gpus"}},
		"not a number":        {"philly", phillyHeader + "1,2,3,a\n1,2,x,a\n", []string{"f.csv:3:5: num_gpus:", `"x"`, "not a number", "leave the cell empty"}},
		"not a number, NaN":   {"philly", phillyHeader + "1,2,NaN,a\n", []string{"f.csv:2:5: num_gpus:", "not a number"}},
		"infinite":            {"philly", phillyHeader + "inf,2,1,a\n", []string{"f.csv:2:1: submit_s:"}},
		"overflow":            {"philly", phillyHeader + "1e300,2,1,a\n", []string{"f.csv:2:1: submit_s:", "146 years", "unit"}},
		"hexadecimal":         {"philly", phillyHeader + "0x10,2,1,a\n", []string{"f.csv:2:1: submit_s:"}},
		"empty submit":        {"philly", phillyHeader + ",2,1,a\n", []string{"f.csv:2:1: submit_s:", "nothing where a time must be"}},
		"short row":           {"philly", phillyHeader + "1,2\n", []string{"f.csv:2:4: num_gpus:", "ends after 2 columns"}},
		"truncated gzip":      {"philly", zipped(t, long)[:800], []string{"f.csv:", "the gzip stream is cut short", "fetch the file again"}},
		"damaged gzip":        {"philly", damaged(zipped(t, long)), []string{"f.csv:", "damaged"}},
		"endless line":        {"philly", phillyHeader + strings.Repeat("x", 3<<20), []string{"f.csv:2:", "is this a text file?"}},
		"open quote":          {"philly", phillyHeader + "1,2,3,\"a\n", []string{"f.csv:2:7:", "quoted cell"}},
		"text behind a quote": {"philly", phillyHeader + "1,2,3,\"a\"b\n", []string{"f.csv:2:10:"}},
		"empty file":          {"philly", "", []string{"no file with the jobs"}},
		"unknown event":       {"google-2011", "600000000,,1,0,,9,u,0,0,0.25,0.01,0.0,1\n", []string{"f.csv:1:17: event_type:", "known: 0 to 8"}},
		"negative time":       {"google-2011", "-5,,1,0,,0,u,0,0,0.25,0.01,0.0,1\n", []string{"f.csv:1:1: timestamp:"}},
		"negative submission": {"philly", phillyHeader + "1,2,3,a\n-9,2,3,a\n", []string{"f.csv:3:1: submit_s:", "before the trace's own zero", "remove the row"}},
		"column twice":        {"philly", "submit_s,duration_s,num_gpus,virtual_cluster,duration_s\n1,2,3,a,9\n", []string{"f.csv:1:46:", `two columns are called "duration_s"`, "keep the one that is meant"}},
		"swf word":            {"swf", "1 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n2 0 1 x 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n", []string{"f.csv:2:7: run_s:"}},
		"machines only":       {"alibaba-2018", "m_1,0,219,17,96,100,USING\n", []string{"batch_task.csv is missing"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := readAll(c.format, folderOf(map[string]string{"f.csv": c.text}), trace.Options{})
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

// damaged flips a bit in the middle of a gzip stream's checksum.
func damaged(text string) string {
	b := []byte(text)
	b[len(b)-6] ^= 1
	return string(b)
}

func TestMalformedRowsMayBeCounted(t *testing.T) {
	t.Parallel()
	folder := folderOf(map[string]string{"f.csv": phillyHeader + "1,2,3,a\n1,2,x,a\n4,5\n7,8,9,b\n"})
	jobs, skips, err := readAll("philly", folder, trace.Options{SkipMalformed: true})
	if err != nil || len(jobs) != 2 || skips["the row cannot be read"] != 2 {
		t.Errorf("%d jobs, skips %v, %v; want 2 and 2", len(jobs), skips, err)
	}
}

// TestNoTimeIsBeforeZero: in no format does one row with a negative time become the
// origin that the others count from.
func TestNoTimeIsBeforeZero(t *testing.T) {
	t.Parallel()
	for format, text := range map[string]string{
		"alibaba-2017":     "-90000,10,1,1,1,Terminated,50,0.1\n",
		"alibaba-2018":     "t1,1,j_1,1,Terminated,-5,10,50,0.1\n",
		"alibaba-gpu-2023": "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\np,1000,10,0,0,,BE,Running,-5,10,1\n",
		"azure-vm-2017":    "a,b,c,-5,10,1,1,1,Unknown,2,4\n",
		"facebook-swim":    "job0\t-5\t0\t1\t2\t3\n",
		"google-2011":      "-5,,1,0,,0,u,0,0,0.25,0.01,0.0,1\n",
		"philly":           phillyHeader + "-5,2,3,a\n",
		"swf":              "1 -5 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n",
	} {
		_, _, err := readAll(format, folderOf(map[string]string{"batch_task.csv": text}), trace.Options{})
		if !errors.Is(err, trace.ErrFormat) || !strings.Contains(err.Error(), "batch_task.csv:") {
			t.Errorf("%s: %v", format, err)
		}
	}
	m, err := trace.ParseColumnMap("submit=at")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := readAll("csv", folderOf(map[string]string{"f.csv": "at\n5\n-5\n"}), trace.Options{Map: m}); err == nil || !strings.Contains(err.Error(), "f.csv:3:1: at:") {
		t.Errorf("csv: %v", err)
	}
}

// TestSeparateTracesAreNotMixed: two samples of one format are two traces.
func TestSeparateTracesAreNotMixed(t *testing.T) {
	t.Parallel()
	text := phillyHeader + "1,2,3,a\n"
	folder := folderOf(map[string]string{"a.csv": text, "b.csv": text, "README.md": "nothing"})
	if _, _, err := readAll("philly", folder, trace.Options{}); err == nil || !strings.Contains(err.Error(), "name one of a.csv, b.csv") {
		t.Errorf("got %v", err)
	}
	if jobs, _, err := readAll("philly", folder, trace.Options{Files: []string{"b.csv"}}); err != nil || len(jobs) != 1 {
		t.Errorf("%d jobs, %v", len(jobs), err)
	}
}

func TestHeadersMayBeShuffledAndMarked(t *testing.T) {
	t.Parallel()
	folder := folderOf(map[string]string{"f.csv": "\xef\xbb\xbfVirtual_Cluster,num_gpus,extra,duration_s,submit_s\r\na,3,?,2,1\r\n\r\n"})
	jobs, skips, err := readAll("philly", folder, trace.Options{})
	if err != nil || len(jobs) != 1 || len(skips) != 0 {
		t.Fatalf("%v, %v, %v", jobs, skips, err)
	}
	if j := jobs[0]; j.User != "a" || j.GPUs != 3 || j.Duration.Seconds() != 2 {
		t.Errorf("got %+v", j)
	}
}

func TestGzipIsTransparent(t *testing.T) {
	t.Parallel()
	text := phillyHeader + strings.Repeat("1,2,3,a\n", 50_000)
	plain, _, err := readAll("philly", folderOf(map[string]string{"f.csv": text}), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	small, _, err := readAll("philly", folderOf(map[string]string{"f.csv.gz": zipped(t, text)}), trace.Options{})
	if err != nil || len(plain) != 50_000 || len(small) != len(plain) {
		t.Errorf("%d plain, %d zipped, %v", len(plain), len(small), err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	folder := folderOf(map[string]string{"f.csv": phillyHeader + "1,2,3,a\n"})
	for name, o := range map[string]trace.Options{
		"sample":    {Sample: 1.5},
		"stretch":   {From: 10, To: 5},
		"scale":     {SubmitScale: -1},
		"limit":     {Limit: -1},
		"horizon":   {Horizon: -1},
		"to":        {To: -1},
		"largest":   {LargestCores: -1},
		"too many":  {MaxSorted: -1},
		"durations": {DurationScale: -2},
	} {
		if _, _, err := readAll("philly", folder, o); !errors.Is(err, trace.ErrOptions) {
			t.Errorf("%s: got %v, want ErrOptions", name, err)
		}
	}
	rows := folderOf(map[string]string{"f.csv": phillyHeader + strings.Repeat("1,2,3,a\n", 10)})
	if _, _, err := readAll("philly", rows, trace.Options{MaxSorted: 5}); !errors.Is(err, trace.ErrOptions) {
		t.Errorf("more rows than may be held: %v", err)
	}
}

func TestColumnMapsAreChecked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"duration=a":              "submit=column",
		"submit=a,color=b":        `unknown field "color"`,
		"submit=a,submit=b":       "twice",
		"submit":                  "not field=column",
		"submit=1,cores=cpu":      "by name, or every one by number",
		"submit=a,time=parsec":    "unit of time",
		"submit=a,memory_unit=0":  "not a unit",
		"submit=a,separator=pipe": "known: tab",
	} {
		if _, err := trace.ParseColumnMap(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func TestColumnsByNumber(t *testing.T) {
	t.Parallel()
	m, err := trace.ParseColumnMap("submit=3,cores=1,class=2,time=ms")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"without header": "4,service,1500\n2,,500\n", "with header": "a,b,c\n4,service,1500\n2,,500\n"} {
		jobs, _, err := readAll("csv", folderOf(map[string]string{"f.csv": text}), trace.Options{Map: m})
		if err != nil || len(jobs) != 2 || jobs[0].Cores != 2 || jobs[1].Class != trace.Service || jobs[1].Submit.Seconds() != 1 {
			t.Errorf("%s: %+v, %v", name, jobs, err)
		}
	}
	_, _, err = readAll("csv", folderOf(map[string]string{"f.csv": "4,urgent,1500\n"}), trace.Options{Map: m})
	if err == nil || !strings.Contains(err.Error(), "f.csv:1:3: 2:") {
		t.Errorf("an unknown class: %v", err)
	}
}

func TestSkipsAreACopy(t *testing.T) {
	t.Parallel()
	_, skips, err := readAll("philly", folderOf(map[string]string{"f.csv": phillyHeader + "1,-2,3,a\n"}), trace.Options{})
	if err != nil || !maps.Equal(skips, map[string]int{"it ends before it starts": 1}) {
		t.Errorf("%v, %v", skips, err)
	}
}
