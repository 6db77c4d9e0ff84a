package foreign_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/profiler/foreign"
	"github.com/nomad-placer/nomad-placer/profiler/foreign/tables"
)

const (
	solo   = "gpu,job_type,scale_factor,steps_per_s\n"
	parsec = "source,suite,app,interference,rep,real_s\n"
	group  = "Bruol/cloud-computing-architecture-project"
)

func TestMalformedInputIsToldWithItsPlace(t *testing.T) {
	t.Parallel()
	manyBad := solo + strings.ReplaceAll(differentRows(12), ",0\n", ",x\n")
	for name, c := range map[string]struct {
		file, text string
		want       []string // parts of the error
	}{
		"not a number":          {"solo.csv", solo + "k80,A,1,2\nk80,B,1,fast\n", []string{"solo.csv:3: column steps_per_s: \"fast\" is not a number", "12.5"}},
		"NaN":                   {"solo.csv", solo + "k80,A,1,NaN\n", []string{"column steps_per_s: \"NaN\" is not a number"}},
		"infinite":              {"solo.csv", solo + "k80,A,1,1e999\n", []string{"column steps_per_s: \"1e999\" is not a number"}},
		"negative rate":         {"solo.csv", solo + "k80,A,1,-2\n", []string{"solo.csv:2: column steps_per_s: -2 is not possible", "negative"}},
		"negative time":         {"parsec.csv", parsec + group + ",s,a,none,1,-4\n", []string{"parsec.csv:2: column real_s: -4 is not possible", "above 0"}},
		"zero time":             {"parsec.csv", parsec + group + ",s,a,none,1,0\n", []string{"column real_s: 0 is not possible"}},
		"unknown source":        {"parsec.csv", parsec + group + ",s,a,gpu,1,4\n", []string{"parsec.csv:2: column interference: unknown source of interference \"gpu\"", "membw"}},
		"no repository":         {"parsec.csv", parsec + "y,s,a,none,1,4\n", []string{"parsec.csv:2: column source: \"y\" is not owner/name", group}},
		"repetition twice":      {"parsec.csv", parsec + group + ",s,a,none,1,4\n" + group + ",s,a,none,1,5\n", []string{"parsec.csv:3: column rep: repetition 1 of a under none is given twice"}},
		"count of GPUs":         {"solo.csv", solo + "k80,A,0,2\n", []string{"column scale_factor: \"0\" is not possible", "from 1 to 1024"}},
		"empty name":            {"solo.csv", solo + "k80,,1,2\n", []string{"column job_type: is empty"}},
		"not UTF-8":             {"solo.csv", solo + "k80,A\xff,1,2\n", []string{"column job_type:", "is not UTF-8"}},
		"given twice":           {"solo.csv", solo + "k80,A,1,2\nk80,A,1,3\n", []string{"solo.csv:3: column job_type: A x1 on gpu/k80 is given twice"}},
		"short line":            {"solo.csv", solo + "k80,A,1,2\nk80,A\n", []string{"solo.csv:3: has another number of fields", "cut off"}},
		"broken quotes":         {"solo.csv", solo + "k80,\"A,1,2\n", []string{"solo.csv:", "character"}},
		"column twice":          {"solo.csv", "gpu,gpu,job_type,scale_factor,steps_per_s\n", []string{"solo.csv:1: names the column \"gpu\" twice"}},
		"wrong column":          {"solo.csv", "gpu,job_type,scale,steps_per_s\nk80,A,1,2\n", []string{"solo.csv:1: the header lacks \"scale_factor\"", "table solo_throughput"}},
		"header only":           {"solo.csv", solo, []string{"solo.csv: has a header and no rows"}},
		"empty":                 {"solo.csv", "", []string{"solo.csv: is empty"}},
		"not gzip":              {"solo.csv.gz", solo, []string{"solo.csv.gz: is not gzip", ".csv"}},
		"gzip cut off":          {"solo.csv.gz", string(zipped(t, solo+differentRows(500))[:1500]), []string{"solo.csv.gz:", ": the compressed file is damaged from here on", "copied whole"}},
		"host not known":        {"host.csv", "iperf,sysbench,ycruncher,pgbench,set,vm\n1,1,1,1,1,1\n", []string{"host.csv: the host type is not known", "c3_host"}},
		"more machines than 48": {"m5d.csv", "iperf,sysbench,ycruncher,pgbench,setId,vmId\n1,1,1,1,49,1\n", []string{"m5d.csv:2: column setId: \"49\" is not possible"}},
		"unknown pods":          {"nginx.csv", "campaign,replicas,interference,rps_offered,rps_served,p99_ms,errors\nT,1,1_iBench_GPU_pod,1,1,1,0\n", []string{"nginx.csv:2: column interference: unknown source of interference \"1_iBench_GPU_pod\"", "stress-ng_l3"}},
		"prefetch":              {"llc.csv", "suite,benchmark,prefetch,llc_MB,cpi\n2006,a,maybe,2,1\n", []string{"column prefetch: \"maybe\" is not possible"}},
		"completed":             {"runs.csv", "cloud,vm_type,framework,workload,datasize,run,completed,elapsed_s\na,b,c,d,e,1,2,3\n", []string{"column completed: \"2\" is not possible", "from 0 to 1"}},
		"too many to tell":      {"solo.csv", manyBad, []string{"solo.csv:2:", "and 2 more problems"}},
		"of no data set":        {"other.csv", "a,b\n1,2\n", []string{foreign.ErrNotRecognised.Error(), "lumos-cloud-perf"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), c.file)
			write(t, file, c.text)
			r, err := foreign.Read(t.Context(), file, foreign.Options{})
			if err == nil {
				t.Fatal("no error")
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q is not in: %v", part, err)
				}
			}
			if len(r.Profiles) > 0 {
				t.Error("something was read")
			}
		})
	}
}

