package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// A job with a performance text is looked at in steps, each of which costs more than the
// one before: its outline, which anybody may have us read; what Nomad says of it, asked
// with the user's own token; and only then its values, and a decision.

// candidate finds a performance text in a request that carries a job. The request is
// answered where there is none, or where the job is not this placer's.
func (p *Proxy) candidate(w http.ResponseWriter, r *http.Request, text *spool) (*body, bool) {
	// Most jobs have no block, which their text tells without being read: the key as it is,
	// or one with escapes.
	if !text.has(metaKey) && !text.has(`\u`) {
		p.forward(w, r, text.all(), nil)
		return nil, false
	}
	o, err := readOutline(text)
	switch {
	case errors.Is(err, errNoJSON) || errors.Is(err, errOtherKind), err == nil && (!o.block || o.id.said == ""):
		p.forward(w, r, text.all(), nil)
		return nil, false
	case err != nil:
		p.pass(w, r, text, fmt.Errorf("it says %q, and cannot be looked into: %w", metaKey, err))
		return nil, false
	}
	b := &body{text, o}
	if err := p.region(r, b); err != nil {
		p.pass(w, r, text, err)
		return nil, false
	}
	return b, true
}

// errRefused: Nomad does not take the job from this user.
var errRefused = errors.New("refused by Nomad")

// authorised asks Nomad, as the user who sent a job, whether it would take it: for a
// plan of it as it would be held, which looks at no node. Nothing is spent on a job
// before that.
func (p *Proxy) authorised(r *http.Request, b *body) error {
	ctx, cancel := context.WithTimeout(r.Context(), p.o.AdmitWithin)
	defer cancel()
	text := b.held(p.o.HoldPool)
	status, err := p.ask(ctx, r, "/v1/job/"+url.PathEscape(b.id.said)+"/plan", text, text.len())
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%w: %d %s", errRefused, status, http.StatusText(status))
	}
	return err
}

// ask sends a request of our own to Nomad with the token and the query of another one.
func (p *Proxy) ask(ctx context.Context, as *http.Request, path string, text io.Reader, length int) (status int, err error) {
	target := *p.o.Nomad
	target.Path, target.RawPath = "", ""
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, strings.TrimSuffix(target.String(), "/")+path+"?"+as.URL.RawQuery, text)
	if err != nil {
		return 0, err
	}
	r.ContentLength = int64(length)
	for _, h := range tokenHeaders {
		if v := as.Header.Values(h); len(v) > 0 {
			r.Header[h] = v
		}
	}
	answer, err := p.o.Transport.RoundTrip(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxDiscardedBytes)) // so that the connection is used again
	return answer.StatusCode, nil
}

// maxDiscardedBytes of an answer are read to keep its connection.
const maxDiscardedBytes = 256 << 10

// errCostly: a job that makes too much of a value is held without a look at its block.
var errCostly = errors.New("its values are too many to be looked at before it is registered")

// open makes values of a job that Nomad would take. done has to be called when they are
// not needed any more.
func (p *Proxy) open(r *http.Request, b *body) (job map[string]any, done func(), err error) {
	if b.cost > maxDecodedCost {
		return nil, nil, errCostly
	}
	ctx, cancel := context.WithTimeout(r.Context(), p.o.AdmitWithin)
	defer cancel()
	if err := p.decoded.Acquire(ctx, int64(b.cost)); err != nil {
		return nil, nil, errCostly
	}
	done = func() { p.decoded.Release(int64(b.cost)) }
	if job, err = b.decoded(); err == nil {
		err = p.o.Placer.Canonical(job)
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return job, done, nil
}
