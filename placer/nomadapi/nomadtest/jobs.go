package nomadtest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

type job struct {
	current     Object
	submissions map[int]Object
	versions    []Object // the newest first
}

const versionsKept = 6 // as Nomad by default

// keep notes the job as it is as a version.
func (j *job) keep() {
	j.versions = slices.Insert(j.versions, 0, plain(j.current))
	j.versions = j.versions[:min(len(j.versions), versionsKept)]
}

func (s *Server) jobRoutes(handle func(string, handler)) {
	handle("GET /v1/jobs", s.listJobs)
	for _, pattern := range []string{"PUT /v1/jobs", "POST /v1/jobs", "PUT /v1/job/{id}", "POST /v1/job/{id}"} {
		handle(pattern, s.register)
	}
	handle("GET /v1/job/{id}", s.getJob)
	handle("DELETE /v1/job/{id}", s.deregister)
	handle("PUT /v1/job/{id}/dispatch", s.dispatch)
	handle("GET /v1/job/{id}/submission", s.submission)
	handle("GET /v1/job/{id}/summary", s.summary)
	handle("GET /v1/job/{id}/versions", s.versions)
	handle("PUT /v1/job/{id}/plan", s.plan)
	handle("PUT /v1/job/{id}/revert", s.revert)
	handle("PUT /v1/job/{id}/scale", s.scale)
	handle("POST /v1/job/{id}/scale", s.scale)
	handle("GET /v1/job/{id}/allocations", s.jobAllocations)
	handle("GET /v1/job/{id}/evaluations", s.jobEvaluations)
	handle("GET /v1/evaluations", s.blockedEvaluations)
}

// Submit registers a job as its user does and returns its JobModifyIndex.
func (s *Server) Submit(spec Object, source string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var submission Object
	if source != "" {
		submission = Object{"Source": source, "Format": "hcl2"}
	}
	return s.put(plain(spec), submission)
}

// Job returns a job as it is stored, nil where there is none.
func (s *Server) Job(namespace, id string) Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.jobs[key{namespace, id}]; j != nil {
		return plain(j.current)
	}
	return nil
}

// JobIDs lists the jobs that are not purged, sorted.
func (s *Server) JobIDs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for k := range s.jobs {
		ids = append(ids, k.id)
	}
	slices.Sort(ids)
	return ids
}

// Source returns the kept source text of a version, empty where none was kept.
func (s *Server) Source(namespace, id string, version int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[key{namespace, id}]
	if j == nil {
		return ""
	}
	return text(j.submissions[version], "Source")
}

// Stop stops a job as its user does.
func (s *Server) Stop(namespace, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop(key{namespace, id}, false)
}

// SetStatus says how a job is doing, which makes no version of it.
func (s *Server) SetStatus(namespace, id, status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := s.jobs[key{namespace, id}]
	index := s.bump("jobs")
	j.current["Status"], j.current["ModifyIndex"] = status, index
	s.tell(index, "Job", "AllocationUpdated", j.current)
}

// Notes lists the scaling events without a count, oldest first.
func (s *Server) Notes() []Note {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.notes)
}

func (s *Server) put(spec, submission Object) uint64 {
	if text(spec, "Namespace") == "" {
		spec["Namespace"] = "default"
	}
	if text(spec, "NodePool") == "" {
		spec["NodePool"] = "default"
	}
	if text(spec, "Type") == "" {
		spec["Type"] = "service"
	}
	k := key{text(spec, "Namespace"), text(spec, "ID")}
	index := s.bump("jobs")
	version, created := 0, index
	j := s.jobs[k]
	if j == nil {
		j = &job{submissions: map[int]Object{}}
		s.jobs[k] = j
	} else {
		version = number(j.current["Version"]) + 1
		created = uint64(number(j.current["CreateIndex"]))
	}
	spec["Version"], spec["CreateIndex"] = version, created
	spec["JobModifyIndex"], spec["ModifyIndex"] = index, index
	stop := spec["Stop"] == true
	spec["Stop"], spec["Status"], spec["SubmitTime"] = stop, "pending", int64(index)*1e9
	if s.Now != nil {
		spec["SubmitTime"] = s.Now().UnixNano()
	}
	j.current = plain(spec)
	j.keep()
	if submission != nil {
		j.submissions[version] = submission
	}
	s.tell(index, "Job", "JobRegistered", j.current)
	if stop {
		s.endAllocs(k)
	} else if s.AutoPlace && (spec["ParameterizedJob"] == nil || text(spec, "ParentID") != "") { // of others children are started
		s.place(j.current)
	}
	return index
}

