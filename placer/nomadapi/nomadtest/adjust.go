package nomadtest

import (
	"encoding/json"
	"net/http"
	"slices"
)

func (s *Server) adjustRoutes(handle func(string, handler)) {
	handle("GET /v1/job/{id}/deployment", s.deployment)
	handle("PUT /v1/allocation/{id}/stop", s.stopAlloc)
	handle("GET /v1/client/allocation/{id}/stats", s.allocStats)
	handle("PUT /v1/client/allocation/{id}/signal", s.signalAlloc)
}

// SetStats is what a client answers about the resources of an allocation from now on.
func (s *Server) SetStats(allocID string, stats Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats[allocID] = plain(stats)
}

// allocStats answers with what a test has set for the allocation, or for all; else as
// a client that does not publish them.
func (s *Server) allocStats(r *http.Request) (any, uint64, *refusal) {
	stats := s.stats[r.PathValue("id")]
	if stats == nil && s.Stats != nil {
		stats = plain(s.Stats)
	}
	if stats == nil {
		return nil, 0, &refusal{http.StatusNotFound, "unknown allocation"}
	}
	return stats, s.index, nil
}

// signalAlloc keeps the signals of tasks; see Signals.
func (s *Server) signalAlloc(r *http.Request) (any, uint64, *refusal) {
	var body struct{ Signal, Task string }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return nil, 0, &refusal{http.StatusBadRequest, err.Error()}
	}
	s.signals = append(s.signals, body.Task+" "+body.Signal)
	if s.OnSignal != nil {
		s.OnSignal(r.PathValue("id"))
	}
	return Object{}, s.index, nil
}

// Signals are what was sent to tasks: the task, a space, and the signal.
func (s *Server) Signals() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.signals)
}

// SetDeployment gives a job a newest deployment of that status.
func (s *Server) SetDeployment(namespace, id, status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rolling[key{namespace, id}] = status
}

// deployment answers null where a job had none, as Nomad does.
func (s *Server) deployment(r *http.Request) (any, uint64, *refusal) {
	status, ok := s.rolling[key{namespaceOf(r), r.PathValue("id")}]
	if !ok {
		return nil, s.index, nil
	}
	return Object{"JobID": r.PathValue("id"), "Status": status}, s.index, nil
}

// stopAlloc ends an allocation; there is no scheduler that would start another.
func (s *Server) stopAlloc(r *http.Request) (any, uint64, *refusal) {
	a := s.allocs[r.PathValue("id")]
	if a == nil {
		return nil, 0, &refusal{http.StatusNotFound, "alloc not found"}
	}
	a["DesiredStatus"], a["ClientStatus"] = "stop", "complete"
	s.putAlloc(a)
	return Object{"EvalID": ""}, s.index, nil
}
