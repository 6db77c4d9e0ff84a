package nomadtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Large answers like a Nomad with that many nodes, and allocations spread over
// them, without keeping its answers: for measuring what a reader keeps. There
// are no jobs.
func Large(tb testing.TB, nodes, allocs int) *httptest.Server {
	tb.Helper()
	mux := http.NewServeMux()
	index := func(w http.ResponseWriter) { w.Header().Set("X-Nomad-Index", "7") }
	mux.HandleFunc("GET /v1/nodes", func(w http.ResponseWriter, r *http.Request) {
		index(w)
		writeRows(w, rows(r, nodes), func(i int) string {
			return fmt.Sprintf(`{"ID":%q,"ModifyIndex":%d}`, nodeName(i), i)
		})
	})
	mux.HandleFunc("GET /v1/node/{id}", func(w http.ResponseWriter, r *http.Request) {
		index(w)
		//nolint:gosec // JSON for tests
		fmt.Fprintf(w, `{"ID":%q,"Name":%q,"Status":"ready","SchedulingEligibility":"eligible","NodePool":"prod","NodeClass":"c",
			"NodeResources":{"Cpu":{"CpuShares":8000},"Memory":{"MemoryMB":16000}},"Attributes":{`, r.PathValue("id"), r.PathValue("id"))
		for i := range 70 { // a real client sends about as many
			fmt.Fprintf(w, `"platform.group%d.attribute.name%d":"a value of usual length %d",`, i%7, i, i)
		}
		fmt.Fprintf(w, `"unique.hostname":%q}}`, r.PathValue("id")) //nolint:gosec // JSON for tests
	})
	mux.HandleFunc("GET /v1/allocations", func(w http.ResponseWriter, r *http.Request) {
		index(w)
		writeRows(w, rows(r, allocs), func(i int) string { return LargeAlloc(i, nodes) })
	})
	mux.HandleFunc("GET /v1/jobs", func(w http.ResponseWriter, _ *http.Request) {
		index(w)
		writeRows(w, 0, nil)
	})
	mux.HandleFunc("GET /v1/node/pool/{name}", func(w http.ResponseWriter, r *http.Request) {
		index(w)
		fmt.Fprintf(w, `{"Name":%q}`, r.PathValue("name")) //nolint:gosec // JSON for tests
	})
	mux.HandleFunc("GET /v1/node/pool/{name}/nodes", func(w http.ResponseWriter, _ *http.Request) {
		index(w)
		writeRows(w, 0, nil)
	})
	mux.HandleFunc("GET /v1/acl/", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, aclDisabled, http.StatusBadRequest)
	})
	server := httptest.NewServer(mux)
	tb.Cleanup(server.Close)
	return server
}

func rows(r *http.Request, all int) int {
	if r.URL.Query().Has("per_page") {
		return 1
	}
	return all
}

func nodeName(i int) string { return fmt.Sprintf("00000000-0000-0000-0000-%012d", i) }

// LargeAlloc is allocation i of such a Nomad, as its list shows it.
func LargeAlloc(i, nodes int) string {
	return fmt.Sprintf(`{"ID":"a0000000-0000-0000-0000-%012d","EvalID":"00000000-0000-0000-0000-000000000000","Name":"job-%d.group[0]",
		"Namespace":"default","NodeID":%q,"NodeName":"node","JobID":"job-%d","JobType":"service","JobVersion":3,"TaskGroup":"group",
		"AllocatedResources":{"Tasks":{"main":{"Cpu":{"CpuShares":500,"ReservedCores":null},"Memory":{"MemoryMB":256,"MemoryMaxMB":0},"Networks":null,"Devices":null},
		"sidecar":{"Cpu":{"CpuShares":50},"Memory":{"MemoryMB":32}}},"TaskLifecycles":{"main":null,"sidecar":{"Hook":"prestart","Sidecar":true}},
		"Shared":{"DiskMB":300,"Ports":[{"Label":"http","Value":22000,"To":8080,"HostIP":"10.0.0.1"}]}},
		"DesiredStatus":"run","ClientStatus":"running","DesiredDescription":"","FollowupEvalID":"","CreateIndex":1,"ModifyIndex":2,"CreateTime":1,"ModifyTime":2}`,
		i, i/5, nodeName(i%nodes), i/5)
}

func writeRows(w http.ResponseWriter, n int, row func(i int) string) {
	fmt.Fprint(w, "[")
	for i := range n {
		if i > 0 {
			fmt.Fprint(w, ",")
		}
		fmt.Fprint(w, row(i))
	}
	fmt.Fprint(w, "]")
}
