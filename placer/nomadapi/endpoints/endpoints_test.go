package endpoints

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"testing"

	"github.com/hashicorp/nomad/api"
)

// fakeNomad answers what the real one does to these requests, as far as it is read.
func fakeNomad(t *testing.T, answers map[string]string) *api.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, known := answers[r.URL.Path]
		if !known {
			http.Error(w, r.URL.Path, http.StatusNotFound)
			return
		}
		fmt.Fprint(w, text)
	}))
	t.Cleanup(server.Close)
	client, err := api.NewClient(&api.Config{Address: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

var answers = map[string]string{
	"/v1/agent/self": `{"stats":{"client":{"node_id":"n1"}}}`,
	"/v1/nodes":      `[{"ID":"n1","Address":"192.0.2.1"},{"ID":"n2","Address":"192.0.2.2"},{"ID":"n3","Address":""}]`,
	"/v1/node/n1":    `{"ID":"n1","Name":"web/1","Datacenter":"dc1","Meta":{"rack":"r7"}}`,
	"/v1/node/n2":    `{"ID":"n2","Name":"db-1","Datacenter":"dc1"}`,
	"/v1/allocations": `[
		{"ID":"a1","NodeID":"n2","Namespace":"default","JobID":"report/periodic-1764115200","TaskGroup":"run",
			"AllocatedResources":{"Shared":{"Ports":[{"Label":"http","Value":21000,"To":80,"HostIP":"192.0.2.2"},{"Label":"odd","Value":80,"HostIP":"nowhere"}]}}},
		{"ID":"a2","NodeID":"n1","Namespace":"default","JobID":"shop","TaskGroup":"web"}]`,
	"/v1/node/n1/allocations": `[
		{"ID":"a2","Namespace":"default","JobID":"shop","TaskGroup":"web","ClientStatus":"running","NetworkStatus":{"Address":"172.26.64.2","AddressIPv6":""}},
		{"ID":"a3","Namespace":"default","JobID":"old","TaskGroup":"x","ClientStatus":"complete","NetworkStatus":{"Address":"172.26.64.3"}},
		{"ID":"a4","Namespace":"default","JobID":"host","TaskGroup":"x","ClientStatus":"running"}]`,
}

func TestWhoIsWhere(t *testing.T) {
	t.Parallel()
	c := New(fakeNomad(t, answers), "rack")
	self, err := c.Self(t.Context())
	if err != nil || self != "n1" {
		t.Fatalf("self is %q, %v", self, err)
	}
	got, err := c.List(t.Context(), self)
	if err != nil {
		t.Fatal(err)
	}
	want := []Endpoint{
		{netip.MustParseAddrPort("192.0.2.1:0"), "n1", ""},
		{netip.MustParseAddrPort("192.0.2.2:0"), "n2", ""},
		{netip.MustParseAddrPort("192.0.2.2:21000"), "n2", "default/report/run"},
		{netip.MustParseAddrPort("172.26.64.2:0"), "n1", "default/shop/web"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	for id, want := range map[string]string{"n1": "dc1/r7/web%2F1", "n2": "dc1/db-1"} {
		if name, err := c.Name(t.Context(), id); err != nil || name != want {
			t.Errorf("%s is called %q, %v; want %q", id, name, err, want)
		}
	}
}

func TestInstancesOfAJobAreOne(t *testing.T) {
	t.Parallel()
	for job, want := range map[string]string{
		"etl":                                  "default/etl/g",
		"etl/periodic-1764115200":              "default/etl/g",
		"etl/dispatch-1764115200-ab12cd34":     "default/etl/g",
		"etl/periodic-1764115200/dispatch-1-a": "default/etl/g",
		"team/etl":                             "default/team%2Fetl/g",
	} {
		if got := groupName("default", job, "g"); got != want {
			t.Errorf("%s is %s, want %s", job, got, want)
		}
	}
}

func TestNodeIsNotKnown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]map[string]string{
		"a server":        {"/v1/agent/self": `{"stats":{"nomad":{"leader":"true"}}}`},
		"does not answer": {},
	} {
		if _, err := New(fakeNomad(t, c), "rack").Self(t.Context()); !errors.Is(err, ErrNode) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for path := range answers {
		if path == "/v1/agent/self" || path == "/v1/node/n1" || path == "/v1/node/n2" {
			continue
		}
		less := map[string]string{}
		for p, text := range answers {
			if p != path {
				less[p] = text
			}
		}
		if _, err := New(fakeNomad(t, less), "rack").List(t.Context(), "n1"); err == nil {
			t.Errorf("without %s there is no error", path)
		}
	}
}
