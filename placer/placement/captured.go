package placement

import (
	"fmt"
	"maps"

	"github.com/nomad-placer/nomad-placer/placer/profiling"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// withCaptured is what is known of a workload, with what its connections moved in place of what
// others cause on the network, where its own profile does not say: the part of a node's link that
// one allocation takes in its busier direction.
func (pl *Placer) withCaptured(k profiling.Known) profiling.Known {
	const network = interference.NetworkBandwidth
	if pl.cfg.Exchanged == nil || k.Knowledge.Sensitivity.Caused[network].IsMeasured() {
		return k
	}
	e, known := pl.cfg.Exchanged(k.Workload.ID)
	if !known || k.Workload.Count < 1 {
		return k
	}
	each := max(e.SentBytesPerSec, e.ReceivedBytesPerSec) / float64(k.Workload.Count)
	points := 100 * each * 8 / (e.LinkMbitPerSec * 1e6)
	caused := maps.Clone(k.Knowledge.Sensitivity.Caused)
	if caused == nil {
		caused = interference.Scores{}
	}
	caused[network] = interference.Estimate{
		Score: interference.Percent(points), Origin: interference.Captured, Before: caused[network].Before,
		Note: fmt.Sprintf("one allocation moves %s/s %s, by captured traffic of %s: %s %% of a link of %s Mbit/s",
			wording.Bytes(each), e.Basis, wording.Count(k.Workload.Count, "allocation"), wording.Number(points), wording.Number(e.LinkMbitPerSec)),
	}
	k.Knowledge.Sensitivity.Caused = caused
	return k
}
