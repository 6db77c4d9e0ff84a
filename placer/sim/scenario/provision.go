package scenario

import (
	"math"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/sim/fleet"
	"github.com/nomad-placer/nomad-placer/placer/sim/truth"
)

// provisionBlock is nodes that are owned, nodes that can be rented, and jobs of which as many
// cores are needed as a curve says (Delimitrou 2015, §8.2.1, §8.3). It takes the place of cluster
// and populations. Which nodes a policy has, its strategy says.
type provisionBlock struct {
	SteadyCores     float64           `hcl:"steady_cores"`   // owned by the hybrids
	PeakCores       float64           `hcl:"peak_cores"`     // that SR is sized by
	Scale           float64           `hcl:"scale,optional"` // of all cores, and of the jobs per second; 1
	MachineCores    int               `hcl:"machine_cores"`  // of an owned node, and of the provider's machines
	MachineMemoryMB int               `hcl:"machine_memory_mb"`
	Sweep           string            `hcl:"sweep,optional"` // what loads are: spin_up, outside, sensitive or pressure
	Demand          demandBlock       `hcl:"demand,block"`
	Types           []rentedTypeBlock `hcl:"type,block"`
	SpinUp          *spinUpBlock      `hcl:"spin_up,block"` // none: fleet.DefaultSpinUp
	Outside         *outsideBlock     `hcl:"outside,block"` // none: fleet.DefaultOutside
	Prices          *pricesBlock      `hcl:"prices,block"`  // none: provision.DefaultPrices
}

// rentedTypeBlock is a type of node that can be rented.
type rentedTypeBlock struct {
	Name     string  `hcl:"name,label"`
	Family   string  `hcl:"family"`
	Cores    int     `hcl:"cores"`
	MemoryMB int     `hcl:"memory_mb"`
	Price    float64 `hcl:"price_per_hour,optional"` // in proportion to its cores
	SpinUp   string  `hcl:"spin_up"`                 // expected before one was rented
}

// spinUpBlock is fleet.SpinUp.
type spinUpBlock struct {
	Smallest  string  `hcl:"smallest"` // median of the type of fewest cores
	Largest   string  `hcl:"largest"`  // and of most
	Sigma     float64 `hcl:"sigma"`
	SlowShare float64 `hcl:"slow_share"`
	SlowFrom  string  `hcl:"slow_from"`
	SlowTo    string  `hcl:"slow_to"`
}

// outsideBlock is fleet.Outside.
type outsideBlock struct {
	Mean        float64 `hcl:"mean"`
	Swing       float64 `hcl:"swing"`
	Correlation string  `hcl:"correlation"`
	Step        string  `hcl:"step"`
}

// pricesBlock is provision.Prices, and how a provider bills.
type pricesBlock struct {
	PerCoreHour   float64         `hcl:"rented_per_core_hour"`
	Ratio         float64         `hcl:"ratio"` // of rented to owned
	TermWeeks     int             `hcl:"term_weeks"`
	MinimumBilled string          `hcl:"minimum_billed,optional"`
	Discounts     []discountBlock `hcl:"discount,block"` // of sustained use
}

type discountBlock struct {
	Beyond float64 `hcl:"beyond"` // share of the month
	Price  float64 `hcl:"price"`  // part of the full one
}

// The sweeps: what a load stands for in place of what the block says.
const (
	sweepSpinUp    = "spin_up"   // mean seconds of the largest type
	sweepOutside   = "outside"   // mean load of others
	sweepSensitive = "sensitive" // share of the jobs
	sweepPressure  = "pressure"  // that jobs exert, relative to what they are drawn with
)

var sweeps = []string{sweepSpinUp, sweepOutside, sweepSensitive, sweepPressure}

// mostNodesOfType bounds what the provider has of one type, at a scale of 1, and so the size of a
// board. It is more than the jobs that the published scenarios have at once: the text knows of no
// provider that has no more.
const mostNodesOfType = 1000

func (p *provisionBlock) scale() float64 {
	if p.Scale > 0 {
		return p.Scale
	}
	return 1
}

func (p *provisionBlock) prices() provision.Prices {
	if p.Prices == nil {
		return provision.DefaultPrices()
	}
	return provision.Prices{RentedPerCoreHour: p.Prices.PerCoreHour, Ratio: p.Prices.Ratio, TermWeeks: p.Prices.TermWeeks}
}

func (p *provisionBlock) minimumBilled() time.Duration {
	if p.Prices == nil {
		return 0
	}
	return must(p.Prices.MinimumBilled)
}

func (p *provisionBlock) discounts() []provision.Discount {
	var out []provision.Discount
	if p.Prices != nil {
		for _, d := range p.Prices.Discounts {
			out = append(out, provision.Discount{Beyond: d.Beyond, Price: d.Price})
		}
	}
	return out
}

