package nomadtest

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func (s *Server) allocRoutes(handle func(string, handler)) {
	handle("GET /v1/allocations", s.listAllocs)
	handle("GET /v1/client/fs/cat/{id}", s.catFile)
	handle("GET /v1/client/fs/ls/{id}", s.listFiles)
	handle("GET /v1/client/fs/readat/{id}", s.readFileAt)
	handle("GET /v1/client/fs/logs/{id}", s.readLog)
}

// PutAlloc adds or replaces an allocation by its JSON.
func (s *Server) PutAlloc(alloc Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.putAlloc(plain(alloc))
}

// Allocations lists all allocations as they are stored, by ID.
func (s *Server) Allocations() []Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Object
	for _, a := range s.sortedAllocs() {
		out = append(out, maps.Clone(a))
	}
	return out
}

// PlaceOn gives the groups of a job their allocations on these nodes, one each,
// whatever the job's constraints say: for tests that are the scheduler themselves.
func (s *Server) PlaceOn(namespace, jobID string, nodes ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[key{namespace, jobID}]
	if j == nil {
		return
	}
	for _, group := range list(j.current, "TaskGroups") {
		for i, id := range nodes {
			s.placeOne(j.current, group, Object{"ID": id}, i)
		}
	}
}

// UpdateAllocs changes every allocation of a job.
func (s *Server) UpdateAllocs(namespace, jobID string, change func(alloc Object)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.sortedAllocs() {
		if text(a, "Namespace") == namespace && text(a, "JobID") == jobID {
			change(a)
			s.putAlloc(plain(a))
		}
	}
}

// WriteFile puts a file into an allocation's directory; path is as the client API
// takes it, such as ibench-results/profile.json or alloc/logs/web.stdout.0.
func (s *Server) WriteFile(allocID, path string, content []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writeFile(allocID, path, content)
}

func (s *Server) writeFile(allocID, path string, content []byte) {
	if s.files[allocID] == nil {
		s.files[allocID] = map[string][]byte{}
	}
	s.files[allocID][path] = content
}

func (s *Server) putAlloc(a Object) {
	index := s.bump("allocs")
	if a["CreateIndex"] == nil {
		a["CreateIndex"] = index
	}
	a["ModifyIndex"], a["AllocModifyIndex"] = index, index
	s.allocs[text(a, "ID")] = a
	s.tell(index, "Allocation", "AllocationUpdated", a)
}

// place gives a job its allocations; see the package comment.
func (s *Server) place(spec Object) {
	for _, group := range list(spec, "TaskGroups") {
		nodes := s.eligible(spec, group)
		for i := range max(1, number(group["Count"])) {
			if len(nodes) == 0 {
				return
			}
			s.placeOne(spec, group, nodes[i%len(nodes)], i)
		}
	}
}

func (s *Server) placeOne(spec, group, node Object, i int) {
	name := fmt.Sprintf("%s.%s[%d]", text(spec, "ID"), text(group, "Name"), i)
	id := ""
	for _, a := range s.allocs {
		if text(a, "Name") == name && text(a, "Namespace") == text(spec, "Namespace") && text(a, "DesiredStatus") == "run" {
			id = text(a, "ID") // updated in place
		}
	}
	if id == "" {
		s.seq++
		id = fmt.Sprintf("00000000-0000-0000-0000-%012d", s.seq)
	}
	tasks, states := Object{}, Object{}
	for _, task := range list(group, "Tasks") {
		r := sub(task, "Resources")
		tasks[text(task, "Name")] = Object{
			"Cpu": Object{"CpuShares": number(r["CPU"])}, "Memory": Object{"MemoryMB": number(r["MemoryMB"])},
		}
		states[text(task, "Name")] = Object{"State": "running", "StartedAt": "2026-01-01T00:00:00Z", "Events": []any{}}
	}
	alloc := Object{
		"ID": id, "Name": name, "Namespace": text(spec, "Namespace"), "JobID": text(spec, "ID"), "JobVersion": spec["Version"],
		"TaskGroup": text(group, "Name"), "NodeID": text(node, "ID"), "DesiredStatus": "run", "ClientStatus": "running",
		"TaskStates":         states,
		"AllocatedResources": Object{"Tasks": tasks, "Shared": Object{"DiskMB": number(sub(group, "EphemeralDisk")["SizeMB"])}},
	}
	if s.OnAlloc != nil {
		s.OnAlloc(alloc)
	}
	s.putAlloc(plain(alloc))
}

