package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// plan shows what registering the job would lead to: the plan of the job as the
// placer would write it.
func (p *Proxy) plan(w http.ResponseWriter, r *http.Request, text *spool) {
	b, ok := p.candidate(w, r, text)
	if !ok {
		return
	}
	data, note, problem, err := p.previewed(r, b)
	switch {
	case problem != nil:
		http.Error(w, "performance block: "+problem.Error(), http.StatusBadRequest)
	case err != nil:
		p.o.Log.Warn("a plan is shown without the placer's decision", "job", b.jobOf(r.URL.Query()).String(), "error", err)
		p.forward(w, r, text.all(), warning("this plan is that of stock Nomad: "+err.Error()))
	default:
		p.forward(w, r, data, warning(note))
	}
}

// previewed is the body of a plan as the placer would write the job. problem is what is
// wrong with its block.
func (p *Proxy) previewed(r *http.Request, b *body) (data *parts, note string, problem, err error) {
	if err := p.authorised(r, b); err != nil {
		return nil, "", nil, err
	}
	job, done, err := p.open(r, b)
	if err != nil {
		return nil, "", nil, err
	}
	defer done()
	targets, note, problem := p.check(job)
	if problem != nil || !targets || !p.o.pools().MayHold(b.pool.said) {
		return b.text.all(), note, problem, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), p.o.PreviewWithin)
	defer cancel()
	rewritten, err := p.o.Placer.Preview(ctx, p.asHeld(r, b, job))
	if err != nil {
		return nil, "", nil, err
	}
	data, err = b.with(rewritten)
	return data, note, nil, err
}

// validate adds what is wrong with performance blocks to what Nomad finds. It looks once
// Nomad has answered.
func (p *Proxy) validate(w http.ResponseWriter, r *http.Request, text *spool) {
	b, ok := p.candidate(w, r, text)
	if !ok {
		return
	}
	p.forward(w, r, text.all(), func(answer *http.Response) error {
		job, done, err := p.open(r, b)
		if err != nil {
			return nil // Nomad's answer is all there is
		}
		_, note, problem := p.check(job)
		done()
		if problem == nil && note == "" {
			return nil
		}
		return edit(answer, func(fields map[string]any) map[string]any { return validated(fields, note, problem) })
	})
}

func validated(fields map[string]any, note string, problem error) map[string]any {
	fields = warned(fields, note)
	if problem == nil {
		return fields
	}
	line := "performance block: " + problem.Error()
	list, _ := fields["ValidationErrors"].([]any)
	fields["ValidationErrors"] = append(list, line)
	if text(fields, "Error") == "" {
		fields["Error"] = line
	}
	return fields
}

// maxJobspecBytes is the longest jobspec, as it is written in JSON, that is looked into.
const maxJobspecBytes = 4 << 20

// parse reads a jobspec with performance blocks: Nomad the rest, we the blocks, once
// Nomad has said that this user may have jobspecs parsed.
func (p *Proxy) parse(w http.ResponseWriter, r *http.Request, text *spool) {
	at, err := findJobspec(text)
	if err != nil || at.len() == 0 || at.len() > maxJobspecBytes || !text.has(metaKey) || !p.mayParse(r) {
		p.forward(w, r, text.all(), nil)
		return
	}
	stripped, attach, err := p.extract(r, text, at)
	switch {
	case errors.Is(err, ErrUnread):
		p.forwardRefusal(w, r, text.all(), err.Error())
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	case attach == nil:
		p.forward(w, r, text.all(), nil)
	default:
		p.forward(w, r, text.replacing(at, stripped), attached(attach))
	}
}

// findJobspec is where the jobspec is in a body.
func findJobspec(text *spool) (at span, err error) {
	s := newScanner(text)
	seen := map[string]bool{}
	_, err = s.object(func(key string) error {
		known, err := once(seen, key, "JobHCL")
		if err != nil {
			return err
		}
		if known == "" || s.significant() != '"' {
			return s.skip()
		}
		at, err = s.quoted()
		return err
	})
	return at, err
}

// mayParse asks Nomad, as the user, to parse a jobspec without anything in it.
func (p *Proxy) mayParse(r *http.Request) bool {
	ctx, cancel := context.WithTimeout(r.Context(), p.o.AdmitWithin)
	defer cancel()
	const least = `{"JobHCL":"job \"x\" {}"}`
	answer, err := p.ask(ctx, r, parsePath, strings.NewReader(least), len(least))
	return err == nil && answer == http.StatusOK
}

// extract takes the blocks out of a jobspec, and returns the rest as JSON.
func (p *Proxy) extract(r *http.Request, text *spool, at span) (stripped []byte, attach func(map[string]any) error, err error) {
	if !p.extracting.take(r.Context(), text.source) {
		return nil, nil, fmt.Errorf("%w: %w", ErrUnread, errBusy)
	}
	defer p.extracting.give(text.source, 1)
	var jobspec string
	if err := json.Unmarshal(text.bytes(at), &jobspec); err != nil {
		return nil, nil, nil //nolint:nilerr // Nomad says what is wrong with it
	}
	rest, attach, err := p.o.Placer.Extract(jobspec)
	if err != nil || attach == nil {
		return nil, nil, err
	}
	stripped, err = json.Marshal(rest)
	return stripped, attach, err
}

// attached puts blocks into the job that Nomad made of the rest of its jobspec.
func attached(attach func(job map[string]any) error) after {
	return func(answer *http.Response) error {
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
	}
}