func (p *provisionBlock) catalogue() provision.Catalogue {
	var out provision.Catalogue
	for _, t := range p.Types {
		price := t.Price
		if price == 0 {
			price = float64(t.Cores) * p.prices().RentedPerCoreHour
		}
		out = append(out, provision.Type{Name: t.Name, Family: t.Family, Cores: t.Cores, MemoryMB: t.MemoryMB, PricePerHour: price, SpinUp: must(t.SpinUp)})
	}
	return out
}

func (p *provisionBlock) spinUp() fleet.SpinUp {
	if p.SpinUp == nil {
		return fleet.DefaultSpinUp()
	}
	s := p.SpinUp
	return fleet.SpinUp{
		Smallest: must(s.Smallest), Largest: must(s.Largest), Sigma: s.Sigma, SlowShare: s.SlowShare, SlowFrom: must(s.SlowFrom), SlowTo: must(s.SlowTo),
	}
}

func (p *provisionBlock) outside() fleet.Outside {
	if p.Outside == nil {
		return fleet.DefaultOutside()
	}
	return fleet.Outside{Mean: p.Outside.Mean, Swing: p.Outside.Swing, Correlation: must(p.Outside.Correlation), Step: must(p.Outside.Step)}
}

// varied is what a load may stand for.
type varied struct {
	spinUp    fleet.SpinUp
	outside   fleet.Outside
	sensitive *float64
	pressure  float64 // of jobs, not of other customers
}

// at is the block with what a load stands for.
func (p *provisionBlock) at(load float64) varied {
	v := varied{p.spinUp(), p.outside(), p.Demand.Sensitive, 1}
	switch p.Sweep {
	case sweepSpinUp:
		v.spinUp = v.spinUp.Times(load / v.spinUp.Mean().Seconds())
	case sweepOutside:
		v.outside.Mean = load
	case sweepSensitive:
		v.sensitive = &load
	case sweepPressure:
		v.pressure = load
	}
	return v
}

// ownedNodes is how many nodes a strategy owns.
func (p *provisionBlock) ownedNodes(s provision.Strategy) int {
	cores := s.OwnedCores(p.SteadyCores*p.scale(), p.PeakCores*p.scale())
	return int(math.Ceil(cores / float64(p.MachineCores)))
}

// hardware is the owned nodes of SR: what a run of another strategy has, its board says.
func (p *provisionBlock) hardware() *hardware {
	h := &hardware{machines: []truth.Machine{{
		Name: "machine", Cores: float64(p.MachineCores), GHz: unknownGHz, IPC: 1, LLCMB: unknownLLCMB, MemoryMB: float64(p.MachineMemoryMB),
		Siblings: unknownSiblings, Family: "unknown",
	}}}
	for range p.ownedNodes(provision.StaticReserved) {
		h.nodes = append(h.nodes, p.machine())
		h.cores += float64(p.MachineCores)
	}
	return h
}

func (p *provisionBlock) machine() node {
	return node{cores: p.MachineCores, mhz: p.MachineCores * mhzPerCore, memoryMB: p.MachineMemoryMB}
}

// provision says what is wrong with the block.
func (c *checker) provision() {
	p, at := c.file.Provision, blockAt{"provision", 0}
	if len(c.file.Populations)+len(c.file.Traces)+len(c.file.Deadlines) > 0 || c.file.JobClasses != nil || c.file.Colocation != nil || c.file.Cluster.Shape != "" || c.file.Cluster.Nodes != "" || len(c.file.Cluster.Kinds)+len(c.file.Cluster.Lose) > 0 {
		c.fail(c.at("", at), "provision replaces the cluster, and all that is submitted: an empty cluster block is left")
	}
	for _, v := range []struct {
		name  string
		value float64
	}{{"steady_cores", p.SteadyCores}, {"peak_cores", p.PeakCores}} {
		if !(v.value > 0) || v.value > maxJobs {
			c.fail(c.at(v.name, at), "%s = %v is no number of cores above 0", v.name, v.value)
		}
	}
	if p.SteadyCores > p.PeakCores {
		c.fail(c.at("steady_cores", at), "steady_cores = %v is more than peak_cores = %v", p.SteadyCores, p.PeakCores)
	}
	if !(p.Scale >= 0) || p.Scale > 100 {
		c.fail(c.at("scale", at), "scale = %v is not from 0 to 100; without it is 1", p.Scale)
	}
	c.between(p.MachineCores, 1, 1024, "machine_cores", at)
	c.between(p.MachineMemoryMB, 1, 1<<30, "machine_memory_mb", at)
	c.sweep()
	c.rentedTypes()
	c.fleet()
	c.prices()
	c.demand()
}

