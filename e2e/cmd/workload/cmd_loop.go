package main

import (
	"context"
	"flag"
	"math"

	"github.com/nomad-placer/nomad-placer/e2e/load"
	"github.com/nomad-placer/nomad-placer/placer/command"
)

func loopCommand() *command.Command {
	return &command.Command{
		Name: "loop", Arguments: "-- COMMAND...", Synopsis: "Run a real program as an endless, measurable workload",
		About: "Runs COMMAND for ever and counts its work: with -listen as the Prometheus counter loop_units_total, whose samples carry the exact time they are of. " +
			"Without a mode, a unit is one run. -feed counts the megabytes of a file that the command has taken from its standard input, -lines the lines it prints, " +
			"-io its reads and writes, -requests what it answers as a server. A command that ends is started again; one that fails ends the loop with its last output.",
		Example: "workload loop -feed corpus.tar -listen 127.0.0.1:9102 -- gzip -6",
		MinArgs: 1, MaxArgs: math.MaxInt,
		Setup: func(f *flag.FlagSet) command.Runner {
			c := load.LoopConfig{}
			var out command.OutputFlags
			out.Add(f)
			var lines bool
			var io, protocol string
			f.StringVar(&c.Listen, "listen", "", "Serve Prometheus metrics at this `host:port`.")
			f.DurationVar(&c.Duration, "duration", 0, "How long; 0 is until interrupted.")
			f.IntVar(&c.Parallel, "parallel", 1, "Runs at a time.")
			f.DurationVar(&c.Pause, "pause", 0, "Pause after each run, chunk or answer, so that the work does not fill a CPU.")
			f.StringVar(&c.Feed.File, "feed", "", "Feed this `file` to the command again and again; a unit is a megabyte.")
			f.Int64Var(&c.Feed.HeadBytes, "head", 0, "feed: the first `bytes` of the file are fed only once.")
			f.IntVar(&c.Feed.ChunkBytes, "chunk", 16<<10, "feed: `bytes` written at once, and held by the pipe.")
			f.BoolVar(&c.Feed.Output, "output", false, "feed: count what the command prints, not what it takes.")
			f.BoolVar(&lines, "lines", false, "A unit is a line the command prints.")
			f.StringVar(&io, "io", "", "A unit is what the kernel counts of the command, by the name of the `counter`: calls, read-bytes or write-bytes (in megabytes).")
			f.StringVar(&protocol, "requests", "", "The command is a server; a unit is a request it has answered. The `protocol` is redis, memcached or http.")
			f.StringVar(&c.Requests.Target, "target", "", "requests: the `address` where the server listens, host:port or a URL, on this machine.")
			f.IntVar(&c.Requests.Connections, "connections", load.DefaultConnections, "requests: clients, each with one request in flight.")
			f.IntVar(&c.Requests.Keys, "keys", load.DefaultKeys, "requests: keys of redis or memcached, all set before the counting begins.")
			f.IntVar(&c.Requests.ValueBytes, "value-bytes", load.DefaultValueBytes, "requests: size of a value.")
			f.Float64Var(&c.Requests.ReadFraction, "read-fraction", 0.9, "requests: share of requests that read, 0 to 1.")
			f.Uint64Var(&c.Requests.Seed, "seed", 1, "requests: seed of keys and mix.")
			return func(ctx context.Context, s *command.Shell, args []string) error {
				c.Command, c.Errors = args, s.Err
				c.IO, c.Requests.Protocol = load.IOCounter(io), load.Protocol(protocol)
				var err error
				if c.Mode, err = loopMode(c.Feed.File != "", lines, io != "", protocol != ""); err != nil {
					return err
				}
				summary, err := load.Loop(ctx, c)
				if err != nil {
					return err
				}
				report := loopReport{summary.Units, summary.Ticks, summary.Took.Seconds(), summary.RatePerSecond(), summary.Runs}
				return out.Print(s, report, func(p *command.Page) { p.Line(command.Text(summary.String())) })
			}
		},
	}
}

// loopReport is what `workload loop -json` prints.
type loopReport struct {
	Units         float64 `json:"units"`
	Ticks         uint64  `json:"ticks"`
	Seconds       float64 `json:"seconds"`
	RatePerSecond float64 `json:"rate_per_second"`
	Runs          uint64  `json:"runs"`
}

// loopMode is the one mode that was asked for.
func loopMode(feed, lines, io, requests bool) (load.LoopMode, error) {
	mode, chosen := load.LoopRepeat, 0
	for _, m := range []struct {
		asked bool
		mode  load.LoopMode
	}{{feed, load.LoopFeed}, {lines, load.LoopLines}, {io, load.LoopIO}, {requests, load.LoopRequests}} {
		if m.asked {
			mode = m.mode
			chosen++
		}
	}
	if chosen > 1 {
		return "", command.UsageError("at most one of -feed, -lines, -io and -requests")
	}
	return mode, nil
}
