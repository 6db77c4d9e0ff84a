package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hashicorp/nomad/api"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/command"
	"github.com/nomad-placer/nomad-placer/placer/consolidate"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/blockio"
)

func consolidateRecordCommand() *command.Command {
	return &command.Command{
		Name: "consolidate record", Synopsis: "Record what the allocations of this node move to and from disks",
		About: "Adds a row to a table for each allocation of this node and each 30 minutes: the mean of what it read from and wrote to devices, by the kernel's accounts of its processes. Run it on every node, as root; the tables of all nodes are what consolidate plan predicts from, best of seven days. " +
			"Writes through the page cache count when they are made. Allocations are known by the names of their control groups, and their jobs by Nomad; those of Docker are not seen, for it names its groups otherwise. Interrupt it at any time.",
		Example: "nomad-placer consolidate record -o /var/lib/placer/use-$(hostname).csv",
		Setup: func(f *flag.FlagSet) command.Runner {
			var c useRecord
			c.nomad.add(f)
			c.out.Add(f)
			f.StringVar(&c.output, "o", "", "Add to the table in this `file`, which is made if need be; - is the standard output.")
			f.DurationVar(&c.every, "every", consolidate.PaperRules().Interval, "How long a row's mean is over: this `time`, or less at the begin and at the end.")
			f.DurationVar(&c.sample, "sample", 10*time.Second, "How often accounts are read, as `time`: what a process moved that nobody waited for is lost when it ends.")
			f.DurationVar(&c.length, "for", 0, "How long to record, as `time`; 0 is until it is interrupted.")
			return func(ctx context.Context, s *command.Shell, _ []string) error {
				switch {
				case c.output == "":
					return command.UsageError("-o names the table")
				case c.sample < 100*time.Millisecond || c.every < c.sample:
					return command.UsageError("-sample is at least 100ms, and no longer than -every")
				case c.length < 0:
					return command.UsageError("-for is not negative")
				}
				return c.run(ctx, s)
			}
		},
	}
}

// useRecord is one run of the command with its flags.
type useRecord struct {
	nomad         nomadFlags
	out           command.OutputFlags
	output        string
	every, sample time.Duration
	length        time.Duration
}

// useRecordReport is what -json prints.
type useRecordReport struct {
	Rows        int    `json:"rows"`
	Allocations int    `json:"allocations"` // the most at a time
	Written     string `json:"written"`
}

func (c *useRecord) run(ctx context.Context, s *command.Shell) error {
	client, err := c.nomad.client()
	if err != nil {
		return err
	}
	table, err := openCaptured(s, c.output, consolidate.UsesHeader(), "consolidate record")
	if err != nil {
		return err
	}
	defer table.close()
	r := useRecordReport{Written: c.output}
	if err := c.record(ctx, s, newUseMeter(cgroupRoot, workloadsIn(client)), table, &r); err != nil {
		return err
	}
	to := s.Out
	if c.output == "-" {
		to = s.Err
	}
	return c.out.PrintTo(s, to, r, func(p *command.Page) {
		p.Line(command.Text(fmt.Sprintf("%s of up to %s at a time were written to %s.", wording.Count(r.Rows, "row"), wording.Count(r.Allocations, "allocation"), outputText(c.output))))
	})
}

// record samples until the time is over or the command is interrupted; rows are written at the
// end of each interval, and of what was begun of the last one.
func (c *useRecord) record(ctx context.Context, s *command.Shell, meter *useMeter, table *captured, r *useRecordReport) error {
	begun := s.Now()
	end := begun.Truncate(c.every).Add(c.every)
	for {
		now := s.Now()
		if err := meter.read(ctx, now); err != nil {
			return err
		}
		over := ctx.Err() != nil || (c.length > 0 && now.Sub(begun) >= c.length)
		if over || !now.Before(end) {
			uses := meter.uses(now, earlier(now, end))
			if err := consolidate.WriteUses(&table.text, uses); err != nil {
				return err
			}
			if err := table.flush(); err != nil {
				return err
			}
			r.Rows += len(uses)
			r.Allocations = max(r.Allocations, len(uses))
			end = now.Truncate(c.every).Add(c.every)
		}
		if over {
			return nil
		}
		wait := min(c.sample, end.Sub(now))
		if c.length > 0 {
			wait = min(wait, c.length-now.Sub(begun))
		}
		select {
		case <-ctx.Done():
		case <-s.After(wait):
		}
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// useMeter adds up what allocations move.
type useMeter struct {
	root string // of control groups
	// workload is that of an allocation; false where Nomad knows none of that id.
	workload func(ctx context.Context, id string) (cluster.WorkloadID, bool, error)
	known    map[string]*metered // by id
}

// metered is one allocation.
type metered struct {
	workload cluster.WorkloadID
	is       bool // an allocation
	since    time.Time
	last     int64 // bytes when it was read last
	moved    int64 // bytes since
	there    bool  // when it was read last
}

func newUseMeter(root string, workload func(context.Context, string) (cluster.WorkloadID, bool, error)) *useMeter {
	return &useMeter{root: root, workload: workload, known: map[string]*metered{}}
}

// read takes the accounts as they are now. A new allocation counts from here on.
func (u *useMeter) read(ctx context.Context, now time.Time) error {
	groups, err := blockio.Allocations(u.root)
	if err != nil {
		return err
	}
	for _, m := range u.known {
		m.there = false
	}
	for id, of := range groups {
		m := u.known[id]
		if m == nil {
			w, is, err := u.workload(ctx, id)
			if err != nil {
				continue // Nomad did not answer: it is asked again
			}
			m = &metered{workload: w, is: is}
			u.known[id] = m
		}
		m.there = true
		if !m.is {
			continue
		}
		bytes, err := blockio.BytesMoved(of)
		if err != nil {
			return captureHint(err)
		}
		if m.since.IsZero() {
			m.since = now
		} else {
			m.moved += max(0, bytes-m.last)
		}
		m.last = bytes
	}
	return nil
}

// uses are the means since the last time, sorted; what is gone is forgotten.
func (u *useMeter) uses(now, end time.Time) []consolidate.Use {
	var out []consolidate.Use
	for id, m := range u.known {
		if seconds := now.Sub(m.since).Seconds(); m.is && seconds > 0 {
			out = append(out, consolidate.Use{End: end, Workload: m.workload, Allocation: id, MBPerSec: float64(m.moved) / bytesPerMB / seconds})
			m.since, m.moved = now, 0
		}
	}
	maps.DeleteFunc(u.known, func(_ string, m *metered) bool { return !m.there })
	slices.SortFunc(out, func(a, b consolidate.Use) int {
		return cmp.Or(cmp.Compare(a.Workload.String(), b.Workload.String()), cmp.Compare(a.Allocation, b.Allocation))
	})
	return out
}

// workloadsIn asks Nomad whose allocation an id is.
func workloadsIn(client *api.Client) func(context.Context, string) (cluster.WorkloadID, bool, error) {
	return func(ctx context.Context, id string) (cluster.WorkloadID, bool, error) {
		list, _, err := client.Allocations().List((&api.QueryOptions{Namespace: api.AllNamespacesNamespace, Prefix: id}).WithContext(ctx))
		if err != nil || len(list) == 0 {
			return cluster.WorkloadID{}, false, err
		}
		return cluster.WorkloadID{Namespace: list[0].Namespace, Job: list[0].JobID, Group: list[0].TaskGroup}, true, nil
	}
}
