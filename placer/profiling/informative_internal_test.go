package profiling

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

func score(percent float64) interference.Estimate {
	return interference.Estimate{Score: interference.Percent(percent), Origin: interference.Measured}
}

// trainingRows: memory bandwidth and both LLC scores follow one cause, network
// bandwidth differs most and follows nothing; LLC capacity is known in one row of
// five.
func trainingRows(rows int) []profile.Profile {
	rng := rand.New(rand.NewPCG(1, 1))
	var out []profile.Profile
	for i := range rows {
		cause := rng.Float64()
		scores := interference.Scores{
			interference.MemoryBandwidth:  score(20 + 60*cause),
			interference.LLCBandwidth:     score(30 + 50*cause + rng.Float64()),
			interference.LLCCapacity:      {Note: "could not be told"},
			interference.NetworkBandwidth: score(40 + 30*rng.Float64()),
		}
		if i%5 == 0 {
			scores[interference.LLCCapacity] = score(10 + 90*cause)
		}
		out = append(out, profile.Profile{Sensitivity: interference.Sensitivity{Tolerated: scores, Caused: scores}})
	}
	return out
}

func estimatorOf(t *testing.T, rows []profile.Profile) (*learnt, classify.Training) {
	t.Helper()
	d, err := classify.Lookup(classifierName)
	if err != nil {
		t.Fatal(err)
	}
	training := classify.TrainingFrom(rows)
	models, err := training.Fit(d.New(), modelSeed)
	if err != nil {
		t.Fatal(err)
	}
	return &learnt{models: models, telling: classify.NewTelling(rows, training, models)}, training
}

// One score that tells three beats one that differs more, and one that is hardly ever
// observed; what is then left is the one that follows from nothing.
func TestInformativeSources(t *testing.T) {
	t.Parallel()
	k, training := estimatorOf(t, trainingRows(40))
	got := k.telling.Best(training.Sources, 2)
	first := []interference.Source{interference.MemoryBandwidth, interference.LLCBandwidth}
	if len(got) != 2 || !slices.Contains(first, got[0]) || got[1] != interference.NetworkBandwidth {
		t.Errorf("chose %v", got)
	}
	if got := k.telling.Best([]interference.Source{interference.TLB}, 2); len(got) != 0 {
		t.Errorf("chose %v, of which no row tells", got)
	}
	if got := (&learnt{}).telling.Best(training.Sources, 2); got != nil {
		t.Errorf("chose %v without models", got)
	}
}

// The operator's preference comes before what tells most, and after what the job
// names; what the node cannot press on is passed over.
func TestPreferredSources(t *testing.T) {
	t.Parallel()
	k, training := estimatorOf(t, trainingRows(40))
	prefer := []interference.Source{interference.LLCCapacity, interference.NetworkBandwidth, interference.LLCBandwidth}
	_, e := New(Config{SourceCount: 2, Columns: training.Sources, PreferSources: prefer})
	e.fits.put("", k)
	n := &cluster.Node{Kernels: true, Attributes: cluster.NewAttributes(map[string]string{"driver.ibench.soi.net_bw": "unsupported"})}
	got := e.chooseSources(n, cluster.Job{}, cluster.Workload{})
	if want := []interference.Source{interference.LLCCapacity, interference.LLCBandwidth}; !slices.Equal(got, want) {
		t.Errorf("chose %v, want %v", got, want)
	}
	var w cluster.Workload
	w.Spec.Profile.Sources = []interference.Source{interference.Integer}
	if got := e.chooseSources(n, cluster.Job{}, w); !slices.Equal(got, w.Spec.Profile.Sources) {
		t.Errorf("chose %v, the job names %v", got, w.Spec.Profile.Sources)
	}
}

