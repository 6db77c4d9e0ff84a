package dashboard

import (
	"context"
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/dashboard/dashboardtest"
	"github.com/nomad-placer/nomad-placer/placer/provision"
)

var linkPattern = regexp.MustCompile(`(?:href|src|action)="([^"]*)"`)

// Every address a page names works wherever the pages are mounted, with the
// base known to them or taken off by a proxy, and with hostile names.
func TestLinksWorkWhereverThePagesAreMounted(t *testing.T) {
	t.Parallel()
	hostileRecords, _ := hostile()
	for what, records := range map[string]Records{
		"plain": dashboardtest.Fixture(), "asking": asking{dashboardtest.Fixture()}, "hostile": asking{hostileRecords},
		"large": dashboardtest.Large(pageRows + 1), "only what must be": onlyRecords{dashboardtest.Fixture()},
	} {
		mounts := map[string]http.Handler{"": handler(t, records)}
		stripped := http.NewServeMux()
		stripped.Handle("/deep/down/", http.StripPrefix("/deep/down", handler(t, records)))
		mounts["/deep/down"] = stripped
		based, err := New(records, Options{Now: dashboardtest.Clock, Base: "/placer/"})
		if err != nil {
			t.Fatal(err)
		}
		mounts["/placer"] = based
		if what == "large" {
			mounts = map[string]http.Handler{"": mounts[""]} // its pages are many, not different
		}
		for base, h := range mounts {
			t.Run(what+" at "+base+"/", func(t *testing.T) {
				t.Parallel()
				crawl(t, h, base)
			})
		}
	}
}

// crawl follows every link that stays here, beginning with the first page.
func crawl(t *testing.T, h http.Handler, base string) {
	t.Helper()
	seen, queue := map[string]bool{}, []string{base + "/"}
	for len(queue) > 0 && !t.Failed() {
		address := queue[0]
		queue = queue[1:]
		if seen[address] {
			continue
		}
		seen[address] = true
		w := get(t, h, address)
		if w.Code != http.StatusOK {
			t.Errorf("%s: status %d: %.300s", address, w.Code, w.Body)
		}
		checkHarmless(t, address, w)
		if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			continue
		}
		here, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range linkPattern.FindAllStringSubmatch(w.Body.String(), -1) {
			next, err := here.Parse(html.UnescapeString(match[1]))
			if err != nil {
				t.Errorf("%s: link %q: %v", address, match[1], err)
				continue
			}
			if next.Host != "" {
				continue
			}
			if !strings.HasPrefix(next.Path, base+"/") {
				t.Errorf("%s links to %s, outside of %s/", address, next, base)
			}
			next.Fragment, next.RawFragment = "", ""
			queue = append(queue, next.String())
		}
	}
	if len(seen) < 12 {
		t.Errorf("only %d addresses were reached: %v", len(seen), seen)
	}
}

// checkHarmless insists that nothing of a user's is markup, and that a page has
// nothing inline, which its policy would forbid.
func checkHarmless(t *testing.T, address string, w *httptest.ResponseRecorder) {
	t.Helper()
	body, kind := w.Body.String(), w.Header().Get("Content-Type")
	bad := []string{"<script>alert", "\"><script", "<script>\""}
	if strings.HasPrefix(kind, "text/html") {
		bad = append(bad, " style=", "<style", "onclick", "onerror", "javascript:", "<script>")
	}
	for _, b := range bad {
		if strings.Contains(body, b) {
			t.Errorf("%s has %q", address, b)
		}
	}
	if strings.HasPrefix(kind, "application/json") && !json.Valid(w.Body.Bytes()) {
		t.Errorf("%s is no JSON: %.200s", address, body)
	}
}

// onlyRecords hides the optional parts of records.
type onlyRecords struct{ Records }

// asking are records that can say what they would decide: the decision on
// record, under the policy and target asked for.
type asking struct{ *dashboardtest.Records }

func (asking) Policies() []string { return []string{"paragon", "quasar", script} }

func (a asking) WhatIf(ctx context.Context, w cluster.WorkloadID, q Question) (Answer, error) {
	d, err := a.Decision(ctx, w)
	if err != nil {
		return Answer{}, err
	}
	if q.Policy != "" {
		d.Policy = q.Policy
	}
	if q.Target.Kind != "" {
		d.Target = q.Target
	}
	return Answer{Decision: d, Unprofiled: d.ProfileKey == ""}, nil
}

// Compare has no runs of 30 days, is not done with those of a day, and knows what comes of a week.
func (a asking) Compare(_ context.Context, q CompareQuestion) (provision.Answering, error) {
	switch {
	case a.Rented == nil:
		return provision.Answering{}, cluster.ErrNoRecord
	case q.Since == 24*time.Hour:
		return provision.Answering{Share: 0.4, What: "HF"}, nil
	case q.Since > 168*time.Hour:
		return provision.Answering{}, provision.NothingToReplay(map[string]int{"runs whose end nobody saw": 3})
	}
	c := provision.Comparison{
		From: dashboardtest.Now.Add(-q.Since), To: dashboardtest.Now, Hours: q.Since.Hours(), Runs: 25, Allocations: 50, LeftOut: map[string]int{"runs whose end nobody saw": 1}, Notes: []string{"Every week is as this one."},
		Owned: provision.OwnedNode{Cores: q.Cores, MemoryMB: q.MemoryMB, PricePerHour: q.PricePerHour, TermWeeks: q.TermWeeks}, Load: provision.LoadReport{MeanCores: 7.5, MostCores: 20},
		Strategies: []provision.StrategyReport{
			{Strategy: provision.StaticReserved, OwnedNodes: 2, Performance: 99.5, Worst: 97, OwnedPerHour: 2 * q.PricePerHour},
			{Strategy: provision.OnDemandMixed, RentedNodes: 40, RentedMean: 9.1, Performance: 91, Worst: 74, WaitSeconds: 12, RentedPerHour: 0.8},
		},
	}
	c.PutCosts([]float64{1, 104})
	return provision.Answering{Share: 1, Comparison: &c}, nil
}

func TestTheBaseIsChecked(t *testing.T) {
	t.Parallel()
	if _, err := New(&dashboardtest.Records{}, Options{Now: dashboardtest.Clock, Base: "placer"}); err == nil {
		t.Error("a base without a slash was taken")
	}
	h, err := New(&dashboardtest.Records{}, Options{Now: dashboardtest.Clock, Base: "/placer"})
	if err != nil {
		t.Fatal(err)
	}
	if w := get(t, h, "/placer"); w.Header().Get("Location") != "/placer/" {
		t.Errorf("the base without its slash is answered with %d %q", w.Code, w.Header().Get("Location"))
	}
	if w := get(t, h, "/"); w.Code != http.StatusNotFound {
		t.Errorf("what is outside of the base is answered with %d", w.Code)
	}
}
