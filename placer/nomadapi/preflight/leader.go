package preflight

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
)

// checkLeader wants an agent that holds the leader's lock. Nomad shows a lock to
// management tokens only.
func checkLeader(ctx context.Context, n *nomad) []Line {
	var found struct {
		Items      map[string]string
		Lock       *struct{ ID string }
		ModifyTime int64
	}
	err := n.get(ctx, "/v1/var/"+nomadapi.LeaderPath, api.QueryOptions{Namespace: n.o.Namespace}, &found)
	if statusOf(err) == http.StatusNotFound {
		return one(Failed, fmt.Sprintf("No agent has ever led in namespace %s.", n.o.Namespace),
			"Run the agent: nomad job run examples/install/nomad-placer.nomad.hcl. If its records are elsewhere, give -placer-namespace; with store \"bolt\" there is no election.")
	}
	if err != nil {
		return []Line{unread(n, "The leader's Variable "+nomadapi.LeaderPath, fmt.Sprintf(`namespace %q { variables { path "nomad-placer/*" { capabilities = ["read"] } } }`, n.o.Namespace), err)}
	}
	agent := "The agent at " + found.Items[nomadapi.LeaderItem]
	at := time.Unix(0, found.ModifyTime)
	when, ago := at.UTC().Format("2006-01-02 15:04:05 MST"), n.o.Now().Sub(at).Round(time.Second)
	a, err := n.access()
	switch {
	case found.Lock != nil && found.Lock.ID != "":
		return one(OK, fmt.Sprintf("%s leads since %s, for %s.", agent, when, ago), "")
	case err == nil && (a.off || a.management):
		return one(Failed, fmt.Sprintf("No agent leads. %s led last; it was elected at %s, %s ago.", agent, when, ago),
			"Look at the agents: nomad job status nomad-placer, and nomad alloc logs -stderr -job nomad-placer.")
	default:
		return one(Unknown, fmt.Sprintf("%s was elected at %s, %s ago; whether it still leads Nomad tells management tokens only.", agent, when, ago),
			"Give a management token with -token or NOMAD_TOKEN.")
	}
}
