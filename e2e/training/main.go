// Command training measures the rows of the shipped training set: each
// application against every source that has a kernel, and alone on every node
// configuration of the demo cluster. It is resumable: a row that exists is not
// measured again. Run it on a machine that does nothing else.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/nomad-placer/nomad-placer/driver/ibench"
	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/rig"
	placer "github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
	"github.com/nomad-placer/nomad-placer/profiler/profile"
	"github.com/nomad-placer/nomad-placer/profiler/store"
)

const (
	runID = "training"
	// secondsPerSource is enough for an interval of about ten points on a quiet
	// machine (profiler's own simulations at 1 % noise).
	secondsPerSource = 10
	aloneSeconds     = 8
	runOverhead      = 12 // starting and stopping a copy
)

func main() {
	cluster.Reexec()
	bin := flag.String("bin", "bin", "folder of the product's binaries")
	demo := flag.String("demo", "e2e/demo/jobs", "folder of the demo's jobs, which are measured too")
	rows := flag.String("rows", "profiler/training/rows", "folder the rows are written to")
	port := flag.Int("port", 17900, "first of the ports used, all on 127.0.0.1")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *bin, *demo, *rows, *port); err != nil {
		fmt.Fprintln(os.Stderr, "training:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, bin, demo, rows string, port int) (err error) {
	if err := cluster.Clean(ctx, runID); err != nil {
		return err
	}
	r, err := rig.Start(ctx, rig.Options{Bin: bin, BasePort: port, RunID: runID})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Stop(context.WithoutCancel(ctx))) }()
	if err := r.CreateHoldPool(); err != nil {
		return err
	}
	apps, err := applications(r, demo)
	if err != nil {
		return err
	}
	left := missing(apps, rows)
	for i, app := range left {
		remaining := time.Duration(len(left)-i) * secondsOf(r) * time.Second
		fmt.Printf("[%d/%d, about %s to go] %s\n", i+1, len(left), remaining, app.id)
		row, err := measure(ctx, r, app)
		if err != nil {
			return fmt.Errorf("%s: %w", app.id, err)
		}
		if err := write(filepath.Join(rows, app.id+".json"), row); err != nil {
			return err
		}
	}
	return nil
}

func secondsOf(r *rig.Rig) time.Duration {
	others := r.Clients() - 1
	return time.Duration(len(sources())*secondsPerSource + runOverhead + others*(aloneSeconds+runOverhead))
}

func sources() []interference.Source {
	var out []interference.Source
	for _, k := range ibench.Kernels() {
		out = append(out, k.Source)
	}
	return out
}

func missing(apps []application, rows string) []application {
	var out []application
	for _, a := range apps {
		if _, err := os.Stat(filepath.Join(rows, a.id+".json")); err != nil {
			out = append(out, a)
		}
	}
	return out
}

// measure holds the application's job, so that Nomad and the placer's reader
// describe it, and profiles it on the first node against every source and on
// the others alone.
func measure(ctx context.Context, r *rig.Rig, app application) (profile.Profile, error) {
	if err := app.submit(); err != nil {
		return profile.Profile{}, err
	}
	defer func() {
		if err := r.Purge(context.WithoutCancel(ctx), app.id); err != nil {
			fmt.Fprintln(os.Stderr, "training:", err)
		}
	}()
	job, err := r.World.Job(ctx, placer.JobID{Namespace: "default", ID: app.id})
	if err != nil {
		return profile.Profile{}, err
	}
	if len(job.Workloads) != 1 {
		return profile.Profile{}, fmt.Errorf("want one group with a performance block: %v", job.Problems)
	}
	snapshot, err := r.World.Snapshot(ctx)
	if err != nil {
		return profile.Profile{}, err
	}
	var merged profile.Profile
	for i := range r.Clients() {
		node := nodeNamed(snapshot, r.Client(i).Name)
		if node == nil {
			return merged, fmt.Errorf("node %s is not in the cluster", r.Client(i).Name)
		}
		request := placer.ProfileRequest{
			ID: fmt.Sprintf("training-%s-%d", app.id, i), Job: job, Workload: job.Workloads[0], Node: *node,
			Seconds: aloneSeconds, Deadline: time.Now().Add(10 * time.Minute),
		}
		if i == 0 {
			request.Sources, request.Seconds = sources(), len(sources())*secondsPerSource
		}
		p, err := r.World.Profile(ctx, request)
		if err != nil {
			return merged, fmt.Errorf("on %s: %w", node.Name, err)
		}
		if i == 0 {
			merged = p
			continue
		}
		if merged, err = store.Merge(merged, p); err != nil {
			return merged, err
		}
	}
	// The interference run is the provenance; a node's ID means nothing elsewhere.
	merged.Machine.NodeID = ""
	return merged, nil
}

func nodeNamed(s *placer.Snapshot, name string) *placer.Node {
	for _, n := range s.Nodes {
		if n.Name == name {
			return n
		}
	}
	return nil
}

// write makes the file whole or not at all.
func write(path string, row profile.Profile) error {
	data, err := json.MarshalIndent(row, "", "  ")
	if err != nil {
		return err
	}
	temporary := path + ".new"
	if err := os.WriteFile(temporary, append(data, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}
