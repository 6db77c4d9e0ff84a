package hcl

import (
	"fmt"
	"strings"
	"time"

	hclv2 "github.com/hashicorp/hcl/v2"
)

// PricesConfig is what nodes cost, in one currency: by what the strategies of owned and rented nodes are
// compared.
type PricesConfig struct {
	Owned          OwnedNodeConfig      `json:"owned"`
	Types          []InstanceTypeConfig `json:"instance_types"`
	MinimumBilled  time.Duration        `json:"minimum_billed"`  // of a rented node
	OutsidePercent float64              `json:"outside_percent"` // of a provider's cores that other customers keep busy
}

// OwnedNodeConfig is a node of one's own, or one that is paid in advance.
type OwnedNodeConfig struct {
	Cores        int     `json:"cores"`
	MemoryMB     int     `json:"memory_mb"`
	PricePerHour float64 `json:"price_per_hour"` // what is paid for a term, by hour of it
	TermWeeks    int     `json:"term_weeks"`
	Nodes        int     `json:"nodes,omitempty"` // that the hybrids own; 0: it is not said
}

// Bounds and defaults of a price list.
const (
	maxTermWeeks     = 1000
	maxBilledSeconds = 7 * 24 * 3600

	DefaultTermWeeks      = 52 // a year (Delimitrou 2015, §8.2.3)
	DefaultOutsidePercent = 25 // §8.2.1
)

// freeHint is for a price that is negative.
const freeHint = "what costs nothing has the price 0"

// pricesSchema is the grammar of a price list.
func pricesSchema() block {
	return block{
		name: "prices", summary: "the file of `nomad-placer provision what-if -prices`: what nodes cost, in whatever currency",
		attributes: []attribute{
			{
				name: "minimum_billed", kind: kindSpan, bounds: bounds{0, maxBilledSeconds, false}, byDefault: `"0s"`, example: `"1m"`,
				summary: "for how long a rented node is billed at least; after that by the second",
			},
			{
				name: "outside", kind: kindPercent, bounds: bounds{0, 100, false}, byDefault: fmt.Sprintf(`"%d%%"`, DefaultOutsidePercent), example: `"25%"`,
				summary: "the part of the provider's other cores that other customers are taken to keep busy, on machines that a rented node shares",
				misuse:  `write the percentage in quotes: outside = "25%"`,
			},
		},
		blocks: []block{
			{
				name: "owned", summary: "a node of one's own, or one that is paid in advance",
				attributes: []attribute{
					{name: "cores", kind: kindInteger, bounds: bounds{1, maxRentedCores, false}, unit: "cores", required: true, example: "16", summary: "cores that jobs may use"},
					{name: "memory_mb", kind: kindInteger, bounds: bounds{1, maxRentedMB, false}, unit: "MB", required: true, example: "60000", summary: "memory that jobs may use"},
					{name: "price_per_hour", kind: kindNumber, bounds: bounds{0, maxPrice, false}, required: true, example: "0.28", beyond: freeHint, summary: "what is paid for a term, divided by its hours: purchase, housing and power, or a reservation"},
					{name: "term_weeks", kind: kindInteger, bounds: bounds{1, maxTermWeeks, false}, unit: "weeks", byDefault: fmt.Sprint(DefaultTermWeeks), example: "52", summary: "for how long a node is paid in advance: whole terms are counted"},
					{name: "nodes", kind: kindInteger, bounds: bounds{1, maxRentedNodes, false}, unit: "nodes", byDefault: "as many as the least load needs, one at least", example: "4", summary: "how many `HF` and `HM` own"},
				},
			},
			{
				name: "instance_type", summary: "a type of node that can be rented; what is not said of one that the agent knows is as in its configuration", labelled: "type", named: true,
				attributes: []attribute{
					{name: "price_per_hour", kind: kindNumber, bounds: bounds{0, maxPrice, false}, required: true, example: "0.76", beyond: freeHint, summary: "what a node costs per hour"},
					{name: "cores", kind: kindInteger, bounds: bounds{1, maxRentedCores, false}, unit: "cores", byDefault: "the agent's", example: "16", summary: "cores that jobs may use"},
					{name: "memory_mb", kind: kindInteger, bounds: bounds{1, maxRentedMB, false}, unit: "MB", byDefault: "the agent's", example: "30000", summary: "memory that jobs may use"},
					{name: "spin_up", kind: kindSpan, bounds: bounds{1, maxSpinUpSeconds, false}, byDefault: "what the agent has measured, else `\"" + formatSpan(DefaultSpinUp) + "\"`", example: `"75s"`, summary: "how long one takes from its order until it is ready"},
				},
			},
		},
	}
}

