package journal

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

// ActionLog is the document of what was done to one running workload.
type ActionLog struct {
	Format    int                    `json:"format"`
	Workload  cluster.WorkloadID     `json:"workload"`
	Actions   []cluster.ActionRecord `json:"actions"`
	Evictions []Eviction             `json:"yields,omitempty"` // of a best-effort workload
}

const actionFormat = 1

// Eviction is a node a best-effort workload left for another one's sake.
type Eviction struct {
	Node  cluster.NodeID     `json:"node"`
	For   cluster.WorkloadID `json:"for"`
	At    time.Time          `json:"at"`
	Share float64            `json:"share"` // of its target that the other one reached then
}

// Actions returns what adaptation did to a workload, or would not do, oldest first.
func (b Book) Actions(ctx context.Context, w cluster.WorkloadID) ([]cluster.ActionRecord, error) {
	doc, err := b.ActionLog(ctx, w)
	return doc.Actions, err
}

// ActionLog returns the document of one workload, empty where there is none.
func (b Book) ActionLog(ctx context.Context, w cluster.WorkloadID) (ActionLog, error) {
	doc, err := get[ActionLog](ctx, b.Store, pathOf(actionPrefix, w.String()))
	if errors.Is(err, cluster.ErrNoRecord) {
		return ActionLog{Workload: w}, nil
	}
	return doc, err
}

// ChangeActions reads, changes and writes the document of one workload.
func (b Book) ChangeActions(ctx context.Context, w cluster.WorkloadID, change func(*ActionLog)) (ActionLog, error) {
	doc, err := b.ActionLog(ctx, w)
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
