package proxy

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// register decides on a job with targets, where all is known that is needed, and
// registers it as it will run; else it holds the job and answers once it was released.
func (p *Proxy) register(w http.ResponseWriter, r *http.Request, b *body) {
	job, ok := p.withTargets(w, r, b)
	if !ok {
		return
	}
	if pool := text(job, "NodePool"); !p.o.pools().MayHold(pool) {
		p.forward(w, r, b.raw, warning(fmt.Sprintf("the job names node_pool %q, so it did not pass the placer: leave node_pool out and use a constraint", pool)))
		return
	}
	if data, message, err := p.admitted(r, b, job); err == nil {
		p.forward(w, r, data, warning(message))
		return
	} else if r.Context().Err() == nil {
		p.o.Log.Debug("a job is held", "job", jobOf(r, b, job).String(), "reason", err)
	}
	held := clone(job)
	held["NodePool"] = p.o.HoldPool
	data, err := b.with(held)
	if err != nil {
		p.o.Log.Error("writing a job as JSON; it passes as it is", "error", err)
		p.forward(w, r, b.raw, nil)
		return
	}
	p.forward(w, r, data, p.untilReleased(r, jobOf(r, b, job)))
}

// withTargets is the job of a request if it has targets. Where it has none, or they
// cannot be read, the request is answered.
func (p *Proxy) withTargets(w http.ResponseWriter, r *http.Request, b *body) (map[string]any, bool) {
	job := b.job()
	if job == nil {
		p.forward(w, r, b.raw, nil)
		return nil, false
	}
	targets, err := p.check(job)
	if err != nil {
		http.Error(w, "performance block: "+err.Error(), http.StatusBadRequest)
		return nil, false
	}
	if !targets {
		p.forward(w, r, b.raw, nil)
	}
	return job, targets
}

// admitted is the registration of a job that was decided on before it.
func (p *Proxy) admitted(r *http.Request, b *body, job map[string]any) (data []byte, message string, err error) {
	ctx, cancel := context.WithTimeout(r.Context(), p.o.AdmitWithin)
	defer cancel()
	rewritten, message, err := p.o.Placer.Admit(ctx, p.asHeld(r, b, job))
	if err != nil {
		return nil, "", err
	}
	data, err = b.with(rewritten)
	return data, message, err
}

// asHeld is the job as it would be held.
func (p *Proxy) asHeld(r *http.Request, b *body, job map[string]any) map[string]any {
	out := clone(job)
	out["Namespace"], out["NodePool"] = jobOf(r, b, job).Namespace, p.o.HoldPool
	return out
}

// jobOf is what a registration is about, as Nomad reads it: a namespace in the query
// counts before one in the body, and that before the job's own. With any other order a
// user could name a job that is not theirs, and have it released.
func jobOf(r *http.Request, b *body, job map[string]any) cluster.JobID {
	namespace := cmp.Or(r.URL.Query().Get("namespace"), text(b.fields, "Namespace"), text(job, "Namespace"), "default")
	return cluster.JobID{Namespace: namespace, ID: text(job, "ID")}
}

// clone copies the top level of a job.
func clone(job map[string]any) map[string]any {
	out := make(map[string]any, len(job))
	for k, v := range job {
		out[k] = v
	}
	return out
}

// warning adds a line to the warnings of an answer.
func warning(line string) after {
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
func (p *Proxy) untilReleased(r *http.Request, id cluster.JobID) after {
	return func(answer *http.Response) error {
		return edit(answer, func(fields map[string]any) map[string]any {
			h := &held{asker: p.as(r), id: id, index: number(fields, "JobModifyIndex"), since: p.o.Clock.Now()}
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
