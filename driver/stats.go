package driver

import (
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
	"github.com/nomad-placer/nomad-placer/driver/protocol"
)

// sampler turns the counters of a task's control groups into Nomad's figures.
type sampler struct {
	mhzPerCore float64 // 0 where the agent did not tell
	last       map[string]time.Duration
	lastAt     time.Time
}

// sample reads the groups. A group that went between listing and reading is
// left out; the CPU share is measured from the second sample on. Beside the sum
// there is one figure for each process: the task's own and its kernels'.
func (s *sampler) sample(taskID string, groups []cgroup.Group, now time.Time) *protocol.TaskStats {
	all, seen := cgroup.Usage{}, map[string]time.Duration{}
	used := time.Duration(0)
	elapsed := now.Sub(s.lastAt)
	if s.last == nil {
		elapsed = 0
	}
	each := map[string]*protocol.TaskResourceUsage{}
	for _, g := range groups {
		u, err := g.Usage()
		if err != nil {
			continue
		}
		before, known := s.last[g.Path()]
		seen[g.Path()] = u.CPU
		all.MemoryBytes += u.MemoryBytes
		used += u.CPU - before
		if pids, err := g.Pids(); err == nil && len(pids) > 0 {
			share := elapsed
			if !known {
				share = 0
			}
			each[strconv.Itoa(slices.Min(pids))] = s.usage(u.CPU-before, share, u.MemoryBytes)
		}
	}
	sum := s.usage(used, elapsed, all.MemoryBytes)
	if len(seen) == 0 {
		sum = &protocol.TaskResourceUsage{Cpu: &protocol.CPUUsage{}, Memory: &protocol.MemoryUsage{}}
	}
	s.last, s.lastAt = seen, now
	return &protocol.TaskStats{Id: taskID, Timestamp: timestamppb.New(now), AggResourceUsage: sum, ResourceUsageByPid: each}
}

// usage is the CPU time used in a period, which is unknown where that is 0, and
// the memory occupied.
func (s *sampler) usage(cpu, period time.Duration, memoryBytes int64) *protocol.TaskResourceUsage {
	out := &protocol.TaskResourceUsage{
		Cpu: &protocol.CPUUsage{},
		Memory: &protocol.MemoryUsage{
			Usage:          uint64(memoryBytes),
			MeasuredFields: []protocol.MemoryUsage_Fields{protocol.MemoryUsage_USAGE},
		},
	}
	if period <= 0 {
		return out
	}
	percent := 100 * cpu.Seconds() / period.Seconds()
	out.Cpu.Percent = percent
	out.Cpu.MeasuredFields = []protocol.CPUUsage_Fields{protocol.CPUUsage_PERCENT}
	if s.mhzPerCore > 0 {
		// Not listed as measured, as in Nomad's own drivers: it is derived.
		out.Cpu.TotalTicks = percent / 100 * s.mhzPerCore
	}
	return out
}