func (s *Server) register(r *http.Request) (any, uint64, *refusal) {
	in, refused := body(r)
	if refused != nil {
		return nil, 0, refused
	}
	spec := sub(in, "Job")
	if spec == nil {
		return nil, 0, &refusal{http.StatusBadRequest, "Job must be specified"}
	}
	if text(spec, "Namespace") == "" {
		spec["Namespace"] = namespaceOf(r)
	}
	if _, ok := s.pools[poolOf(spec)]; !ok {
		return nil, 0, &refusal{http.StatusInternalServerError, fmt.Sprintf("job %q is in nonexistent node pool %q", text(spec, "ID"), poolOf(spec))}
	}
	if text(spec, "Type") == "system" && hasAffinities(spec) {
		return nil, 0, &refusal{http.StatusInternalServerError, "System jobs may not have an affinity block"}
	}
	if len(text(sub(spec, "UI"), "Description")) > 1000 {
		return nil, 0, &refusal{http.StatusInternalServerError, "UI description must be under 1000 characters"}
	}
	if j := s.jobs[key{text(spec, "Namespace"), text(spec, "ID")}]; j != nil && j.current["Dispatched"] == true {
		return nil, 0, &refusal{http.StatusInternalServerError, "rpc error: cannot update non-parameterized job to being parameterized"}
	}
	if enforce, _ := in["EnforceIndex"].(bool); enforce {
		if refused := s.enforce(spec, number(in["JobModifyIndex"])); refused != nil {
			return nil, 0, refused
		}
		s.betweenCompareAndWrite(text(spec, "Namespace"), text(spec, "ID"))
	}
	index := s.put(spec, sub(in, "Submission"))
	return Object{"JobModifyIndex": index, "EvalCreateIndex": index}, index, nil
}

// betweenCompareAndWrite lets others write where Nomad lets them: it compares the index of a
// registration before it applies it.
func (s *Server) betweenCompareAndWrite(namespace, id string) {
	if s.OnCompared == nil {
		return
	}
	s.mu.Unlock()
	defer s.mu.Lock()
	s.OnCompared(namespace, id)
}

// dispatch starts a child of a parameterized job, once for each token.
func (s *Server) dispatch(r *http.Request) (any, uint64, *refusal) {
	parent, refused := s.find(r)
	if refused != nil {
		return nil, 0, refused
	}
	in, refused := body(r)
	if refused != nil {
		return nil, 0, refused
	}
	if parent.current["ParameterizedJob"] == nil || parent.current["Stop"] == true {
		return nil, 0, &refusal{http.StatusInternalServerError, fmt.Sprintf("Specified job %q is not a parameterized job, or is stopped", r.PathValue("id"))}
	}
	token := r.URL.Query().Get("idempotency_token")
	for _, j := range s.jobs {
		if token != "" && text(j.current, "DispatchIdempotencyToken") == token && text(j.current, "ParentID") == r.PathValue("id") {
			return Object{"DispatchedJobID": j.current["ID"]}, s.index, nil
		}
	}
	child := plain(parent.current)
	id := fmt.Sprintf("%s/dispatch-%d", r.PathValue("id"), s.index)
	child["ID"], child["Name"], child["ParentID"], child["Dispatched"] = id, id, r.PathValue("id"), true
	child["DispatchIdempotencyToken"], child["Payload"] = token, in["Payload"]
	meta := sub(child, "Meta")
	if meta == nil {
		meta = Object{}
	}
	maps.Copy(meta, sub(in, "Meta"))
	child["Meta"] = meta
	index := s.put(child, nil)
	return Object{"DispatchedJobID": id, "JobCreateIndex": index}, index, nil
}

