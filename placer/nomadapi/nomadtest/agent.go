package nomadtest

import (
	"net/http"
)

// Version is the one of the server, and of nodes that name none.
const Version = "1.11.2"

const healthPath = "/v1/agent/health"

func (s *Server) agentRoutes(handle func(string, handler)) {
	handle("GET /v1/status/leader", func(*http.Request) (any, uint64, *refusal) { return "127.0.0.1:4647", s.index, nil })
	handle("GET "+healthPath, func(*http.Request) (any, uint64, *refusal) {
		return Object{"server": Object{"ok": true}}, s.index, nil
	})
	handle("GET /v1/agent/members", func(*http.Request) (any, uint64, *refusal) {
		tags := Object{"build": Version, "region": "global"}
		return Object{"Members": []Object{{"Name": "server-1.global", "Addr": "127.0.0.1", "Status": "alive", "Tags": tags}}}, s.index, nil
	})
}
