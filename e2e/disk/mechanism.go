package disk

import (
	"fmt"
	"time"
)

// Kind of a disk.
type Kind string

// The kinds.
const (
	// GP3 is a volume of a cloud: see gp3.
	GP3 Kind = "gp3"
	// Rotating is a rotating disk: see rotating.
	Rotating Kind = "rotating"
	// Remote is such a disk behind a network: see remote.
	Remote Kind = "remote"
)

// mechanism is what a kind of disk does, one request after another.
type mechanism interface {
	// next is the index of the request that is done next, of those that wait.
	next(waiting []*request, now time.Time) int
	// takes is how long it takes to do it, begun at a moment.
	takes(o *request, begun time.Time) time.Duration
}

// mechanisms by their kind; each is of one disk.
var mechanisms = map[Kind]func() mechanism{
	GP3:      func() mechanism { return gp3{} },
	Rotating: func() mechanism { return &rotating{} },
	Remote:   func() mechanism { return &remote{} },
}

func newMechanism(k Kind) (mechanism, error) {
	m, ok := mechanisms[k]
	if !ok {
		return nil, fmt.Errorf("disk: no kind %q; there are %s, %s and %s", k, GP3, Rotating, Remote)
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

// gp3 does requests as they come. Above 43 KiB bytes take longer than the I/O.
type gp3 struct{}

func (gp3) next([]*request, time.Time) int { return 0 }

func (gp3) takes(o *request, _ time.Time) time.Duration {
	return max(time.Second/IOPS, time.Duration(float64(o.bytes)/BytesPerSec*float64(time.Second)))
}
