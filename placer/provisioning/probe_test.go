package provisioning_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/provisioning"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// kernels is a Prober: on noisy nodes every kernel does half of what it does on others.
type kernels struct {
	takes time.Duration
	noisy map[cluster.NodeID]bool
	fails error

	mu    sync.Mutex
	asked []cluster.KernelRequest
	shown map[cluster.NodeID]cluster.NodeQuality
}

func (k *kernels) KernelSpeeds(ctx context.Context, r cluster.KernelRequest) (map[interference.Source]float64, error) {
	k.mu.Lock()
	k.asked = append(k.asked, r)
	k.mu.Unlock()
	select {
	case <-time.After(k.takes):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if k.fails != nil {
		return nil, k.fails
	}
	out := map[interference.Source]float64{}
	for _, s := range r.Sources {
		out[s] = 100
		if k.noisy[r.Node.ID] {
			out[s] = 50
		}
	}
	return out, nil
}

func (k *kernels) ShowQuality(_ context.Context, n cluster.NodeID, q cluster.NodeQuality) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.shown == nil {
		k.shown = map[cluster.NodeID]cluster.NodeQuality{}
	}
	k.shown[n] = q
	return nil
}

// burst sends a job that tolerates 40 % to a rented node and returns where it went, after how long, and the report then.
func burst(t *testing.T, r *provisioning.Room, w *world, job string) (cluster.Rental, time.Duration, provision.Report) {
	t.Helper()
	began := time.Now()
	for {
		_, rental := ask(t, r, w, job, 40)
		if rental.Side != cluster.SideWaits || time.Since(began) > time.Hour {
			report, err := r.Report(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return rental, time.Since(began), report
		}
		pass(t, r)
		time.Sleep(provisioning.Every)
	}
}

// A node that came is measured before it gets its job; the one on which others press is gone as soon as
// its job has ended, the quiet one is kept.
func TestANoisyNodeIsNeverRetained(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, p, k := &world{}, &provider{takes: 15 * time.Second}, &kernels{takes: 5 * time.Second, noisy: map[cluster.NodeID]bool{"burst-1": true}}
		r := newRoom(t, w, p, func(c *provisioning.Config) { c.Prober = k })
		w.run("first", "own")
		for i, job := range []string{"second", "third"} {
			rental, took, _ := burst(t, r, w, job)
			if want := cluster.NodeID([]string{"burst-0", "burst-1"}[i]); rental.Node != want {
				t.Fatalf("%s: %+v", job, rental)
			}
			if took < 20*time.Second || took > 30*time.Second {
				t.Errorf("%s waited %s: a spin-up of 15 s and a measurement of 5 s", job, took)
			}
			w.run(job, string(rental.Node))
			pass(t, r)
		}
		if q, ok := k.shown["burst-1"]; !ok || q.OutsidePercent[columns[0]] != 50 || q.Quality > 0.51 {
			t.Errorf("shown of the noisy node: %+v", k.shown)
		}
		for _, a := range k.asked {
			if len(a.Sources) != len(columns) || !strings.HasPrefix(a.ID, "probe-burst-") || a.Within <= 0 {
				t.Errorf("%+v", a)
			}
		}
		w.end("burst-0")
		w.end("burst-1")
		for range 20 {
			time.Sleep(provisioning.Every)
			pass(t, r)
		}
		last := p.asked[len(p.asked)-1]
		if last.Count != 1 || len(last.Leave) != 1 || last.Leave[0] != "burst-1" {
			t.Errorf("%+v", p.asked)
		}
		r.Stop()
	})
}

// Whatever goes wrong with a measurement, the job gets its node within the budget, and the report says
// that its quality is not known.
func TestMeasurementsThatFail(t *testing.T) {
	t.Parallel()
	for name, k := range map[string]*kernels{
		"no driver": {fails: errors.New("no node has the ibench driver and lets it profile")}, "too slow": {takes: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w, p := &world{}, &provider{takes: 15 * time.Second}
				ctx, cancel := context.WithCancel(t.Context())
				r := newRoom(t, w, p, func(c *provisioning.Config) { c.Prober = canceller{k, ctx} })
				w.run("first", "own")
				rental, took, report := burst(t, r, w, "second")
				if rental.Node != "burst-0" || took > 40*time.Second {
					t.Errorf("%+v after %s", rental, took)
				}
				if len(report.Nodes) != 1 || !strings.Contains(report.Nodes[0].Why, "quality is not known") {
					t.Errorf("%+v", report.Nodes)
				}
				cancel()
				r.Stop()
			})
		})
	}
}

// canceller ends what takes long with a context of the test's.
type canceller struct {
	*kernels
	ctx context.Context
}

func (c canceller) KernelSpeeds(_ context.Context, r cluster.KernelRequest) (map[interference.Source]float64, error) {
	return c.kernels.KernelSpeeds(c.ctx, r)
}

func TestProbesSwitchedOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, p, k := &world{}, &provider{takes: 15 * time.Second}, &kernels{}
		r := newRoom(t, w, p, func(c *provisioning.Config) { c.Prober, c.NoProbes = k, true })
		w.run("first", "own")
		if rental, _, _ := burst(t, r, w, "second"); rental.Node != "burst-0" || len(k.asked) != 0 {
			t.Errorf("%+v, %+v", rental, k.asked)
		}
		r.Stop()
	})
}