func TestInputErrorIsTyped(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "solo.csv")
	write(t, file, solo+"k80,A,1,x\n")
	_, err := foreign.Read(t.Context(), file, foreign.Options{})
	var input *tables.InputError
	if !errors.As(err, &input) || input.File != file || input.Line != 2 || input.Column != "steps_per_s" || input.Hint == "" {
		t.Errorf("%#v", err)
	}
}

func TestFoldersThatAreNoDataSet(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files  map[string]string
		format string
		want   error
	}{
		"nothing":        {nil, "", foreign.ErrNoTables},
		"two data sets":  {map[string]string{"a.csv": solo + "k80,A,1,2\n", "b.csv": parsec + group + ",s,a,none,1,4\n"}, "", foreign.ErrAmbiguous},
		"another format": {map[string]string{"a.csv": solo + "k80,A,1,2\n"}, "lumos-cloud-perf", foreign.ErrNotRecognised},
		"unknown format": {map[string]string{"a.csv": solo + "k80,A,1,2\n"}, "gavel", foreign.ErrUnknownFormat},
	} {
		dir := t.TempDir()
		for file, text := range c.files {
			write(t, filepath.Join(dir, file), text)
		}
		if _, err := foreign.Read(t.Context(), dir, foreign.Options{Format: c.format}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := foreign.Read(t.Context(), filepath.Join(t.TempDir(), "absent"), foreign.Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
}

// The same table twice, as when a file was unpacked beside its archive.
func TestATableTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "solo.csv"), solo+"k80,A,1,2\n")
	write(t, filepath.Join(dir, "solo.csv.gz"), string(zipped(t, solo+"k80,A,1,2\n")))
	if _, err := foreign.Read(t.Context(), dir, foreign.Options{}); err == nil || !strings.Contains(err.Error(), "keep one of them") {
		t.Errorf("%v", err)
	}
}

