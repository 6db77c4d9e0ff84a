package main

import (
	"context"
	"flag"
	"runtime"

	"github.com/nomad-placer/nomad-placer/e2e/load"
	"github.com/nomad-placer/nomad-placer/placer/command"
)

func loadCommand() *command.Command {
	return &command.Command{
		Name: "load", Arguments: "TARGET", Synopsis: "Generate an open-loop load for redis or HTTP",
		About: "Sends requests at a fixed rate whether or not earlier ones are answered, and counts latency from the time each request was due. TARGET is host:port for redis or a URL for HTTP. " +
			"With -listen it serves Prometheus metrics (load_requests_total, load_errors_total, load_request_seconds), which a performance block can probe.",
		Example: "workload load -rate 500 -duration 30s 127.0.0.1:6379\n" +
			"workload load -protocol http -rate 50 -listen 127.0.0.1:9101 http://127.0.0.1:8080/",
		MinArgs: 1, MaxArgs: 1,
		Setup: func(f *flag.FlagSet) command.Runner {
			c := load.Config{}
			var protocol, arrivals string
			var out command.OutputFlags
			out.Add(f)
			f.StringVar(&protocol, "protocol", string(load.Redis), "The `protocol` to speak: redis or http.")
			f.StringVar(&arrivals, "arrivals", string(load.Even), "The `arrivals` of requests over time: even or poisson.")
			f.Float64Var(&c.RatePerSecond, "rate", 100, "Requests per second.")
			f.IntVar(&c.Connections, "connections", load.DefaultConnections, "Connections kept open.")
			f.DurationVar(&c.Duration, "duration", 0, "How long; 0 is until interrupted.")
			f.DurationVar(&c.Timeout, "timeout", load.DefaultTimeout, "How long an answer may take.")
			f.DurationVar(&c.Wait, "wait", 0, "How long the target may take to answer for the first time.")
			f.Uint64Var(&c.Seed, "seed", 1, "Seed of keys, mix and arrivals.")
			f.IntVar(&c.Keys, "keys", load.DefaultKeys, "redis: how many keys there are.")
			f.IntVar(&c.ValueBytes, "value-bytes", load.DefaultValueBytes, "redis: size of a value.")
			f.Float64Var(&c.ReadFraction, "read-fraction", 0.9, "redis: share of requests that read, 0 to 1.")
			f.BoolVar(&c.Preload, "preload", false, "redis: set every key before the load begins.")
			f.StringVar(&c.Listen, "listen", "", "Serve Prometheus metrics at this `host:port`.")
			f.BoolVar(&c.AllowRemote, "allow-remote", false, "Allow a target outside this machine.")
			return func(ctx context.Context, s *command.Shell, args []string) error {
				c.Target, c.Output = args[0], s.Out
				if out.ForMachines() {
					c.Output = s.Err
				}
				c.Protocol, c.Arrivals = load.Protocol(protocol), load.Arrivals(arrivals)
				// The thread that keeps the time holds a place of the scheduler's while it sleeps. Where
				// there is but one, as on a node with one CPU, requests and answers waited for it.
				runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0)))
				summary, err := load.Load(ctx, c)
				if err != nil {
					return err
				}
				return out.Print(s, loadReportOf(summary), func(p *command.Page) { p.Line(command.Text(summary.String())) })
			}
		},
	}
}

// loadReport is what `workload load -json` prints. A load without an answer has no
// latency.
type loadReport struct {
	Requests      uint64           `json:"requests"`
	Errors        uint64           `json:"errors"`
	LastError     string           `json:"last_error,omitempty"`
	Seconds       float64          `json:"seconds"`
	RatePerSecond float64          `json:"rate_per_second"`
	Latency       []latencySeconds `json:"latency"`
}

type latencySeconds struct {
	Percentile float64 `json:"percentile"`
	Seconds    float64 `json:"seconds"`
}

func loadReportOf(s load.Summary) loadReport {
	r := loadReport{
		Requests: s.Requests, Errors: s.Errors, LastError: s.LastError,
		Seconds: s.Took.Seconds(), RatePerSecond: s.RatePerSecond(), Latency: []latencySeconds{},
	}
	for _, percentile := range []float64{50, 95, 99, 99.9, 100} {
		if v, ok := s.Latency(percentile); ok {
			r.Latency = append(r.Latency, latencySeconds{percentile, v.Seconds()})
		}
	}
	return r
}