// plan takes any job whose pool there is.
func (s *Server) plan(r *http.Request) (any, uint64, *refusal) {
	in, refused := body(r)
	if refused != nil {
		return nil, 0, refused
	}
	if pool := poolOf(sub(in, "Job")); s.pools[pool] == nil {
		return nil, 0, &refusal{http.StatusInternalServerError, fmt.Sprintf("nonexistent node pool %q", pool)}
	}
	return Object{}, s.index, nil
}

func poolOf(spec Object) string {
	if p := text(spec, "NodePool"); p != "" {
		return p
	}
	return "default"
}

func hasAffinities(spec Object) bool {
	for _, g := range list(spec, "TaskGroups") {
		if len(list(g, "Affinities")) > 0 {
			return true
		}
	}
	return len(list(spec, "Affinities")) > 0
}

func (s *Server) enforce(spec Object, want int) *refusal {
	const prefix = "Enforcing job modify index"
	j := s.jobs[key{text(spec, "Namespace"), text(spec, "ID")}]
	switch {
	case j == nil && want != 0:
		return &refusal{http.StatusInternalServerError, fmt.Sprintf("%s %d: job does not exist", prefix, want)}
	case j != nil && want == 0:
		return &refusal{http.StatusInternalServerError, prefix + " 0: job already exists"}
	case j != nil && number(j.current["JobModifyIndex"]) != want:
		return &refusal{http.StatusInternalServerError, fmt.Sprintf("%s %d: job exists with conflicting job modify index: %d",
			prefix, want, number(j.current["JobModifyIndex"]))}
	}
	return nil
}

func (s *Server) find(r *http.Request) (*job, *refusal) {
	j := s.jobs[key{namespaceOf(r), r.PathValue("id")}]
	if j == nil {
		return nil, &refusal{http.StatusNotFound, "job not found"}
	}
	return j, nil
}

func (s *Server) getJob(r *http.Request) (any, uint64, *refusal) {
	j, refused := s.find(r)
	if refused != nil {
		return nil, 0, refused
	}
	return j.current, s.tables["jobs"], nil
}

func (s *Server) summary(r *http.Request) (any, uint64, *refusal) {
	j, refused := s.find(r)
	if refused != nil {
		return nil, 0, refused
	}
	return Object{"JobID": j.current["ID"], "Summary": Object{}}, s.index, nil
}

// revert never finds the version.
func (s *Server) revert(r *http.Request) (any, uint64, *refusal) {
	if _, refused := s.find(r); refused != nil {
		return nil, 0, &refusal{http.StatusInternalServerError, fmt.Sprintf("job %q not found", r.PathValue("id"))}
	}
	return nil, 0, &refusal{http.StatusInternalServerError, fmt.Sprintf("job %q in namespace %q at version 1 not found", r.PathValue("id"), namespaceOf(r))}
}

func (s *Server) listJobs(r *http.Request) (any, uint64, *refusal) {
	keep, refused := parseFilter(r)
	if refused != nil {
		return nil, 0, refused
	}
	out := []Object{}
	for k, j := range s.jobs {
		if !inNamespace(r, k.namespace) || !strings.HasPrefix(k.id, r.URL.Query().Get("prefix")) || !keep(j.current) {
			continue
		}
		stub := Object{}
		for _, f := range []string{"ID", "Name", "Namespace", "NodePool", "Type", "Stop", "Status", "JobModifyIndex", "ModifyIndex", "CreateIndex", "ParentID"} {
			stub[f] = j.current[f]
		}
		if r.URL.Query().Get("meta") == "true" {
			stub["Meta"] = j.current["Meta"]
		}
		out = append(out, stub)
	}
	slices.SortFunc(out, func(a, b Object) int { return strings.Compare(text(a, "ID"), text(b, "ID")) })
	return out, s.tables["jobs"], nil
}

func (s *Server) deregister(r *http.Request) (any, uint64, *refusal) {
	k := key{namespaceOf(r), r.PathValue("id")}
	s.stop(k, r.URL.Query().Get("purge") == "true")
	return Object{"JobModifyIndex": s.index}, s.index, nil
}

