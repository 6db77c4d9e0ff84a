package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"

	"github.com/nomad-placer/nomad-placer/placer/cluster"
	"github.com/nomad-placer/nomad-placer/placer/wording"
	"github.com/nomad-placer/nomad-placer/profiler/interference"
)

// Bounds on what the tab of one job asks of the agent.
const (
	maxTabNodes     = 8  // of a group, with their pressure
	maxTabCoRunners = 12 // on each of those, with what each causes
)

// JobRecord is what the tab of a job shows: the agent's records of it, as they
// are, in one answer. What the agent does not have is absent.
type JobRecord struct {
	Namespace  string                    `json:"namespace"`
	Job        string                    `json:"job"`
	Held       bool                      `json:"held"` // waits in the hold pool
	Evaluation *cluster.Evaluation       `json:"evaluation,omitempty"`
	Progress   string                    `json:"progress,omitempty"` // of the evaluation, in words
	Groups     []GroupRecord             `json:"groups"`
	Sources    []interference.SourceInfo `json:"sources"`
}

// GroupRecord is the part of one task group.
type GroupRecord struct {
	Name         string          `json:"name"`
	Decision     json.RawMessage `json:"decision,omitempty"`
	Observations json.RawMessage `json:"observations,omitempty"`
	Measured     json.RawMessage `json:"measured,omitempty"` // what it does now, with the verdict
	Profile      json.RawMessage `json:"profile,omitempty"`
	Actions      json.RawMessage `json:"actions,omitempty"`
	Learnt       json.RawMessage `json:"learnt,omitempty"` // what production has taught, in words
	WhatIf       bool            `json:"what_if"`          // the agent answers what-if questions
	Nodes        []NodePart      `json:"nodes,omitempty"`
	MoreNodes    int             `json:"more_nodes,omitempty"` // beyond maxTabNodes
	Problems     []string        `json:"problems,omitempty"`   // why something is absent
	Text         *GroupText      `json:"text,omitempty"`       // the decision in words; absent without one
}

// NodePart is one node that a group is on, or meant for.
type NodePart struct {
	ID        string          `json:"id"`
	Node      json.RawMessage `json:"node,omitempty"` // the agent's record
	CoRunners []CoRunnerPart  `json:"neighbours,omitempty"`
	Why       string          `json:"why,omitempty"` // there is no record

	MoreCoRunners int `json:"more_neighbours,omitempty"` // beyond maxTabCoRunners
}

// CoRunnerPart is another workload on such a node.
type CoRunnerPart struct {
	Workload    cluster.WorkloadID  `json:"workload"`
	Allocations int                 `json:"allocations"`
	Caused      interference.Scores `json:"caused,omitempty"`
	Why         string              `json:"why,omitempty"` // nothing is known of it
}

// NodeRecord is what the tab of a client shows.
type NodeRecord struct {
	Node    json.RawMessage           `json:"node,omitempty"`
	Text    *NodeText                 `json:"text,omitempty"` // the node in words
	Sources []interference.SourceInfo `json:"sources"`
}

// The parts of Nomad's answers that we look at.
type (
	nomadJob struct {
		NodePool   string
		TaskGroups []struct{ Name string }
	}
	nomadAllocation struct{ TaskGroup, NodeID, DesiredStatus, ClientStatus string }
)

// serveJobRecord answers …/job/<namespace>/<job>.
func (p *Proxy) serveJobRecord(w http.ResponseWriter, r *http.Request, namespace, job string) {
	ctx, cancel := context.WithTimeout(r.Context(), recordsWithin)
	defer cancel()
	r = r.WithContext(ctx)
	path, query, err := rightForJob(namespace, job)
	if err != nil {
		noRecords(w, http.StatusNotFound, err.Error())
		return
	}
	answer, ok := p.asUser(w, r, path, query)
	if !ok {
		return
	}
	defer answer.Body.Close()
	var j nomadJob
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxReadBytes)).Decode(&j); err != nil {
		noRecords(w, http.StatusBadGateway, "Nomad's answer cannot be read: "+err.Error())
		return
	}
	agent, err := p.records.address(ctx)
	if err != nil {
		noRecords(w, http.StatusServiceUnavailable, "The placer's records cannot be reached: "+err.Error())
		return
	}
	g := gatherer{asker: p.as(r), agent: agent, id: cluster.JobID{Namespace: namespace, ID: job}}
	out := g.job(ctx, j)
	out.Held = j.NodePool == p.o.HoldPool
	answerJSON(w, out)
}

