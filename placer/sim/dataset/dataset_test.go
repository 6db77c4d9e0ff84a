package dataset_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/nomad-placer/nomad-placer/placer/sim/dataset"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func folder(t *testing.T, files map[string]string) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: zipped(t, text)}
	}
	return out
}

func read(t *testing.T, name string, files map[string]string) []dataset.Set {
	t.Helper()
	r, err := dataset.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	sets, err := r.Read(folder(t, files))
	if err != nil {
		t.Fatal(err)
	}
	return sets
}

const lumosHeader = "cloud,sar_interval_s,vm_type,framework,workload,datasize,run,completed,elapsed_s\n"

// Two campaigns are two sets, each the other's repetition; runs of a cell stay
// apart; a failed run is counted.
func TestLumos(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(lumosHeader)
	for _, campaign := range []string{"1", "5"} {
		for _, vm := range []string{"a", "b", "c", "d"} {
			b.WriteString("x," + campaign + "," + vm + ",spark,sort,tiny,1,1,10\n")
			b.WriteString("x," + campaign + "," + vm + ",spark,sort,tiny,2,1,2" + campaign + "\n")
		}
	}
	b.WriteString("x,1,a,spark,sort,tiny,3,0,99\nx,1,a,spark,few,tiny,1,1,7\n")
	sets := read(t, "lumos-cloud-perf", map[string]string{"runs_alibaba_huawei.csv.gz": b.String()})
	if len(sets) != 2 || len(sets[0].Rows) != 1 || sets[0].Rows[0].Group != "spark sort" {
		t.Fatalf("%+v", sets)
	}
	row := sets[0].Rows[0]
	if !slices.Equal(row.Cells[0], []float64{1. / 10, 1. / 21}) {
		t.Errorf("runs %v", row.Cells[0])
	}
	if want := (1./10 + 1./25) / 2; math.Abs(row.Again[3]-want) > 1e-12 {
		t.Errorf("again %v, want %v", row.Again[3], want)
	}
	if len(sets[0].Skipped) != 2 || sets[0].Skipped[0].Count != 1 || !strings.HasSuffix(sets[0].Skipped[0].First, ".csv.gz:18") {
		t.Errorf("skipped %v", sets[0].Skipped)
	}
}

func TestSia(t *testing.T) {
	t.Parallel()
	sets := read(t, "sia-gpu-profiles", map[string]string{
		"placements.csv.gz": "model,cluster,placement,local_bsz,step_time,sync_time\n" +
			"m,aws,1,8,0.5,0\nm,aws,2,8,0.5,0\nm,aws,44,8,1,0\nm,aws,43,8,1,0\nm,dgx,8,0.3,0.01,1\n",
		"scalability.csv.gz": "model,cluster,num_nodes,num_replicas,local_bsz,step_time,sync_time\nm,aws,6,24,8,2,0\nm,aws,6,20,8,2,0\n",
	})
	row := sets[0].Rows[0]
	for column, want := range map[string]float64{"1": 16, "2": 32, "8": 64, "24": 96} {
		if got := row.Cells[slices.Index(sets[0].Columns, column)]; len(got) != 1 || got[0] != want {
			t.Errorf("%s GPUs: %v, want %v samples/s", column, got, want)
		}
	}
	if len(sets[0].Skipped) != 2 || sets[0].Skipped[0].Count != 2 || sets[0].Skipped[1].Count != 1 {
		t.Errorf("skipped %v", sets[0].Skipped)
	}
}

func TestGavelPairs(t *testing.T) {
	t.Parallel()
	solo := "gpu,job_type,scale_factor,steps_per_s\n"
	pairs := "gpu,job_type_a,scale_a,job_type_b,scale_b,steps_per_s_a,steps_per_s_b\n"
	for _, j := range []string{"a", "b", "c", "d", "e"} {
		solo += "v100," + j + " (1),1,10\n"
		pairs += "v100,a (1),1," + j + " (1),1,5,12\n"
	}
	sets := read(t, "gavel-gpu-colocation", map[string]string{"solo_throughput.csv.gz": solo, "pair_throughput.csv.gz": pairs + "v100,b (1),1,c (1),1,0,0\n"})
	matrix := sets[1]
	at := slices.Index(matrix.Columns, "b (1) × 1")
	if sets := sets[1].Skipped; sets[0].Count != 2 || !strings.HasSuffix(sets[0].First, ".csv.gz:7") {
		t.Errorf("skipped %v", sets)
	}
	if len(matrix.Rows) != 1 || matrix.Rows[0].Group != "a" || matrix.Rows[0].Cells[at][0] != 50 {
		t.Errorf("%+v", matrix)
	}
}

// The second matrix is of one compiler per machine; what it leaves out is counted.
func TestSPEC(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("machine,compiler,benchmark,seconds\n")
	for _, machine := range []string{"a", "b", "c", "d"} {
		b.WriteString(machine + ",gcc,mcf,10\n" + machine + ",clang,mcf,20\n")
	}
	sets := read(t, "spec-cpu-machine-matrix", map[string]string{"spec2006_times.csv.gz": b.String()})
	if len(sets) != 2 || len(sets[0].Columns) != 8 || len(sets[1].Columns) != 4 {
		t.Fatalf("%+v", sets)
	}
	if s := sets[1].Skipped; len(s) != 1 || s[0].Count != 4 || s[0].First != "spec2006_times.csv.gz:3" {
		t.Errorf("skipped %v", s)
	}
}

