package nomadvars_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/nomad/api"
)

// fakeNomad answers /v1/var/:path and /v1/vars as a Nomad server does: one index
// for all writes, cas as a query parameter, 409 with the variable that is there.
type fakeNomad struct {
	mu        sync.Mutex
	index     uint64
	variables map[string]*api.Variable // by namespace and path
	refuse    int                      // status of every answer, if not 0
	refusals  int                      // that were answered so
	left      *int                     // only so many more are; nil: all
}

// maxVariableBytes is Nomad's limit on the keys and values of a variable.
const maxVariableBytes = 64 << 10

func newFake(t *testing.T) (*fakeNomad, *api.Client) {
	t.Helper()
	f := &fakeNomad{index: 10, variables: map[string]*api.Variable{}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	client, err := api.NewClient(&api.Config{Address: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	return f, client
}

func (f *fakeNomad) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	namespace := r.URL.Query().Get("namespace")
	if namespace == "" {
		namespace = "default"
	}
	path, one := strings.CutPrefix(r.URL.Path, "/v1/var/")
	switch {
	case f.refuse != 0 && (f.left == nil || *f.left > 0):
		if f.refusals++; f.left != nil {
			*f.left--
		}
		http.Error(w, "Permission denied", f.refuse)
	case !one:
		f.list(w, namespace, r.URL.Query().Get("prefix"))
	case r.Method == http.MethodGet:
		f.get(w, namespace+"/"+path)
	case r.Method == http.MethodPut:
		f.put(w, r, namespace, path)
	case r.Method == http.MethodDelete:
		f.remove(w, r, namespace, path)
	default:
		http.Error(w, "Invalid method", http.StatusMethodNotAllowed)
	}
}

func (f *fakeNomad) get(w http.ResponseWriter, key string) {
	v, ok := f.variables[key]
	if !ok {
		http.Error(w, "variable not found", http.StatusNotFound)
		return
	}
	answer(w, http.StatusOK, v)
}

func (f *fakeNomad) put(w http.ResponseWriter, r *http.Request, namespace, path string) {
	var v api.Variable
	if err := json.NewDecoder(r.Body).Decode(&v); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	size := 0
	for key, value := range v.Items {
		size += len(key) + len(value)
	}
	if len(v.Items) == 0 || size > maxVariableBytes || len(path) > 128 {
		http.Error(w, "variable is empty or too large", http.StatusBadRequest)
		return
	}
	old, exists := f.variables[namespace+"/"+path]
	if cas := r.URL.Query().Get("cas"); cas != "" {
		want, err := strconv.ParseUint(cas, 10, 64)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if exists && old.ModifyIndex != want || !exists && want != 0 {
			f.conflict(w, namespace, path, old)
			return
		}
	}
	f.index++
	v.Namespace, v.Path, v.ModifyIndex, v.CreateIndex = namespace, path, f.index, f.index
	if exists {
		v.CreateIndex = old.CreateIndex
	}
	f.variables[namespace+"/"+path] = &v
	answer(w, http.StatusOK, &v)
}

// remove checks the index as Nomad does: a variable that is not there has index 0.
func (f *fakeNomad) remove(w http.ResponseWriter, r *http.Request, namespace, path string) {
	old, exists := f.variables[namespace+"/"+path]
	if cas := r.URL.Query().Get("cas"); cas != "" {
		if want, err := strconv.ParseUint(cas, 10, 64); err != nil || exists && old.ModifyIndex != want || !exists && want != 0 {
			f.conflict(w, namespace, path, old)
			return
		}
	}
	f.index++
	delete(f.variables, namespace+"/"+path)
	w.WriteHeader(http.StatusNoContent)
}

func (f *fakeNomad) conflict(w http.ResponseWriter, namespace, path string, old *api.Variable) {
	if old == nil {
		old = &api.Variable{Namespace: namespace, Path: path}
	}
	answer(w, http.StatusConflict, old)
}

func (f *fakeNomad) list(w http.ResponseWriter, namespace, prefix string) {
	list := []*api.VariableMetadata{}
	for _, v := range f.variables {
		if v.Namespace == namespace && strings.HasPrefix(v.Path, prefix) {
			list = append(list, v.Metadata())
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Path < list[j].Path })
	answer(w, http.StatusOK, list)
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client's side reports a broken answer
}