func (c *checker) sweep() {
	p, at := c.file.Provision, blockAt{"provision", 0}
	if p.Sweep != "" {
		c.oneOf(p.Sweep, sweeps, "sweep", at)
	}
	if (p.Sweep != "") != (len(c.file.Loads) > 0) {
		c.fail(c.at("sweep", at), "sweep says what loads are: the two need each other")
	}
	for _, l := range c.file.Loads {
		least, most, what := 0.0, 1.0, "share from 0 to 1"
		switch p.Sweep {
		case sweepSpinUp:
			most, what = 3600, "number of seconds up to 3600"
		case sweepPressure:
			least, what = 0.01, "factor from 0.01 to 1"
		}
		if !(l >= least && l <= most) {
			c.fail(c.at("loads"), "loads of the sweep %s: %v is no %s", p.Sweep, l, what)
		}
	}
}

func (c *checker) rentedTypes() {
	p, at := c.file.Provision, blockAt{"provision", 0}
	for i, t := range p.Types {
		here := blockAt{"type", i}
		c.span(t.SpinUp, 0, "spin_up", at, here)
		c.between(t.Cores, 1, p.MachineCores, "cores", at, here)
		c.between(t.MemoryMB, 1, 1<<30, "memory_mb", at, here)
		if !(t.Price >= 0) {
			c.fail(c.at("price_per_hour", at, here), "price_per_hour = %v is negative", t.Price)
		}
	}
	if err := p.catalogue().Check(); err != nil {
		c.fail(c.at("", at), "%s", err)
	}
}

func (c *checker) fleet() {
	p, at := c.file.Provision, blockAt{"provision", 0}
	if s := p.SpinUp; s != nil {
		here := blockAt{"spin_up", 0}
		for _, v := range []struct{ text, name string }{{s.Smallest, "smallest"}, {s.Largest, "largest"}, {s.SlowFrom, "slow_from"}, {s.SlowTo, "slow_to"}} {
			c.span(v.text, 0, v.name, at, here)
		}
		if !(s.Sigma >= 0 && s.Sigma <= 3) || !(s.SlowShare >= 0 && s.SlowShare <= 1) || must(s.SlowTo) < must(s.SlowFrom) {
			c.fail(c.at("", at, here), "sigma is from 0 to 3, slow_share a share, and slow_to not before slow_from")
		}
	}
	if o := p.Outside; o != nil {
		here := blockAt{"outside", 0}
		c.span(o.Correlation, 0, "correlation", at, here)
		if c.span(o.Step, 0, "step", at, here) <= 0 {
			c.fail(c.at("step", at, here), "step is how often the load of others changes: a time above 0")
		}
		if !(o.Mean >= 0 && o.Mean <= 1) || !(o.Swing >= 0 && o.Swing <= 1) {
			c.fail(c.at("", at, here), "mean and swing are shares from 0 to 1")
		}
	}
}

func (c *checker) prices() {
	p, at, here := c.file.Provision.Prices, blockAt{"provision", 0}, blockAt{"prices", 0}
	if p == nil {
		return
	}
	c.span(p.MinimumBilled, 0, "minimum_billed", at, here)
	if !(p.PerCoreHour > 0) || !(p.Ratio > 0) {
		c.fail(c.at("", at, here), "rented_per_core_hour and ratio are above 0")
	}
	c.between(p.TermWeeks, 1, 1000, "term_weeks", at, here)
	last := 0.0
	for i, d := range p.Discounts {
		if !(d.Beyond > last && d.Beyond < 1) || !(d.Price >= 0 && d.Price <= 1) {
			c.fail(c.at("", at, here, blockAt{"discount", i}), "discounts begin beyond rising shares of the month, between 0 and 1, at a price from 0 to 1")
		}
		last = d.Beyond
	}
}

// strategy completes and checks what a policy says of its nodes.
func (c *checker) strategy(p *policyBlock, at blockAt) {
	if c.file.Provision == nil {
		if p.Strategy != "" {
			c.fail(c.at("strategy", at), "policy %s has a strategy, and the scenario has no provision block", p.Name)
		}
		return
	}
	if p.Strategy == "" {
		p.Strategy = string(provision.StaticReserved)
	}
	c.oneOf(p.Strategy, provision.StrategyNames(), "strategy", at)
	s := provision.Strategy(p.Strategy)
	for _, own := range []string{"strategy", "known"} {
		if _, ok := p.AdmissionOptions[own]; ok && p.Admission == hcloudAdmission {
			c.fail(c.at("admission_options", at), "%s is not an option here: strategy and knowledge of the policy say it", own)
		}
	}
	switch {
	case !s.Rents() || p.Admission == hcloudAdmission:
	case p.Admission == targetValueAdmission && !s.Owns():
	default:
		c.fail(c.at("admission", at), "nobody rents nodes for policy %s: strategy %s needs admission = %q, or %q where nothing is owned", p.Name, p.Strategy, hcloudAdmission, targetValueAdmission)
	}
}

// The controllers that rent nodes.
const (
	hcloudAdmission      = "hcloud"
	targetValueAdmission = "target-value"
)
