package main

import (
	"context"
	"log/slog"

	jobhcl "github.com/nomad-placer/nomad-placer/hcl"
	"github.com/nomad-placer/nomad-placer/placer/autoscaler/targetplugin"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/provision/tracker"
	"github.com/nomad-placer/nomad-placer/placer/provisioning"
)

// provisionOptions are the provision block as the engine takes it. What the file may say was
// checked when it was read.
func provisionOptions(c jobhcl.ProvisionConfig) *provisioning.Options {
	settings := provision.DefaultSettings()
	settings.Strategy, settings.Retention = provision.Strategy(c.Strategy), c.Retention
	if mapping, err := provision.LookupMapping(c.Mapping); err == nil {
		settings.Mapping = mapping
	}
	out := &provisioning.Options{Settings: settings, MaxPerHour: c.MaxPerHour, NoProbes: !c.Probe}
	if c.Reserved != nil {
		out.Reserved = &cluster.Constraint{Attribute: "${" + c.Reserved.Attribute + "}", Operator: "=", Value: c.Reserved.Value}
	}
	for _, t := range c.Types {
		out.Types = append(out.Types, tracker.Type{
			Type:      provision.Type{Name: t.Name, Family: t.Family, Cores: t.Cores, MemoryMB: t.MemoryMB, PricePerHour: t.PricePerHour, SpinUp: t.SpinUp},
			NodeClass: t.NodeClass, Max: t.Max,
		})
	}
	return out
}

// newTarget is the target plugin of the configuration; nil: there is none.
func newTarget(c jobhcl.ProvisionConfig, clock cluster.Clock, log *slog.Logger) *targetplugin.Plugin {
	if c.Target == nil {
		return nil
	}
	o := targetplugin.Options{Command: c.Target.Command, Args: c.Target.Args, Config: c.Target.Config, Clock: clock, Log: log}
	for _, t := range c.Types {
		o.Types = append(o.Types, targetplugin.Type{Name: t.Name, NodeClass: t.NodeClass, Config: t.Target})
	}
	return targetplugin.New(o)
}

// Provision is what an engine that runs knows of rented nodes.
func (r engineRecords) Provision(ctx context.Context) (provision.Report, error) {
	return r.engine.Provision(ctx)
}

// Capacity is what there was of both in the last hours.
func (r engineRecords) Capacity(ctx context.Context) (provision.Capacities, error) {
	return r.engine.Capacity(ctx)
}

// Provision asks the agent.
func (p pageRecords) Provision(ctx context.Context) (provision.Report, error) {
	return fetch[provision.Report](ctx, p, "provision")
}
