package nomadtest

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
)

func (s *Server) nodeRoutes(handle func(string, handler)) {
	handle("GET /v1/nodes", s.listNodes)
	handle("GET /v1/node/{id}", s.getNode)
	handle("GET /v1/node/pool/{name}", s.getPool)
	handle("PUT /v1/node/pools", s.putPool)
	handle("POST /v1/client/metadata", s.putMeta)
}

// Node is what a node of a test is made of; the rest takes defaults.
type Node struct {
	ID, Name, Pool, Class string
	CPUMHz, MemoryMB      int
	Cores                 int      // 0: two
	Drivers               []string // healthy ones
	Meta                  map[string]string
	Address               string            // of the client's HTTP; default: nothing listens there
	Attributes            map[string]string // beyond those of its drivers
}

// AddPool makes a node pool, as an operator or an earlier agent has.
func (s *Server) AddPool(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pools[name] = Object{"Name": name}
}

// AddNode makes a ready node.
func (s *Server) AddNode(n Node) {
	if n.Pool == "" {
		n.Pool = "default"
	}
	if n.Name == "" {
		n.Name = n.ID
	}
	drivers, attributes := Object{}, Object{"cpu.modelname": "test cpu", "nomad.version": Version}
	for _, d := range n.Drivers {
		drivers[d] = Object{"Detected": true, "Healthy": true}
		attributes["driver."+d] = "1"
	}
	for k, v := range n.Attributes {
		attributes[k] = v
	}
	var cores []any
	count := cmp.Or(n.Cores, 2)
	for i := range count {
		cores = append(cores, Object{"ID": i, "BaseSpeed": n.CPUMHz / count})
	}
	s.PutNode(Object{
		"ID": n.ID, "Name": n.Name, "NodePool": n.Pool, "NodeClass": n.Class, "Datacenter": "dc1",
		"Status": "ready", "SchedulingEligibility": "eligible", "Drain": false, "HTTPAddr": cmp.Or(n.Address, "127.0.0.1:1"),
		"Attributes": attributes, "Meta": n.Meta, "Drivers": drivers,
		"NodeResources": Object{
			"Cpu": Object{"CpuShares": n.CPUMHz}, "Memory": Object{"MemoryMB": n.MemoryMB}, "Disk": Object{"DiskMB": 10000},
			"Processors": Object{"Topology": Object{"Cores": cores}},
		},
		"ReservedResources": Object{"Cpu": Object{"CpuShares": 0}, "Memory": Object{"MemoryMB": 0}, "Disk": Object{"DiskMB": 0}},
	})
}

// PutNode adds or replaces a node by its JSON.
func (s *Server) PutNode(node Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	node = plain(node)
	index := s.bump("nodes")
	node["ModifyIndex"] = index
	s.nodes[text(node, "ID")] = node
	s.tell(index, "Node", "NodeRegistration", node)
	if pool := text(node, "NodePool"); s.pools[pool] == nil {
		s.pools[pool] = Object{"Name": pool}
	}
}

// RemoveNode deregisters a node.
func (s *Server) RemoveNode(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.nodes[id]; n != nil {
		delete(s.nodes, id)
		s.tell(s.bump("nodes"), "Node", "NodeDeregistration", n)
	}
}

// SetNodeStatus changes a node's status: ready, down, disconnected.
func (s *Server) SetNodeStatus(id, status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.nodes[id]; n != nil {
		index := s.bump("nodes")
		n["Status"], n["ModifyIndex"] = status, index
		s.tell(index, "Node", "NodeEvent", n)
	}
}

// NodeMeta returns a node's meta.
func (s *Server) NodeMeta(id string) map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]string{}
	for k := range sub(s.nodes[id], "Meta") {
		out[k] = text(sub(s.nodes[id], "Meta"), k)
	}
	return out
}

func (s *Server) sortedNodes() []Object {
	out := make([]Object, 0, len(s.nodes))
	for _, n := range s.nodes {
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b Object) int { return strings.Compare(text(a, "ID"), text(b, "ID")) })
	return out
}

func (s *Server) listNodes(r *http.Request) (any, uint64, *refusal) {
	out := []Object{}
	for _, n := range s.sortedNodes() {
		out = append(out, Object{"ID": n["ID"], "Name": n["Name"], "NodePool": n["NodePool"], "Status": n["Status"], "ModifyIndex": n["ModifyIndex"]})
	}
	return page(r, out), s.tables["nodes"], nil
}

func (s *Server) getNode(r *http.Request) (any, uint64, *refusal) {
	n := s.nodes[r.PathValue("id")]
	if n == nil {
		return nil, 0, &refusal{http.StatusNotFound, "node not found"}
	}
	return n, s.tables["nodes"], nil
}

func (s *Server) getPool(r *http.Request) (any, uint64, *refusal) {
	p := s.pools[r.PathValue("name")]
	if p == nil {
		return nil, 0, &refusal{http.StatusNotFound, "node pool not found"}
	}
	return p, s.index, nil
}

func (s *Server) putPool(r *http.Request) (any, uint64, *refusal) {
	in, refused := body(r)
	if refused != nil {
		return nil, 0, refused
	}
	s.pools[text(in, "Name")] = in
	return Object{}, s.bump("pools"), nil
}

// putMeta sets and, with null, removes dynamic node metadata, at once.
func (s *Server) putMeta(r *http.Request) (any, uint64, *refusal) {
	in, refused := body(r)
	if refused != nil {
		return nil, 0, refused
	}
	n := s.nodes[text(in, "NodeID")]
	if n == nil {
		return nil, 0, &refusal{http.StatusNotFound, "Unknown node"}
	}
	meta := sub(n, "Meta")
	if meta == nil {
		meta = Object{}
		n["Meta"] = meta
	}
	for k, v := range sub(in, "Meta") {
		if v == nil {
			delete(meta, k)
			continue
		}
		meta[k] = v
	}
	index := s.bump("nodes")
	n["ModifyIndex"] = index
	s.tell(index, "Node", "NodeRegistration", n)
	return Object{"Meta": meta}, s.index, nil
}
