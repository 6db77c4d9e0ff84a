package cluster

// Constraint is a Nomad constraint: attribute, operator, value.
type Constraint struct {
	Attribute string `json:"attribute"` // ${node.class}, ${attr.cpu.arch}, ${meta.rack}, …
	Operator  string `json:"operator"`
	Value     string `json:"value"`
}
