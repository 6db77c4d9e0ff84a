package dashboard

import (
	"cmp"
	"html/template"
	"net/url"
	"slices"
	"time"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/chart"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

func templateFuncs() template.FuncMap {
	return template.FuncMap{
		"ago":         wording.Ago,
		"duration":    wording.Duration,
		"target":      wording.Target,
		"number":      wording.Number,
		"money":       wording.Money,
		"points":      wording.Points,
		"source":      wording.Source,
		"resources":   wording.Resources,
		"rejection":   wording.Rejection,
		"score":       wording.Score,
		"interval":    wording.Interval,
		"narrowed":    wording.Narrowed,
		"between":     wording.Between,
		"quantity":    wording.Quantity,
		"jobpath":     func(w cluster.WorkloadID) string { return JobPath(w)[1:] },
		"recordpath":  func(w cluster.WorkloadID) string { return workloadPath(w)[1:] },
		"nodepath":    func(id cluster.NodeID) string { return "node/" + url.PathEscape(string(id)) },
		"shortid":     shortID,
		"profilepath": func(key string) string { return "profile/" + url.PathEscape(key) },
		"stamp":       func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
		"percent":     func(v float64) string { return wording.Number(v*100) + " %" },
		"seconds":     func(v float64) string { return wording.Duration(time.Duration(v * float64(time.Second))) },
		"iso":         func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"pair":        func(a, b any) struct{ A, B any } { return struct{ A, B any }{a, b} },
		"colour":      chart.Colour,
	}
}

// JobPath is the address of a workload's page, below that of the dashboard.
func JobPath(w cluster.WorkloadID) string { return "/job" + workloadPath(w) }

// ChartPath is the address of a workload's small chart.
func ChartPath(w cluster.WorkloadID) string { return "/chart" + workloadPath(w) + ".svg" }

// workloadPath is the tail of a workload's addresses. Names may hold any
// character.
func workloadPath(w cluster.WorkloadID) string {
	return "/" + url.PathEscape(w.Namespace) + "/" + url.PathEscape(w.Job) + "/" + url.PathEscape(w.Group)
}

// nomadJob is a job's page in Nomad's own UI; empty where that is not known.
func (s *server) nomadJob(j cluster.JobID) string {
	if s.options.NomadURL == "" {
		return ""
	}
	return s.options.NomadURL + "/ui/jobs/" + url.PathEscape(j.ID+"@"+j.Namespace)
}

func (s *server) nomadNode(id cluster.NodeID) string {
	if s.options.NomadURL == "" {
		return ""
	}
	return s.options.NomadURL + "/ui/clients/" + url.PathEscape(string(id))
}

// shortID is the first block of a node's id, as Nomad prints it.
func shortID(id cluster.NodeID) string {
	if len(id) > 8 {
		return string(id[:8])
	}
	return string(id)
}

// chosen are the nodes a decision is meant for: one for each allocation, best
// first. The other candidates are there for the day one of them dies.
func chosen(d cluster.Decision) []cluster.Candidate {
	return d.Candidates[:min(max(d.Count, 1), len(d.Candidates))]
}

// chosenShort are the first nodes of a placed decision, and how many more there
// are.
func chosenShort(d cluster.Decision) (nodes []cluster.Candidate, more int) {
	const shown = 3
	if d.Outcome != cluster.Placed {
		return nil, 0
	}
	nodes = chosen(d)
	if len(nodes) > shown {
		return nodes[:shown], len(nodes) - shown
	}
	return nodes, 0
}

// knownSources are the sources of which a score is known, in the order of the
// paper.
func knownSources(s interference.Sensitivity) []interference.Source {
	var out []interference.Source
	for _, info := range interference.Sources() {
		if s.Tolerated[info.Source].Score.Known() || s.Caused[info.Source].Score.Known() {
			out = append(out, info.Source)
		}
	}
	return out
}

func sortDecisions(list []cluster.Decision) {
	slices.SortFunc(list, func(a, b cluster.Decision) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Workload.String(), b.Workload.String()))
	})
}

func sortEvaluations(list []cluster.Evaluation) {
	slices.SortFunc(list, func(a, b cluster.Evaluation) int {
		return cmp.Or(b.StartedAt.Compare(a.StartedAt), cmp.Compare(a.Job.String(), b.Job.String()))
	})
}

func sortNodes(list []cluster.NodeRecord) {
	slices.SortFunc(list, func(a, b cluster.NodeRecord) int {
		return cmp.Or(cmp.Compare(a.Node.Name, b.Node.Name), cmp.Compare(a.Node.ID, b.Node.ID))
	})
}

// badge is a coloured word; Kind is its CSS class.
type badge struct{ Text, Kind string }

func outcomeBadge(o cluster.Outcome) badge {
	kind := "plain"
	switch o {
	case cluster.Placed:
		kind = "good"
	case cluster.Queued:
		kind = "warn"
	}
	return badge{wording.Outcome(o), kind}
}

func verdictBadge(v wording.Verdict) badge {
	switch v {
	case wording.Met:
		return badge{"✓ met", "good"}
	case wording.Missed:
		return badge{"✗ missed", "bad"}
	default:
		return badge{}
	}
}

// evaluationView is one evaluation under way.
type evaluationView struct {
	cluster.Evaluation
	Percent   string // for the progress element; empty while unknown
	Remaining string
	Hold      string // until the hold deadline; empty where the job is not held
	Overdue   bool
}

func viewEvaluation(e cluster.Evaluation, now time.Time) evaluationView {
	v := evaluationView{Evaluation: e, Remaining: wording.Remaining(e), Hold: wording.HoldDeadline(e, now)}
	if e.Fraction != nil {
		v.Percent = wording.Number(*e.Fraction * 100)
	}
	v.Overdue = v.Hold != "" && now.After(e.Deadline)
	return v
}
