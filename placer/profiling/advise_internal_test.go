package profiling

import (
	"slices"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// advisedRequest is that of a newcomer before two nodes, of which one is under the given
// pressure on every source.
func advisedRequest(t *testing.T, e *Estimator, edit func(*cluster.Workload)) cluster.ProfileRequest {
	t.Helper()
	columns := e.Columns()
	s := clustertest.Snapshot(clustertest.Node("n1", "a"), clustertest.Node("n2", "a"))
	s.Nodes[0].Attributes = s.Nodes[0].Attributes.With("driver.ibench.soi.net_bw", "unsupported")
	resident := clustertest.Workload("resident")
	clustertest.Run(s, resident, "n1")
	scores := make([]float64, len(columns))
	for i := range scores {
		scores[i] = 60
	}
	s.Known[resident.ID] = clustertest.Sensitivity(columns, scores, scores)
	w := clustertest.Workload("newcomer", edit)
	r := cluster.ProfileRequest{Workload: *w, Node: *s.Nodes[0], Job: cluster.Job{RunPool: clustertest.Pool}, Sources: columns[:1]}
	e.advise(&r, s)
	return r
}

// A run is advised unless somebody has named the sources. What the node cannot press on is
// not offered.
func TestAdvisedRuns(t *testing.T) {
	t.Parallel()
	k, training := estimatorOf(t, trainingRows(40))
	k.rows = training
	_, e := New(Config{Columns: training.Sources, Adaptive: true})
	e.fits.put("", k)
	r := advisedRequest(t, e, func(*cluster.Workload) {})
	if r.Reviewer == nil || len(r.Further) == 0 || slices.Contains(r.Further, interference.NetworkBandwidth) || slices.Contains(r.Further, r.Sources[0]) {
		t.Fatalf("further sources %v besides %v", r.Further, r.Sources)
	}
	if r := advisedRequest(t, e, func(w *cluster.Workload) { w.Spec.Profile.Sources = r.Sources }); r.Reviewer != nil || len(r.Further) > 0 {
		t.Errorf("advised although the job names its sources: %v", r.Further)
	}
	_, named := New(Config{Columns: training.Sources, ProfileSources: r.Sources, Adaptive: true})
	named.fits.put("", k)
	if r := advisedRequest(t, named, func(*cluster.Workload) {}); r.Reviewer != nil || len(r.Further) > 0 {
		t.Errorf("advised although the operator names the sources: %v", r.Further)
	}
	_, full := New(Config{Columns: training.Sources})
	full.fits.put("", k)
	if r := advisedRequest(t, full, func(*cluster.Workload) {}); r.Reviewer != nil || len(r.Further) > 0 {
		t.Errorf("advised although runs are not adaptive: %v", r.Further)
	}
	now := profile.SoFar{Source: r.Sources[0], SourceSeconds: 3, Seconds: 8, Profile: profile.Profile{Sensitivity: interference.Sensitivity{
		Tolerated: interference.Scores{r.Sources[0]: {}}, Caused: interference.Scores{r.Sources[0]: {}},
	}}}
	advice := r.Reviewer.Review(now)
	if advice.Sources == nil {
		t.Fatal("no advice")
	}
	for _, s := range advice.Sources {
		if !slices.Contains(r.Further, s) {
			t.Errorf("advises %s, which the run was not asked for", s)
		}
	}
	if ended := r.Reviewer.Ended(); (ended != "") != (advice.Leave != "" && len(advice.Sources) == 0) || ended != "" && !strings.Contains(ended, "further measurement") {
		t.Errorf("advice %+v, ended %q", advice, ended)
	}
}
