package placement

import (
	"math"
	"strings"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/placer/profiling"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// What a workload causes on the network is told by its captured traffic, unless it was measured.
func TestCapturedTrafficTellsWhatIsCaused(t *testing.T) {
	t.Parallel()
	columns := []interference.Source{interference.NetworkBandwidth, interference.Integer}
	captured := func(sent, received, link float64) func(cluster.WorkloadID) (cluster.Exchanged, bool) {
		return func(id cluster.WorkloadID) (cluster.Exchanged, bool) {
			return cluster.Exchanged{SentBytesPerSec: sent, ReceivedBytesPerSec: received, Basis: "in the same hour a day before", LinkMbitPerSec: link}, id.Job == "web"
		}
	}
	for name, c := range map[string]struct {
		exchanged func(cluster.WorkloadID) (cluster.Exchanged, bool)
		job       string
		origin    interference.Origin // of what was known before
		count     int
		points    float64
		want      interference.Origin
	}{
		"half of a link, by two":       {captured(125e6, 5e6, 1000), "web", interference.Assumed, 2, 50, interference.Captured},
		"it receives more":             {captured(1e6, 25e6, 1000), "web", interference.Predicted, 1, 20, interference.Captured},
		"more than the link":           {captured(500e6, 0, 1000), "web", interference.Assumed, 1, 100, interference.Captured},
		"measured":                     {captured(125e6, 0, 1000), "web", interference.Measured, 1, 10, interference.Measured},
		"nothing captured of it":       {captured(125e6, 0, 1000), "other", interference.Assumed, 1, 10, interference.Assumed},
		"nothing captured of anything": {nil, "web", interference.Assumed, 1, 10, interference.Assumed},
	} {
		w := clustertest.Workload(c.job)
		w.Count = c.count
		before := clustertest.Sensitivity(columns, []float64{60, 60}, []float64{10, 30})
		e := before.Caused[interference.NetworkBandwidth]
		e.Origin = c.origin
		before.Caused[interference.NetworkBandwidth] = e
		k := profiling.Known{Workload: *w, Knowledge: cluster.Knowledge{Sensitivity: before}}
		got := New(Config{Exchanged: c.exchanged}).withCaptured(k).Knowledge.Sensitivity.Caused
		found := got[interference.NetworkBandwidth]
		if points, known := found.Score.Percent(); !known || math.Abs(points-c.points) > 1e-9 || found.Origin != c.want {
			t.Errorf("%s: %s, %s; want %g, %s", name, found.Score, found.Origin, c.points, c.want)
		}
		if c.want == interference.Captured && !(strings.Contains(found.Note, "in the same hour a day before") && strings.Contains(found.Note, "of a link of")) {
			t.Errorf("%s: it says %q", name, found.Note)
		}
		if got[interference.Integer].Score != interference.Percent(30) || before.Caused[interference.NetworkBandwidth].Origin != c.origin {
			t.Errorf("%s: something else changed: %+v, before %+v", name, got, before.Caused)
		}
	}
}

// The record has it, and says where it is from.
func TestTheRecordHasWhatWasCaptured(t *testing.T) {
	t.Parallel()
	d := decideNear(t, twoRacks(), Config{Exchanged: func(cluster.WorkloadID) (cluster.Exchanged, bool) {
		return cluster.Exchanged{SentBytesPerSec: 5e6, Basis: "in the same hour a week before", LinkMbitPerSec: 1000}, true
	}})
	e := d.Sensitivity.Caused[interference.NetworkBandwidth]
	if points, _ := e.Score.Percent(); math.Abs(points-4) > 1e-9 || e.Origin != interference.Captured || !strings.Contains(e.Note, "4 % of a link of 1,000 Mbit/s") {
		t.Errorf("%+v", e)
	}
}
