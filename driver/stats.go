package driver

import (
	"time"

	"github.com/hashicorp/nomad/plugins/drivers/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/nomad-placer/nomad-placer/driver/cgroup"
)

// sampler turns the counters of a task's control groups into Nomad's figures.
type sampler struct {
	mhzPerCore float64 // 0 where the agent did not tell
	last       map[string]time.Duration
	lastAt     time.Time
}

// sample reads the groups. A group that went between listing and reading is
// left out; the CPU share is measured from the second sample on.
func (s *sampler) sample(taskID string, groups []cgroup.Group, now time.Time) *proto.TaskStats {
	used, memory, seen := time.Duration(0), uint64(0), map[string]time.Duration{}
	for _, g := range groups {
		u, err := g.Usage()
		if err != nil {
			continue
		}
		memory += uint64(u.MemoryBytes)
		seen[g.Path()] = u.CPU
		used += u.CPU - s.last[g.Path()]
	}
	usage := &proto.TaskResourceUsage{
		Cpu: &proto.CPUUsage{},
		Memory: &proto.MemoryUsage{
			Usage:          memory,
			MeasuredFields: []proto.MemoryUsage_Fields{proto.MemoryUsage_USAGE},
		},
	}
	if len(seen) == 0 {
		usage.Memory.MeasuredFields = nil
	}
	if elapsed := now.Sub(s.lastAt); s.last != nil && elapsed > 0 && len(seen) > 0 {
		percent := 100 * used.Seconds() / elapsed.Seconds()
		usage.Cpu.Percent = percent
		usage.Cpu.MeasuredFields = []proto.CPUUsage_Fields{proto.CPUUsage_PERCENT}
		if s.mhzPerCore > 0 {
			// Not listed as measured, as in Nomad's own drivers: it is derived.
			usage.Cpu.TotalTicks = percent / 100 * s.mhzPerCore
		}
	}
	s.last, s.lastAt = seen, now
	return &proto.TaskStats{Id: taskID, Timestamp: timestamppb.New(now), AggResourceUsage: usage}
}
