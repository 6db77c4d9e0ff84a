// Package throttle bounds what the tasks of allocations read from and write to the disk of
// their node, by control groups.
//
//	keeper := throttle.New(throttle.Config{Tree: throttle.Detect("/sys/fs/cgroup", "/proc"), …})
//	err := keeper.Run(ctx, after) // nothing is bounded any more when it returns
//
// A limit is of one group and one disk: so many bytes per second read, and as many written,
// for the kernel has no limit of both together. Control groups of version 2 have io.max, which
// also bounds what the page cache writes for the group; those of version 1 have
// blkio.throttle.{read,write}_bps_device, which bound what goes past the page cache only, and
// a group and not those inside it.
//
// # Which groups
//
// Nomad's own drivers name a task's group ALLOCATION.TASK. Under version 1 raw_exec has its
// processes in no group of the blkio hierarchy: they are moved into one of ours, inside that in
// which they were, and moved back when the limit ends. Docker names its groups after
// containers: whose one is follows from what is mounted into the first process of it, which is
// the allocation's directory.
//
// # Whose limits
//
// A group that has a limit of ours has a mark with the numbers that were written, an extended
// attribute (xattr(7)) that only root can write: it is there as long as the group is, whatever
// happens to the agent. A limit that is not in the mark is somebody else's: it is neither
// changed nor removed. Groups that we made are known by their names.
package throttle
