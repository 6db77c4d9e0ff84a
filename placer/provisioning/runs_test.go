package provisioning_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/clustertest"
	"github.com/nomad-placer/nomad-placer/placer/journal"
	"github.com/nomad-placer/nomad-placer/placer/provisioning"
	"github.com/nomad-placer/nomad-placer/profiler/store"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// passes for a while, as the engine does.
func passes(t *testing.T, r *provisioning.Room, d time.Duration) {
	t.Helper()
	for range d / provisioning.Every {
		time.Sleep(provisioning.Every)
		pass(t, r)
	}
}

// What runs is noted with its beginning and its end, and with what it is used; the next leader goes on
// with the same. Of what nothing was decided on, nothing is noted, and it is counted as not measured.
func TestRunsAreNoted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		id := clustertest.Workload("first").ID
		decision := cluster.Decision{
			Workload: id, JobType: "batch", SubmittedAt: time.Now(), Outcome: cluster.Placed, Count: 1, ProfileKey: "key-first",
			Resources: cluster.Resources{CPUMHz: 5000, MemoryMB: 512}, Sensitivity: clustertest.Sensitivity(columns, []float64{90, 80}, []float64{10, 20}),
		}
		book := journal.Book{Store: mem.New()}
		notes := func(c *provisioning.Config) {
			c.Book = book
			c.Decided = func(w cluster.WorkloadID) (cluster.Decision, bool) { return decision, w == id }
			c.UsedMHz = func() map[cluster.WorkloadID]float64 { return map[cluster.WorkloadID]float64{id: 3000} }
		}
		w := &world{}
		r := newRoom(t, w, nil, notes)
		w.come("burst-9")
		w.run("stranger", "burst-9")
		time.Sleep(10 * time.Second)
		began := time.Now()
		w.run("first", "own")
		pass(t, r)
		passes(t, r, 90*time.Second)
		samples, err := r.Capacity(t.Context())
		if newest := samples[len(samples)-1]; err != nil || newest.Used == nil || *newest.Used != 1.2 || newest.Unmeasured != 1 {
			t.Errorf("%+v, %v", samples, err)
		}
		w.end("own")
		ended := time.Now()
		passes(t, r, 2*time.Minute)
		r.Stop()

		other := newRoom(t, w, nil, notes) // another leader
		passes(t, other, 2*time.Minute)
		runs, err := book.Runs(t.Context())
		if err != nil || len(runs.Runs) != 1 || runs.Unreadable != 0 {
			t.Fatalf("%+v, %v", runs, err)
		}
		got := runs.Runs[0]
		if got.Workload != id || got.Service || !got.Submitted.Equal(decision.SubmittedAt) || !got.Started.Equal(began) || !got.Gone || got.Ended.Sub(ended).Abs() > provisioning.Every {
			t.Errorf("%+v; it ran from %s to %s", got, began, ended)
		}
		if got.Cores != 2 || got.MemoryMB != 512 || runs.Programs[got.Program].Tolerated[columns[1]] != 80 || runs.Programs[got.Program].Caused[columns[0]] != 10 {
			t.Errorf("%+v of %+v", got, runs.Programs)
		}
		other.Stop()
	})
}

// A page that somebody has damaged is counted, and keeps nobody from the others; its number stays taken.
func TestDamagedRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := mem.New()
		book := journal.Book{Store: s}
		for path, text := range map[string]string{
			"provision/runs/000001": `{`, "provision/runs/000002": `{"format":99}`, "provision/runs/nonsense": `{"format":1}`,
			"provision/runs/000003": `{"format":1,"runs":[{"workload":{"namespace":"default","job":"old","group":"main"},"count":1,"cores":1,"memory_mb":64}]}`,
		} {
			if _, err := s.Put(t.Context(), path, []byte(text), store.Any); err != nil {
				t.Fatal(err)
			}
		}
		runs, err := book.Runs(t.Context())
		if err != nil || runs.Unreadable != 2 || len(runs.Runs) != 1 || !runs.Runs[0].Ended.IsZero() || runs.Runs[0].Gone {
			t.Fatalf("%+v, %v", runs, err)
		}
		w := &world{}
		id := clustertest.Workload("first").ID
		r := newRoom(t, w, nil, func(c *provisioning.Config) {
			c.Book = book
			c.Decided = func(w cluster.WorkloadID) (cluster.Decision, bool) {
				return cluster.Decision{Workload: w, Count: 1, Resources: cluster.Resources{CPUMHz: 2500, MemoryMB: 1}}, w == id
			}
		})
		w.run("first", "own")
		passes(t, r, 3*time.Minute)
		runs, err = book.Runs(t.Context())
		if err != nil || len(runs.Runs) != 2 || !runs.Runs[0].Gone || !runs.Runs[0].Ended.IsZero() || runs.Runs[1].Gone {
			t.Errorf("%+v, %v", runs, err)
		}
		r.Stop()
	})
}
