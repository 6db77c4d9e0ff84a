package policy_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/classify"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/placer/policy"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
)

// The scene of the speed target: classify and select at 1,000 nodes, 15 sources
// and 1,000 training rows.
const (
	benchNodes   = 1000
	benchSources = 15
	benchRows    = 1000
)

var benchClasses = []string{"c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9", "c10"}

// benchProfiles are full rows of low rank with noise.
func benchProfiles(rng *rand.Rand, rows int, columns []interference.Source) []profile.Profile {
	var concepts [3][2]float64
	out := make([]profile.Profile, rows)
	for i := range out {
		for k := range concepts {
			concepts[k] = [2]float64{rng.Float64(), rng.Float64()}
		}
		t, c := make([]float64, len(columns)), make([]float64, len(columns))
		for j := range columns {
			t[j] = 100 - 60*concepts[j%3][0] - 5*rng.Float64()
			c[j] = 40*concepts[j%3][1] + 5*rng.Float64()
		}
		out[i] = profile.Profile{Key: fmt.Sprint(i), Isolated: map[string]profile.Measurement{}, Sensitivity: clustertest.Sensitivity(columns, t, c)}
		base := 100 + 1000*rng.Float64()
		for j, class := range benchClasses {
			v := base * (1 + 0.1*float64(j)*concepts[0][0] + 0.02*rng.Float64())
			out[i].Isolated[class] = profile.Measurement{Value: v, Low: v, High: v, Unit: "units/s", Windows: 5}
		}
	}
	return out
}

// newcomerProfile keeps two measured sources and one configuration.
func newcomerProfile(full profile.Profile, columns []interference.Source) *profile.Profile {
	p := full
	p.Sensitivity = interference.Sensitivity{Tolerated: interference.Scores{}, Caused: interference.Scores{}}
	for _, s := range columns[:2] {
		p.Sensitivity.Tolerated[s] = full.Sensitivity.Tolerated[s]
		p.Sensitivity.Caused[s] = full.Sensitivity.Caused[s]
	}
	p.Isolated = map[string]profile.Measurement{"c3": full.Isolated["c3"]}
	return &p
}

// BenchmarkClassifyAndSelect times one decision: complete a two-source profile,
// then choose among all nodes. p99 is over the iterations, in milliseconds.
func BenchmarkClassifyAndSelect(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	columns := clustertest.Columns(benchSources)
	profiles := benchProfiles(rng, benchRows, columns)
	models, err := classify.TrainingFrom(profiles).Fit(classifier(b), 1)
	if err != nil {
		b.Fatal(err)
	}
	s := clustertest.Random(rng, benchNodes, 5, benchClasses, columns)
	own := newcomerProfile(profiles[0], columns)
	for _, d := range policy.Policies() {
		b.Run(d.Name, func(b *testing.B) {
			var took []time.Duration
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				k := classify.Knowledge(own, models, columns, benchClasses)
				got, err := d.New().Place(policy.Request{
					Workload: clustertest.Workload("newcomer", clustertest.Rate(400)), JobType: "service", RunPool: clustertest.Pool,
					Knowledge: &k, Snapshot: s, Columns: columns, Seed: uint64(i),
				})
				took = append(took, time.Since(start))
				if err != nil || got.Outcome == cluster.Queued {
					b.Fatalf("%v: %s", err, got.Reason)
				}
			}
			slices.Sort(took)
			p99 := took[int(math.Ceil(0.99*float64(len(took))))-1]
			b.ReportMetric(p99.Seconds()*1000, "p99-ms")
		})
	}
}

func classifier(tb testing.TB) classify.Classifier {
	tb.Helper()
	d, err := classify.Lookup(classify.Default)
	if err != nil {
		tb.Fatal(err)
	}
	return d.New()
}
