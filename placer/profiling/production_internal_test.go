package profiling

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// oneNode is a world with a node.
type oneNode struct{ jobsOnly }

func (*oneNode) Snapshot(context.Context) (*cluster.Snapshot, error) {
	return &cluster.Snapshot{Nodes: []*cluster.Node{{ID: "id-a", Name: "a", Configuration: "fast"}}}, nil
}

var taught = []interference.Source{interference.MemoryBandwidth, interference.LLCCapacity}

// labWith a store, for a namespace's words.
func labWith(t *testing.T, st store.Store, sharing profile.Sharing) (*Lab, *Estimator) {
	t.Helper()
	l, e := New(Config{World: &oneNode{}, Store: st, Clock: bubbleClock{}, Columns: taught, Training: shippedRows(), Sharing: sharing, KeepFor: 24 * time.Hour, KeepPerJob: 5})
	if err := e.Refit(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l, e
}

func scored(v float64) interference.Estimate {
	return interference.Estimate{Score: interference.Percent(v), Low: interference.Percent(max(0, v-3)), High: interference.Percent(min(100, v+3)), Origin: interference.Measured}
}

func shippedRows() []profile.Profile {
	var out []profile.Profile
	for i := range 20 {
		v := 40 + 2*float64(i)
		p := profile.Profile{Format: profile.Format, Key: fmt.Sprint("row", i), Workload: "shipped/row/row", SlowdownMax: 5}
		p.Sensitivity.Tolerated = interference.Scores{taught[0]: scored(v), taught[1]: scored(v - 10)}
		p.Sensitivity.Caused = interference.Scores{taught[0]: scored(90 - v), taught[1]: scored(85 - v)}
		out = append(out, p)
	}
	return out
}

// taughtBy is what the running allocations of a workload say: it tolerates nothing, whatever
// others of its kind do.
func taughtBy(workload, key string) profile.Production {
	said := profile.Production{
		Format: profile.ProductionFormat, Key: key, Workload: workload, Since: time.Unix(1e9, 0), Updated: time.Unix(1e9, 0), SlowdownMax: 5, Counted: 50,
		Tolerated: profile.Likelihoods{}, Caused: profile.Likelihoods{},
	}
	for _, s := range taught {
		own := make([]float64, profile.LikelihoodLevels*profile.LikelihoodResponses)
		for i := range own {
			own[i] = max(-12, -float64(i/profile.LikelihoodResponses))
		}
		caused := make([]float64, profile.LikelihoodLevels)
		for i := range caused {
			caused[i] = max(-12, float64(i+1-len(caused)))
		}
		said.Tolerated[s], said.Caused[s] = profile.Likelihood{Own: own, Experiments: 20}, profile.Likelihood{Own: caused, Experiments: 20}
	}
	return said
}

func teach(t *testing.T, st store.Store, namespace string, n int) {
	t.Helper()
	for i := range n {
		said := taughtBy(fmt.Sprintf("%s/job%d/group", namespace, i), fmt.Sprintf("%s%d", namespace, i))
		if _, err := (store.Productions{Store: st}).Put(t.Context(), said, store.Any); err != nil {
			t.Fatal(err)
		}
	}
}

// mine is a workload of which one score is measured.
func mine() *profile.Profile {
	p := profile.Profile{Format: profile.Format, Key: "mine", Workload: "victim/job/group", SlowdownMax: 5}
	p.Sensitivity.Tolerated = interference.Scores{taught[0]: scored(60)}
	p.Sensitivity.Caused = interference.Scores{taught[0]: scored(30)}
	return &p
}

// TestWhatProductionTeachesStaysInItsNamespace: whatever the jobs of another tenant say while
// they run, no prediction for this one is any different, unless the operator says so.
func TestWhatProductionTeachesStaysInItsNamespace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, checkWhatProductionTeachesStaysInItsNamespace) // a fit takes no time of the clock that it is waited for by
}

func checkWhatProductionTeachesStaysInItsNamespace(t *testing.T) {
	st := mem.New()
	teach(t, st, "hostile", 40)
	_, without := labWith(t, mem.New(), profile.Sharing{})
	want := without.Classify("victim", "mine", mine()).Sensitivity
	_, with := labWith(t, st, profile.Sharing{})
	if got := with.Classify("victim", "mine", mine()).Sensitivity; !reflect.DeepEqual(got, want) {
		t.Errorf("with what another tenant's jobs said\n%v\nwithout\n%v", got, want)
	}
	// The very key of the other tenant: a job that names it reads nothing.
	if got, want := with.Classify("victim", "hostile0", mine()).Sensitivity, want; !reflect.DeepEqual(got, want) {
		t.Errorf("under the other tenant's key\n%v\nwant\n%v", got, want)
	}
	for name, sharing := range map[string]profile.Sharing{"all": {All: true}, "these two": {Between: []string{"hostile", "victim"}}} {
		_, shared := labWith(t, st, sharing)
		if got := shared.Classify("victim", "mine", mine()).Sensitivity; reflect.DeepEqual(got, want) {
			t.Errorf("the operator shares between %s, and nothing is learnt of what is shared", name)
		}
	}
}

// TestWhatIsForgottenTeachesNobody: an operator deletes it from the store, and within a pass it
// is as if it had never been.
func TestWhatIsForgottenTeachesNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, checkWhatIsForgottenTeachesNobody) // a fit takes no time of the clock that it is waited for by
}

func checkWhatIsForgottenTeachesNobody(t *testing.T) {
	st := mem.New()
	_, fresh := labWith(t, mem.New(), profile.Sharing{})
	want := fresh.Classify("team", "mine", mine()).Sensitivity
	teach(t, st, "team", 20)
	p := *mine()
	p.Key, p.Workload, p.Sensitivity.Tolerated = "other", "team/other/group", interference.Scores{taught[0]: scored(1), taught[1]: scored(99)}
	if _, err := (store.Profiles{Store: st}).Put(t.Context(), p, store.Any); err != nil {
		t.Fatal(err)
	}
	l, e := labWith(t, st, profile.Sharing{})
	if got := e.Classify("team", "mine", mine()).Sensitivity; reflect.DeepEqual(got, want) {
		t.Fatal("nothing was learnt, so nothing can be forgotten")
	}
	for _, path := range []string{"production", "profile"} {
		paths, err := st.List(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range paths {
			if err := st.Delete(t.Context(), at); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := l.DropForgotten(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := e.Classify("team", "mine", mine()).Sensitivity; !reflect.DeepEqual(got, want) {
		t.Errorf("after it was forgotten\n%v\nwant\n%v", got, want)
	}
}

// TestProductionExpires with what an unused profile does.
func TestProductionExpires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(1000 * time.Hour) // a year in which documents may be written
		st := mem.New()
		for key, age := range map[string]time.Duration{"old": 48 * time.Hour, "used": 48 * time.Hour, "young": time.Hour} {
			said := taughtBy("team/"+key+"/group", key)
			said.Updated = time.Now().Add(-age)
			if _, err := (store.Productions{Store: st}).Put(t.Context(), said, store.Any); err != nil {
				t.Fatal(err)
			}
		}
		l, _ := New(Config{World: &jobsOnly{keys: []string{"used"}}, Store: st, Clock: bubbleClock{}, KeepFor: 24 * time.Hour, KeepPerJob: 5})
		if err := l.Expire(t.Context()); err != nil {
			t.Fatal(err)
		}
		keys, err := store.Productions{Store: st}.Keys(t.Context())
		if err != nil || len(keys) != 2 || keys[0] != "used" || keys[1] != "young" {
			t.Errorf("left are %v, %v", keys, err)
		}
	})
}
