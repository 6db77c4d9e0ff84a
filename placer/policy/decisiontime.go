package policy

import (
	"time"

	"github.com/nomad-placer/nomad-placer/placer/board"
)

// The cost model of decisions in the simulated world. The paper gives totals
// only (10 to 20 ms for Tarcil with 8 candidates on 100 servers, about 1 s for
// the centralized scheduler on 4,178 cores); the terms are derived from those and
// stated with every report (Delimitrou 2015, §7.5 and §7.6).
const (
	centralPerUnit  = 200 * time.Microsecond // per core examined by one central search
	samplingFixed   = 5 * time.Millisecond
	samplingPerUnit = 500 * time.Microsecond / 8 // per candidate
	samplingCommit  = 5 * time.Millisecond       // one write to the master copy
	probeRoundTrip  = time.Millisecond           // all probes of a job go out at once
)

// centralTime is the time of a search over all the nodes it examined.
type centralTime struct {
	nodes int
	units float64 // per node, on average
}

// DecisionTime implements board.DecisionTime: 0.2 ms per core of every node
// examined.
func (t *centralTime) DecisionTime(b *board.Board, _ *board.Request, c board.Choice) time.Duration {
	if b.Len() != t.nodes {
		sum := 0
		for i := range b.Len() {
			sum += b.Node(board.Index(i)).Units()
		}
		t.nodes, t.units = b.Len(), float64(sum)/float64(b.Len())
	}
	return time.Duration(float64(c.Examined) * t.units * float64(centralPerUnit))
}
