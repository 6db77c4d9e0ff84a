package cluster

import (
	"context"
	"time"

	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Rental is whether a workload goes to owned nodes or to a rented one, and why.
type Rental struct {
	Side RentalSide `json:"side"`
	Type string     `json:"type,omitempty"` // of the rented node, or of the one in whose class it waits
	Node NodeID     `json:"node,omitempty"` // that is rented
	Why  string     `json:"why"`            // one sentence without its end
}

// RentalSide is a side of the cluster.
type RentalSide string

// The sides.
const (
	SideOwned  RentalSide = "owned"
	SideRented RentalSide = "rented"
	SideWaits  RentalSide = "waits" // for either
)

// Renter orders and returns nodes of the types that can be rented. Its calls may take long, and
// end with their context.
type Renter interface {
	// Status says how many nodes of a type there are or are coming, by the provider's account.
	Status(ctx context.Context, typ string) (RentalStatus, error)
	// Scale asks for another number of nodes. It returns when that is under way, or refused.
	Scale(ctx context.Context, s Scaling) error
}

// RentalStatus is what a provider says of a type.
type RentalStatus struct {
	Count int
	Ready bool // it takes requests now
}

// Scaling is a request for another number of nodes.
type Scaling struct {
	Type       string
	Was, Count int
	Leave      []NodeID // that are to go first, where there are to be fewer
	Reason     string
}

// Prober measures what others press on a node on which nothing of ours runs.
type Prober interface {
	// KernelSpeeds is how fast kernels are there by themselves, in operations per second; one that
	// could not be measured is not in it.
	KernelSpeeds(ctx context.Context, r KernelRequest) (map[interference.Source]float64, error)
	// ShowQuality shows what was found where people look.
	ShowQuality(ctx context.Context, node NodeID, q NodeQuality) error
}

// KernelRequest asks for one run of kernels.
type KernelRequest struct {
	ID      string // the same request adopts a run already under way
	Node    Node
	Sources []interference.Source
	Within  time.Duration // from the request to the answer
}

// NodeQuality is what a node offers.
type NodeQuality struct {
	Quality        float64 // from 0 to 1: one less what others press, the highest first
	OutsidePercent map[interference.Source]int
}
