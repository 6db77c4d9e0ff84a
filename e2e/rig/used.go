package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
)

// usedRight is the agent's line about a right that it used for the first time.
var usedRight = regexp.MustCompile(`msg="a right of the policy was used for the first time" right="([^"]+)"`)

// UsedRights are the rights that the agents have used so far, by their logs; of an agent
// whose log cannot be read any more none.
func (r *Rig) UsedRights(ctx context.Context) (map[string]bool, error) {
	q := (&api.QueryOptions{}).WithContext(ctx)
	allocs, _, err := r.API().Jobs().Allocations(nomadapi.DefaultOwner, true, q)
	if err != nil {
		return nil, fmt.Errorf("agents: %w", err)
	}
	used := map[string]bool{}
	for _, a := range allocs {
		text, err := r.Log(ctx, &api.Allocation{ID: a.ID, NodeID: a.NodeID, Namespace: a.Namespace}, "agent", "stderr")
		if err != nil {
			continue
		}
		for _, m := range usedRight.FindAllSubmatch(text, -1) {
			used[string(m[1])] = true
		}
	}
	return used, nil
}

// Log is what a task has written so far.
func (r *Rig) Log(ctx context.Context, a *api.Allocation, task, stream string) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	frames, errs := r.API().AllocFS().Logs(a, false, task, stream, api.OriginStart, 0, ctx.Done(), (&api.QueryOptions{}).WithContext(ctx))
	var out bytes.Buffer
	for {
		select {
		case frame, open := <-frames:
			if !open || frame == nil {
				return out.Bytes(), nil
			}
			out.Write(frame.Data)
		case err := <-errs:
			if err == nil || errors.Is(err, io.EOF) {
				return out.Bytes(), nil
			}
			return nil, fmt.Errorf("log of task %s: %w", task, err)
		}
	}
}