// A host type is in the file's name alone: two files of one would be one host.
func TestAHostTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"c3_host.csv", "c3_host_again.csv"} {
		write(t, filepath.Join(dir, name), "iperf,sysbench,ycruncher,pgbench,set,vm\n1,1,1,1,1,1\n")
	}
	if _, err := foreign.Read(t.Context(), dir, foreign.Options{}); err == nil || !strings.Contains(err.Error(), "is the host c3, and so is c3_host.csv (keep one of them)") {
		t.Errorf("%v", err)
	}
}

// Without a machine that was active alone there is nothing to compare with: no row
// counts as taken.
func TestMachinesWithoutOneInIsolation(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "m5d.csv")
	write(t, file, "iperf,sysbench,ycruncher,pgbench,setId,vmId\n1,1,1,1,2,1\n1,1,1,1,2,2\n")
	r := read(t, file, "")
	if len(r.Profiles) > 0 || r.Files[0].Taken > 0 || len(r.LeftOut) != 2 || !strings.Contains(r.LeftOut[0].Reason+r.LeftOut[1].Reason, "one active machine") {
		t.Errorf("%+v, left out %+v", r.Files, r.LeftOut)
	}
}

// A byte-order mark, carriage returns, spaces, more columns, another order and
// a stranger in the folder do no harm.
func TestHarmlessVariants(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "solo.csv.gz"), string(zipped(t, "\ufeffextra,steps_per_s,gpu,job_type,scale_factor\r\nx, 2 ,k80,A,1\r\n")))
	write(t, filepath.Join(dir, "notes.csv"), "a,b\n1,2\n")
	r := read(t, dir, "")
	if len(r.Profiles) != 1 || r.Profiles[0].Isolated["gpu/k80"].Value != 2 {
		t.Errorf("%+v", r.Profiles)
	}
	if len(r.LeftOut) != 1 || r.LeftOut[0].File != "notes.csv" {
		t.Errorf("left out %+v", r.LeftOut)
	}
}

func TestPairsThatContradict(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "solo.csv"), solo+"k80,A,1,2\nk80,B,1,4\n")
	write(t, filepath.Join(dir, "pair.csv"), "gpu,job_type_a,scale_a,job_type_b,scale_b,steps_per_s_a,steps_per_s_b\nk80,A,1,B,1,1,2\nk80,B,1,A,1,2,1.5\n")
	if _, err := foreign.Read(t.Context(), dir, foreign.Options{}); err == nil || !strings.Contains(err.Error(), "pair.csv:3: column steps_per_s_a: A x1 with B x1 on gpu/k80 is given twice") {
		t.Errorf("%v", err)
	}
}

// differentRows are rows of no throughput.
func differentRows(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "k80,A%d,1,0\n", i)
	}
	return out.String()
}

// A damaged archive says from which line on; the rows before it are whole.
func TestADamagedArchiveNamesItsLine(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "solo.csv.gz")
	write(t, file, string(zipped(t, solo+differentRows(20000))[:40000]))
	_, err := foreign.Read(t.Context(), file, foreign.Options{})
	var input *tables.InputError
	if !errors.As(err, &input) || input.Line < 1000 {
		t.Errorf("%v", err)
	}
}

// Another group of the course is a replication like those that are known, and says that
// nothing is known of its repository.
func TestAnotherGroupOfTheCourse(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "parsec.csv")
	write(t, file, parsec+"some/one,s,a,none,1,4\nsome/one,s,a,cpu,1,8\nsome/two,s,a,none,1,4\n")
	r := read(t, file, "")
	if len(r.Profiles) != 2 || r.Files[0].Taken != 3 {
		t.Fatalf("%+v", r)
	}
	for _, p := range r.Profiles {
		if d := p.Provenance.DataSet; d.Commit != "" || d.License != "not known" || !strings.HasPrefix(d.Repository, "some/") ||
			!strings.Contains(strings.Join(p.Warnings, " "), "this release does not know") {
			t.Errorf("%+v, %v", d, p.Warnings)
		}
	}
}

