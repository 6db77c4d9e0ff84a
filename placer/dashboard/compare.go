package dashboard

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/access"
	"github.com/nomad-placer/nomad-placer/placer/provision"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// compareView is the form of the page of rented nodes that asks what other strategies would have cost,
// and the answer.
type compareView struct {
	Since                        []option
	Cores, MemoryMB, Price, Term string // as typed
	Asked                        bool
	Problem                      string // why there is no answer
	Percent                      string // that is done; empty: there is an answer, or none
	What                         string // is being replayed
	Answer                       *provision.Comparison
	LeftOut                      []string
	Costs                        []costRow
}

// costRow is what each strategy costs in so many weeks.
type costRow struct {
	Weeks float64
	Costs []costCell
}

type costCell struct {
	Cost  float64
	Saved string // against SR in the same weeks, in words; empty: of SR itself
}

// sinceOptions are the times that may be replayed.
var sinceOptions = []option{{"24h", "day", false}, {"168h", "7 days", false}, {"720h", "30 days", false}}

const (
	defaultSince     = "168h"
	defaultTermWeeks = "52"
)

// compareForm reads the form and asks; it is nil where it cannot be answered. A question that fails is a
// note at the form.
func (s *server) compareForm(r *http.Request) *compareView {
	asker, err := s.comparing(r.Context())
	if err != nil {
		return nil
	}
	query := r.URL.Query()
	since := query.Get("since")
	if since == "" {
		since = defaultSince
	}
	view := &compareView{
		Since: selected(sinceOptions, since), Cores: query.Get("cores"), MemoryMB: query.Get("memory_mb"), Price: query.Get("price"), Term: query.Get("term_weeks"),
		Asked: query.Has("compare"),
	}
	if view.Term == "" {
		view.Term = defaultTermWeeks
	}
	if !view.Asked {
		return view
	}
	answering, err := ask(r.Context(), asker, query)
	if err != nil {
		if !errors.As(err, new(inputError)) {
			s.logFailure(r, statusOf(err), err)
		}
		view.Problem = wording.Capital(err.Error())
		return view
	}
	if answering.Comparison == nil {
		view.Percent, view.What = wording.Number(100*answering.Share), answering.What
		return view
	}
	view.Answer, view.LeftOut, view.Costs = answering.Comparison, answering.Comparison.LeftOutTexts(), costRows(answering.Comparison)
	return view
}

// compareJSON answers the question of the address, or says how far the answer is.
func (s *server) compareJSON(r *http.Request) (any, error) {
	asker, err := s.comparing(r.Context())
	if err != nil {
		return nil, err
	}
	return ask(r.Context(), asker, r.URL.Query())
}

func ask(ctx context.Context, asker Comparing, query url.Values) (provision.Answering, error) {
	q, err := readCompareQuestion(query)
	if err != nil {
		return provision.Answering{}, err
	}
	return asker.Compare(ctx, q)
}

// runsJSON is for those who may read all that is recorded: with a part of the runs a comparison would be
// of another cluster.
func (s *server) runsJSON(r *http.Request) (any, error) {
	if v, limited := s.records.(*seen); limited {
		switch yes, err := v.caller.MayReadRecords(r.Context()); {
		case err != nil:
			return nil, err
		case !yes:
			return nil, errNotAll
		}
	}
	rented, err := s.provisioning(r.Context())
	if err != nil {
		return nil, err
	}
	runs, err := rented.Runs(r.Context())
	return compact{runs}, err
}

// errNotAll: the caller may read a part of the records at most.
var errNotAll = &access.Refusal{Status: http.StatusForbidden, Message: "the runs of all jobs are for tokens that may read the placer's Variables"}

// comparing is who compares strategies, for a caller who may read nodes.
func (s *server) comparing(ctx context.Context) (Comparing, error) {
	return ofNodes[Comparing](ctx, s, "strategies are not compared here")
}

// The most that is asked for, chosen by us: wider than anything that there is.
const (
	maxSince    = 366 * 24 * time.Hour
	maxCores    = 4096
	maxMemoryMB = 64 << 20
	maxPrice    = 1e6
	maxWeeks    = 1000
)

// readCompareQuestion reads since, cores, memory_mb, price and term_weeks.
func readCompareQuestion(query url.Values) (CompareQuestion, error) {
	q := CompareQuestion{}
	since, err := time.ParseDuration(orText(query.Get("since"), defaultSince))
	if err != nil || since <= 0 || since > maxSince {
		return q, inputError(fmt.Sprintf("the time %q is not a duration above 0, such as 168h", query.Get("since")))
	}
	q.Since = since
	for _, n := range []struct {
		name, what, otherwise string
		most                  int
		to                    *int
	}{
		{"cores", "cores of an owned node", "", maxCores, &q.Cores},
		{"memory_mb", "memory of an owned node, in MB", "", maxMemoryMB, &q.MemoryMB},
		{"term_weeks", "weeks that an owned node is paid for in advance", defaultTermWeeks, maxWeeks, &q.TermWeeks},
	} {
		text := orText(query.Get(n.name), n.otherwise)
		v, err := strconv.Atoi(text)
		if err != nil || v < 1 || v > n.most {
			return q, inputError(fmt.Sprintf("%s: %q is not a whole number from 1 to %d", n.what, text, n.most))
		}
		*n.to = v
	}
	price, err := strconv.ParseFloat(strings.TrimSpace(query.Get("price")), 64)
	if err != nil || !(price >= 0 && price <= maxPrice) || math.IsNaN(price) {
		return q, inputError(fmt.Sprintf("price of an owned node per hour: %q is not a number from 0 on, such as 0.28", query.Get("price")))
	}
	q.PricePerHour = price
	return q, nil
}

func orText(text, otherwise string) string {
	if text = strings.TrimSpace(text); text == "" {
		return otherwise
	}
	return text
}

func costRows(c *provision.Comparison) []costRow {
	if len(c.Strategies) == 0 {
		return nil
	}
	var out []costRow
	for i, h := range c.Strategies[0].Horizons {
		row := costRow{Weeks: h.Weeks}
		for _, s := range c.Strategies {
			row.Costs = append(row.Costs, costCell{s.Horizons[i].Cost, savedText(s.Horizons[i])})
		}
		out = append(out, row)
	}
	return out
}

func savedText(h provision.HorizonCost) string {
	switch {
	case h.Saved == nil:
		return ""
	case *h.Saved >= 0:
		return fmt.Sprintf("%.0f %% less", *h.Saved)
	default:
		return fmt.Sprintf("%.0f %% more", -*h.Saved)
	}
}
