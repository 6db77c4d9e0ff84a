package preflight

import (
	"context"
	"fmt"

	"github.com/hashicorp/nomad/api"
)

// checkServer wants an answer and a cluster with a leader.
func checkServer(ctx context.Context, n *nomad) []Line {
	var leader string
	err := n.get(ctx, "/v1/status/leader", api.QueryOptions{}, &leader)
	switch {
	case err != nil && statusOf(err) == 0:
		cure := sentence(n.o.Hint(err))
		if cure == "" {
			cure = "Start Nomad, or give the right address with -address or NOMAD_ADDR."
		}
		return one(Failed, fmt.Sprintf("Nomad at %s does not answer: %s.", n.address, reason(err)), cure)
	case isForbidden(err):
		return one(OK, fmt.Sprintf("Nomad at %s answers.", n.address), "")
	case err != nil || leader == "":
		text := fmt.Sprintf("Nomad at %s answers, but its servers have no leader.", n.address)
		if err != nil {
			text = fmt.Sprintf("Nomad at %s answers, but cannot say which server leads: %s.", n.address, reason(err))
		}
		return one(Failed, text, "Look at the servers: nomad server members. More than half of them must run.")
	default:
		return one(OK, fmt.Sprintf("Nomad at %s answers, and its server at %s leads.", n.address, leader), "")
	}
}