func answerJSON(w http.ResponseWriter, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		noRecords(w, http.StatusInternalServerError, "The records cannot be written: "+err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(data) // the reader may be gone
}

// gatherer collects the records of one job for one user.
type gatherer struct {
	asker
	agent *url.URL
	id    cluster.JobID
}

func (g gatherer) job(ctx context.Context, j nomadJob) JobRecord {
	out := JobRecord{Namespace: g.id.Namespace, Job: g.id.ID, Groups: make([]GroupRecord, len(j.TaskGroups)), Sources: interference.Sources()}
	var allocations []nomadAllocation
	var wait sync.WaitGroup
	wait.Go(func() {
		if e, err := g.evaluated(ctx, g.id); err == nil {
			out.Evaluation = &e
		}
	})
	for i, group := range j.TaskGroups {
		out.Groups[i].Name = group.Name
		wait.Go(func() { g.group(ctx, &out.Groups[i]) })
	}
	wait.Go(func() {
		_, err := g.read(ctx, "/v1/job/"+url.PathEscape(g.id.ID)+"/allocations", url.Values{"namespace": {g.id.Namespace}}, &allocations)
		if err != nil {
			g.o.Log.Debug("a tab without allocations", "job", g.id.String(), "error", err)
		}
	})
	wait.Wait()
	now := g.o.Clock.Now()
	if out.Evaluation != nil {
		out.Progress = progress(*out.Evaluation, now)
	}
	for i := range out.Groups {
		out.Groups[i].words(now)
		wait.Go(func() { g.nodes(ctx, &out.Groups[i], allocations) })
	}
	wait.Wait()
	return out
}

// group reads what the agent knows of one group.
func (g gatherer) group(ctx context.Context, out *GroupRecord) {
	tail := "/" + url.PathEscape(g.id.Namespace) + "/" + url.PathEscape(g.id.ID) + "/" + url.PathEscape(out.Name)
	var mu sync.Mutex
	var wait sync.WaitGroup
	part := func(path string, into *json.RawMessage) {
		data, err := g.records.read(ctx, g.agent, path)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			if line := wording.Capital(err.Error()); !slices.Contains(out.Problems, line) {
				out.Problems = append(out.Problems, line)
			}
			return
		}
		*into = data
	}
	wait.Go(func() {
		part("/v1/decision"+tail, &out.Decision)
		var d struct {
			Key string `json:"profile_key"`
		}
		if json.Unmarshal(out.Decision, &d) == nil && d.Key != "" {
			part("/v1/profile/"+url.PathEscape(d.Key), &out.Profile)
		}
	})
	wait.Go(func() { part("/v1/observations"+tail, &out.Observations) })
	wait.Go(func() { part("/v1/measured"+tail, &out.Measured) })
	wait.Go(func() { part("/v1/actions"+tail, &out.Actions) })
	wait.Go(func() { part("/v1/learnt"+tail, &out.Learnt) })
	wait.Go(func() {
		data, err := g.records.read(ctx, g.agent, "/v1/whatif"+tail)
		mu.Lock()
		defer mu.Unlock()
		out.WhatIf = err == nil && data != nil
	})
	wait.Wait()
}

// nodes adds the nodes the group is on, else those it is meant for.
func (g gatherer) nodes(ctx context.Context, out *GroupRecord, allocations []nomadAllocation) {
	ids := nodesOf(out, allocations)
	if len(ids) > maxTabNodes {
		ids, out.MoreNodes = ids[:maxTabNodes], len(ids)-maxTabNodes
	}
	out.Nodes = make([]NodePart, len(ids))
	of := cluster.WorkloadID{Namespace: g.id.Namespace, Job: g.id.ID, Group: out.Name}
	var wait sync.WaitGroup
	for i, id := range ids {
		wait.Go(func() { out.Nodes[i] = g.node(ctx, id, of) })
	}
	wait.Wait()
}

func nodesOf(out *GroupRecord, allocations []nomadAllocation) []string {
	var ids []string
	for _, a := range allocations {
		live := a.DesiredStatus == "run" && (a.ClientStatus == "running" || a.ClientStatus == "pending")
		if live && a.TaskGroup == out.Name && !slices.Contains(ids, a.NodeID) {
			ids = append(ids, a.NodeID)
		}
	}
	if len(ids) > 0 {
		return ids
	}
	var d struct {
		Count      int                     `json:"count"`
		Candidates []struct{ Node string } `json:"candidates"`
	}
	if json.Unmarshal(out.Decision, &d) != nil {
		return nil
	}
	for _, c := range d.Candidates[:min(max(d.Count, 1), len(d.Candidates))] {
		ids = append(ids, c.Node)
	}
	return ids
}

