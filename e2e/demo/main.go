// Command demo shows the main job on a real Nomad: the same real applications
// placed by stock Nomad and by nomad-placer, on the same cluster in the same
// run, measured by the same probes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/e2e/rig"
)

// runID names the demo's cluster, so that `make clean-demo` finds it.
const runID = "demo"

func main() { cluster.Main("demo", demo) }

func demo(ctx context.Context) error {
	once := flag.Bool("once", false, "exit after the table instead of keeping the cluster up")
	clean := flag.Bool("clean", false, "remove whatever an earlier demo left behind, and exit")
	asJSON := flag.Bool("json", false, "print the table as JSON")
	bin := flag.String("bin", "bin", "folder of the product's binaries")
	jobs := flag.String("jobs", "bin/demo-jobs", "folder that the job files are written to, with what this machine is asked for")
	port := flag.Int("port", 17700, "first of the ports used, all on 127.0.0.1")
	flag.Parse()
	return run(ctx, options{*once, *clean, *asJSON, *bin, *jobs, *port})
}

type options struct {
	once, clean, asJSON bool
	bin, jobs           string
	port                int
}

func run(ctx context.Context, o options) (err error) {
	if err := cluster.Clean(ctx, runID); err != nil {
		return fmt.Errorf("cleaning up after an earlier demo: %w", err)
	}
	if o.clean {
		return nil
	}
	p := newProgress(os.Stderr, plannedSeconds)
	defer p.close()
	p.stage("starting one Nomad server and three clients, access control on", secondsStart)
	r, err := rig.Start(ctx, rig.Options{Bin: o.bin, BasePort: o.port, RunID: runID, Described: true, Preferred: true, Signed: true})
	if err != nil {
		return err
	}
	defer func() {
		p.stage("stopping the cluster", secondsStop)
		err = errors.Join(err, r.Stop(context.WithoutCancel(ctx)))
	}()
	if err := os.MkdirAll(o.jobs, 0o755); err != nil {
		return err
	}
	jobs, err := asking{r, o.jobs}.all(ctx, p)
	if err != nil {
		return err
	}
	p.stage("installing nomad-placer as a system job with its own access policy", secondsInstall)
	if err := r.InstallPlacer(ctx); err != nil {
		return err
	}
	rows, err := compare(ctx, r, jobs, p)
	if err != nil {
		return err
	}
	p.pause()
	if err := printTable(os.Stdout, rows, o.asJSON); err != nil {
		return err
	}
	if o.once {
		return nil
	}
	fmt.Printf("\nNomad UI: %s/ui\nManagement token, which Nomad's UI and the placer's pages ask for: %s\nExplain a job: NOMAD_ADDR=%s NOMAD_TOKEN=%s %s job explain %s\nCtrl-C stops everything.\n",
		r.Addr(), r.Token(), r.Addr(), r.Token(), filepath.Join(o.bin, "nomad-placer"), jobs[0].ID)
	<-ctx.Done()
	return nil
}
