// Command cluster runs the loopback Nomad cluster of the end-to-end tests by
// hand, and removes what dead ones left.
//
//	cluster up [-port 4646] [-acl] [-tls] [-plugins DIR] [-run NAME] [-keep]
//	cluster clean [RUN …]   without names: every run whose owner is gone
//	cluster nomad           print the path and version of the nomad in use
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
)

func main() {
	cluster.Main("cluster", func(ctx context.Context) error { return run(ctx, os.Args[1:]) })
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("usage: cluster up|clean|nomad")
	}
	switch args[0] {
	case "up":
		return up(ctx, args[1:])
	case "clean":
		return clean(ctx, args[1:])
	case "nomad":
		path, version, err := cluster.FindNomad(ctx, ".")
		if err != nil {
			return err
		}
		fmt.Println(path, version)
		return nil
	}
	return fmt.Errorf("unknown command %q: want up, clean or nomad", args[0])
}

// up runs a cluster until it is interrupted.
func up(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("up", flag.ContinueOnError)
	port := flags.Int("port", 4646, "first port; the server's HTTP API and UI")
	acl := flags.Bool("acl", false, "turn access control on")
	tls := flags.Bool("tls", false, "turn TLS on, with certificates of both sides required")
	plugins := flags.String("plugins", "", "folder of task-driver plugins")
	name := flags.String("run", "dev", "name of the run")
	keep := flags.Bool("keep", false, "keep the run's folder, with the agents' logs")
	if err := flags.Parse(args); err != nil {
		return err
	}
	config := cluster.Config{RunID: *name, BasePort: *port, ACL: *acl, TLS: *tls, KeepDir: *keep}
	var err error
	if *plugins != "" {
		if config.PluginDir, err = filepath.Abs(*plugins); err != nil {
			return fmt.Errorf("plugin folder: %w", err)
		}
	}
	cpus, err := cluster.AllowedCPUs(os.Getpid())
	if err != nil {
		return err
	}
	config.Clients = cluster.Topology(cpus)
	start := time.Now()
	c, err := cluster.Start(ctx, config)
	if err != nil {
		return err
	}
	describe(c, time.Since(start))
	<-ctx.Done()
	fmt.Println("stopping")
	return c.Stop(context.WithoutCancel(ctx))
}

func describe(c *cluster.Cluster, took time.Duration) {
	fmt.Printf("ready after %.1f s; folder %s\n", took.Seconds(), c.Dir())
	for i := range c.Clients() {
		node := c.Client(i)
		speed := "full speed"
		if node.CPUQuota > 0 {
			speed = fmt.Sprintf("%.0f %% of the CPU time (emulated)", node.CPUQuota*100)
		}
		fmt.Printf("  %-8s class %-8s CPUs %v, %s\n", node.Name, node.Class, node.CPUs, speed)
	}
	fmt.Printf("\n  UI    %s/ui\n\n  export NOMAD_ADDR=%s\n", c.Addr(), c.Addr())
	if c.Token() != "" {
		fmt.Printf("  export NOMAD_TOKEN=%s\n", c.Token())
	}
	if tls := c.TLS(); tls != nil {
		fmt.Printf("  export NOMAD_CACERT=%s NOMAD_CLIENT_CERT=%s NOMAD_CLIENT_KEY=%s\n", tls.CACert, tls.ClientCert, tls.ClientKey)
	}
	fmt.Println("\nCtrl-C stops it.")
}

func clean(ctx context.Context, runs []string) error {
	if len(runs) == 0 {
		cleaned, err := cluster.CleanDead(ctx)
		for _, run := range cleaned {
			fmt.Println("removed", run)
		}
		return err
	}
	var errs []error
	for _, run := range runs {
		errs = append(errs, cluster.Clean(ctx, run))
	}
	return errors.Join(errs...)
}
