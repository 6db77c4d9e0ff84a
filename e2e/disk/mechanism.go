package disk

import (
	"fmt"
	"time"
)

// Kind of a disk.
type Kind string

// The kinds.
const (
	// Volume3000 is a volume of the network: see volume3000.
	Volume3000 Kind = "volume"
	// Rotating7200 is a disk that turns: see rotating.
	Rotating7200 Kind = "rotating"
)

// mechanism is what a kind of disk does, one order after another.
type mechanism interface {
	// next is the index of the order that is done next, of those that wait.
	next(waiting []*order, now time.Time) int
	// takes is how long it takes to do it, begun at a moment.
	takes(o *order, begun time.Time) time.Duration
}

// mechanisms by their kind; each is of one disk.
var mechanisms = map[Kind]func() mechanism{
	Volume3000:   func() mechanism { return volume3000{} },
	Rotating7200: func() mechanism { return &rotating{} },
}

func newMechanism(k Kind) (mechanism, error) {
	m, ok := mechanisms[k]
	if !ok {
		return nil, fmt.Errorf("disk: no kind %q; there are %s and %s", k, Volume3000, Rotating7200)
	}
	return m(), nil
}

// What a volume of AWS's type gp3 does where nothing more is paid for (Amazon EBS User Guide,
// "General Purpose SSD volumes"): 3,000 I/Os and 125 MiB a second. Chosen before anything was
// measured.
const (
	IOPS        = 3000
	BytesPerSec = 125 << 20
)

// volume3000 does orders as they come. Above 43 KiB bytes take longer than the I/O.
type volume3000 struct{}

func (volume3000) next([]*order, time.Time) int { return 0 }

func (volume3000) takes(o *order, _ time.Time) time.Duration {
	return max(time.Second/IOPS, time.Duration(float64(o.bytes)/BytesPerSec*float64(time.Second)))
}