// stop ends the job, and its allocations at once.
func (s *Server) stop(k key, purge bool) {
	j := s.jobs[k]
	if j == nil {
		return
	}
	index := s.bump("jobs")
	j.current["Stop"], j.current["Status"] = true, "dead"
	j.current["Version"] = number(j.current["Version"]) + 1
	j.current["JobModifyIndex"], j.current["ModifyIndex"] = index, index
	j.keep()
	s.tell(index, "Job", "JobDeregistered", j.current)
	s.endAllocs(k)
	if purge {
		delete(s.jobs, k)
	}
}

// endAllocs ends the allocations of a job at once.
func (s *Server) endAllocs(k key) {
	for _, a := range s.allocs {
		if text(a, "Namespace") == k.namespace && text(a, "JobID") == k.id {
			a["DesiredStatus"] = "stop"
			if status := text(a, "ClientStatus"); status == "running" || status == "pending" {
				a["ClientStatus"] = "complete"
			}
			index := s.bump("allocs")
			a["ModifyIndex"], a["AllocModifyIndex"] = index, index
			s.tell(index, "Allocation", "PlanResult", a)
		}
	}
}

func (s *Server) versions(r *http.Request) (any, uint64, *refusal) {
	j, refused := s.find(r)
	if refused != nil {
		return nil, 0, refused
	}
	return Object{"Versions": j.versions}, s.tables["jobs"], nil
}

func (s *Server) submission(r *http.Request) (any, uint64, *refusal) {
	j, refused := s.find(r)
	if refused != nil {
		return nil, 0, refused
	}
	var version int
	if _, err := fmt.Sscan(r.URL.Query().Get("version"), &version); err != nil {
		return nil, 0, &refusal{http.StatusBadRequest, "version"}
	}
	kept := j.submissions[version]
	if kept == nil {
		return nil, 0, &refusal{http.StatusNotFound, "job source not found"}
	}
	return kept, s.index, nil
}

func (s *Server) scale(r *http.Request) (any, uint64, *refusal) {
	j, refused := s.find(r)
	if refused != nil {
		return nil, 0, refused
	}
	in, refused := body(r)
	if refused != nil {
		return nil, 0, refused
	}
	if text(j.current, "Type") == "system" && in["Count"] == nil {
		// What 1.11.2 makes of this is a panic; a test must not get this far.
		return nil, 0, &refusal{http.StatusInternalServerError, "a note on a system job panics the server"}
	}
	failed, _ := in["Error"].(bool)
	s.notes = append(s.notes, Note{
		Job: text(j.current, "ID"), Group: text(sub(in, "Target"), "Group"), Message: text(in, "Message"), Error: failed,
	})
	return Object{}, s.index, nil
}

func (s *Server) jobAllocations(r *http.Request) (any, uint64, *refusal) {
	k := key{namespaceOf(r), r.PathValue("id")}
	created := -1
	if j := s.jobs[k]; j != nil && r.URL.Query().Get("all") == "false" {
		created = number(j.current["CreateIndex"])
	}
	out := []Object{}
	for _, a := range s.sortedAllocs() {
		if text(a, "Namespace") == k.namespace && text(a, "JobID") == k.id && number(a["CreateIndex"]) >= created {
			out = append(out, a)
		}
	}
	return out, s.tables["allocs"], nil
}

// jobEvaluations tells of a job without allocations that no node was eligible.
// blockedEvaluations are those of Blocked, whatever is asked for: there are no others
// that anybody lists.
func (s *Server) blockedEvaluations(*http.Request) (any, uint64, *refusal) {
	return append([]Object{}, s.Blocked...), s.index, nil
}

func (s *Server) jobEvaluations(r *http.Request) (any, uint64, *refusal) {
	j := s.jobs[key{namespaceOf(r), r.PathValue("id")}]
	if j == nil {
		return []Object{}, s.index, nil
	}
	index := j.current["JobModifyIndex"]
	return []Object{{"ID": "eval", "Status": "complete", "TriggeredBy": "job-register", "JobModifyIndex": index, "CreateIndex": index}}, s.index, nil
}

// Purge removes a job as its user does.
func (s *Server) Purge(namespace, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop(key{namespace, id}, true)
}
