package dashboard

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// maxActions is how many actions the job page shows, the newest ones.
const maxActions = 50

// jobActions adds what was done to the running job, where that is recorded.
func (s *server) jobActions(ctx context.Context, view *jobView) error {
	list, recorded, err := s.actions(ctx, view.Workload)
	if err != nil {
		return err
	}
	slices.SortStableFunc(list, func(a, b cluster.ActionRecord) int { return cmp.Compare(b.At.UnixNano(), a.At.UnixNano()) })
	view.Acting, view.Actions = recorded, list[:min(len(list), maxActions)]
	return nil
}

// actions reads them; recorded is false where these records hold none.
func (s *server) actions(ctx context.Context, w cluster.WorkloadID) (list []cluster.ActionRecord, recorded bool, err error) {
	reader, ok := s.actionRecords()
	if !ok {
		return nil, false, nil
	}
	list, err = reader.Actions(ctx, w)
	return list, true, err
}

func (s *server) actionsJSON(r *http.Request) (any, error) {
	list, _, err := s.actions(r.Context(), workloadOf(r))
	return listed(list, err)
}
