package dashboard

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// profilesView is the list of stored profiles, by key.
type profilesView struct {
	Rows  []profileRow
	Total int
	All   int // sources there are
	Pager pager
}

type profileRow struct {
	Profile   profile.Profile
	Isolated  []aloneRow
	Sources   int           // with a score of either side
	Sensitive []sourceScore // least tolerated first
	Loud      []sourceScore // most caused first
}

type sourceScore struct {
	Source interference.Source
	Score  string
}

// worstSources is how many of a profile's sources the list names.
const worstSources = 3

func (s *server) profiles(r *http.Request) (pageView, error) {
	keys, err := s.records.Profiles(r.Context())
	if err != nil {
		return pageView{}, err
	}
	slices.Sort(keys)
	view := profilesView{Total: len(keys), All: len(interference.Sources()), Pager: paginate(r.URL.Query(), len(keys))}
	list, err := s.readProfiles(r.Context(), keys[view.Pager.From:view.Pager.To])
	if err != nil {
		return pageView{}, err
	}
	for _, p := range list {
		view.Rows = append(view.Rows, viewProfileRow(p))
	}
	slices.SortStableFunc(view.Rows, func(a, b profileRow) int { return cmp.Compare(a.Profile.Workload, b.Profile.Workload) })
	return pageView{Template: "profiles", Title: "Profiles", Data: view}, nil
}

// readProfiles reads some profiles at once. One that was deleted meanwhile is
// left out.
func (s *server) readProfiles(ctx context.Context, keys []string) ([]profile.Profile, error) {
	list, errs := make([]profile.Profile, len(keys)), make([]error, len(keys))
	var group sync.WaitGroup
	for reader := range readers {
		group.Go(func() {
			for i := reader; i < len(keys); i += readers {
				list[i], errs[i] = s.records.Profile(ctx, keys[i])
			}
		})
	}
	group.Wait()
	var out []profile.Profile
	for i, err := range errs {
		switch {
		case err == nil:
			out = append(out, list[i])
		case !errors.Is(err, cluster.ErrNoRecord):
			return nil, err
		}
	}
	return out, nil
}

func viewProfileRow(p profile.Profile) profileRow {
	row := profileRow{Profile: p, Isolated: viewAlone(p)}
	row.Sources = len(knownSources(p.Sensitivity))
	row.Sensitive = worst(p.Sensitivity.Tolerated, func(a, b float64) int { return cmp.Compare(a, b) })
	row.Loud = worst(p.Sensitivity.Caused, func(a, b float64) int { return cmp.Compare(b, a) })
	return row
}

// worst are the first known sources in an order of scores.
func worst(scores interference.Scores, order func(a, b float64) int) []sourceScore {
	var known []interference.Source
	for _, info := range interference.Sources() {
		if scores[info.Source].Score.Known() {
			known = append(known, info.Source)
		}
	}
	slices.SortStableFunc(known, func(a, b interference.Source) int { return order(scores[a].Score.Or(0), scores[b].Score.Or(0)) })
	var out []sourceScore
	for _, source := range known[:min(len(known), worstSources)] {
		out = append(out, sourceScore{source, wording.Score(scores[source])})
	}
	return out
}

// workloadOfProfile is the workload a profile names, where the name is one:
// training rows and imported profiles have other names.
func workloadOfProfile(p profile.Profile) (cluster.WorkloadID, bool) {
	parts := strings.Split(p.Workload, "/")
	if len(parts) != 3 {
		return cluster.WorkloadID{}, false
	}
	return cluster.WorkloadID{Namespace: parts[0], Job: parts[1], Group: parts[2]}, true
}
