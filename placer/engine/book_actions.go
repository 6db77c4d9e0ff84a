package engine

import (
	"context"
	"errors"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

const actionPrefix = "action"

// maxActions is how many records are kept per workload: days of an unsteady one,
// well inside one document.
const maxActions = 60

// actions is the document of what was done to one running workload.
type actions struct {
	Format   int                    `json:"format"`
	Workload cluster.WorkloadID     `json:"workload"`
	Actions  []cluster.ActionRecord `json:"actions"`
	Yields   []yielding             `json:"yields,omitempty"` // of a best-effort workload
}

const actionFormat = 1

// yielding is a node a best-effort workload left for another one's sake.
type yielding struct {
	Node  cluster.NodeID     `json:"node"`
	For   cluster.WorkloadID `json:"for"`
	At    time.Time          `json:"at"`
	Share float64            `json:"share"` // of its target that the other one reached then
}

// Actions returns what adaptation did to a workload, or would not do, oldest first.
func (b Book) Actions(ctx context.Context, w cluster.WorkloadID) ([]cluster.ActionRecord, error) {
	doc, err := b.actions(ctx, w)
	return doc.Actions, err
}

func (b Book) actions(ctx context.Context, w cluster.WorkloadID) (actions, error) {
	doc, err := get[actions](ctx, b.Store, pathOf(actionPrefix, w.String()))
	if errors.Is(err, cluster.ErrNoRecord) {
		return actions{Workload: w}, nil
	}
	return doc, err
}

// changeActions reads, changes and writes the document of one workload.
func (b Book) changeActions(ctx context.Context, w cluster.WorkloadID, change func(*actions)) (actions, error) {
	doc, err := b.actions(ctx, w)
	if err != nil {
		return doc, err
	}
	change(&doc)
	doc.Format, doc.Workload = actionFormat, w
	if n := len(doc.Actions); n > maxActions {
		doc.Actions = doc.Actions[n-maxActions:]
	}
	return doc, put(ctx, b.Store, pathOf(actionPrefix, w.String()), doc)
}