// What counts: the default sources and those that enough rows tell, less those
// that no node can press on; the operator's where he named some.
func TestColumns(t *testing.T) {
	t.Parallel()
	rows := trainingRows(40)
	for i := range rows {
		rows[i].Sensitivity.Tolerated[interference.Vector] = score(50)
		if i < leastRows-1 {
			rows[i].Sensitivity.Tolerated[interference.TLB] = score(50)
		}
		rows[i].Sensitivity.Caused = rows[i].Sensitivity.Tolerated
	}
	node := func(unsupported ...interference.Source) *cluster.Node {
		n := &cluster.Node{Kernels: true, Attributes: cluster.NewAttributes(map[string]string{})}
		for _, s := range unsupported {
			n.Attributes = n.Attributes.With("driver.ibench.soi."+string(s), "unsupported")
		}
		return n
	}
	for name, c := range map[string]struct {
		nodes        []*cluster.Node
		asked        []interference.Source
		with, absent []interference.Source
	}{
		"no nodes":           {with: append(DefaultColumns(), interference.Vector), absent: []interference.Source{interference.TLB}},
		"one node cannot":    {nodes: []*cluster.Node{node(interference.NetworkBandwidth), node()}, with: []interference.Source{interference.NetworkBandwidth}},
		"no node can":        {nodes: []*cluster.Node{node(interference.NetworkBandwidth)}, absent: []interference.Source{interference.NetworkBandwidth}},
		"without kernels":    {nodes: []*cluster.Node{{}}, with: DefaultColumns()},
		"the operator's own": {asked: []interference.Source{interference.TLB}, with: []interference.Source{interference.TLB}, absent: DefaultColumns()},
	} {
		_, e := New(Config{Columns: c.asked})
		got := e.columnsFor(rows, &cluster.Snapshot{Nodes: c.nodes})
		for _, s := range c.with {
			if !slices.Contains(got, s) {
				t.Errorf("%s: %s does not count: %v", name, s, got)
			}
		}
		for _, s := range c.absent {
			if slices.Contains(got, s) {
				t.Errorf("%s: %s counts: %v", name, s, got)
			}
		}
	}
	if got := (&Estimator{cfg: &Config{}}).Columns(); !slices.Equal(got, DefaultColumns()) {
		t.Errorf("before the first fit: %v", got)
	}
}

// The second run goes where it tells most: c follows b, and d follows nothing, but
// varies less than both together.
func TestInformativeConfiguration(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 2))
	var rows []profile.Profile
	for range 40 {
		base, b := 10+90*rng.Float64(), 0.5+rng.Float64()
		isolated := map[string]profile.Measurement{}
		for configuration, v := range map[string]float64{
			"a": base, "b": base * b, "c": base * b * (1 + 0.01*rng.Float64()), "d": base * (0.9 + 0.2*rng.Float64()),
		} {
			isolated[configuration] = profile.Measurement{Value: v, Low: v, High: v, Unit: "units/s"}
		}
		rows = append(rows, profile.Profile{Isolated: isolated})
	}
	k, _ := estimatorOf(t, rows)
	l, e := New(Config{})
	e.fits.put("", k)
	if got := k.informativeConfiguration("a", []string{"c", "d"}); got != "c" {
		t.Errorf("chose %q", got)
	}
	if got := k.informativeConfiguration("x", []string{"c", "d"}) + k.informativeConfiguration("a", []string{"x"}); got != "" {
		t.Errorf("chose %q of what no row knows", got)
	}
	nodes := []*cluster.Node{{ID: "1", Configuration: "d"}, {ID: "2", Configuration: "c"}, {ID: "3", Configuration: "a"}, {ID: "4", Configuration: "b"}}
	s := &cluster.Snapshot{Allocations: map[cluster.NodeID][]cluster.Allocation{"4": {{ID: "x", Workload: cluster.WorkloadID{Job: "other"}}}}}
	if n := l.second(s, cluster.Workload{}, wantedRuns{}, &cluster.Node{Configuration: "a"}, nodes); n == nil || n.ID != "2" {
		t.Errorf("second run on %+v", n)
	}
	if n := l.second(s, cluster.Workload{}, wantedRuns{}, &cluster.Node{Configuration: "a"}, nodes[2:3]); n != nil {
		t.Errorf("second run on the same configuration: %+v", n)
	}
}
