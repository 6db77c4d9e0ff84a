//go:build e2e

package placement

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/e2e/rig"
	placer "github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/nomadapi"
)

// forgetful breaks the connection after every second registration of a job took effect.
type forgetful struct {
	http.RoundTripper
	registrations atomic.Int64
}

func (f *forgetful) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := f.RoundTripper.RoundTrip(r)
	if err == nil && r.Method == http.MethodPut && f.registrations.Add(1)%2 == 0 {
		return nil, errors.Join(http.ErrHandlerTimeout, answer.Body.Close())
	}
	return answer, err
}

// TestAStopAtTheMomentOfARelease: Nomad compares the index of a registration before it
// writes, and so lets a release come over a stop that it did not know of. Each job that was
// stopped has to be stopped in the end, also where the answer to the release was lost.
func TestAStopAtTheMomentOfARelease(t *testing.T) {
	const attempts, pool = 100, "moment"
	ctx := t.Context()
	world, err := nomadapi.New(nomadapi.Options{
		Address: shared.Addr(), Token: shared.Token(), HoldPool: pool, Decode: rig.Decode, Network: &forgetful{RoundTripper: http.DefaultTransport},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := world.EnsureHoldPool(ctx); err != nil {
		t.Fatal(err)
	}
	go world.Watch(ctx)
	name := func(i int) string { return fmt.Sprintf("moment-%d", i) }
	for i := range attempts {
		stopWhileReleased(t, world, pool, name(i), time.Duration(i%40)*200*time.Microsecond)
	}
	eventually(ctx, t, "all jobs are stopped", 20*time.Second, func() bool {
		for i := range attempts {
			if job, _, err := shared.API().Jobs().Info(name(i), nil); err != nil || !*job.Stop {
				return false
			}
		}
		return true
	})
	overwritten := 0
	for i := range attempts {
		versions, _, _, err := shared.API().Jobs().Versions(name(i), false, nil)
		if err != nil {
			t.Fatal(err)
		}
		for j, v := range versions[:len(versions)-1] {
			if !*v.Stop && *versions[j+1].Stop {
				overwritten++
			}
		}
		if _, _, err := shared.API().Jobs().Deregister(name(i), true, nil); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("of %d stops Nomad had %d overwritten", attempts, overwritten)
}

// stopWhileReleased stops a job a moment after its release has begun. No node is in its
// datacenter: nothing is started.
func stopWhileReleased(t *testing.T, world *nomadapi.World, pool, id string, after time.Duration) {
	t.Helper()
	task := api.NewTask("main", "raw_exec").SetConfig("command", "/bin/true")
	job := api.NewServiceJob(id, id, "global", 50).AddTaskGroup(api.NewTaskGroup("main", 1).AddTask(task)).AddDatacenter("nowhere")
	job.NodePool = ptr(pool)
	if _, _, err := shared.API().Jobs().Register(job, nil); err != nil {
		t.Fatal(err)
	}
	released := make(chan error, 1)
	go func() {
		_, err := world.ReleaseJob(t.Context(), placer.JobID{Namespace: "default", ID: id})
		released <- err
	}()
	time.Sleep(after)
	if _, _, err := shared.API().Jobs().Deregister(id, false, nil); err != nil {
		t.Fatal(err)
	}
	<-released // however it ended: the user has the last word
}
