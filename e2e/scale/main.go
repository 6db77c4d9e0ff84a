package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
)

func main() {
	cluster.Main("scale", func(ctx context.Context) error { return run(ctx, os.Args[1:]) })
}

func run(ctx context.Context, args []string) error {
	var o options
	var asJSON, markdown, from string
	f := flag.NewFlagSet("scale", flag.ContinueOnError)
	f.StringVar(&o.bin, "bin", "bin", "`folder` of nomad-placer and nomad.")
	f.StringVar(&o.placer, "placer", "", "Agent `binary` to measure instead of the one in the folder, for comparing two.")
	f.IntVar(&o.port, "port", 23600, "First `port`.")
	f.IntVar(&o.nodes, "nodes", 1000, "Light `nodes`.")
	f.IntVar(&o.jobs, "jobs", 500, "`Jobs` per round and side.")
	f.IntVar(&o.allocations, "allocations", 0, "`Allocations` of known workloads that stock Nomad places before the first round.")
	f.IntVar(&o.rounds, "rounds", 6, "`Rounds`; in each both sides have a turn. Intervals are over rounds.")
	f.IntVar(&o.writers, "writers", 16, "Jobs submitted at a `time`.")
	f.Uint64Var(&o.seed, "seed", 1, "`Seed` of the nodes' IDs.")
	f.BoolVar(&o.pool, "pool", false, "Let the placer's jobs name the hold pool instead of passing the proxy.")
	f.BoolVar(&o.profile, "profile", false, "Profile server and agent in a round more, and say where their CPU time goes.")
	f.BoolVar(&o.trouble, "trouble", false, "After the rounds, have jobs come and be updated while nodes are drained and fail and the agent that leads is killed, and check every job.")
	f.StringVar(&o.cpuTrace, "cpuprofile", "", "Write a CPU profile of the agent to this `file`.")
	f.StringVar(&o.serverTrace, "server-cpuprofile", "", "Write a CPU profile of the Nomad server to this `file`.")
	f.IntVar(&o.traceSeconds, "cpuprofile-seconds", 60, "`Length` of the CPU profile, from the first round on.")
	f.StringVar(&o.heap, "heapprofile", "", "Write a heap profile of the agent to this `file`.")
	f.StringVar(&asJSON, "json", "", "Write everything measured to this `file`.")
	f.StringVar(&markdown, "markdown", "", "Put the report into this `file`, in the place of an earlier one of as many nodes and the same way into the placer.")
	f.StringVar(&from, "from", "", "Measure nothing: report what an earlier run wrote to this `file` with -json.")
	if err := f.Parse(args); err != nil {
		return err
	}
	if o.nodes < 1 || o.allocations < 0 || o.jobs < 1 || o.rounds < 1 || o.writers < 1 || f.NArg() > 0 {
		return errors.New("nodes, jobs, rounds and writers must be at least 1, allocations at least 0, and there are no other arguments")
	}
	if o.profile && (o.cpuTrace != "" || o.serverTrace != "") {
		return errors.New("a program is profiled by one at a time: -profile, or -cpuprofile and -server-cpuprofile")
	}
	result, err := measuredOrRead(ctx, o, from)
	if err != nil {
		return err
	}
	result.print(os.Stdout)
	if asJSON != "" {
		text, err := json.MarshalIndent(result, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(asJSON, append(text, '\n'), 0o644); err != nil {
			return err
		}
	}
	if markdown != "" {
		if err := writeReport(markdown, result.name(), result.section()); err != nil {
			return err
		}
	}
	if result.Trouble != nil && len(result.Trouble.Faults) > 0 {
		return fmt.Errorf("%d jobs and nodes are not as they were asked to be", len(result.Trouble.Faults))
	}
	return nil
}

// measuredOrRead measures, or reads the result of an earlier run.
func measuredOrRead(ctx context.Context, o options, from string) (Result, error) {
	if from != "" {
		var result Result
		text, err := os.ReadFile(from)
		if err != nil {
			return result, err
		}
		return result, json.Unmarshal(text, &result)
	}
	began := time.Now()
	say := func(text string) { fmt.Printf("[%4ds] %s\n", int(time.Since(began).Seconds()), text) }
	result, err := measureOnce(ctx, o, say)
	fmt.Println()
	return result, err
}

// measureOnce starts a rig, measures, and takes it away.
func measureOnce(ctx context.Context, o options, say func(string)) (result Result, err error) {
	r, err := startRig(ctx, o, say)
	if err != nil {
		return Result{}, err
	}
	defer func() {
		say("stopping everything")
		err = errors.Join(err, r.stop(context.WithoutCancel(ctx)))
	}()
	return r.measure(ctx, say)
}
