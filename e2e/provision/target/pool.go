package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/nomad/api"
	"golang.org/x/sys/unix"

	"github.com/nomad-placer/nomad-placer/e2e/cluster"
)

const (
	// portsPerNode is how far the ports of two nodes are apart.
	portsPerNode = 10
	// lookEvery is how often it is asked whether a node is drained.
	lookEvery = 200 * time.Millisecond
	// drainGrace is how much longer than its deadline a drain may take to be seen.
	drainGrace = 5 * time.Second
)

// pool are the nodes of a class.
type pool struct {
	config
	run   *cluster.Joined
	nomad *api.Client
	log   hclog.Logger
}

// errBusy: another call, or another process of this plugin, scales.
var errBusy = errors.New("the nodes are scaled just now")

// lock keeps others out, also the plugin of an autoscaler that was killed and does not know it yet.
// The kernel gives it back when the process ends.
func (p *pool) lock() (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(p.dir, "pool-"+p.class+".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errBusy
		}
		return nil, fmt.Errorf("lock the nodes of class %s: %w", p.class, err)
	}
	return func() { f.Close() }, nil
}

// alive are the nodes that have a process.
func (p *pool) alive() ([]cluster.Rented, error) {
	nodes, err := p.run.Nodes(p.class)
	return slices.DeleteFunc(nodes, func(n cluster.Rented) bool { return n.PID == 0 }), err
}

// sweep removes what an earlier plugin left half started or half ended, and nodes that crashed.
func (p *pool) sweep() error {
	nodes, err := p.run.Nodes(p.class)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if n.PID != 0 {
			continue
		}
		p.log.Warn("a node without a process is removed", "node", n.Name)
		if err := p.remove(n.Name); err != nil {
			return err
		}
	}
	return nil
}

// start starts one node on the first ports that no other has.
func (p *pool) start() error {
	nodes, err := p.run.Nodes(p.class)
	if err != nil {
		return err
	}
	i := 0
	for slices.ContainsFunc(nodes, func(n cluster.Rented) bool { return n.Port == p.ports+portsPerNode*i }) {
		i++
	}
	name := newName(p.class, nodes, time.Now())
	if err := p.run.Add(p.client(name), p.binary, p.ports, i, p.spinUp); err != nil {
		return err
	}
	p.log.Info("a node was started", "node", name)
	return nil
}

// end drains and removes nodes, the named ones or others without jobs.
func (p *pool) end(ctx context.Context, nodes []cluster.Rented, count int, named []string) error {
	candidates, err := p.candidates(ctx, nodes)
	if err != nil {
		return err
	}
	chosen, err := choose(candidates, count, named)
	if err != nil {
		return err
	}
	for _, c := range chosen {
		if err := p.drain(ctx, c); err != nil {
			return err
		}
	}
	for _, c := range chosen {
		if err := p.drained(ctx, c); err != nil {
			return err
		}
		if err := p.remove(c.name); err != nil {
			return err
		}
		p.log.Info("a node was ended", "node", c.name)
	}
	return nil
}

// candidates are the nodes with what Nomad knows of them.
func (p *pool) candidates(ctx context.Context, nodes []cluster.Rented) ([]candidate, error) {
	known, err := p.known(ctx)
	if err != nil {
		return nil, err
	}
	var all []candidate
	for _, n := range nodes {
		c := candidate{name: n.Name}
		if stub, ok := known[n.Name]; ok {
			c.id, c.leaving = stub.ID, stub.SchedulingEligibility != api.NodeSchedulingEligible
			if c.allocations, err = p.allocations(ctx, stub.ID); err != nil {
				return nil, err
			}
		}
		all = append(all, c)
	}
	return all, nil
}

// known are Nomad's nodes by name.
func (p *pool) known(ctx context.Context) (map[string]*api.NodeListStub, error) {
	stubs, _, err := p.nomad.Nodes().List((&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return nil, fmt.Errorf("list the nodes of Nomad: %w", err)
	}
	known := map[string]*api.NodeListStub{}
	for _, s := range stubs {
		known[s.Name] = s
	}
	return known, nil
}

// allocations counts what runs on a node, without system jobs.
func (p *pool) allocations(ctx context.Context, id string) (int, error) {
	allocs, _, err := p.nomad.Nodes().Allocations(id, (&api.QueryOptions{}).WithContext(ctx))
	if err != nil {
		return 0, fmt.Errorf("allocations of node %s: %w", id, err)
	}
	count := 0
	for _, a := range allocs {
		system := a.Job != nil && a.Job.Type != nil && (*a.Job.Type == api.JobTypeSystem || *a.Job.Type == api.JobTypeSysbatch)
		if !a.ClientTerminalStatus() && !a.ServerTerminalStatus() && !system {
			count++
		}
	}
	return count, nil
}

// drain begins to move a node's jobs away. A node that Nomad does not know has none.
func (p *pool) drain(ctx context.Context, c candidate) error {
	if c.id == "" {
		return nil
	}
	_, err := p.nomad.Nodes().UpdateDrainOpts(c.id, &api.DrainOptions{DrainSpec: &api.DrainSpec{Deadline: p.config.drain}}, (&api.WriteOptions{}).WithContext(ctx))
	if err != nil {
		return fmt.Errorf("drain node %s: %w", c.name, err)
	}
	return nil
}

// drained waits until a node's jobs are gone, or the deadline has passed.
func (p *pool) drained(ctx context.Context, c candidate) error {
	if c.id == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, p.config.drain+drainGrace)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		n, _, err := p.nomad.Nodes().Info(c.id, (&api.QueryOptions{}).WithContext(ctx))
		if err == nil && n.DrainStrategy == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("node %s is not drained: %w", c.name, errors.Join(ctx.Err(), err))
		case <-tick.C:
		}
	}
}

// remove ends a node, and has Nomad forget it. What is needed to do so again goes last.
func (p *pool) remove(name string) error {
	return p.run.Remove(name, func() error {
		known, err := p.known(context.Background())
		if err != nil {
			return err
		}
		if stub, ok := known[name]; ok {
			if _, _, err := p.nomad.Nodes().Purge(stub.ID, nil); err != nil {
				return fmt.Errorf("purge node %s: %w", name, err)
			}
		}
		return nil
	})
}
