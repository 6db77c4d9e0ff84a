package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/nomad-placer/nomad-placer/placer/autoscaler/protocol"
)

// apm is the plugin. A query is the name of an instance type.
type apm struct {
	protocol.UnimplementedBasePluginServiceServer
	protocol.UnimplementedAPMPluginServiceServer

	log    hclog.Logger
	now    func() time.Time
	within time.Duration // the agent has to answer

	mu     sync.Mutex
	config *config // nil until the autoscaler has set it
}

// PluginInfo says who this is.
func (*apm) PluginInfo(context.Context, *protocol.PluginInfoRequest) (*protocol.PluginInfoResponse, error) {
	return &protocol.PluginInfoResponse{Name: name, Type: protocol.PluginType_PLUGIN_TYPE_APM}, nil
}

// SetConfig takes the plugin's block. A bad one leaves the old one in use.
func (a *apm) SetConfig(_ context.Context, request *protocol.SetConfigRequest) (*protocol.SetConfigResponse, error) {
	c, err := newConfig(request.GetConfig())
	if err != nil {
		return nil, err
	}
	if c.address.Scheme == "http" && !onLoopback(c.address.Hostname()) {
		a.log.Warn("the agent is on another machine and not reached by https: whoever is on the network between can change how many nodes are rented, up to max of the policy", keyAddress, c.address.String())
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.config = &c
	return &protocol.SetConfigResponse{}, nil
}

// Query answers with one value, of the time at which the agent decided.
func (a *apm) Query(ctx context.Context, request *protocol.QueryRequest) (*protocol.QueryResponse, error) {
	return a.query(ctx, request.GetQuery(), request.GetTimeRange())
}

// QueryMultiple answers with one series of one value.
func (a *apm) QueryMultiple(ctx context.Context, request *protocol.QueryMultipleRequest) (*protocol.QueryMultipleResponse, error) {
	one, err := a.query(ctx, request.GetQuery(), request.GetTimeRange())
	if err != nil {
		return nil, err
	}
	return &protocol.QueryMultipleResponse{TimestampedMetric: []*protocol.QueryResponse{one}}, nil
}

func (a *apm) query(ctx context.Context, typ string, asked *protocol.TimeRange) (*protocol.QueryResponse, error) {
	a.mu.Lock()
	c := a.config
	a.mu.Unlock()
	if c == nil {
		return nil, errors.New("the plugin has no configuration yet")
	}
	ctx, cancel := context.WithTimeout(ctx, a.within)
	defer cancel()
	report, err := c.ask(ctx)
	if err != nil {
		return nil, err
	}
	nodes, at, err := report.wanted(typ, windowOf(asked), a.now())
	if err != nil {
		return nil, err
	}
	return &protocol.QueryResponse{TimestampedMetric: []*protocol.TimestampedMetric{{Timestamp: timestamppb.New(at), Value: float64(nodes)}}}, nil
}

func windowOf(r *protocol.TimeRange) window {
	var w window
	if r.GetFrom() != nil {
		w.from = r.GetFrom().AsTime()
	}
	if r.GetTo() != nil {
		w.to = r.GetTo().AsTime()
	}
	return w
}
