package dashboard

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// whatIfView is the form of the job page that asks what would be decided now,
// and the answer.
type whatIfView struct {
	Policies  []option
	Target    string // as typed; empty: as the job says
	Latency   string
	Unit      string // of Target; empty where the job has none to change
	HasTail   bool   // the job bounds a percentile
	Asked     bool
	Problem   string // why there is no answer
	Answer    Answer
	Outcome   badge
	Expected  wording.Expectation
	Rejected  []reasonCount
	SameNodes bool // the same as in the decision on record
}

// maxAnswerNodes is how many nodes of an answer the page lists.
const maxAnswerNodes = 10

// inputError is a question that cannot be read; the text says what would be.
type inputError string

func (e inputError) Error() string { return string(e) }

// whatIfForm reads the form and asks; it is nil where it cannot be answered. A
// question that fails is a note at the form: the page is worth showing.
func (s *server) whatIfForm(r *http.Request, w cluster.WorkloadID, now cluster.Decision) *whatIfView {
	asker, ok := s.whatIf()
	if !ok || w.Group == "" {
		return nil
	}
	query := r.URL.Query()
	list := []option{{"", "as in the job", false}}
	for _, name := range asker.Policies() {
		list = append(list, option{name, name, false})
	}
	_, unit, _ := now.Target.Value()
	view := &whatIfView{
		Policies: selected(list, query.Get("policy")), Target: query.Get("target"), Latency: query.Get("latency"),
		Unit: unit, HasTail: now.Target.Latency != nil, Asked: query.Has("whatif"),
	}
	if !view.Asked {
		return view
	}
	question, err := readQuestion(query, now.Target, asker.Policies())
	if err == nil {
		view.Answer, err = asker.WhatIf(r.Context(), w, question)
	}
	if err != nil {
		if !errors.As(err, new(inputError)) {
			s.logFailure(r, statusOf(err), err)
		}
		view.Problem = wording.Capital(err.Error())
		return view
	}
	d := &view.Answer.Decision
	view.Outcome, view.Expected, view.Rejected = outcomeBadge(d.Outcome), wording.Expect(d.Predicted, d.Target), viewReasons(d.RejectedBy)
	view.SameNodes = d.Outcome == cluster.Placed && now.Outcome == cluster.Placed && slices.Equal(nodeIDs(chosen(*d)), nodeIDs(chosen(now)))
	d.Candidates = d.Candidates[:min(len(d.Candidates), maxAnswerNodes)]
	return view
}

// nodeIDs are the candidates' nodes, sorted.
func nodeIDs(list []cluster.Candidate) []cluster.NodeID {
	var out []cluster.NodeID
	for _, c := range list {
		out = append(out, c.Node)
	}
	slices.Sort(out)
	return out
}

// whatIfJSON answers the question of the address: ?policy=…&target=…&latency=….
func (s *server) whatIfJSON(r *http.Request) (any, error) {
	asker, ok := s.whatIf()
	if !ok {
		return nil, fmt.Errorf("this placer cannot say what it would decide: %w", cluster.ErrNoRecord)
	}
	w := workloadOf(r)
	now, err := s.records.Decision(r.Context(), w)
	if err != nil {
		return nil, err
	}
	question, err := readQuestion(r.URL.Query(), now.Target, asker.Policies())
	if err != nil {
		return nil, err
	}
	answer, err := asker.WhatIf(r.Context(), w, question)
	if err != nil {
		return nil, err
	}
	return wordedAnswer{answer, wording.Decision(answer.Decision)}, nil
}

// wordedAnswer is an answer, with its decision in words for the tab in Nomad's UI.
type wordedAnswer struct {
	Answer
	Text wording.DecisionText `json:"text"`
}

// readQuestion reads policy, target (a number in the target's unit, or a
// duration for a finish time) and latency. What is left out stays as it is.
func readQuestion(query url.Values, now performance.Target, policies []string) (Question, error) {
	q := Question{Policy: query.Get("policy")}
	if q.Policy != "" && !slices.Contains(policies, q.Policy) {
		return q, inputError(fmt.Sprintf("there is no policy %q; known: %s", q.Policy, strings.Join(policies, ", ")))
	}
	target, latency := strings.TrimSpace(query.Get("target")), strings.TrimSpace(query.Get("latency"))
	if target == "" && latency == "" {
		return q, nil
	}
	q.Target = now
	if target != "" {
		if err := setTarget(&q.Target, target); err != nil {
			return q, err
		}
	}
	if latency != "" {
		if now.Latency == nil {
			return q, inputError("the job bounds no latency, so there is none to change")
		}
		bound, err := positiveDuration("latency", latency)
		if err != nil {
			return q, err
		}
		q.Target.Latency = &performance.Latency{Percentile: now.Latency.Percentile, Max: bound}
	}
	return q, nil
}

func setTarget(t *performance.Target, text string) (err error) {
	switch t.Kind {
	case performance.QPS:
		t.QPS, err = positiveNumber(text)
	case performance.Rate:
		t.Rate, err = positiveNumber(text)
	case performance.FinishWithin:
		t.FinishWithin, err = positiveDuration("finish time", text)
	default:
		err = inputError("a best effort job has no target to change")
	}
	return err
}

func positiveNumber(text string) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 0) {
		return 0, inputError(fmt.Sprintf("the target %q is not a number above 0, such as 20000", text))
	}
	return v, nil
}

func positiveDuration(what, text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, inputError(fmt.Sprintf("the %s %q is not a duration above 0, such as 5ms or 10m", what, text))
	}
	return d, nil
}
