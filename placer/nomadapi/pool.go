package nomadapi

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/hashicorp/nomad/api"
)

const holdPoolDescription = "Holds jobs until nomad-placer has chosen their nodes. Keep it without nodes."

// EnsureHoldPool creates the hold pool where it is missing and returns the names
// of nodes that are in it. There should be none: a node in the hold pool receives
// held jobs at once, and each is logged as an error.
func (w *World) EnsureHoldPool(ctx context.Context) (intruders []string, err error) {
	pool := w.opts.HoldPool
	if pool == w.opts.RunPool {
		return nil, fmt.Errorf("hold pool and run pool are both %q: name two pools", pool)
	}
	if pool == "all" {
		return nil, errors.New(`the hold pool cannot be "all", which contains every node`)
	}
	var found struct{ Name string }
	_, err = w.nomad.get(ctx, "/v1/node/pool/"+url.PathEscape(pool), api.QueryOptions{}, &found)
	if isNotFound(err) {
		body := map[string]any{"Name": pool, "Description": holdPoolDescription}
		err = w.nomad.writeSafe(ctx, "/v1/node/pools", "", body, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("hold pool %q: %w", pool, err)
	}
	return w.HoldPoolNodes(ctx)
}

// HoldPoolNodes returns the names of nodes in the hold pool, logging each.
func (w *World) HoldPoolNodes(ctx context.Context) ([]string, error) {
	nodes, _, err := w.listNodes(ctx)
	if err != nil {
		return nil, fmt.Errorf("nodes of the hold pool: %w", err)
	}
	var names []string
	for _, n := range nodes {
		if n.Pool == w.opts.HoldPool {
			names = append(names, n.Name)
			w.log.Error("a node is in the hold pool: held jobs run on it at once; set its node_pool",
				"node", n.Name, "node_id", n.ID, "pool", n.Pool)
		}
	}
	return names, nil
}