func TestBadFiles(t *testing.T) {
	t.Parallel()
	whole := zipped(t, lumosHeader+strings.Repeat("x,1,a,spark,sort,tiny,1,1,10\n", 1000))
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"not gzip":        {[]byte("cloud"), "not gzip"},
		"cut short":       {whole[:len(whole)-10], "unexpected EOF"},
		"empty":           {zipped(t, ""), ".csv.gz: is empty"},
		"no column":       {zipped(t, "cloud\n"), `.csv.gz:1: the header lacks "vm_type", "framework", "workload", "datasize", "run", "completed", "elapsed_s", "sar_interval_s"`},
		"column twice":    {zipped(t, "cloud,"+lumosHeader), `.csv.gz:1: names the column "cloud" twice`},
		"not a number":    {zipped(t, lumosHeader+"x,1,a,s,w,d,1,1,ten\n"), `malformed data set: runs_alibaba_huawei.csv.gz:2: column elapsed_s: "ten" is not a number`},
		"negative":        {zipped(t, lumosHeader+"x,1,a,s,w,d,1,1,-3\n"), ".csv.gz:2: column elapsed_s: -3 is not possible"},
		"NaN":             {zipped(t, lumosHeader+"x,1,a,s,w,d,1,1,NaN\n"), `column elapsed_s: "NaN" is not a number`},
		"too few columns": {zipped(t, lumosHeader+"x,1\n"), ".csv.gz:2: has another number of fields than the header"},
	} {
		r, err := dataset.Lookup("lumos-cloud-perf")
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Read(fstest.MapFS{"runs_alibaba_huawei.csv.gz": {Data: c.data}})
		if !errors.Is(err, dataset.ErrFormat) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for _, r := range dataset.Readers() {
		if _, err := r.Read(fstest.MapFS{}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s of nothing: %v", r.Name, err)
		}
	}
}

func TestListIsSorted(t *testing.T) {
	t.Parallel()
	var names []string
	for _, r := range dataset.Readers() {
		names = append(names, r.Name)
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("not sorted or not unique: %v", names)
	}
	if _, err := dataset.Lookup("x"); err == nil || !strings.Contains(err.Error(), "c3o-spark, eth-ibench") {
		t.Errorf("%v", err)
	}
}

// Unknown scores stay missing cells, predictions are not taken, and a kind that
// nearly nobody measured makes no set.
func TestFromProfiles(t *testing.T) {
	t.Parallel()
	scores := interference.Scores{
		interference.LLCCapacity:     {Score: interference.Percent(30), Origin: interference.Measured},
		interference.MemoryBandwidth: {Score: interference.Percent(0), Origin: interference.Measured},
		interference.TLB:             {Score: interference.Percent(50), Origin: interference.Measured},
		interference.Integer:         {Note: "lost in noise"},
		interference.NetworkBandwidth: {
			Score: interference.Percent(50), Origin: interference.Predicted,
		},
	}
	var profiles []profile.Profile
	for _, key := range []string{"a", "b"} {
		profiles = append(profiles, profile.Profile{
			Key: key, Sensitivity: interference.Sensitivity{Tolerated: scores},
			Isolated: map[string]profile.Measurement{"big": {Value: 1}},
			ScaleUp: []profile.ScalePoint{
				{Cores: 1, Speed: profile.Measurement{Value: 1}}, {Cores: 2, Speed: profile.Measurement{Value: 2}},
				{Cores: 2, MemoryMB: 64, Speed: profile.Measurement{Value: 1.5}}, {Cores: 4, Speed: profile.Measurement{}},
			},
			Provenance: &profile.Provenance{Application: "zstd"},
		})
	}
	sets := dataset.FromProfiles(profiles)
	if len(sets) != 2 || sets[0].Kind != dataset.Interference || sets[1].Kind != dataset.ScaleUp {
		t.Fatalf("%+v", sets)
	}
	if len(sets[0].Columns) != 3 || sets[0].Rows[0].Group != "zstd" {
		t.Errorf("%+v", sets[0])
	}
	if !slices.Equal(sets[1].Columns, []string{"1 cores", "2 cores", "2 cores, 64 MB"}) {
		t.Errorf("columns %v", sets[1].Columns)
	}
}

// A file is one profile or the list that "profile export" writes; a key given
// twice is an error that names both files.
func TestReadProfiles(t *testing.T) {
	t.Parallel()
	one, list := `{"format":1,"key":"a"}`, `[{"format":1,"key":"b"},{"format":1,"key":"c"}]`
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	got, err := dataset.ReadProfiles(fstest.MapFS{"1.json": file(one), "2.json": file(list), "x.txt": file("?")})
	if err != nil || len(got) != 3 || got[2].Key != "c" {
		t.Errorf("%+v, %v", got, err)
	}
	for name, c := range map[string]struct {
		text, want string
	}{
		"twice":  {one, `2.json: malformed data set: key "a" is also in 1.json`},
		"broken": {"[{]", "2.json: malformed"},
		"format": {`[{"format":9}]`, "2.json: profile 1: "},
	} {
		_, err := dataset.ReadProfiles(fstest.MapFS{"1.json": file(one), "2.json": file(c.text)})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
