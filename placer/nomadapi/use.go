package nomadapi

import (
	"context"
	"net/url"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// How often Nomad is asked what an allocation takes: its client counts by the second,
// and pages show it by the minute. What has just started takes less than it will, so
// that the first answers are soon old.
const (
	useEvery      = 15 * time.Second
	useEverySoon  = 5 * time.Second
	useSoonAtMost = 6 // times
)

// allocStats are the parts of a client's answer that are looked at: the sums of the
// control groups of an allocation's tasks.
type allocStats struct {
	ResourceUsage *struct {
		CpuStats *struct {
			TotalTicks    float64 // MHz
			ThrottledTime float64 // ns
		}
		MemoryStats *struct {
			Usage, RSS float64 // bytes; one or the other, by the version of control groups
		}
	}
}

// askUse asks what an allocation takes, once in a while. A client that does not
// publish it is no error: it is unknown then.
func (w *World) askUse(ctx context.Context, k *followed, a observedStub) {
	now := w.clock.Now()
	pause := useEvery
	if k.asks < useSoonAtMost {
		pause = useEverySoon
	}
	if now.Sub(k.asked) < pause {
		return
	}
	k.asks++
	k.asked, k.use = now, nil
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	var stats allocStats
	q := (&api.QueryOptions{Namespace: a.Namespace}).WithContext(ctx)
	_, err := w.nomad.api.Raw().Query("/v1/client/allocation/"+url.PathEscape(a.ID)+"/stats", &stats, q)
	u := stats.ResourceUsage
	if err != nil || u == nil || u.CpuStats == nil || u.MemoryStats == nil {
		return
	}
	k.use = &cluster.Use{
		At: now, CPUMHz: u.CpuStats.TotalTicks, MemoryBytes: max(u.MemoryStats.Usage, u.MemoryStats.RSS), ThrottledTimeNs: u.CpuStats.ThrottledTime,
	}
}
