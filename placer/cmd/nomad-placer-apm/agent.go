package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	// reportPath is where an agent says what it knows of rented nodes.
	reportPath = "/v1/provision"
	// tokenHeader is how the agent is shown a token, as Nomad is.
	tokenHeader = "X-Nomad-Token" //nolint:gosec // the name of a header

	// answersWithin is how long the agent may take. Chosen by us: less than the 10 seconds that are
	// usual between two evaluations of a policy.
	answersWithin = 8 * time.Second
	// mostBytes of an answer are read. Chosen by us: a report on 10,000 nodes, with a sentence for
	// each, has 3 MB.
	mostBytes = 8 << 20
	// mostShown of an answer that is none are shown in an error.
	mostShown = 200
	// staleAfter is how old a report may be, and how far the clocks may differ. After it the agent
	// has not decided for long, and what was wanted then may be wrong by now.
	staleAfter = time.Minute
)

// answer is what is read of provision.Report. Pointers tell what is missing from what is 0: to
// take the one for the other would end every rented node.
type answer struct {
	AtMillis *int64       `json:"at_ms"`
	Types    []typeAnswer `json:"types"`
}

type typeAnswer struct {
	Name   string `json:"name"`
	Wanted *int64 `json:"wanted"` // nodes
}

// ask an agent for its report.
func (c config) ask(ctx context.Context) (answer, error) {
	body, err := c.get(ctx, c.address.JoinPath(reportPath).String())
	if err != nil {
		return answer{}, fmt.Errorf("the agent of nomad-placer does not say how many nodes are wanted: %w", err)
	}
	a, err := parse(body)
	if err != nil {
		return answer{}, fmt.Errorf("what answers at %s is not an agent of nomad-placer with a provision block: %w", c.address, err)
	}
	return a, nil
}

func parse(body []byte) (answer, error) {
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return answer{}, fmt.Errorf("%w; it begins %q", err, shown(body))
	}
	return a, nil
}

func (c config) get(ctx context.Context, url string) ([]byte, error) {
	transport, err := c.transport()
	if err != nil {
		return nil, err
	}
	token, err := c.readToken()
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	if token != "" {
		request.Header.Set(tokenHeader, token)
	}
	// A redirect would take the token along to wherever it leads.
	client := http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, mostBytes+1))
	switch {
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s%s: %q", response.Status, hint(response.StatusCode), shown(body))
	case err != nil:
		return nil, err
	case len(body) > mostBytes:
		return nil, fmt.Errorf("the answer has more than %d bytes, which no report has", mostBytes)
	}
	return body, nil
}

// hint is what to do about a status.
func hint(status int) string {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return " (" + keyToken + " has to name a file with a Nomad token that may read nodes)"
	case status == http.StatusNotFound:
		return " (is there a provision block in the agent's configuration?)"
	case status >= 300 && status < 400:
		return " (redirects are not followed; give the address they lead to)"
	}
	return ""
}

func shown(body []byte) string { return string(body[:min(len(body), mostShown)]) }

// window is the time that a query is about; zero values leave it open.
type window struct{ from, to time.Time }

// wanted is how many nodes of a type there are to be, and when the agent said so. What cannot be
// relied on is an error, for which the autoscaler does nothing.
func (a answer) wanted(typ string, w window, now time.Time) (nodes int64, at time.Time, err error) {
	if a.AtMillis == nil {
		return 0, at, errors.New("the agent's report has no at_ms, so that nobody knows how old it is")
	}
	at = time.UnixMilli(*a.AtMillis)
	if err := fresh(at, w, now); err != nil {
		return 0, at, err
	}
	i := slices.IndexFunc(a.Types, func(t typeAnswer) bool { return t.Name == typ })
	if i < 0 {
		return 0, at, fmt.Errorf("the agent knows no instance type %q; its provision block has %s", typ, a.names())
	}
	switch n := a.Types[i].Wanted; {
	case slices.ContainsFunc(a.Types[i+1:], func(t typeAnswer) bool { return t.Name == typ }):
		return 0, at, fmt.Errorf("the agent's report has the type %q twice", typ)
	case n == nil:
		return 0, at, fmt.Errorf("the agent's report does not say how many nodes of type %q are wanted", typ)
	case *n < 0:
		return 0, at, fmt.Errorf("the agent's report wants %d nodes of type %q", *n, typ)
	default:
		return *n, at, nil
	}
}

// fresh refuses a report of another time than that of the query.
func fresh(at time.Time, w window, now time.Time) error {
	switch {
	case now.Sub(at) > staleAfter:
		return fmt.Errorf("the agent's report is %s old: its agent has not decided since, or the clocks differ", now.Sub(at).Round(time.Second))
	case at.Sub(now) > staleAfter:
		return fmt.Errorf("the agent's report is of %s from now: the clocks differ", at.Sub(now).Round(time.Second))
	case !w.from.IsZero() && at.Before(w.from):
		return fmt.Errorf("the agent's report is of before the query's window; make query_window longer than %s", now.Sub(at).Round(time.Second))
	case !w.to.IsZero() && at.Sub(w.to) > staleAfter:
		return errors.New("the query is about the past, and the agent knows only what is wanted now: leave query_window_offset out")
	}
	return nil
}

// names of the types that the agent has, at most ten.
func (a answer) names() string {
	const most = 10
	var names []string
	for _, t := range a.Types[:min(len(a.Types), most)] {
		names = append(names, fmt.Sprintf("%q", shown([]byte(t.Name))))
	}
	switch {
	case len(names) == 0:
		return "none"
	case len(a.Types) > most:
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}
