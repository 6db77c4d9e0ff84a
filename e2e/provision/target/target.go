package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
	"github.com/nomad-placer/nomad-placer/placer/autoscaler/protocol"
	"github.com/nomad-placer/nomad-placer/placer/autoscaler/targetplugin"
)

// target is the plugin.
type target struct {
	protocol.UnimplementedBasePluginServiceServer
	protocol.UnimplementedTargetPluginServiceServer

	log hclog.Logger

	mu       sync.Mutex
	settings map[string]string
}

// PluginInfo says who this is.
func (*target) PluginInfo(context.Context, *protocol.PluginInfoRequest) (*protocol.PluginInfoResponse, error) {
	return &protocol.PluginInfoResponse{Name: name, Type: protocol.PluginType_PLUGIN_TYPE_TARGET}, nil
}

// SetConfig takes the plugin's settings; they are checked together with those of a policy.
func (t *target) SetConfig(_ context.Context, request *protocol.SetConfigRequest) (*protocol.SetConfigResponse, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.settings = request.GetConfig()
	return &protocol.SetConfigResponse{}, nil
}

// Status counts the nodes. While they are scaled it is not ready, and says how many there are.
func (t *target) Status(_ context.Context, request *protocol.StatusRequest) (*protocol.StatusResponse, error) {
	p, err := t.pool(request.GetConfig())
	if err != nil {
		return nil, err
	}
	unlock, err := p.lock()
	if errors.Is(err, errBusy) {
		return p.status(false)
	}
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := p.sweep(); err != nil {
		return nil, err
	}
	return p.status(true)
}

func (p *pool) status(ready bool) (*protocol.StatusResponse, error) {
	nodes, err := p.alive()
	if err != nil {
		return nil, err
	}
	return &protocol.StatusResponse{Ready: ready, Count: int64(len(nodes))}, nil
}

// Scale starts or ends nodes until there are as many as asked for.
func (t *target) Scale(ctx context.Context, request *protocol.ScaleRequest) (*protocol.ScaleResponse, error) {
	action := request.GetAction()
	if action.GetCount() < 0 {
		return &protocol.ScaleResponse{}, nil // a dry run
	}
	p, err := t.pool(request.GetConfig())
	if err != nil {
		return nil, err
	}
	named, err := namedNodes(action.GetMeta().GetValue())
	if err != nil {
		return nil, err
	}
	unlock, err := p.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := p.sweep(); err != nil {
		return nil, err
	}
	t.log.Info("scaling", "class", p.class, "to", action.GetCount(), "reason", action.GetReason(), "nodes", named)
	return &protocol.ScaleResponse{}, p.scale(ctx, int(action.GetCount()), named)
}

func (p *pool) scale(ctx context.Context, count int, named []string) error {
	nodes, err := p.alive()
	if err != nil {
		return err
	}
	switch {
	case count > p.most:
		return fmt.Errorf("quota: %d nodes of class %s are asked for, and there may be %d", count, p.class, p.most)
	case count > len(nodes) && len(named) > 0:
		return fmt.Errorf("%d nodes are named to be ended, and more than the %d there are are asked for", len(named), len(nodes))
	case count < len(nodes):
		return p.end(ctx, nodes, len(nodes)-count, named)
	}
	for n := range count - len(nodes) {
		if err := p.start(); err != nil {
			return fmt.Errorf("%d of %d more nodes were started: %w", n, count-len(nodes), err)
		}
	}
	return nil
}

// namedNodes reads which nodes are to be ended from the JSON of an action's meta.
func namedNodes(meta []byte) ([]string, error) {
	if len(meta) == 0 {
		return nil, nil
	}
	var fields map[string]any
	if err := json.Unmarshal(meta, &fields); err != nil {
		return nil, fmt.Errorf("the action's meta: %w", err)
	}
	value, ok := fields[targetplugin.MetaNodes]
	if !ok {
		return nil, nil
	}
	text, ok := value.(string)
	if !ok || text == "" {
		return nil, fmt.Errorf("the action's meta: %s is %v; want Nomad IDs of nodes with commas between them", targetplugin.MetaNodes, value)
	}
	return strings.Split(text, ","), nil
}

// pool gets the nodes of a class in order.
func (t *target) pool(policy map[string]string) (*pool, error) {
	t.mu.Lock()
	c, err := newConfig(t.settings, policy)
	t.mu.Unlock()
	if err != nil {
		return nil, err
	}
	run, err := cluster.Join(c.dir)
	if err != nil {
		return nil, err
	}
	nomad, err := run.API(c.token)
	if err != nil {
		return nil, err
	}
	return &pool{config: c, run: run, nomad: nomad, log: t.log}, nil
}

// newName is one that no node of the class has. It is short, for sockets lie below it.
func newName(class string, taken []cluster.Rented, now time.Time) string {
	const names = 36 * 36 * 36 * 36 * 36 // as many as five characters make
	for at := now.UnixMilli() % names; ; at++ {
		name := class + "-" + strconv.FormatInt(at, 36)
		if !slices.ContainsFunc(taken, func(n cluster.Rented) bool { return n.Name == name }) {
			return name
		}
	}
}
