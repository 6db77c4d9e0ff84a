package provision

import "time"

// Report is what the agent knows of rented nodes, served at /v1/provision.
type Report struct {
	AtMillis  int64        `json:"at_ms"`
	Strategy  string       `json:"strategy"`
	Mapping   string       `json:"mapping,omitempty"`
	Retention float64      `json:"retention"` // times its spin-up that an idle node is kept
	Types     []TypeReport `json:"types"`
	Nodes     []NodeReport `json:"nodes"`
	// PerHour is what is spent now, Today since midnight UTC, in the currency of the prices.
	PerHour float64    `json:"per_hour"`
	Today   float64    `json:"today"`
	Days    []DaySpend `json:"days,omitempty"` // the oldest first, of a month; one that is missing is not known
}

// DaySpend is what rented nodes cost on a day.
type DaySpend struct {
	Day   string  `json:"day"` // UTC, as 2006-01-02
	Spent float64 `json:"spent"`
	// UnseenHours are those in which no agent looked. They are in Spent with what there was afterwards.
	UnseenHours float64 `json:"unseen_hours,omitempty"`
}

// TypeReport is one type of node that can be rented.
type TypeReport struct {
	Name         string  `json:"name"`
	NodeClass    string  `json:"node_class"`
	Wanted       int     `json:"wanted"`  // how many nodes of this type there should be now
	Present      int     `json:"present"` // how many Nomad knows as ready
	Family       string  `json:"family,omitempty"`
	Cores        int     `json:"cores"`
	MemoryMB     int     `json:"memory_mb"`
	PricePerHour float64 `json:"price_per_hour"`
	SpinUpMillis int64   `json:"spin_up_ms"` // the mean of what was measured, before that what is expected
}

// Type is the type itself.
func (t TypeReport) Type() Type {
	return Type{
		Name: t.Name, Family: t.Family, Cores: t.Cores, MemoryMB: t.MemoryMB, PricePerHour: t.PricePerHour,
		SpinUp: time.Duration(t.SpinUpMillis) * time.Millisecond,
	}
}

// Catalogue are the types of a report.
func (r Report) Catalogue() Catalogue {
	var out Catalogue
	for _, t := range r.Types {
		out = append(out, t.Type())
	}
	return out
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
