package nomadvars_test

import (
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/profiler/store"
	"github.com/nomad-placer/nomad-placer/profiler/store/nomadvars"
	"github.com/nomad-placer/nomad-placer/profiler/store/storetest"
)

func open(t *testing.T, client *api.Client, o nomadvars.Options) *nomadvars.Store {
	t.Helper()
	s, err := nomadvars.New(client, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) store.Store {
		_, client := newFake(t)
		return open(t, client, nomadvars.Options{})
	})
}

// NOMAD_PLACER_TEST_ADDR names a Nomad server without ACLs; there the same suite
// runs against the real API. It stays off elsewhere because it needs one.
const realAddress = "NOMAD_PLACER_TEST_ADDR"

func TestConformanceOfARealNomad(t *testing.T) {
	address := os.Getenv(realAddress)
	if address == "" {
		t.Skipf("%s is not set; the fake server stands in", realAddress)
	}
	client, err := api.NewClient(&api.Config{Address: address})
	if err != nil {
		t.Fatal(err)
	}
	o := nomadvars.Options{Prefix: "placer-conformance"}
	storetest.Run(t, func(t *testing.T) store.Store {
		s := open(t, client, o)
		empty(t, s)
		return s
	})
	empty(t, open(t, client, o))
}

func empty(t *testing.T, s store.Store) {
	t.Helper()
	paths, err := s.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if err := s.Delete(t.Context(), path); err != nil {
			t.Error(err)
		}
	}
}

func TestEncodings(t *testing.T) {
	t.Parallel()
	fake, client := newFake(t)
	s := open(t, client, nomadvars.Options{Prefix: "team/placer", Namespace: "ops"})
	for data, encoding := range map[string]string{
		`{"format":1}`:                     "text",
		strings.Repeat("many rows ", 3000): "gzip+base64",
		"\xff\x00":                         "base64",
	} {
		if _, err := s.Put(t.Context(), "a", []byte(data), store.Any); err != nil {
			t.Fatal(err)
		}
		v := fake.variables["ops/team/placer/a"]
		if v == nil || v.Items["encoding"] != encoding {
			t.Fatalf("%.20q: stored as %v", data, v)
		}
		if d, err := s.Get(t.Context(), "a"); err != nil || string(d.Data) != data {
			t.Errorf("%.20q came back as %.20q, %v", data, d.Data, err)
		}
	}
}

func TestForeignVariables(t *testing.T) {
	t.Parallel()
	fake, client := newFake(t)
	s := open(t, client, nomadvars.Options{})
	bomb := "H4sIAAAAAAAA/"
	for _, items := range []api.VariableItems{
		{"password": "x"},
		{"encoding": "text/v9", "data": "x"},
		{"encoding": "base64", "data": "%%%"},
		{"encoding": "gzip+base64", "data": bomb},
	} {
		fake.variables["default/nomad-placer/a"] = &api.Variable{Path: "nomad-placer/a", Namespace: "default", ModifyIndex: 1, Items: items}
		if d, err := s.Get(t.Context(), "a"); err == nil {
			t.Errorf("%v: read as %q", items, d.Data)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	fake, client := newFake(t)
	s := open(t, client, nomadvars.Options{})
	fake.refuse = http.StatusForbidden
	_, get := s.Get(t.Context(), "a")
	_, put := s.Put(t.Context(), "a", nil, 0)
	_, list := s.List(t.Context(), "")
	for i, err := range []error{get, put, list, s.Delete(t.Context(), "a")} {
		if !errors.Is(err, nomadvars.ErrForbidden) || !strings.Contains(err.Error(), `"nomad-placer/*"`) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	fake.refuse = http.StatusInternalServerError
	if _, err := s.Get(t.Context(), "a"); err == nil || errors.Is(err, store.ErrNotFound) {
		t.Errorf("server error: %v", err)
	}
}

// A read waits for a server that cannot answer for a moment, and not for one that refuses.
func TestReadsAreTriedAgain(t *testing.T) {
	t.Parallel()
	fake, client := newFake(t)
	s := open(t, client, nomadvars.Options{})
	if _, err := s.Put(t.Context(), "a", []byte("text"), 0); err != nil {
		t.Fatal(err)
	}
	two := 2
	fake.refuse, fake.left = http.StatusInternalServerError, &two
	if d, err := s.Get(t.Context(), "a"); err != nil || string(d.Data) != "text" {
		t.Errorf("after two errors %q, %v", d.Data, err)
	}
	two = 2
	if paths, err := s.List(t.Context(), ""); err != nil || len(paths) != 1 {
		t.Errorf("after two errors %v, %v", paths, err)
	}
	fake.refuse, fake.left, fake.refusals = http.StatusForbidden, nil, 0
	if _, err := s.Get(t.Context(), "a"); !errors.Is(err, nomadvars.ErrForbidden) || fake.refusals != 1 {
		t.Errorf("%v, asked %d times", err, fake.refusals)
	}
}

func TestBadPrefixes(t *testing.T) {
	t.Parallel()
	_, client := newFake(t)
	for _, prefix := range []string{"nomad", "nomad/jobs/x", "/a", "a/", "a b", strings.Repeat("p", 32)} {
		if _, err := nomadvars.New(client, nomadvars.Options{Prefix: prefix}); !errors.Is(err, nomadvars.ErrBadPrefix) {
			t.Errorf("%q: %v", prefix, err)
		}
	}
}
