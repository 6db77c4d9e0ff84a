package dashboard

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// learntView is what production has taught of a workload: the newest experiments, and the
// others.
type learntView struct {
	wording.Learnt
	Newest, Older []wording.ExperimentText
}

// newestExperiments is how many are shown without a click.
const newestExperiments = 5

func viewLearnt(l wording.Learnt) learntView {
	n := min(newestExperiments, len(l.Experiments))
	return learntView{Learnt: l, Newest: l.Experiments[:n], Older: l.Experiments[n:]}
}

// learnt is what production has taught of the workload of a decision, whose profile was
// taken then. Workloads of other namespaces are not named, whoever asks.
func (s *server) learnt(ctx context.Context, d cluster.Decision, taken time.Time) (wording.Learnt, error) {
	if d.ProfileKey == "" {
		return wording.NothingLearnt(), nil
	}
	said, err := s.records.Production(ctx, d.ProfileKey)
	switch {
	case errors.Is(err, cluster.ErrNoRecord):
		return wording.NothingLearnt(), nil
	case err != nil:
		return wording.Learnt{}, err
	}
	return wording.Production(said, taken, d.Sensitivity, d.Workload.Namespace, s.options.Now()), nil
}

func (s *server) learntJSON(r *http.Request) (any, error) {
	d, err := s.records.Decision(r.Context(), workloadOf(r))
	if err != nil {
		return nil, err
	}
	var taken time.Time
	switch p, err := s.records.Profile(r.Context(), d.ProfileKey); {
	case err == nil:
		taken = p.Taken
	case !errors.Is(err, cluster.ErrNoRecord):
		return nil, err
	}
	return s.learnt(r.Context(), d, taken)
}
