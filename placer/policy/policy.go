package policy

import (
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Request is everything a policy may look at.
type Request struct {
	Workload  *cluster.Workload
	JobType   string
	RunPool   string
	Knowledge *cluster.Knowledge
	Snapshot  *cluster.Snapshot
	Columns   []interference.Source // the sources that count, in order
	Seed      uint64
	At        time.Time
	// MaySize lets a policy that can choose size and count as well. The group has
	// no allocation yet.
	MaySize bool
	// MayWait lets a policy refuse the nodes with room for the hope of a better one: it will
	// be asked again soon.
	MayWait bool

	drawn int // so many candidates are looked at, drawn at random where there are more; 0: all
}

// Policy places one workload. It is pure: the same request gives the same
// decision, byte for byte. An error means the request was unusable; "no node
// fits" is a Decision with outcome Queued.
type Policy interface {
	Place(r Request) (cluster.Decision, error)
}

// Descriptor is one line of the policy table.
type Descriptor struct {
	Name    string
	Summary string
	Paper   string // author, year, section; "" for baselines
	// NeedsProfile: the policy is only better than chance with a profile.
	NeedsProfile bool
	Sizes        bool // it chooses size and count too, where the user leaves them open
	Waits        bool // it may refuse nodes with room while a request may wait
	New          func() Policy
}