// node is one node with its other residents, as far as the user may see them.
func (g gatherer) node(ctx context.Context, id string, of cluster.WorkloadID) NodePart {
	out := NodePart{ID: id}
	if !g.may(ctx, "/v1/node/"+url.PathEscape(id), url.Values{}) {
		out.Why = "Your token is not allowed to read this node."
		return out
	}
	data, err := g.records.read(ctx, g.agent, "/v1/node/"+url.PathEscape(id))
	switch {
	case err != nil:
		out.Why = wording.Capital(err.Error())
		return out
	case data == nil:
		out.Why = "The placer has no record of this node."
		return out
	}
	out.Node = data
	var n cluster.NodeRecord
	if err := json.Unmarshal(data, &n); err != nil {
		return out
	}
	others := slices.DeleteFunc(n.Residents, func(r cluster.Resident) bool { return r.Workload == of })
	if len(others) > maxTabCoRunners {
		others, out.MoreCoRunners = others[:maxTabCoRunners], len(others)-maxTabCoRunners
	}
	out.CoRunners = make([]CoRunnerPart, len(others))
	var wait sync.WaitGroup
	for i, resident := range others {
		wait.Go(func() { out.CoRunners[i] = g.coRunner(ctx, resident) })
	}
	wait.Wait()
	return out
}

// coRunner is what another workload causes, where the user may read its job.
func (g gatherer) coRunner(ctx context.Context, r cluster.Resident) CoRunnerPart {
	out := CoRunnerPart{Workload: r.Workload, Allocations: r.Allocations}
	path, query, err := rightForJob(r.Workload.Namespace, r.Workload.Job)
	if err != nil || !g.may(ctx, path, query) {
		out.Why = "Your token is not allowed to read this job."
		return out
	}
	data, err := g.records.read(ctx, g.agent, "/v1/decision/"+url.PathEscape(r.Workload.Namespace)+"/"+url.PathEscape(r.Workload.Job)+"/"+url.PathEscape(r.Workload.Group))
	var d struct {
		Sensitivity interference.Sensitivity `json:"sensitivity"`
	}
	switch {
	case err != nil:
		out.Why = wording.Capital(err.Error())
	case data == nil:
		out.Why = "It has no performance block, so its pressure is unknown."
	case json.Unmarshal(data, &d) == nil:
		out.Caused = d.Sensitivity.Caused
	}
	return out
}

// may reports whether the user may read something of Nomad.
func (g gatherer) may(ctx context.Context, path string, query url.Values) bool {
	answer, err := g.get(ctx, path, query)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// serveNodeRecord answers …/node/<id>.
func (p *Proxy) serveNodeRecord(w http.ResponseWriter, r *http.Request, id string) {
	ctx, cancel := context.WithTimeout(r.Context(), recordsWithin)
	defer cancel()
	r = r.WithContext(ctx)
	answer, ok := p.asUser(w, r, "/v1/node/"+url.PathEscape(id), url.Values{})
	if !ok {
		return
	}
	_ = answer.Body.Close()
	agent, err := p.records.address(ctx)
	if err != nil {
		noRecords(w, http.StatusServiceUnavailable, "The placer's records cannot be reached: "+err.Error())
		return
	}
	data, err := p.records.read(ctx, agent, "/v1/node/"+url.PathEscape(id))
	if err != nil {
		noRecords(w, http.StatusBadGateway, wording.Capital(err.Error()))
		return
	}
	out := NodeRecord{Node: data, Sources: interference.Sources()}
	if data != nil {
		var n cluster.NodeRecord
		if err := json.Unmarshal(data, &n); err != nil {
			noRecords(w, http.StatusBadGateway, otherVersion+err.Error())
			return
		}
		t := nodeText(n, p.o.Clock.Now())
		out.Text = &t
	}
	answerJSON(w, out)
}

// evaluated asks the placer for an evaluation in a bounded time.
func (p *Proxy) evaluated(ctx context.Context, id cluster.JobID) (cluster.Evaluation, error) {
	ctx, cancel := context.WithTimeout(ctx, p.o.PlacerWithin)
	defer cancel()
	e, err := p.o.Placer.Evaluation(ctx, id)
	if err != nil && ctx.Err() != nil {
		return e, errors.Join(err, ctx.Err())
	}
	return e, err
}
