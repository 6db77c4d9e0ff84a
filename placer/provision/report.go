package provision

// Report is what the agent knows of rented nodes, served at /v1/provision.
type Report struct {
	AtMillis int64        `json:"at_ms"`
	Strategy string       `json:"strategy"`
	Types    []TypeReport `json:"types"`
	Nodes    []NodeReport `json:"nodes"`
	// PerHour is what is spent now, Today since midnight UTC, in the currency of the prices.
	PerHour float64 `json:"per_hour"`
	Today   float64 `json:"today"`
}

// TypeReport is one type of node that can be rented.
type TypeReport struct {
	Name      string `json:"name"`
	NodeClass string `json:"node_class"`
	Wanted    int    `json:"wanted"`  // how many nodes of this type there should be now
	Present   int    `json:"present"` // how many Nomad knows as ready
}

// NodeReport is one rented node.
type NodeReport struct {
	ID    string    `json:"id"` // of Nomad; empty while Nomad does not know the node
	Name  string    `json:"name"`
	Type  string    `json:"type"`
	State NodeState `json:"state"`
	Why   string    `json:"why"` // one sentence
}

// NodeState is where a rented node is between its order and its end.
type NodeState string

// The states of a rented node, in the order in which a good one has them.
const (
	Starting NodeState = "starting" // ordered, and not ready yet
	Probing  NodeState = "probing"  // ready, takes no jobs, and its quality is being measured
	Serving  NodeState = "serving"  // has jobs
	Vacant   NodeState = "idle"     // has no jobs, and is retained
	Leaving  NodeState = "leaving"  // takes no jobs, and is given back
)
