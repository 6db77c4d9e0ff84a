package network

import (
	"errors"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// publicData lies next to the repository on machines that have it.
var publicData = filepath.Join("..", "..", "..", "..", "shared", "data")

func filesOf(files map[string]string) fs.FS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

func read(t testing.TB, text string, o ReadOptions) (*Reading, error) {
	t.Helper()
	return ReadFiles(t.Context(), filesOf(map[string]string{"f.csv": text}), []string{"f.csv"}, o)
}

const (
	coflowText = "coflow_id,arrival_ms,mappers,mapper_racks,reducers,reducer_rack_colon_MB,total_shuffle_MB\n" +
		"1,0,1,22,1,65:1.0,1.0\n3,13122,2,66 138,1,38:4.0,4.0\n4,90000,2,7 8,2,8:2.0 9:6.0,8.0\n"
	roceText = "leaf,port_file,t_s,samples,in_pkts,in_octets,out_pkts,out_octets\n" +
		"Leaf-10,Leaf-10_0,0,2,15,2607,39,47042\nLeaf-10,Leaf-10_0,20,10,1,100,0,0\nLeaf-2,Leaf-2_4,5,10,3,900,3,369\nLeaf-2,Leaf-2_4,20,10,0,0,0,0\n"
	ownText = "t_s,source,destination,bytes,direction\n" +
		"0,a/r1/s1,a/r1/s2,100,write\n0,a/r1/s2,a/r1/s1,50,read\n300,a/r1/s1,b/r2/s3,7,\n300,a/r1/s1,cloud,9,\n900,a/r1/s1,a/r1/s1,5,\n900,b/r2/s3,a/r1/s1,0,\n"
)

func TestReadCoflows(t *testing.T) {
	t.Parallel()
	r, err := read(t, coflowText, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Format != "coflow-fb2010" || r.Rows != 3 || len(r.Table.Span().Missing) != 0 || r.Table.Span().Bins() != 2 {
		t.Errorf("%s, %d rows, %+v", r.Format, r.Rows, r.Table.Span())
	}
	// 4 MB from two mappers, 1 MB from one; of the last, rack 8 does not cross the network
	// for its own mapper.
	total := int64(0)
	for _, q := range r.Table.Records() {
		total += q.Bytes
	}
	if want := int64(1+4+1+6) << 20; total != want || r.LeftOut[leftLoopback] != 1 {
		t.Errorf("%d bytes, want %d; left out %v", total, want, r.LeftOut)
	}
	if first := r.Table.Records()[0]; r.Names[first.Source] != "rack-22/all" || r.Names[first.Destination] != "rack-65/all" {
		t.Errorf("first: %s → %s", r.Names[first.Source], r.Names[first.Destination])
	}
	if got := r.Table.Topology().Racks(); got != 8 {
		t.Errorf("%d racks", got)
	}
}

func TestReadRoCE(t *testing.T) {
	t.Parallel()
	r, err := read(t, roceText, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	span := r.Table.Span()
	if span.From != roceBegin || span.Bins() != 5 || !slices.Equal(span.Missing, []int{2, 3}) || span.Captured() != 15*time.Second {
		t.Errorf("%+v", span)
	}
	if !slices.Equal(r.Names, []string{"Leaf-2/Leaf-2_4", "Leaf-10/Leaf-10_0"}) {
		t.Errorf("servers %v", r.Names)
	}
	notes := strings.Join(r.Notes, "\n")
	if !strings.Contains(notes, "1 rows sum fewer than 10 samples") || !strings.Contains(notes, "2 of 5 bins of 5s have no row") {
		t.Errorf("notes %q", notes)
	}
	a, err := Observe(t.Context(), r.Table, OneWindow(), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := a.serverTotals(); !slices.Equal(got, []int64{900 + 369, 2607 + 47042 + 100}) {
		t.Errorf("loads %v", got)
	}
}

func TestReadOwnTable(t *testing.T) {
	t.Parallel()
	r, err := read(t, ownText, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := []Record{
		{0, 0, 1, 100, Write}, {0, 1, 0, 50, Read}, {bin, 0, 2, 7, Write}, {bin, 0, 3, 9, Write},
	}
	if !slices.Equal(r.Table.Records(), want) {
		t.Errorf("records %+v", r.Table.Records())
	}
	if top := r.Table.Topology(); top.String() != "3 servers in 2 racks in 2 groups, and the cloud" {
		t.Errorf("%s", top)
	}
	// The bin at 600 s has no row; that at 900 s has only rows that say nothing, and was
	// captured.
	if !slices.Equal(r.Table.Span().Missing, []int{2}) || r.LeftOut[leftIdle] != 1 || r.LeftOut[leftLoopback] != 1 {
		t.Errorf("missing %v, left out %v", r.Table.Span().Missing, r.LeftOut)
	}
}

// A counter that goes back was started again, and counts what it has since.
func TestCountersThatGoBack(t *testing.T) {
	t.Parallel()
	r, err := read(t, "unix_s,source,destination,bytes_total\n345600,a,b,1000\n345900,a,b,1500\n346200,a,b,200\n346500,a,b,260\n", ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []int64
	for _, q := range r.Table.Records() {
		got = append(got, q.Bytes)
	}
	if !slices.Equal(got, []int64{500, 200, 60}) || r.Table.Records()[0].At != bin {
		t.Errorf("bytes %v, first at %s", got, r.Table.Records()[0].At)
	}
	if !strings.Contains(strings.Join(r.Notes, ""), "1 counters went back") {
		t.Errorf("notes %q", r.Notes)
	}
}

func TestReadersRefuse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		o    ReadOptions
		want []string
	}{
		"foreign":          {"id,name\n1,x\n", ReadOptions{}, []string{"f.csv:1:", "no known traffic", "known: coflow-fb2010, traffic-table, zhejiang-roce-traffic"}},
		"empty":            {"", ReadOptions{}, []string{"f.csv: the file is empty"}},
		"no rows":          {strings.SplitAfter(ownText, "\n")[0], ReadOptions{}, []string{"no traffic in 0 rows"}},
		"other format":     {ownText, ReadOptions{Format: "coflow-fb2010"}, []string{"lacks columns of coflow-fb2010", "arrival_ms"}},
		"unknown format":   {ownText, ReadOptions{Format: "pcap"}, []string{`unknown format "pcap"`}},
		"short row":        {ownText + "1200,a\n", ReadOptions{}, []string{"f.csv:8:", "another number of cells", "cut short"}},
		"negative":         {ownText + "1200,a/r1/s1,a/r1/s2,-4,\n", ReadOptions{}, []string{"f.csv:8:", `bytes: "-4"`}},
		"no number":        {ownText + "x,a/r1/s1,a/r1/s2,4,\n", ReadOptions{}, []string{"f.csv:8:", `t_s: "x"`}},
		"direction":        {ownText + "1200,a/r1/s1,a/r1/s2,4,up\n", ReadOptions{}, []string{"f.csv:8:", "write, read"}},
		"server":           {ownText + "1200,a//s1,a/r1/s2,4,\n", ReadOptions{}, []string{"f.csv:8:", "group/rack/server"}},
		"two times":        {"t_s,unix_s,source,destination,bytes\n1,1,a,b,1\n", ReadOptions{}, []string{"f.csv:1:", "exactly one of t_s and unix_s"}},
		"early":            {"unix_s,source,destination,bytes\n1,a,b,1\n", ReadOptions{}, []string{"f.csv:2:", "before 1970-01-05"}},
		"far":              {"t_s,source,destination,bytes\n1,a,b,1\n8999999999,a,b,1\n", ReadOptions{}, []string{"right unit"}},
		"counter in bin":   {"t_s,source,destination,bytes_total\n300,a,b,1\n300,a,b,5\n", ReadOptions{}, []string{"f.csv:3:", "does not advance"}},
		"bins":             {ownText, ReadOptions{Bin: 7 * time.Minute * 11}, []string{"do not divide a week"}},
		"coflow rack":      {coflowText + "5,91000,1,x,1,8:1.0,1.0\n", ReadOptions{}, []string{"f.csv:5:", `"x" is not the number of a rack`}},
		"coflow reducer":   {coflowText + "5,91000,1,3,1,8,1.0\n", ReadOptions{}, []string{"f.csv:5:", "rack:MB"}},
		"coflow mappers":   {coflowText + "5,91000,1,,1,8:1.0,1.0\n", ReadOptions{}, []string{"f.csv:5:", "without mappers"}},
		"roce goes back":   {roceText + "Leaf-2,Leaf-2_4,10,10,0,0,0,0\n", ReadOptions{}, []string{"f.csv:6:", "second 10 of a port comes after second 20"}},
		"roce twice":       {roceText + "Leaf-2,Leaf-2_4,20,10,0,0,0,0\n", ReadOptions{}, []string{"f.csv:6:", "comes after"}},
		"roce not a count": {roceText + "Leaf-2,Leaf-2_4,25,10,0,1e99,0,0\n", ReadOptions{}, []string{"f.csv:6:", "in_octets"}},
		"only the cloud":   {"t_s,source,destination,bytes\n1,cloud,cloud,1\n", ReadOptions{}, []string{"no traffic"}},
	} {
		_, err := read(t, c.text, c.o)
		if !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
	file := zipped(t, ownText)
	_, err := read(t, string(file[:len(file)-6]), ReadOptions{})
	if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "gzip stream is cut short") {
		t.Errorf("a truncated archive: %v", err)
	}
	if _, err := read(t, string(file), ReadOptions{}); err != nil {
		t.Errorf("a whole archive: %v", err)
	}
}

// The published sums have steps of a counter of 32 bits from its highest value to its lowest.
func TestACounterThatBeganAnew(t *testing.T) {
	t.Parallel()
	r, err := read(t, roceText+"Leaf-2,Leaf-2_4,25,10,0,0,338,-4294569759\n", ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	records := r.Table.Records()
	if got := records[len(records)-1].Bytes; got != 397537 || !strings.Contains(strings.Join(r.Notes, "\n"), "1 negative number") {
		t.Errorf("%d bytes; notes %q", got, r.Notes)
	}
	if _, err := read(t, roceText+"Leaf-2,Leaf-2_4,25,10,0,0,338,-4294967296\n", ReadOptions{}); err == nil {
		t.Error("a whole turn of the counter is taken for nothing")
	}
}

func TestNamesAreOrderedAsPeopleDo(t *testing.T) {
	t.Parallel()
	names := []string{"rack-10", "rack-2", "rack-1", "rack-01", "rack", "s-9a", "s-09"}
	slices.SortFunc(names, compareNatural)
	if got := strings.Join(names, " "); got != "rack rack-01 rack-1 rack-2 rack-10 s-09 s-9a" {
		t.Errorf("order %s", got)
	}
}

func TestPublicTraffic(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct{ rows, racks int }{"coflow-fb2010": {350, 0}, "zhejiang-roce-traffic": {10744, 4}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(publicData, name)
			if _, err := os.Stat(folder); err != nil {
				t.Skip("the public data do not lie next to the repository")
			}
			r, err := ReadTraffic(t.Context(), folder, ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Rows != want.rows || r.Format != name || (want.racks > 0 && r.Table.Topology().Racks() != want.racks) {
				t.Errorf("%d rows of %s, %s", r.Rows, r.Format, r.Table.Topology())
			}
			t.Logf("%s; %s captured of %s; %d records; left out %v; notes %q", r.Table.Topology(), r.Table.Span().Captured(), r.Table.Span().To-r.Table.Span().From, len(r.Table.Records()), r.LeftOut, r.Notes)
			m := fit(t, r.Table, oneWindow)
			original, err := Observe(t.Context(), r.Table, OneWindow(), 2, nil)
			if err != nil {
				t.Fatal(err)
			}
			made, err := Regenerate(t.Context(), m, original, Generation{Seed: 1, Workers: 2}, nil)
			if err != nil {
				t.Fatal(err)
			}
			d, err := Compare(original, made, OneWindow())
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("deviation: total %s, average %v, locality %v", d.Total, d.Average, d.Locality)
		})
	}
}

func TestFlowSizes(t *testing.T) {
	t.Parallel()
	text := "workload,bytes,cdf_percent\nA,0,0\nA,100,50\nA,1000,100\nB,10,0\nB,10,100\n"
	all, err := ReadFlowSizes(filesOf(map[string]string{"f.csv": text}), "f.csv")
	if err != nil {
		t.Fatal(err)
	}
	a := all[0]
	for u, want := range map[float64]float64{0: 0, 0.25: 50, 0.5: 100, 0.75: 550, 1: 1000} {
		if got := a.Quantile(u); math.Abs(got-want) > 1e-9 {
			t.Errorf("quantile %g is %g, want %g", u, got, want)
		}
	}
	if got := a.Mean(); math.Abs(got-(25+275)) > 1e-9 || all[1].Mean() != 10 {
		t.Errorf("means %g and %g", got, all[1].Mean())
	}
	random, sum := rand.New(rand.NewPCG(1, 1)), 0.0
	for range 20_000 {
		sum += a.Quantile(random.Float64())
	}
	if got := sum / 20_000; math.Abs(got-300) > 10 {
		t.Errorf("the mean of drawn sizes is %g, want 300", got)
	}
	for name, c := range map[string]struct{ text, want string }{
		"back":  {"workload,bytes,cdf_percent\nA,5,50\nA,4,100\n", "f.csv:3: a distribution goes back"},
		"short": {"workload,bytes,cdf_percent\nA,5,50\n", "ends at 50 %"},
		"none":  {"workload,bytes,cdf_percent\n", "no distribution"},
		"other": {"a,b\n1,2\n", "f.csv:1: the header is of no distribution"},
	} {
		_, err := ReadFlowSizes(filesOf(map[string]string{"f.csv": c.text}), "f.csv")
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestPublicFlowSizes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(publicData, "dc-flow-sizes", "flow_size_cdf.csv.gz")
	if _, err := os.Stat(file); err != nil {
		t.Skip("the public data do not lie next to the repository")
	}
	all, err := ReadFlowSizes(os.DirFS(filepath.Dir(file)), filepath.Base(file))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range all {
		names = append(names, d.Workload)
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "FbHdp_distribution GoogleRPC2008 WebSearch_distribution" {
		t.Errorf("workloads %s", got)
	}
}

func TestFlowsKeepWhatAPairMoves(t *testing.T) {
	t.Parallel()
	r, err := read(t, ownText, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d := SizeDistribution{"A", []float64{1, 30}, []float64{0, 1}}
	flows, err := Flows(r.Table, d, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(flows.Records()) <= len(r.Table.Records()) {
		t.Errorf("%d flows", len(flows.Records()))
	}
	if got, want := flows.Binned().Records(), r.Table.Records(); !slices.Equal(got, want) {
		t.Errorf("by bin %+v, want %+v", got, want)
	}
}

// FuzzReaders feeds any bytes to the readers: they end with a table that makes sense
// or with an error that says where.
func FuzzReaders(f *testing.F) {
	for _, text := range []string{coflowText, roceText, ownText, "unix_s,source,destination,bytes_total\n345600,a,b,9\n345900,a,b,5\n", "\x1f\x8b\x08", "workload,bytes,cdf_percent\nA,1,100\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := read(t, text, ReadOptions{})
		if err != nil && !errors.Is(err, ErrFormat) {
			t.Fatalf("an error that does not say where: %v", err)
		}
		if err == nil {
			if len(r.Names) != r.Table.Topology().Servers() || len(r.Table.Records()) == 0 {
				t.Fatalf("%d names, %s", len(r.Names), r.Table.Topology())
			}
		}
		if _, err := ReadFlowSizes(filesOf(map[string]string{"f.csv": text}), "f.csv"); err != nil && !errors.Is(err, ErrFormat) {
			t.Fatalf("an error that does not say where: %v", err)
		}
	})
}

// TestTablesOfNodes reads a folder with the table of each node, by node and by task group:
// what is of no task group is outside of them.
func TestTablesOfNodes(t *testing.T) {
	t.Parallel()
	const header = "unix_s,source,destination,bytes,direction,source_group,destination_group\n"
	folder := filesOf(map[string]string{
		"a.csv": header + "345600,r1/a,r1/b,100,write,default/shop/web,default/shop/db\n345600,r1/a,r1/b,7,write,,default/shop/db\n",
		"b.csv": header + "345600,r1/b,cloud,30,write,default/shop/db,\n345900,r1/b,cloud,0,write,,\n",
	})
	for groups, want := range map[bool]map[string]int64{
		false: {"r1/a > r1/b": 107, "r1/b > cloud": 30},
		true:  {"default/shop/web > default/shop/db": 100, "cloud > default/shop/db": 7, "default/shop/db > cloud": 30},
	} {
		r, err := ReadFiles(t.Context(), folder, []string{"a.csv", "b.csv"}, ReadOptions{Groups: groups})
		if err != nil {
			t.Fatal(err)
		}
		name := func(node int32) string {
			if int(node) == len(r.Names) {
				return CloudName
			}
			return r.Names[node]
		}
		got := map[string]int64{}
		for _, record := range r.Table.Records() {
			got[name(record.Source)+" > "+name(record.Destination)] += record.Bytes
		}
		if !maps.Equal(got, want) || r.Table.Span().Bins() != 2 || len(r.Table.Span().Missing) != 0 {
			t.Errorf("groups %t: %v, want %v; span %+v", groups, got, want, r.Table.Span())
		}
	}
	for problem, names := range map[string][]string{
		"no columns source_group":              {"own.csv"},
		"it is traffic-table, and the file be": {"coflow.csv", "own.csv"},
		"coflow-fb2010 has no task groups":     {"coflow.csv"},
	} {
		bad := filesOf(map[string]string{"own.csv": "t_s,source,destination,bytes\n0,a,b,1\n", "coflow.csv": strings.Join(coflow.Columns, ",") + "\n"})
		_, err := ReadFiles(t.Context(), bad, names, ReadOptions{Groups: len(names) == 1})
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), problem) {
			t.Errorf("%v: %v, want %q in it", names, err, problem)
		}
	}
}
