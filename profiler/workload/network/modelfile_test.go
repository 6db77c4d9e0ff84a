package network

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"reflect"
	"strings"
	"sync"
	"testing"
)

func zipped(t testing.TB, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func unzipped(t testing.TB, file []byte) string {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// small is the file of the model that many tests begin with: it takes seconds to fit.
var small struct {
	sync.Mutex
	file []byte
}

// smallModel is a model of its own for each test.
func smallModel(t testing.TB) *Model {
	t.Helper()
	small.Lock()
	defer small.Unlock()
	if small.file == nil {
		file, err := fitSmall(t).Encode()
		if err != nil {
			t.Fatal(err)
		}
		small.file = file
	}
	m, err := ReadModel("small", bytes.NewReader(small.file))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func fitSmall(t testing.TB) *Model {
	t.Helper()
	traffic, err := NewSynthetic(SyntheticOptions{Groups: 2, RacksPerGroup: 2, ServersPerRack: 3, Weeks: 1, Bin: bin, Varying: 0.5, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	m := fit(t, traffic, nil)
	a, err := Observe(t.Context(), Part(traffic, 0, day), StudyWindows(), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if m.Servers, err = FitServers(t.Context(), a, 2, nil); err != nil {
		t.Fatal(err)
	}
	m.Capture.Method = "declared"
	return m
}

func TestModelFileHoldsAllOfTheModel(t *testing.T) {
	t.Parallel()
	m := fitSmall(t)
	file, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadModel("m", bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	again, err := got.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file, again) {
		t.Error("a model that was read is written differently")
	}
	if !reflect.DeepEqual(m.Chains, got.Chains) || m.Capture != got.Capture || !m.Topology.Equal(got.Topology) {
		t.Error("a model that was read is another")
	}
	if size, err := m.Bytes(); err != nil || size != int64(len(file)) {
		t.Errorf("the file has %d bytes, said %d, %v", len(file), size, err)
	}
}

// A model has no names: what a table calls its servers is not in it.
func TestModelFileHasNoNames(t *testing.T) {
	t.Parallel()
	table := "t_s,source,destination,bytes\n0,row1/r1/10.0.0.17,row1/r1/secret-host,100\n300,row1/r1/secret-host,row1/r2/10.0.0.18,100\n"
	read, err := ReadFiles(t.Context(), filesOf(map[string]string{"t.csv": table}), []string{"t.csv"}, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	file, err := fit(t, read.Table, oneWindow).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"10.0", "secret", "row1"} {
		if strings.Contains(unzipped(t, file), name) {
			t.Errorf("the model's file has %q", name)
		}
	}
}

func TestModelFileRefuses(t *testing.T) {
	t.Parallel()
	file, err := smallModel(t).Encode()
	if err != nil {
		t.Fatal(err)
	}
	text := unzipped(t, file)
	lines := strings.SplitAfter(text, "\n")
	for name, c := range map[string]struct {
		file []byte
		want []string
	}{
		"no gzip":        {[]byte("t_s,source"), []string{"m.echo: this is no traffic model", "(traffic fit writes one)"}},
		"newer":          {zipped(t, strings.Replace(text, `"format":1`, `"format":2`, 1)), []string{"m.echo:1:", "format 2", "reads up to 1", "update nomad-placer"}},
		"no version":     {zipped(t, strings.Replace(text, `"format":1`, `"format":0`, 1)), []string{"there is no format 0"}},
		"something else": {zipped(t, `{"kind":"profile"}`), []string{"this is no traffic model, but a \"profile\""}},
		"cut":            {zipped(t, strings.Join(lines[:4], "")), []string{"m.echo:5:", "cut short: 3 windows of 10"}},
		"cut in gzip":    {file[:len(file)/2], []string{"m.echo:", "cut short"}},
		"more":           {zipped(t, text+"{}\n"), []string{"m.echo:12:", "more in the file"}},
		"levels":         {zipped(t, strings.Replace(text, `"levels":3`, `"levels":9`, 1)), []string{"damaged"}},
		"server":         {zipped(t, strings.Replace(text, `"pairs":[[`, `"pairs":[[3,0,4000,1,1,0,1,1,1,0,0],[`, 1)), []string{"no such states"}},
		"numbers":        {zipped(t, strings.Replace(text, `"pairs":[[`, `"pairs":[[3,0,1,1],[`, 1)), []string{"4 numbers for a transition"}},
		"window":         {zipped(t, strings.Replace(text, "mon-wed 00-06", "mon-wed 00-07", 1)), []string{"overlap"}},
		"shares":         {zipped(t, strings.Replace(text, `"sent_count":[`, `"sent_count":[1,`, 1)), []string{"shares of"}},
	} {
		_, err := ReadModel("m.echo", bytes.NewReader(c.file))
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
}

func TestModelOfAnotherCluster(t *testing.T) {
	t.Parallel()
	m := smallModel(t)
	err := m.Fits(topology(t, 2, 2, 4, false))
	if !errors.Is(err, ErrTopology) || !strings.Contains(err.Error(), "the model is of 12 servers in 4 racks in 2 groups, the traffic of 16 servers") {
		t.Errorf("another size: %v", err)
	}
	if err := m.Fits(topology(t, 2, 2, 3, false)); err != nil {
		t.Error(err)
	}
}

// FuzzReadModel feeds any bytes: a model that is read can be written and read again,
// and everything else is an error that says where.
func FuzzReadModel(f *testing.F) {
	file, err := smallModel(f).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(unzipped(f, file))
	f.Add(`{"kind":"network traffic model","format":1,"topology":{"racks_per_group":[1],"servers_per_rack":[2]},"levels":3,"windows":1}` + "\n" +
		`{"window":"mon 00-24","seconds":300,"pairs":[[3,0,1,1,1,0,1,1,300,0,0]]}`)
	f.Add(`{"kind":"network traffic model","format":1,"topology":{"racks_per_group":[-1],"servers_per_rack":[1e9]},"levels":3,"windows":1e18}`)
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ReadModel("f", bytes.NewReader(zipped(t, text)))
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatalf("an error that does not say where: %v", err)
			}
			return
		}
		first, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := ReadModel("f", bytes.NewReader(first))
		if err != nil {
			t.Fatal(err)
		}
		second, err := again.Encode()
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("written differently: %v", err)
		}
		m.Expected()
	})
}
