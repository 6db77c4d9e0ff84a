package main

import (
	"context"
	"flag"
	"fmt"

	"github.com/nomad-placer/nomad-placer/placer/dev"
)

func devLoadCommand() *command {
	return &command{
		name: "dev load", arguments: "TARGET", synopsis: "Generate an open-loop load for redis or HTTP",
		about: "Sends requests at a fixed rate whatever the answers do, and counts latency from the time each request was due. TARGET is host:port for redis or a URL for HTTP. " +
			"With -listen it serves Prometheus metrics (load_requests_total, load_errors_total, load_request_seconds), which a performance block can probe.",
		minArgs: 1, maxArgs: 1,
		setup: func(f *flag.FlagSet) runner {
			c := dev.LoadConfig{}
			var protocol, arrivals string
			f.StringVar(&protocol, "protocol", string(dev.Redis), "What to speak: redis or http.")
			f.StringVar(&arrivals, "arrivals", string(dev.Even), "How requests are spread over time: even or poisson.")
			f.Float64Var(&c.RatePerSecond, "rate", 100, "Requests per second.")
			f.IntVar(&c.Connections, "connections", dev.DefaultConnections, "Connections kept open.")
			f.DurationVar(&c.Duration, "duration", 0, "How long; 0 is until interrupted.")
			f.DurationVar(&c.Timeout, "timeout", dev.DefaultTimeout, "How long an answer may take.")
			f.DurationVar(&c.Wait, "wait", 0, "How long the target may take to answer for the first time.")
			f.Uint64Var(&c.Seed, "seed", 1, "Seed of keys, mix and arrivals.")
			f.IntVar(&c.Keys, "keys", dev.DefaultKeys, "redis: how many keys there are.")
			f.IntVar(&c.ValueBytes, "value-bytes", dev.DefaultValueBytes, "redis: size of a value.")
			f.Float64Var(&c.ReadFraction, "read-fraction", 0.9, "redis: share of requests that read, 0 to 1.")
			f.BoolVar(&c.Preload, "preload", false, "redis: set every key before the load begins.")
			f.StringVar(&c.Listen, "listen", "", "Serve Prometheus metrics at this `host:port`.")
			f.BoolVar(&c.AllowRemote, "allow-remote", false, "Allow a target beyond this machine's loopback.")
			return func(ctx context.Context, s *shell, args []string) error {
				c.Target, c.Output = args[0], s.out
				c.Protocol, c.Arrivals = dev.Protocol(protocol), dev.Arrivals(arrivals)
				summary, err := dev.Load(ctx, c)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(s.out, summary)
				return err
			}
		},
	}
}
