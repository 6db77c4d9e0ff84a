package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// register decides on a job with targets, where all is known that is needed, and
// registers it as it will run; else it holds the job and answers once it was released.
func (p *Proxy) register(w http.ResponseWriter, r *http.Request, text *spool) {
	b, ok := p.candidate(w, r, text)
	if !ok {
		return
	}
	id := b.jobOf(r.URL.Query())
	if err := p.authorised(r, b); err != nil {
		// Nomad will say so itself, or take the job after all.
		p.o.Log.Debug("nothing is spent on a job", "job", id.String(), "reason", err)
		p.hold(w, r, b)
		return
	}
	job, done, err := p.open(r, b)
	if err != nil {
		p.o.Log.Debug("a job is held without being decided on before", "job", id.String(), "reason", err)
		p.hold(w, r, b)
		return
	}
	held := p.admit(w, r, b, job)
	done()
	if held {
		p.hold(w, r, b)
	}
}

// admit registers a job as it will run, or as it is where it has no targets; it is true
// where the job has to be held instead.
func (p *Proxy) admit(w http.ResponseWriter, r *http.Request, b *body, job map[string]any) (hold bool) {
	targets, note, err := p.check(job)
	switch {
	case err != nil:
		http.Error(w, "performance block: "+err.Error(), http.StatusBadRequest)
		return false
	case !targets:
		p.forward(w, r, b.text.all(), warning(note))
		return false
	case !p.o.pools().MayHold(b.pool.said):
		return true // which it is not: see there
	}
	rewritten, message, err := p.decide(r, b, job)
	if err == nil {
		p.forward(w, r, rewritten, warning(message))
		return false
	}
	if r.Context().Err() == nil {
		p.o.Log.Debug("a job is held", "job", b.jobOf(r.URL.Query()).String(), "reason", err)
	}
	return true
}

// hold registers a job into the hold pool, all else as it came.
func (p *Proxy) hold(w http.ResponseWriter, r *http.Request, b *body) {
	if !p.o.pools().MayHold(b.pool.said) {
		p.forward(w, r, b.text.all(), warning(fmt.Sprintf("the job names node_pool %q, so it did not pass the placer: leave node_pool out and use a constraint", b.pool.said)))
		return
	}
	p.forward(w, r, b.held(p.o.HoldPool), p.untilReleased(r, b))
}

// errBusy: as many jobs as may be are being decided on.
var errBusy = errors.New("too many jobs are being decided on at once")

// decide is the registration of a job that was decided on before it.
func (p *Proxy) decide(r *http.Request, b *body, job map[string]any) (text *parts, message string, err error) {
	ctx, cancel := context.WithTimeout(r.Context(), p.o.AdmitWithin)
	defer cancel()
	if !p.deciding.take(ctx, b.text.source) {
		return nil, "", errBusy
	}
	defer p.deciding.give(b.text.source, 1)
	rewritten, message, err := p.o.Placer.Admit(ctx, p.asHeld(r, b, job))
	if err != nil {
		return nil, "", err
	}
	text, err = b.with(rewritten)
	return text, message, err
}

// asHeld is the job as it would be held.
func (p *Proxy) asHeld(r *http.Request, b *body, job map[string]any) map[string]any {
	out := clone(job)
	out["Namespace"], out["NodePool"] = b.jobOf(r.URL.Query()).Namespace, p.o.HoldPool
	return out
}

// clone copies the top level of a job.
func clone(job map[string]any) map[string]any {
	out := make(map[string]any, len(job))
	for k, v := range job {
		out[k] = v
	}
	return out
}

// warning adds a line to the warnings of an answer; nil for none.
func warning(line string) after {
	if line == "" {
		return nil
	}
	return func(answer *http.Response) error {
		return edit(answer, func(fields map[string]any) map[string]any { return warned(fields, line) })
	}
}

// warned are the fields with one more line of warnings, which the command line and
// the UI show.
func warned(fields map[string]any, line string) map[string]any {
	if line == "" {
		return fields
	}
	if said := text(fields, "Warnings"); said != "" {
		line = said + "\nnomad-placer: " + line
	} else {
		line = "nomad-placer: " + line
	}
	fields["Warnings"] = line
	return fields
}

// untilReleased answers a registration of a held job: at once, and follows the job
// in the background; or once the job may run, with the answer to the registration
// of the version that does.
func (p *Proxy) untilReleased(r *http.Request, b *body) after {
	id, asker := b.jobOf(r.URL.Query()), p.as(r)
	if len(asker.tokens) == 0 && b.secret.said != "" {
		asker.tokens.Set(tokenHeaders[0], b.secret.said) // where Nomad's library may put it, too
	}
	return func(answer *http.Response) error {
		return edit(answer, func(fields map[string]any) map[string]any {
			h := &held{asker: asker, id: id, index: number(fields, "JobModifyIndex"), since: p.o.Clock.Now()}
			if p.inBackground(h, text(fields, "EvalID")) {
				return warned(fields, "the job is held until nodes are chosen; its evaluation reports the progress")
			}
			ctx, cancel := context.WithTimeout(r.Context(), p.o.Wait)
			defer cancel()
			note, err := h.follow(ctx, fields)
			if err != nil {
				p.o.Log.Warn("a held job could not be followed to its release", "job", id.String(), "error", err)
				note = "the job is held and could not be followed further: " + err.Error() + "; see `nomad-placer job status " + id.ID + "`"
			}
			return warned(fields, note)
		})
	}
}
