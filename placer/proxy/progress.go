package proxy

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
)

// The bounds of following held jobs in the background.
const (
	maxFollowed = 4096             // at once; the answers to more are kept back instead
	keepEnded   = 10 * time.Minute // how a followed job ended is reported this long
)

// following are the held jobs whose registration was answered at once, by the
// evaluation that the answer named.
type following struct {
	mu sync.Mutex
	by map[string]*followed
}

// followed is what is reported of one of them.
type followed struct {
	mu    sync.Mutex
	said  string // what happens now
	next  string // the released version's evaluation
	ended bool
	lost  bool // it could not be followed: what Nomad says counts
	final bool // how it ended was reported once
}

func (f *following) of(evaluation string) *followed {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.by[evaluation]
}

func (f *following) add(evaluation string) *followed {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.by) >= maxFollowed {
		return nil
	}
	if f.by == nil {
		f.by = map[string]*followed{}
	}
	f.by[evaluation] = &followed{said: "held until nodes are chosen"}
	return f.by[evaluation]
}

func (f *following) remove(evaluation string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.by, evaluation)
}

func (f *followed) tell(said string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.said = said
}

func (f *followed) end(said, next string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended, f.lost, f.next = true, err != nil, next
	f.said = said
	if said == "" {
		f.said = "released"
	}
}

// inBackground follows a held job after its registration was answered, so that a
// client that has gone does not take the deadline with it. It is false where the
// answer has to be kept back instead.
func (p *Proxy) inBackground(h *held, evaluation string) bool {
	if !p.o.Progress || evaluation == "" {
		return false
	}
	f := p.following.add(evaluation)
	if f == nil {
		return false
	}
	h.tell = f.tell
	p.background.Go(func() {
		defer p.following.remove(evaluation)
		ctx, cancel := context.WithTimeout(p.life, p.o.Wait)
		fields := map[string]any{}
		note, err := h.follow(ctx, fields)
		cancel()
		if err != nil && p.life.Err() == nil {
			p.o.Log.Warn("a held job could not be followed to its release", "job", h.id.String(), "error", err)
		}
		f.end(note, text(fields, "EvalID"), err)
		select {
		case <-p.life.Done():
		case <-p.o.Clock.After(keepEnded):
		}
	})
	return true
}

// Close ends what runs in the background. Held jobs stay held: the placer's agents
// go on with them.
func (p *Proxy) Close() {
	p.end()
	p.background.Wait()
}

// evaluationOf is the followed job whose evaluation a request asks for; nil for
// all other requests.
func (p *Proxy) evaluationOf(r *http.Request) *followed {
	if r.Method != http.MethodGet {
		return nil
	}
	id, ok := strings.CutPrefix(r.URL.Path, "/v1/evaluation/")
	if !ok {
		return nil
	}
	return p.following.of(id)
}

// evaluation answers with Nomad's record of the held version's evaluation, as one
// that is under way: `nomad job run` asks for it every second, prints each new
// status, and goes on with the next evaluation once it is complete.
func (p *Proxy) evaluation(w http.ResponseWriter, r *http.Request, f *followed) {
	words := printsStatus(r)
	p.forwardRead(w, r, func(answer *http.Response) error {
		return edit(answer, func(fields map[string]any) map[string]any { return f.over(fields, words) })
	})
}

// printsStatus: clients written in Go with Nomad's own library, as its command
// line, take any status that they do not know for "not yet". Others may not, and
// are told "pending".
func printsStatus(r *http.Request) bool {
	return strings.HasPrefix(r.UserAgent(), "Go-http-client/")
}

// over puts the progress over the fields of an evaluation.
func (f *followed) over(fields map[string]any, words bool) map[string]any {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lost {
		return fields
	}
	// That no node was eligible is how the job is held, and no failure.
	fields["FailedTGAllocs"], fields["BlockedEval"], fields["DeploymentID"], fields["NextEval"] = nil, "", "", ""
	said := "nomad-placer: " + f.said
	fields["StatusDescription"] = said
	switch {
	case f.ended && (f.final || !words):
		fields["Status"], fields["NextEval"] = "complete", f.next
	case words:
		fields["Status"], f.final = said, f.ended
	default:
		fields["Status"] = "pending"
	}
	return fields
}

// progressText is one line for a stage of an evaluation. It changes every ten
// per cent at most, for each change is a line on somebody's terminal.
func progressText(e cluster.Evaluation) string {
	line := string(e.Stage)
	if e.Group != "" {
		line += " " + e.Group
	}
	if e.Message != "" {
		line += ": " + e.Message
	}
	if e.Fraction != nil {
		line += fmt.Sprintf(" (%d %%)", int(*e.Fraction*10)*10)
	}
	return line
}
