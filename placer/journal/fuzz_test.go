package journal

import (
	"testing"
	"unicode/utf8"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/profiler/store"
	"github.com/nomad-placer/nomad-placer/profiler/store/mem"
)

// FuzzRecords: a record that anybody wrote into the store is read, or an error; and what
// was read of it can be shown, within the limit of Nomad's page.
func FuzzRecords(f *testing.F) {
	f.Add([]byte(`{"format":1,"workload":{"namespace":"default","job":"web","group":"main"},"outcome":"placed","count":2,"candidates":[{"name":"a"}]}`))
	f.Add([]byte(`{"format":1,"outcome":"stock","reason":"` + "\\u0000|\\n<img src=x>" + `"}`))
	f.Add([]byte(`{"format":1,"count":-1,"sizing":{"chosen":true,"count":-9},"predicted":{}}`))
	f.Add([]byte(`{"format":1,"target":{"kind":"qps","latency":null},"sizing":{}}`))
	f.Add([]byte(`{"format":9}`))
	f.Add([]byte(`null`))
	f.Add([]byte(`{"format":1,"job":{"id":"web"},"stage":"profile","steps":[null]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		ctx := t.Context()
		w := cluster.WorkloadID{Namespace: "default", Job: "web", Group: "main"}
		book := Book{Store: mem.New()}
		for _, path := range []string{
			pathOf(decisionPrefix, w.String()), pathOf(evaluationPrefix, w.JobID().String()),
			pathOf(observationPrefix, w.String()), pathOf(actionPrefix, w.String()),
		} {
			if _, err := book.Store.Put(ctx, path, data, store.Any); err != nil {
				return // more than a store takes
			}
		}
		_, _ = book.Evaluation(ctx, w.JobID()) // any error is as good
		_, _ = book.Observations(ctx, w)
		_, _ = book.Actions(ctx, w)
		d, err := book.Decision(ctx, w)
		if err != nil {
			return
		}
		all, err := book.Decisions(ctx)
		if err != nil {
			t.Fatalf("one is read, and all are not: %v", err)
		}
		page := Page(all, "/placer/chart.svg")
		if len(page) > MaxPageBytes || utf8.Valid(data) && !utf8.ValidString(page) {
			t.Fatalf("a page of %d bytes: %q", len(page), page)
		}
		_ = Sentence(all)
		if err := book.PutDecision(ctx, d); err != nil && len(data) < store.MaxDocumentBytes/4 {
			t.Fatalf("it cannot be written again: %v", err)
		}
	})
}