// What only tells of others counts as left out where there are no others: no row is lost
// in silence.
func TestMachineTypesAlone(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "nodes.csv")
	write(t, file, "source,experiment_part,node_group,gcp_machine_type\n"+group+",part1,memcached,t2-standard-2\n")
	r := read(t, file, "")
	if len(r.Profiles) != 0 || r.Files[0].Taken != 0 || len(r.LeftOut) != 1 || r.LeftOut[0].Measurements != 1 {
		t.Errorf("%+v", r)
	}
}

// A row that is there ten times is one measurement: copies would make a single run look
// like a sure one.
func TestCopiesAreNoReplicates(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "m5d.csv")
	header := "iperf,sysbench,ycruncher,pgbench,setId,vmId\n"
	write(t, file, header+strings.Repeat("1,1,1,1,1,1\n", 10)+"1.5,1,1,1,1,1\n")
	r := read(t, file, "")
	if r.Files[0].Measurements != 44 || r.Files[0].Taken != 8 || len(r.LeftOut) != 1 || r.LeftOut[0].Measurements != 36 ||
		!strings.Contains(r.LeftOut[0].Reason, "exact copy") {
		t.Errorf("%+v, %+v", r.Files, r.LeftOut)
	}
	for _, p := range r.Profiles {
		if p.Provenance.Repetitions != 2 {
			t.Errorf("%s: %d repetitions, want 2", p.Key, p.Provenance.Repetitions)
		}
	}
}

func TestProgressAndCancel(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "solo.csv")
	var text strings.Builder
	text.WriteString(solo)
	text.WriteString(differentRows(3000))
	write(t, file, text.String())
	var seen []float64
	progress := func(fraction float64, name string) {
		if name != "solo.csv" || fraction <= 0 || fraction > 1 {
			t.Errorf("%v of %s", fraction, name)
		}
		seen = append(seen, fraction)
	}
	if _, err := foreign.Read(t.Context(), file, foreign.Options{Progress: progress}); err != nil || len(seen) != 2 {
		t.Errorf("%v, %v", seen, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := foreign.Read(ctx, file, foreign.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestWriteDir(t *testing.T) {
	t.Parallel()
	r := read(t, filepath.Join("testdata", "gavel-gpu-colocation"), "")
	parent := t.TempDir()
	dir := filepath.Join(parent, "rows")
	if err := r.WriteDir(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != len(r.Profiles)+1 {
		t.Errorf("%v, %v", files, err)
	}
	pairs, err := os.ReadFile(filepath.Join(dir, foreign.PairsFile))
	if err != nil || bytes.Count(pairs, []byte("\n")) != len(r.Pairs) {
		t.Errorf("pairs: %v", err)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := r.WriteDir(t.Context(), dir); !errors.Is(err, foreign.ErrExists) {
		t.Errorf("written over: %v", err)
	}
	empty := filepath.Join(parent, "empty")
	if err := os.Mkdir(empty, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteDir(t.Context(), empty); err != nil {
		t.Errorf("into an empty folder: %v", err)
	}
}

// Whatever fails, nothing is left: neither the folder nor the one beside it.
func TestWriteDirLeavesNothing(t *testing.T) {
	t.Parallel()
	r := read(t, filepath.Join("testdata", "gavel-gpu-colocation"), "")
	parent := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.WriteDir(ctx, filepath.Join(parent, "rows")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := (foreign.Result{}).WriteDir(t.Context(), filepath.Join(parent, "none")); !errors.Is(err, foreign.ErrNothingTaken) {
		t.Errorf("nothing: %v", err)
	}
	if err := r.WriteDir(t.Context(), filepath.Join(parent, "absent", "rows")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no parent: %v", err)
	}
	left, err := os.ReadDir(parent)
	if err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
