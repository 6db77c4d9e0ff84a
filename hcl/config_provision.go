package hcl

import "time"

// ProvisionConfig says which nodes are rented by the hour.
type ProvisionConfig struct {
	Strategy   string               `json:"strategy"`
	Mapping    string               `json:"mapping"`
	MaxPerHour float64              `json:"max_per_hour"` // of all rented nodes, in the currency of the prices
	Retention  float64              `json:"retention"`    // times its spin-up that an idle node is kept
	Probe      bool                 `json:"probe"`        // what others press on rented nodes is measured
	Reserved   *ReservedConfig      `json:"reserved,omitempty"`
	Types      []InstanceTypeConfig `json:"instance_types"`
	Target     *TargetPluginConfig  `json:"target_plugin,omitempty"` // nil: an autoscaler asks for what is wanted
}

// ReservedConfig tells the nodes that are owned from others.
type ReservedConfig struct {
	Attribute string `json:"attribute"` // as in a constraint, without ${ }
	Value     string `json:"value"`
}

// InstanceTypeConfig is a type of node that can be rented.
type InstanceTypeConfig struct {
	Name         string            `json:"name"`
	NodeClass    string            `json:"node_class"`
	Cores        int               `json:"cores"`
	MemoryMB     int               `json:"memory_mb"`
	PricePerHour float64           `json:"price_per_hour"`
	SpinUp       time.Duration     `json:"spin_up"` // expected before any was measured
	Family       string            `json:"family,omitempty"`
	Max          int               `json:"max,omitempty"` // at a time; 0: as many as the money allows
	Target       map[string]string `json:"target,omitempty"`
}

// TargetPluginConfig is a target plugin of the Nomad Autoscaler.
type TargetPluginConfig struct {
	Command string            `json:"command"`
	Args    []string          `json:"args,omitempty"`
	Config  map[string]string `json:"config,omitempty"`
}

// DefaultSpinUp is that of usual providers (Delimitrou 2015, §8.3.2: 12 to 19 s; a whole machine
// with its Nomad client takes longer, so ours).
const DefaultSpinUp = 60 * time.Second

// strategyWithoutRent owns all nodes.
const strategyWithoutRent = "SR"

// DefaultProvisionConfig is a block that says nothing.
func DefaultProvisionConfig() ProvisionConfig {
	return ProvisionConfig{Mapping: "P8", Retention: 10, Probe: true}
}

// Rents reports whether the strategy rents nodes.
func (c ProvisionConfig) Rents() bool { return c.Strategy != strategyWithoutRent }
