package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/dashboard/dashboardtest"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// storeOfTwo has what is known of a workload in each of two namespaces; of the second only
// what production says, and something that cannot be read.
func storeOfTwo(t *testing.T) store.Store {
	t.Helper()
	st := mem.New()
	p := profile.Profile{Format: profile.Format, Key: "aa11", Workload: "default/cache/redis", Taken: dashboardtest.Now, SlowdownMax: 5}
	if _, err := (store.Profiles{Store: st}).Put(t.Context(), p, store.Any); err != nil {
		t.Fatal(err)
	}
	for key, workload := range map[string]string{"aa11": "default/cache/redis", "bb22": "team/job/group"} {
		said := profile.Production{Format: profile.ProductionFormat, Key: key, Workload: workload, Since: dashboardtest.Now, Updated: dashboardtest.Now, SlowdownMax: 5, Counted: 3}
		if _, err := (store.Productions{Store: st}).Put(t.Context(), said, store.Any); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := st.Put(t.Context(), "production/cc33", []byte("nonsense"), store.Any); err != nil {
		t.Fatal(err)
	}
	return st
}

func TestForget(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                  string
		run                   forgetRun
		args                  []string
		profiles, productions []string // that are left
		fails                 bool
	}{
		{"a key", forgetRun{}, []string{"aa"}, nil, []string{"bb22", "cc33"}, false},
		{"what production taught", forgetRun{productionOnly: true}, []string{"aa11"}, []string{"aa11"}, []string{"bb22", "cc33"}, false},
		{"a workload", forgetRun{workload: "team/job/group"}, nil, []string{"aa11"}, []string{"aa11", "cc33"}, false},
		{"a namespace", forgetRun{namespace: "default"}, nil, nil, []string{"bb22", "cc33"}, false},
		{"what cannot be read", forgetRun{}, []string{"cc33"}, []string{"aa11"}, []string{"aa11", "bb22"}, false},
		{"no such namespace", forgetRun{namespace: "nobody"}, nil, []string{"aa11"}, []string{"aa11", "bb22", "cc33"}, true},
		{"no such key", forgetRun{}, []string{"dd"}, []string{"aa11"}, []string{"aa11", "bb22", "cc33"}, true},
		{"only to see", forgetRun{dryRun: true, namespace: "default"}, nil, []string{"aa11"}, []string{"aa11", "bb22", "cc33"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st := storeOfTwo(t)
			var out bytes.Buffer
			s := &command.Shell{Out: &out, Err: &out, Getenv: func(string) string { return "" }, Now: func() time.Time { return dashboardtest.Now }}
			c.run.out.OnlyData()
			if err := c.run.forgetIn(t.Context(), s, st, c.args); (err != nil) != c.fails {
				t.Fatal(err)
			}
			profiles, _ := store.Profiles{Store: st}.Keys(t.Context())
			productions, _ := store.Productions{Store: st}.Keys(t.Context())
			if !slices.Equal(profiles, c.profiles) || !slices.Equal(productions, c.productions) {
				t.Errorf("left are the profiles %v and of production %v", profiles, productions)
			}
			var rows []forgotten
			if !c.fails && (json.Unmarshal(out.Bytes(), &rows) != nil || len(rows) != 1 || rows[0].Key == "") {
				t.Errorf("it printed %s", out.String())
			}
		})
	}
}

// TestExportIsImported: what is exported, of what was profiled and what was not, comes back byte
// for byte; what is there stays, and a file with one fault changes nothing.
func TestExportIsImported(t *testing.T) {
	t.Parallel()
	records := dashboardtest.Fixture()
	profiled := records.AllProfiles["3f2a9c"]
	for _, scores := range []interference.Scores{profiled.Sensitivity.Tolerated, profiled.Sensitivity.Caused} {
		maps.DeleteFunc(scores, func(_ interference.Source, e interference.Estimate) bool { return e.Origin != interference.Measured })
	}
	said := records.AllProductions["3f2a9c"]
	said.Key, said.Workload, said.Experiments = "0001", "team/job/group", nil
	records.AllProductions["0001"] = said
	var all []knownRecord
	for _, key := range []string{"0001", "3f2a9c"} {
		q, err := readKnown(t.Context(), records, key)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, q)
	}
	exported, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "profiles.json")
	if err := os.WriteFile(file, exported, 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s := &command.Shell{Out: &out, Err: &out, Getenv: func(string) string { return "" }, Now: func() time.Time { return dashboardtest.Now }}
	read, err := readExport(s, file)
	if err != nil {
		t.Fatal(err)
	}
	st := mem.New()
	if err := (&restoreRun{}).restore(t.Context(), s, st, read); err != nil {
		t.Fatal(err)
	}
	book := journal.Book{Store: st}
	if keys, err := book.Profiles(t.Context()); err != nil || !slices.Equal(keys, []string{"3f2a9c"}) {
		t.Errorf("profiles %v, %v: the workload that was never profiled has none", keys, err)
	}
	var back []knownRecord
	for _, key := range []string{"0001", "3f2a9c"} {
		q, err := readKnown(t.Context(), book, key)
		if err != nil {
			t.Fatal(err)
		}
		back = append(back, q)
	}
	if again, _ := json.Marshal(back); !bytes.Equal(again, exported) {
		t.Errorf("exported\n%s\nback\n%s", exported, again)
	}
	out.Reset()
	c := restoreRun{}
	c.out.OnlyData()
	if err := c.restore(t.Context(), s, st, read); err != nil || strings.Contains(out.String(), written) {
		t.Errorf("a second time: %v, %s", err, out.String())
	}
	for name, text := range map[string]string{
		"of no profile": `{"a":1}`, "cut off": string(exported[:len(exported)-20]), "of another key": strings.Replace(string(exported), `"production":{"format":1,"key":"0001"`, `"production":{"format":1,"key":"0002"`, 1),
		"out of bounds": strings.Replace(string(exported), `"odds":12`, `"odds":-1`, 1),
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readExport(s, file); err == nil {
			t.Errorf("a file that is %s is read", name)
		}
	}
}
