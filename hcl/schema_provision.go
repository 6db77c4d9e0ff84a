package hcl

import (
	"fmt"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// Bounds of what can be rented, chosen by us.
const (
	maxPrice         = 1e6
	maxRentedCores   = 4096
	maxRentedMB      = 64 << 20
	maxSpinUpSeconds = 3600
	maxRetention     = 1000
	maxRentedNodes   = 10000
)

// provisionSchema is the grammar of the provision block.
func provisionSchema(o Options) block {
	d := DefaultProvisionConfig()
	return block{
		name: "provision", summary: "which nodes are rented by the hour, and which jobs go there",
		attributes: []attribute{
			{
				name: "strategy", kind: kindChoice, choices: o.Strategies, required: true, example: `"HM"`,
				summary: "which nodes there are: `SR` owned ones only; `OdF` rented ones of the largest type, `OdM` of any type; `HF` and `HM` owned nodes besides these",
			},
			{
				name: "mapping", kind: kindChoice, choices: o.Mappings, byDefault: `"` + d.Mapping + `"`, example: `"P8"`,
				summary: "which jobs the owned nodes get under `HF` and `HM`: P8 by use, by what a job tolerates and by how good rented nodes were",
			},
			{
				name: "max_per_hour", kind: kindNumber, bounds: bounds{0, maxPrice, true}, example: "2.5",
				byDefault: "needed where nodes are rented", summary: "the most that rented nodes may cost per hour, all together, in the currency of the prices; what starts and what leaves counts",
			},
			{
				name: "retention", kind: kindNumber, bounds: bounds{0, maxRetention, false}, byDefault: formatNumber(d.Retention), example: "10",
				summary: "for how many times its spin-up an idle node is kept that was good enough for its jobs",
			},
			{
				name: "probe", kind: kindTruth, byDefault: "true", example: "false",
				summary: "measure what others press on a rented node, by interference kernels before it gets a job and while it is idle, where the node has the ibench driver",
			},
		},
		blocks: []block{
			{
				name: "reserved", summary: "which nodes are owned; without it all that have no node class of an instance_type",
				attributes: []attribute{
					{name: "attribute", kind: kindText, required: true, example: `"node.class"`, summary: "what is looked at, as in a constraint of Nomad without its ${ }: node.class, meta.NAME, attr.NAME"},
					{name: "value", kind: kindText, required: true, example: `"owned"`, summary: "what it is on owned nodes"},
				},
			},
			{
				name: "instance_type", summary: "a type of node that can be rented; its name is what the autoscaler's policy asks for", labelled: "type", named: true,
				attributes: []attribute{
					{name: "node_class", kind: kindText, byDefault: "its name", example: `"burst-4"`, summary: "the node class of such nodes in Nomad"},
					{name: "cores", kind: kindInteger, bounds: bounds{1, maxRentedCores, false}, unit: "cores", required: true, example: "4", summary: "cores that jobs may use"},
					{name: "memory_mb", kind: kindInteger, bounds: bounds{1, maxRentedMB, false}, unit: "MB", required: true, example: "7500", summary: "memory that jobs may use"},
					{name: "price_per_hour", kind: kindNumber, bounds: bounds{0, maxPrice, false}, required: true, example: "0.19", beyond: freeHint, summary: "what a node costs per hour, in whatever currency, the same for all types"},
					{
						name: "spin_up", kind: kindSpan, bounds: bounds{1, maxSpinUpSeconds, false}, byDefault: `"` + formatSpan(DefaultSpinUp) + `"`, example: `"90s"`,
						summary: "how long one takes from its order until it is ready, before any was measured",
					},
					{name: "family", kind: kindText, byDefault: "none", example: `"compute"`, summary: "of types with as many cores a job gets one of the family it prefers; no job prefers one yet"},
					{name: "max", kind: kindInteger, bounds: bounds{1, maxRentedNodes, false}, unit: "nodes", byDefault: "what max_per_hour allows", example: "8", summary: "the most at a time, for example the quota at the provider"},
					{name: "target", kind: kindPairs, byDefault: "none", example: `{ aws_asg_name = "burst-4" }`, summary: "what the target plugin needs to know of this type; node_class is added"},
				},
			},
			{
				name: "target_plugin", summary: "has the agent itself order and return nodes, through a target plugin of the Nomad Autoscaler; without it an autoscaler does, which asks /v1/provision",
				attributes: []attribute{
					{name: "command", kind: kindText, required: true, example: `"/usr/local/lib/nomad-autoscaler/do-droplets"`, summary: "the plugin's program"},
					{name: "args", kind: kindTexts, byDefault: "none", example: `["-log-level", "warn"]`, summary: "its arguments"},
					{name: "config", kind: kindPairs, byDefault: "none", example: `{ region = "ams3" }`, summary: "its configuration, as in the config of the autoscaler's target block"},
				},
			},
		},
	}
}

// provisionConfig reads the block over the defaults.
func (s *source) provisionConfig(r *reading) *ProvisionConfig {
	c := DefaultProvisionConfig()
	setText(&c.Strategy, r, "strategy")
	setText(&c.Mapping, r, "mapping")
	if r.has("max_per_hour") {
		c.MaxPerHour = r.number("max_per_hour")
	}
	if r.has("retention") {
		c.Retention = r.number("retention")
	}
	if r.has("probe") {
		c.Probe = r.truth("probe")
	}
	if b := r.block("reserved"); b != nil {
		c.Reserved = &ReservedConfig{Attribute: b.text("attribute"), Value: b.text("value")}
	}
	for _, b := range r.named["instance_type"] {
		c.Types = append(c.Types, instanceType(b))
	}
	if b := r.block("target_plugin"); b != nil {
		c.Target = &TargetPluginConfig{Command: b.text("command"), Args: b.texts("args"), Config: b.pairs("config")}
	}
	s.checkProvision(r, c)
	return &c
}

func instanceType(r *reading) InstanceTypeConfig {
	t := InstanceTypeConfig{
		Name: r.label, NodeClass: r.label, Cores: int(r.number("cores")), MemoryMB: int(r.number("memory_mb")),
		PricePerHour: r.number("price_per_hour"), SpinUp: DefaultSpinUp, Max: int(r.number("max")), Target: r.pairs("target"),
	}
	setText(&t.NodeClass, r, "node_class")
	setText(&t.Family, r, "family")
	if r.has("spin_up") {
		t.SpinUp = r.span("spin_up")
	}
	return t
}

// checkProvision reports what does not go together.
func (s *source) checkProvision(r *reading, c ProvisionConfig) {
	s.checkReserved(r, c)
	if c.Strategy == "" {
		return // missing or wrong, which was said
	}
	if !c.Rents() {
		if c.Target != nil {
			s.fail(r.block("target_plugin").at, message{summary: fmt.Sprintf("strategy %s rents nothing, and there is a target_plugin", c.Strategy), hint: "remove the block, or choose HF or HM"})
		}
		return
	}
	if len(c.Types) == 0 && len(r.named["instance_type"]) == 0 {
		s.fail(r.at, message{
			summary: fmt.Sprintf("strategy %s rents nodes, and there is no instance_type", c.Strategy),
			hint:    `add instance_type "a-name" { … } with cores, memory_mb and price_per_hour, or choose strategy = "SR"`,
		})
	}
	if !r.has("max_per_hour") {
		s.fail(r.at, message{
			summary: fmt.Sprintf("strategy %s rents nodes, and there is no max_per_hour", c.Strategy),
			detail:  "Whoever may submit jobs could have nodes rented without end.",
			hint:    "add the most that they may cost, for example max_per_hour = 2.5",
		})
	}
	classes := map[string]*reading{}
	for i, t := range c.Types {
		at := r.named["instance_type"][i]
		if first := classes[t.NodeClass]; first != nil {
			s.fail(at.where("node_class"), message{
				summary: fmt.Sprintf("node_class %q is that of %s, on line %d", shorten(t.NodeClass), first.label, first.at.Start.Line),
				detail:  "Which type a node is of is told by its class.",
				hint:    "give each type a class of its own",
			})
			continue
		}
		classes[t.NodeClass] = at
		if at.has("price_per_hour") && c.MaxPerHour > 0 && t.PricePerHour > c.MaxPerHour {
			s.fail(at.where("price_per_hour"), message{
				summary: fmt.Sprintf("a node of type %s costs %s per hour, more than max_per_hour = %s", t.Name, formatNumber(t.PricePerHour), formatNumber(c.MaxPerHour)),
				hint:    "raise max_per_hour, or remove the type: no node of it would ever be rented",
			})
		}
	}
	if res := r.block("reserved"); res != nil && c.Reserved.Attribute == "node.class" && classes[c.Reserved.Value] != nil {
		s.fail(res.where("value"), message{
			summary: fmt.Sprintf("nodes of class %q are owned, and of an instance_type", shorten(c.Reserved.Value)),
			hint:    "give owned nodes a class of their own",
		})
	}
}

// checkReserved reports an attribute that no node has: none would be owned then.
func (s *source) checkReserved(r *reading, c ProvisionConfig) {
	res := r.block("reserved")
	if res.value("attribute").text == "" || cluster.OfNode("${"+c.Reserved.Attribute+"}") {
		return // missing or wrong, which was said, or right
	}
	s.fail(res.where("attribute"), message{
		summary: fmt.Sprintf("attribute %q is nothing that a node has", shorten(c.Reserved.Attribute)),
		detail:  "No node would be owned.",
		hint:    `write node.class, node.pool, node.datacenter, node.unique.name, meta.NAME or attr.NAME`,
	})
}
