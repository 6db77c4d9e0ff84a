package proxy

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
)

// Why a job is no job of this placer's.
var (
	errForeignRegion = errors.New("the job is for another region")
	errMultiregion   = errors.New("the job is for several regions, and a placer serves one; its regions place it themselves")
)

// foreignRegionError names the region.
type foreignRegionError struct{ asked, own string }

func (e *foreignRegionError) Error() string {
	if e.own == "" {
		return fmt.Sprintf("the job is for region %q, and which one this placer serves is not known: give the proxy -region", e.asked)
	}
	return fmt.Sprintf("the job is for region %q, and this placer serves %q; run an agent and a proxy in each region", e.asked, e.own)
}

// anyRegion stands for the region of the agent that is asked.
const anyRegion = "global"

// region checks that a job is for the region of this placer, as Nomad reads it: the body
// counts before the query, and both before the job's own.
func (p *Proxy) region(r *http.Request, b *body) error {
	if b.multiregion {
		return errMultiregion
	}
	asked := cmp.Or(b.region.said, r.URL.Query().Get("region"), b.ownRegion.said)
	if asked == "" || asked == anyRegion {
		return nil
	}
	own := ""
	if p.o.Region != nil {
		var err error
		if own, err = p.o.Region(r.Context()); err != nil {
			p.o.Log.Warn("the region of the placer is not known", "error", err)
		}
	}
	if asked != own {
		return &foreignRegionError{asked, own}
	}
	return nil
}
