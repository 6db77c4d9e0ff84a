package nomadtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

type variable struct {
	items  Object
	lockID string
	ttl    string
	until  time.Time // of the lock, where the server has a clock
	index  uint64
	at     time.Time // where the server has a clock
}

func (s *Server) variableRoutes(handle func(string, handler)) {
	handle("GET /v1/vars", s.listVars)
	handle("GET /v1/var/{path...}", s.getVar)
	handle("PUT /v1/var/{path...}", s.putVar)
	handle("DELETE /v1/var/{path...}", s.deleteVar)
}

// ExpireLock takes a lock away from its holder, as the end of its TTL does.
func (s *Server) ExpireLock(namespace, path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v := s.vars[key{namespace, path}]; v != nil {
		v.lockID = ""
		s.bump("vars")
	}
}

func (s *Server) varJSON(k key, v *variable) Object {
	out := Object{"Namespace": k.namespace, "Path": k.id, "Items": v.items, "ModifyIndex": v.index, "CreateIndex": v.index}
	if !v.at.IsZero() {
		out["ModifyTime"] = v.at.UnixNano()
	}
	if v.lockID != "" {
		out["Lock"] = Object{"ID": v.lockID, "TTL": "15s", "LockDelay": "1s"}
	}
	return out
}

func (s *Server) listVars(r *http.Request) (any, uint64, *refusal) {
	out := []Object{}
	for k, v := range s.vars {
		if inNamespace(r, k.namespace) && strings.HasPrefix(k.id, r.URL.Query().Get("prefix")) {
			out = append(out, Object{"Namespace": k.namespace, "Path": k.id, "ModifyIndex": v.index})
		}
	}
	return out, s.tables["vars"], nil
}

func (s *Server) getVar(r *http.Request) (any, uint64, *refusal) {
	k := key{namespaceOf(r), r.PathValue("path")}
	v := s.vars[k]
	if v == nil {
		return nil, 0, &refusal{http.StatusNotFound, "variable not found"}
	}
	shown := s.varJSON(k, v)
	if s.Tokens != nil && s.Tokens[r.Header.Get(authHeader)].Type != Management {
		delete(shown, "Lock")
	}
	return shown, s.index, nil
}

func (s *Server) putVar(r *http.Request) (any, uint64, *refusal) {
	in, refused := body(r)
	if refused != nil {
		return nil, 0, refused
	}
	k, q := key{namespaceOf(r), r.PathValue("path")}, r.URL.Query()
	v := s.vars[k]
	held := text(sub(in, "Lock"), "ID")
	if v != nil && s.Now != nil && time.Now().After(v.until) {
		v.lockID = ""
	}
	conflict := func() (any, uint64, *refusal) {
		shown := Object{}
		if v != nil {
			shown = s.varJSON(k, v)
			delete(shown, "Lock")
		}
		return shown, 0, &refusal{http.StatusConflict, "conflict"}
	}
	switch {
	case q.Has("lock-acquire"):
		if v != nil && v.lockID != "" && v.lockID != held {
			return conflict()
		}
		if v == nil {
			v = &variable{}
			s.vars[k] = v
		}
		if v.lockID == "" {
			s.seq++
			v.lockID = fmt.Sprintf("lock-%d", s.seq)
		}
		if items := sub(in, "Items"); items != nil {
			v.items = items
		}
		s.keepLock(v, text(sub(in, "Lock"), "TTL"))
	case q.Has("lock-renew"), q.Has("lock-release"):
		if v == nil || v.lockID == "" || v.lockID != held {
			return conflict()
		}
		if q.Has("lock-release") {
			v.lockID = ""
		} else {
			s.keepLock(v, v.ttl)
		}
	default:
		if v != nil && v.lockID != "" && v.lockID != held {
			return conflict()
		}
		if q.Has("cas") && q.Get("cas") != fmt.Sprint(indexOf(v)) {
			return conflict()
		}
		next := &variable{items: sub(in, "Items")}
		if v != nil {
			next.lockID, next.ttl, next.until = v.lockID, v.ttl, v.until
		}
		v, s.vars[k] = next, next
	}
	v.index = s.bump("vars")
	if s.Now != nil && !q.Has("lock-renew") && !q.Has("lock-release") {
		v.at = s.Now()
	}
	return s.varJSON(k, v), s.index, nil
}

// keepLock starts the TTL of a lock, where the server has a clock. It is a timer's, whatever
// the clock is set to.
func (s *Server) keepLock(v *variable, ttl string) {
	d, err := time.ParseDuration(ttl)
	if s.Now == nil || err != nil {
		return
	}
	v.ttl, v.until = ttl, time.Now().Add(d)
}

// VariablePaths are the paths of all variables of a namespace.
func (s *Server) VariablePaths(namespace string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for k := range s.vars {
		if k.namespace == namespace {
			out = append(out, k.id)
		}
	}
	slices.Sort(out)
	return out
}

// LockedBy is the id of the lock on a variable, empty where there is none.
func (s *Server) LockedBy(namespace, path string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.vars[key{namespace, path}]
	if v == nil || s.Now != nil && time.Now().After(v.until) {
		return ""
	}
	return v.lockID
}

func indexOf(v *variable) uint64 {
	if v == nil {
		return 0
	}
	return v.index
}

func (s *Server) deleteVar(r *http.Request) (any, uint64, *refusal) {
	k := key{namespaceOf(r), r.PathValue("path")}
	if q := r.URL.Query(); q.Has("cas") && q.Get("cas") != fmt.Sprint(indexOf(s.vars[k])) {
		return Object{}, 0, &refusal{http.StatusConflict, "conflict"}
	}
	delete(s.vars, k)
	s.bump("vars")
	return Object{}, s.index, nil
}
