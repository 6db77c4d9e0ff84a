package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
)

// sampleEvery is how often the processes and the server's gauges are read; the
// server sets its gauges once a second.
const sampleEvery = time.Second

// Sample is one look at the run.
type Sample struct {
	AfterSeconds float64 `json:"after_seconds"` // since the round began
	Blocked      int     `json:"blocked"`       // evaluations that wait for a change of the cluster
	Ready        int     `json:"ready"`         // evaluations that wait for a scheduler
	Pending      int     `json:"pending"`       // evaluations behind another one of their job
	Unacked      int     `json:"unacked"`       // evaluations that a scheduler works on
	AgentMiB     float64 `json:"agent_mib"`
	ServerMiB    float64 `json:"server_mib"`
}

// Usage is what a round cost the programs.
type Usage struct {
	AgentCPUSeconds  float64 `json:"agent_cpu_seconds"`
	FrontCPUSeconds  float64 `json:"proxy_cpu_seconds"` // 0 without one
	ServerCPUSeconds float64 `json:"server_cpu_seconds"`
	NodesCPUSeconds  float64 `json:"light_nodes_cpu_seconds"`
}

// sampler collects samples until it is stopped.
type sampler struct {
	rig    *rig
	began  time.Time
	before Usage
	cancel context.CancelFunc
	done   sync.WaitGroup
	taken  []Sample
}

func (r *rig) sample(ctx context.Context) (*sampler, error) {
	before, err := r.used()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &sampler{rig: r, began: time.Now(), before: before, cancel: cancel}
	s.done.Go(func() {
		for {
			if one, err := s.take(ctx); err == nil { // a missed sample is a gap
				s.taken = append(s.taken, one)
			}
			if cluster.Sleep(ctx, sampleEvery) != nil {
				return
			}
		}
	})
	return s, nil
}

// stop returns the samples and what was used meanwhile.
func (s *sampler) stop() ([]Sample, Usage) {
	s.cancel()
	s.done.Wait()
	after, err := s.rig.used()
	if err != nil {
		return s.taken, Usage{}
	}
	return s.taken, Usage{
		AgentCPUSeconds:  after.AgentCPUSeconds - s.before.AgentCPUSeconds,
		FrontCPUSeconds:  after.FrontCPUSeconds - s.before.FrontCPUSeconds,
		ServerCPUSeconds: after.ServerCPUSeconds - s.before.ServerCPUSeconds,
		NodesCPUSeconds:  after.NodesCPUSeconds - s.before.NodesCPUSeconds,
	}
}

// used is the CPU time of the programs since they started.
func (r *rig) used() (Usage, error) {
	var out Usage
	type program struct {
		pid int
		to  *float64
	}
	programs := []program{{r.agent.pid(), &out.AgentCPUSeconds}, {r.cluster.ServerPID(), &out.ServerCPUSeconds}, {r.nodes.pid(), &out.NodesCPUSeconds}}
	if r.front != nil {
		programs = append(programs, program{r.front.pid(), &out.FrontCPUSeconds})
	}
	for _, p := range programs {
		u, err := usageOf(p.pid)
		if err != nil {
			return Usage{}, err
		}
		*p.to = u.cpuSeconds
	}
	return out, nil
}

func (s *sampler) take(ctx context.Context) (Sample, error) {
	gauges, err := readGauges(ctx, s.rig.cluster.Addr())
	if err != nil {
		return Sample{}, err
	}
	agent, err := usageOf(s.rig.agent.pid())
	if err != nil {
		return Sample{}, err
	}
	server, err := usageOf(s.rig.cluster.ServerPID())
	if err != nil {
		return Sample{}, err
	}
	return Sample{
		AfterSeconds: time.Since(s.began).Seconds(),
		Blocked:      gauges["blocked_evals.total_blocked"],
		Ready:        gauges["broker.total_ready"],
		Pending:      gauges["broker.total_pending"],
		Unacked:      gauges["broker.total_unacked"],
		AgentMiB:     agent.rssMiB, ServerMiB: server.rssMiB,
	}, nil
}

// readGauges returns the server's gauges by the end of their name.
func readGauges(ctx context.Context, server string) (map[string]int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server+"/v1/metrics", nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("metrics: %s", response.Status)
	}
	var body struct {
		Gauges []struct {
			Name  string
			Value float64
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
		return nil, err
	}
	out := map[string]int{}
	for _, g := range body.Gauges {
		for _, name := range []string{"blocked_evals.total_blocked", "broker.total_ready", "broker.total_pending", "broker.total_unacked"} {
			if strings.HasSuffix(g.Name, "nomad."+name) {
				out[name] = int(g.Value)
			}
		}
	}
	return out, nil
}
