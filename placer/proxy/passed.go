package proxy

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
)

// passed counts the jobs that go on as they are although they have, or may have, a
// performance block, and logs each reason once.
type passed struct {
	log *slog.Logger

	mu sync.Mutex
	by map[string]int64
}

// note counts one.
func (c *passed) note(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]int64{}
	}
	c.by[why.Error()]++
	if c.by[why.Error()] == 1 {
		c.log.Warn("a job passed as it is, not by the placer; more of the same are only counted", "reason", why)
	}
}

// counts are how many passed, by reason.
func (c *passed) counts() map[string]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := map[string]int64{}
	for why, n := range c.by {
		out[why] = n
	}
	return out
}

// pass sends a request on as it is, and tells its user why it did not pass the placer.
// text is nil where the body has not been read to its end.
func (p *Proxy) pass(w http.ResponseWriter, r *http.Request, text *spool, why error) {
	var foreign *foreignRegionError
	counted := why
	if errors.As(why, &foreign) {
		counted = errForeignRegion // not one for each name that somebody makes up
	}
	p.passed.note(counted)
	if text != nil {
		setBody(r, text.all())
	}
	if r.URL.Path == parsePath {
		p.reverse.ServeHTTP(w, r) // its answer is a job, with no place for words of ours
		return
	}
	p.forwardRead(w, r, warning(fmt.Sprintf("this request went to Nomad as it is, not by the placer: %s", why)))
}
