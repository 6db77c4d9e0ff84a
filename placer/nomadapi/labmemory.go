package nomadapi

import (
	"context"
	"net/url"
	"time"

	"github.com/hashicorp/nomad/api"
)

// memoryEvery is how often the memory of a profiled copy is read: clients collect
// it once a second by default.
const memoryEvery = time.Second

// taskMemory is the part of a task's statistics that is looked at, in bytes. Which
// fields a driver fills depends on the driver and on the version of control groups.
type taskMemory struct{ RSS, Cache, Swap, Usage uint64 }

// used is what the task cannot do without: its pages less the page cache.
func (m taskMemory) used() uint64 {
	if m.RSS > 0 {
		return m.RSS + m.Swap
	}
	return max(m.Usage, m.Cache) - m.Cache + m.Swap
}

// watchMemory keeps the most memory that the sized task was seen to use. A reading
// that fails is no reason to end the run; without any the peak is unknown.
func (l *labRun) watchMemory(ctx context.Context, allocID string) {
	task := l.request.Workload.Sizable.Task
	now := l.w.clock.Now()
	if task == "" || len(l.request.Workload.Spec.Scale.MemoryMB) == 0 || now.Sub(l.memoryRead) < memoryEvery {
		return
	}
	l.memoryRead = now
	var stats struct {
		Tasks map[string]struct {
			ResourceUsage struct{ MemoryStats taskMemory }
		}
	}
	_, err := l.w.nomad.get(ctx, "/v1/client/allocation/"+url.PathEscape(allocID)+"/stats", api.QueryOptions{Namespace: l.id.Namespace}, &stats)
	if err != nil {
		l.w.log.Debug("memory of a profiled copy not read", "run", l.request.ID, "error", err)
		return
	}
	used := stats.Tasks[task].ResourceUsage.MemoryStats.used()
	l.memoryPeakMB = max(l.memoryPeakMB, float64(used)/(1<<20))
}
