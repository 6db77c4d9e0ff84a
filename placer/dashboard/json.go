package dashboard

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
)

// compact is a record that is printed without indentation: large, and for
// programs only.
type compact struct{ record any }

// encode prints a record.
func encode(record any) ([]byte, error) {
	if c, ok := record.(compact); ok {
		return json.Marshal(c.record)
	}
	return json.MarshalIndent(record, "", "  ")
}

// json answers with the record that f returns, or with {"error": …}.
func (s *server) json(f func(*server, *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var record any
		mine, err := s.seenBy(r)
		if err == nil {
			record, err = f(mine, r)
		}
		var body []byte
		if err == nil {
			body, err = encode(record)
		}
		status := http.StatusOK
		if err != nil {
			status = statusOf(err)
			s.logFailure(r, status, err)
			tellHow(w, err)
			body, _ = json.Marshal(map[string]string{"error": wording.Capital(err.Error())}) // a string always encodes
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(status)
		_, _ = w.Write(append(body, '\n')) // the reader may be gone
	}
}

// listed makes an empty list print as [], not null.
func listed[T any](list []T, err error) (any, error) {
	if err == nil && list == nil {
		list = []T{}
	}
	return list, err
}

func (s *server) decisionsJSON(r *http.Request) (any, error) {
	list, err := s.records.Decisions(r.Context())
	sortDecisions(list)
	return listed(list, err)
}

func (s *server) decisionJSON(r *http.Request) (any, error) {
	return s.records.Decision(r.Context(), workloadOf(r))
}

func (s *server) evaluationsJSON(r *http.Request) (any, error) {
	list, err := s.records.Evaluations(r.Context())
	sortEvaluations(list)
	return listed(list, err)
}

func (s *server) profilesJSON(r *http.Request) (any, error) {
	return listed(s.records.Profiles(r.Context()))
}

func (s *server) profileJSON(r *http.Request) (any, error) {
	return s.records.Profile(r.Context(), r.PathValue("key"))
}

func (s *server) productionsJSON(r *http.Request) (any, error) {
	return listed(s.records.Productions(r.Context()))
}

func (s *server) productionJSON(r *http.Request) (any, error) {
	return s.records.Production(r.Context(), r.PathValue("key"))
}

func (s *server) nodesJSON(r *http.Request) (any, error) {
	list, err := s.records.Nodes(r.Context())
	sortNodes(list)
	return listed(list, err)
}

func (s *server) nodeJSON(r *http.Request) (any, error) {
	return s.findNode(r)
}

func (s *server) observationsJSON(r *http.Request) (any, error) {
	return listed(s.records.Observations(r.Context(), workloadOf(r)))
}

func (s *server) diskLimitsJSON(r *http.Request) (any, error) {
	return listed(s.records.DiskLimits(r.Context(), workloadOf(r)))
}

// measuredJSON is what a group does now, judged as on the pages: whoever shows it
// elsewhere need not know when a target is met.
func (s *server) measuredJSON(r *http.Request) (any, error) {
	id := workloadOf(r)
	decision, err := s.records.Decision(r.Context(), id)
	if err != nil {
		return nil, err
	}
	observations, err := s.records.Observations(r.Context(), id)
	if err != nil {
		return nil, err
	}
	return wording.Measure(decision.Target, observations), nil
}

// findNode returns the node whose id starts with the one asked for, as Nomad's
// own command line accepts it; it must be the only one.
func (s *server) findNode(r *http.Request) (cluster.NodeRecord, error) {
	nodes, err := s.records.Nodes(r.Context())
	if err != nil {
		return cluster.NodeRecord{}, err
	}
	var found []cluster.NodeRecord
	for _, n := range nodes {
		if strings.HasPrefix(string(n.Node.ID), r.PathValue("id")) {
			found = append(found, n)
		}
	}
	if len(found) != 1 {
		return cluster.NodeRecord{}, cluster.ErrNoRecord
	}
	return found[0], nil
}

// chart answers with the small image for Nomad's job page. It is always an
// image: an <img> cannot show an error.
func (s *server) chart(w http.ResponseWriter, r *http.Request) {
	group, ok := strings.CutSuffix(r.PathValue("file"), ".svg")
	if !ok {
		http.NotFound(w, r)
		return
	}
	id := cluster.WorkloadID{Namespace: r.PathValue("namespace"), Job: r.PathValue("job"), Group: group}
	image := statusNothing(id, "log in at the placer's pages to see this")
	if mine, err := s.seenBy(r); err == nil {
		image = mine.chartOf(r, id)
	}
	h := w.Header()
	h.Set("Content-Type", "image/svg+xml")
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin") // Nomad's page is another origin
	_, _ = w.Write([]byte(image))                         // the reader may be gone
}

func (s *server) chartOf(r *http.Request, id cluster.WorkloadID) string {
	decision, err := s.records.Decision(r.Context(), id)
	if errors.Is(err, cluster.ErrNoRecord) {
		return statusNothing(id, s.progressOf(r, id))
	}
	if err != nil {
		s.logFailure(r, http.StatusInternalServerError, err)
		return statusNothing(id, "the placer's record cannot be read now")
	}
	observations, err := s.records.Observations(r.Context(), id)
	if err != nil {
		s.logFailure(r, http.StatusInternalServerError, err)
	}
	return statusChart(decision, wording.Measure(decision.Target, observations))
}

// progressOf is what a held job waits for, for its chart.
func (s *server) progressOf(r *http.Request, id cluster.WorkloadID) string {
	evaluations, err := s.records.Evaluations(r.Context())
	if err != nil {
		s.logFailure(r, http.StatusInternalServerError, err)
	}
	for _, e := range evaluations {
		if e.Job == id.JobID() && e.Message != "" {
			return string(e.Stage) + ": " + e.Message
		}
	}
	return "nothing is recorded for this group yet"
}

func (s *server) healthz(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if s.options.Health != nil {
		if err := s.options.Health(r.Context()); err != nil {
			http.Error(w, "unhealthy: "+err.Error(), http.StatusServiceUnavailable)
			return
		}
	}
	_, _ = w.Write([]byte("ok\n")) // the reader may be gone
}
