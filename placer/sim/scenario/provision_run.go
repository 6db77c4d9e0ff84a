package scenario

import (
	"fmt"
	"maps"
	"math"

	"github.com/nomad-placer/nomad-placer/placer/board"
	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/sim"
	"github.com/nomad-placer/nomad-placer/placer/sim/admission"
	"github.com/nomad-placer/nomad-placer/placer/sim/fleet"
)

// nodesOf are the nodes of a run: those that are owned, and with a provision block those that can
// be rented, which are on the board and not ready.
func (r *runs) nodesOf(t task) (*board.Board, *fleet.Fleet, error) {
	p := r.scenario.file.Provision
	if p == nil {
		return r.boardOf(t.policy), nil, nil
	}
	b := board.New(r.scenario.Columns, []string{r.hardware.machines[0].Name})
	strategy := provision.Strategy(t.policy.Strategy)
	for range p.ownedNodes(strategy) {
		add(b, "owned", p.machine())
	}
	types, nodes := strategy.Uses(p.catalogue()), map[string][]board.Index{}
	for _, rented := range types {
		for range p.nodesOfType() {
			n := add(b, rented.Name, node{cores: rented.Cores, mhz: rented.Cores * mhzPerCore, memoryMB: rented.MemoryMB})
			b.SetReady(n, false)
			nodes[rented.Name] = append(nodes[rented.Name], n)
		}
	}
	shared, err := r.submitted(t)
	if err != nil {
		return nil, nil, err
	}
	v := p.at(r.scenario.Loads[t.load])
	f, err := fleet.New(fleet.Config{
		Types: types, Nodes: nodes, MachineCores: p.MachineCores, Columns: len(r.scenario.Columns),
		SpinUp: v.spinUp, Outside: v.outside, Others: shared.demanded.others, Seed: r.seeds[t.seed],
	})
	return b, f, err
}

// add puts a node on the board. All are of one configuration: a slice of a machine is as good as
// the machine, but for who else is there.
func add(b *board.Board, kind string, n node) board.Index {
	return b.Add(board.Node{
		ID: cluster.NodeID(fmt.Sprintf("%s-%04d", kind, b.Len())), CoreMHz: mhzPerCore,
		Total: cluster.Resources{CPUMHz: n.mhz, Cores: n.cores, MemoryMB: n.memoryMB, DiskMB: 1 << 30},
	})
}

// nodesOfType is how many the provider has of each.
func (p *provisionBlock) nodesOfType() int { return int(math.Ceil(mostNodesOfType * p.scale())) }

// provisioned tells a controller what the policy says of its nodes.
func (p *policyBlock) provisioned(o *admission.Options, rented *fleet.Fleet) {
	if rented == nil {
		return
	}
	o.Rental = rented
	if p.Admission != hcloudAdmission {
		return
	}
	o.Values = maps.Clone(o.Values)
	if o.Values == nil {
		o.Values = map[string]string{}
	}
	o.Values["strategy"], o.Values["known"] = p.Strategy, "yes"
	if p.Knowledge == "none" {
		o.Values["known"] = "no"
	}
}

// provisioned wires a run of a provision block. A policy without knowledge gets jobs of the sizes
// that their users ask for, any other one of the sizes that they need.
func (r *runs) provisioned(c *sim.Config, t task) error {
	shared, err := r.submitted(t)
	if err != nil {
		return err
	}
	if err := r.know(c, t, shared); err != nil {
		return err
	}
	jobs := shared.demanded.jobs
	if t.policy.Knowledge == "none" {
		jobs = shared.demanded.byUsers()
	}
	c.Jobs, c.Expect = &sim.List{Jobs: jobs}, len(jobs)
	return nil
}

// priced puts prices to what was rented, for the report.
func (s *Scenario) priced(r *sim.Result) {
	if p := s.file.Provision; p != nil && r.Provision != nil {
		r.Provision.Prices, r.Provision.MinimumBilled, r.Provision.Discounts = p.prices(), p.minimumBilled(), p.discounts()
	}
}