func (s *Server) eligible(spec, group Object) []Object {
	var out []Object
	constraints := append(list(spec, "Constraints"), list(group, "Constraints")...)
	for _, n := range s.sortedNodes() {
		pool := poolOf(spec)
		fits := (pool == "all" || pool == text(n, "NodePool")) && text(n, "Status") == "ready"
		for _, c := range constraints {
			fits = fits && (text(c, "LTarget") != "${node.unique.id}" || allows(c, text(n, "ID")))
		}
		if fits {
			out = append(out, n)
		}
	}
	return out
}

// allows compares a node's ID as a constraint says: with a pattern, or a list.
func allows(constraint Object, id string) bool {
	wanted := text(constraint, "RTarget")
	if text(constraint, "Operand") == "regexp" {
		return regexp.MustCompile(wanted).MatchString(id)
	}
	return slices.Contains(strings.Split(wanted, ","), id)
}

func (s *Server) sortedAllocs() []Object {
	return slices.SortedFunc(maps.Values(s.allocs), func(a, b Object) int { return cmp.Compare(text(a, "ID"), text(b, "ID")) })
}

func (s *Server) listAllocs(r *http.Request) (any, uint64, *refusal) {
	keep, refused := parseFilter(r)
	if refused != nil {
		return nil, 0, refused
	}
	out := []Object{}
	for _, a := range s.sortedAllocs() {
		if !inNamespace(r, text(a, "Namespace")) || !strings.HasPrefix(text(a, "ID"), r.URL.Query().Get("prefix")) || !keep(a) {
			continue
		}
		stub := maps.Clone(a)
		if r.URL.Query().Get("resources") != "true" {
			delete(stub, "AllocatedResources")
		}
		if r.URL.Query().Get("task_states") == "false" {
			delete(stub, "TaskStates")
		}
		out = append(out, stub)
	}
	return page(r, out), s.tables["allocs"], nil
}

func page(r *http.Request, rows []Object) []Object {
	if n, err := strconv.Atoi(r.URL.Query().Get("per_page")); err == nil {
		return rows[:min(n, len(rows))]
	}
	return rows
}

func (s *Server) file(r *http.Request) ([]byte, *refusal) {
	b, ok := s.files[r.PathValue("id")][r.URL.Query().Get("path")]
	if !ok {
		return nil, &refusal{http.StatusNotFound, "no such file or directory"}
	}
	return b, nil
}

func (s *Server) catFile(r *http.Request) (any, uint64, *refusal) {
	b, refused := s.file(r)
	return b, s.index, refused
}

func (s *Server) readFileAt(r *http.Request) (any, uint64, *refusal) {
	b, refused := s.file(r)
	if refused != nil {
		return nil, 0, refused
	}
	offset, _ := strconv.Atoi(r.URL.Query().Get("offset"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	b = b[min(offset, len(b)):]
	return b[:min(limit, len(b))], s.index, nil
}

func (s *Server) listFiles(r *http.Request) (any, uint64, *refusal) {
	folder := r.URL.Query().Get("path") + "/"
	out := []Object{}
	for path, b := range s.files[r.PathValue("id")] {
		if name, ok := strings.CutPrefix(path, folder); ok && !strings.Contains(name, "/") {
			out = append(out, Object{"Name": name, "Size": len(b), "IsDir": false})
		}
	}
	return out, s.index, nil
}

// readLog answers plain text from the end of the first log file.
func (s *Server) readLog(r *http.Request) (any, uint64, *refusal) {
	q := r.URL.Query()
	b := s.files[r.PathValue("id")]["alloc/logs/"+q.Get("task")+"."+q.Get("type")+".0"]
	offset, _ := strconv.Atoi(q.Get("offset"))
	return b[max(0, len(b)-offset):], s.index, nil
}
