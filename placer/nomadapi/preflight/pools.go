package preflight

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// poolOfAll is Nomad's pool that contains every node.
const poolOfAll = "all"

// checkPools wants a hold pool without nodes, and a run pool with some.
func checkPools(ctx context.Context, n *nomad) []Line {
	hold, run := n.o.HoldPool, n.o.RunPool
	switch {
	case hold == run:
		return one(Failed, fmt.Sprintf("The hold pool and the run pool are both %s, so no job can be held.", hold), "Name two pools in the agent's configuration (block pools), and with -hold-pool and -run-pool.")
	case hold == poolOfAll:
		return one(Failed, "The hold pool is \"all\", which contains every node, so no job can be held.", "Name a pool without nodes in the agent's configuration (block pools), and with -hold-pool.")
	}
	nodes, err := n.nodes()
	if err != nil {
		return append(n.poolExists(ctx, hold), unread(n, "Which nodes are in the pools", `node { policy = "read" }`, err))
	}
	return append(n.holdPool(ctx, nodes), n.runPool(ctx, nodes)...)
}

// poolExists has a line unless the pool is there.
func (n *nomad) poolExists(ctx context.Context, pool string) []Line {
	err := n.get(ctx, "/v1/node/pool/"+url.PathEscape(pool), api.QueryOptions{}, &struct{ Name string }{})
	switch {
	case err == nil:
		return nil
	case statusOf(err) == http.StatusNotFound:
		return one(Failed, fmt.Sprintf("Node pool %s does not exist.", pool), fmt.Sprintf("Create it: nomad node pool apply - <<< 'node_pool %q {}'.", pool))
	default:
		return []Line{unread(n, "Node pool "+pool, fmt.Sprintf(`node_pool %q { policy = "read" }`, pool), err)}
	}
}

func (n *nomad) holdPool(ctx context.Context, nodes []node) []Line {
	lines := n.poolExists(ctx, n.o.HoldPool)
	var inside []string
	for _, c := range nodes {
		if c.NodePool == n.o.HoldPool {
			inside = append(inside, c.Name)
		}
	}
	if len(inside) > 0 {
		lines = append(lines, Line{State: Failed, Names: inside, Text: fmt.Sprintf("%s in the hold pool %s, so held jobs run there at once.", wording.Capital(wording.List("node", inside))+verb(len(inside)), n.o.HoldPool),
			Cure: fmt.Sprintf("Set node_pool = %q in the file of the client's agent and restart it.", n.o.RunPool)})
	}
	if lines == nil {
		lines = one(OK, fmt.Sprintf("The hold pool %s exists and has no node.", n.o.HoldPool), "")
	}
	return lines
}

// runPool asks for the pool itself only where it has no node: the agent needs no right
// to read it.
func (n *nomad) runPool(ctx context.Context, nodes []node) []Line {
	ready := 0
	for _, c := range nodes {
		if c.ready() && (c.NodePool == n.o.RunPool || n.o.RunPool == poolOfAll && c.NodePool != n.o.HoldPool) {
			ready++
		}
	}
	if ready > 0 {
		return one(OK, fmt.Sprintf("The run pool %s has %s that%s ready.", n.o.RunPool, wording.Count(ready, "node"), verb(ready)), "")
	}
	text := fmt.Sprintf("The run pool %s has no node that is ready, so released jobs cannot run.", n.o.RunPool)
	if lines := n.poolExists(ctx, n.o.RunPool); len(lines) > 0 && lines[0].State == Failed {
		text = fmt.Sprintf("The run pool %s does not exist, so released jobs cannot run.", n.o.RunPool)
	}
	return one(Failed, text, fmt.Sprintf("Set node_pool = %q in the files of clients' agents, or name the pool of your nodes in the agent's configuration (block pools) and with -run-pool.", n.o.RunPool))
}
