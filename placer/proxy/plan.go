package proxy

import (
	"context"
	"encoding/json"
	"net/http"
)

// plan shows what registering the job would lead to: the plan of the job as the
// placer would write it.
func (p *Proxy) plan(w http.ResponseWriter, r *http.Request, b *body) {
	job, ok := p.withTargets(w, r, b)
	if !ok {
		return
	}
	if !p.o.pools().MayHold(text(job, "NodePool")) {
		p.forward(w, r, b.raw, nil)
		return
	}
	data, err := p.previewed(r, b, job)
	if err != nil {
		p.o.Log.Warn("a plan is shown without the placer's decision", "job", jobOf(r, b, job).String(), "error", err)
		p.forward(w, r, b.raw, warning("this plan is that of stock Nomad: "+err.Error()))
		return
	}
	p.forward(w, r, data, nil)
}

func (p *Proxy) previewed(r *http.Request, b *body, job map[string]any) ([]byte, error) {
	ctx, cancel := context.WithTimeout(r.Context(), p.o.PreviewWithin)
	defer cancel()
	rewritten, err := p.o.Placer.Preview(ctx, p.asHeld(r, b, job))
	if err != nil {
		return nil, err
	}
	return b.with(rewritten)
}

// validate adds what is wrong with performance blocks to what Nomad finds.
func (p *Proxy) validate(w http.ResponseWriter, r *http.Request, b *body) {
	job := b.job()
	if job == nil {
		p.forward(w, r, b.raw, nil)
		return
	}
	_, problem := p.check(job)
	if problem == nil {
		p.forward(w, r, b.raw, nil)
		return
	}
	p.forward(w, r, b.raw, func(answer *http.Response) error {
		return edit(answer, func(fields map[string]any) map[string]any {
			line := "performance block: " + problem.Error()
			list, _ := fields["ValidationErrors"].([]any)
			fields["ValidationErrors"] = append(list, line)
			if text(fields, "Error") == "" {
				fields["Error"] = line
			}
			return fields
		})
	})
}

// parse reads a jobspec with performance blocks: Nomad the rest, we the blocks.
func (p *Proxy) parse(w http.ResponseWriter, r *http.Request, b *body) {
	spec, ok := b.fields["JobHCL"].(string)
	if !ok {
		p.forward(w, r, b.raw, nil)
		return
	}
	stripped, attach, err := p.o.Placer.Extract(spec)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	case attach == nil:
		p.forward(w, r, b.raw, nil)
		return
	}
	fields := clone(b.fields)
	fields["JobHCL"] = stripped
	data, err := json.Marshal(fields)
	if err != nil {
		p.forward(w, r, b.raw, nil)
		return
	}
	p.forward(w, r, data, func(answer *http.Response) error {
		var problem error
		err := edit(answer, func(job map[string]any) map[string]any {
			problem = attach(job)
			return job
		})
		if err == nil && problem != nil {
			answer.StatusCode, answer.Status = http.StatusBadRequest, "400 Bad Request"
			answer.Header.Set("Content-Type", "text/plain; charset=utf-8")
			replaceAnswer(answer, []byte(problem.Error()))
		}
		return err
	})
}