// DecodePrices reads a price list. Of a type that is among known, only its price must be said. The error,
// if any, is of type Diagnostics.
func (o Options) DecodePrices(src []byte, filename string, known []InstanceTypeConfig) (PricesConfig, error) {
	s := newSource(src, filename, position{line: 1, column: 1})
	config := s.prices(known)
	if err := s.problems.sorted().Err(); err != nil {
		return PricesConfig{}, err
	}
	return config, nil
}

func (s *source) prices(known []InstanceTypeConfig) PricesConfig {
	config := PricesConfig{OutsidePercent: DefaultOutsidePercent}
	body := s.parse(MaxTextBytes)
	if body == nil {
		return config
	}
	schema := pricesSchema()
	r := s.read(body, hclv2.Range{Filename: s.filename, Start: s.parserStart(), End: s.parserStart()}, schema, schema)
	config.MinimumBilled = r.span("minimum_billed")
	if r.has("outside") {
		config.OutsidePercent = r.number("outside")
	}
	config.Owned = s.ownedNode(r)
	for _, b := range r.named["instance_type"] {
		config.Types = append(config.Types, s.pricedType(b, known))
	}
	if len(r.named["instance_type"]) == 0 {
		s.fail(r.at, message{
			summary: "prices has no instance_type",
			detail:  "All strategies but SR rent nodes.",
			hint:    `add instance_type "a-name" { … } with price_per_hour, cores and memory_mb`,
		})
	}
	return config
}

func (s *source) ownedNode(r *reading) OwnedNodeConfig {
	b := r.block("owned")
	if b == nil {
		if !r.has("owned") { // written as an attribute, which was said
			s.fail(r.at, message{
				summary: "prices has no owned block",
				detail:  "SR, HF and HM own nodes.",
				hint:    "add owned { … } with cores, memory_mb and price_per_hour of a node of your own",
			})
		}
		return OwnedNodeConfig{}
	}
	out := OwnedNodeConfig{
		Cores: int(b.number("cores")), MemoryMB: int(b.number("memory_mb")), PricePerHour: b.number("price_per_hour"), TermWeeks: DefaultTermWeeks, Nodes: int(b.number("nodes")),
	}
	if b.has("term_weeks") {
		out.TermWeeks = int(b.number("term_weeks"))
	}
	return out
}

// pricedType is a type with its price, over what is known of it.
func (s *source) pricedType(r *reading, known []InstanceTypeConfig) InstanceTypeConfig {
	out := InstanceTypeConfig{Name: r.label, NodeClass: r.label, SpinUp: DefaultSpinUp}
	found := false
	var names []string
	for _, k := range known {
		names = append(names, k.Name)
		if k.Name == r.label {
			out, found = k, true
		}
	}
	out.PricePerHour = r.number("price_per_hour")
	if r.has("cores") {
		out.Cores = int(r.number("cores"))
	}
	if r.has("memory_mb") {
		out.MemoryMB = int(r.number("memory_mb"))
	}
	if r.has("spin_up") {
		out.SpinUp = r.span("spin_up")
	}
	var missing []string
	for _, name := range []string{"cores", "memory_mb"} {
		if !found && !r.has(name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		s.fail(r.at, unknownType(r.label, names, missing))
	}
	return out
}

// unknownType says that a type has no size, here or in the agent's configuration.
func unknownType(label string, names, missing []string) message {
	m := message{
		summary: fmt.Sprintf("instance_type %q has no %s, and the agent knows no type of that name", shorten(label), strings.Join(missing, " and no ")),
		detail:  knownAre(names),
		hint:    didYouMean(label, names),
	}
	if len(names) == 0 {
		m.detail = "What the agent rents is not known here."
	}
	if m.hint == "" {
		m.hint = fmt.Sprintf("add %s, for example cores = 16 and memory_mb = 30000", strings.Join(missing, " and "))
	}
	return m
}
