// Package rights is the one list of what the placer may do in a cluster: each right with
// the calls of Nomad's API that need it, who makes them, and why. Policies are written from
// it, `nomad-placer check` compares with it, and the agent notes which of it was used.
//
// What a call needs is read from Nomad 1.11.2 (nomad/*_endpoint.go, client/*_endpoint.go)
// and tried, right by right, by TestEachRightIsNeeded on a real one.
package rights

import "slices"

// Role is a part of the placer with a token of its own.
type Role string

// The roles. A leader is an agent that may lead: it also keeps hold deadlines and serves
// pages. An agent that serves pages only changes nothing in the cluster but the records.
const (
	Leader Role = "leader"
	Pages  Role = "pages"
	User   Role = "user"
)

// Roles are all of them.
func Roles() []string { return []string{string(Leader), string(Pages), string(User)} }

// Scope is what a right is about: a block of an ACL policy.
type Scope string

// The scopes.
const (
	Served      Scope = "served"      // each namespace whose jobs are placed
	Everywhere  Scope = "everywhere"  // every namespace
	Variables   Scope = "variables"   // the records, in the placer's own namespace
	Nodes       Scope = "node"        // all nodes
	HoldPool    Scope = "node_pool"   // the hold pool
	HostVolumes Scope = "host_volume" // all host volumes
	Plugins     Scope = "plugin"      // CSI plugins
)

// Option is what an operator has to allow before a right is given.
type Option string

// The options: a right without one is always given.
const (
	ExecProbes     Option = "exec-probes"
	NodeMetadata   Option = "node-metadata"
	CreateHoldPool Option = "create-hold-pool"
)

// Right is one right of a policy.
type Right struct {
	Scope      Scope    `json:"scope"`
	Capability string   `json:"capability"` // or policy, where the block has no capabilities
	Why        string   `json:"to"`         // ends a sentence: "… which the agent needs to"
	Roles      []Role   `json:"roles"`
	With       Option   `json:"with,omitempty"` // only with this option
	Calls      []string `json:"calls"`          // what needs it: method and path, as http.ServeMux takes them
}

// Name is the right as a policy has it, without where it counts.
func (r Right) Name() string { return string(r.Scope) + " " + r.Capability }

// agents are the roles of `nomad-placer agent`.
var agents = []Role{Leader, Pages}

// Calls that more than one right is needed for.
const (
	registerJob = "PUT /v1/job/{id}"
	execInTask  = "GET /v1/client/allocation/{id}/exec"
	readEvents  = "GET /v1/event/stream"
)

// table is in the order of the policies.
var table = []Right{
	{
		Scope: Everywhere, Capability: "read-job", Roles: agents,
		Why: "see what runs on the nodes, whoever it belongs to; read jobs; follow events",
		Calls: []string{
			"GET /v1/job/{id}", "GET /v1/job/{id}/submission", "GET /v1/job/{id}/versions", "GET /v1/job/{id}/allocations", "GET /v1/job/{id}/evaluations", "GET /v1/job/{id}/deployment",
			"GET /v1/allocations", "GET /v1/evaluations", "GET /v1/client/allocation/{id}/stats", readEvents,
		},
	},
	{
		Scope: Served, Capability: "list-jobs", Roles: agents,
		Why: "find held jobs and jobs with a performance block", Calls: []string{"GET /v1/jobs"},
	},
	{
		Scope: Served, Capability: "submit-job", Roles: []Role{Leader},
		Why:   "release a held job; start and remove profiling runs and loans; leave scaling events",
		Calls: []string{registerJob, "PUT /v1/job/{id}/scale", "DELETE /v1/job/{id}"},
	},
	{
		Scope: Served, Capability: "dispatch-job", Roles: []Role{Leader},
		Why: "dispatch again what was dispatched while its parent was held", Calls: []string{"PUT /v1/job/{id}/dispatch"},
	},
	{
		Scope: Served, Capability: "read-fs", Roles: []Role{Leader},
		Why:   "read a profiling run's result and progress, and logs for log probes and last words",
		Calls: []string{"GET /v1/client/fs/cat/{id}", "GET /v1/client/fs/ls/{id}", "GET /v1/client/fs/readat/{id}", "GET /v1/client/fs/logs/{id}"},
	},
	{
		Scope: Served, Capability: "alloc-lifecycle", Roles: []Role{Leader},
		Why:   "stop a best-effort allocation that is in the way of a target; tell a profiling run what to measure next",
		Calls: []string{"PUT /v1/allocation/{id}/stop", "PUT /v1/client/allocation/{id}/signal"},
	},
	{
		Scope: Served, Capability: "csi-mount-volume", Roles: []Role{Leader},
		Why: "release a held job with a CSI volume", Calls: []string{registerJob},
	},
	{
		Scope: Served, Capability: "alloc-exec", Roles: []Role{Leader}, With: ExecProbes,
		Why: "run the command of an exec probe in its task", Calls: []string{execInTask},
	},
	{
		Scope: Served, Capability: "alloc-node-exec", Roles: []Role{Leader}, With: ExecProbes,
		Why: "run it in tasks without file system isolation (raw_exec)", Calls: []string{execInTask},
	},
	{
		Scope: Variables, Capability: "read", Roles: agents,
		Why: "read its records, and who leads", Calls: []string{"GET /v1/var/{path...}", "GET /v1/vars"},
	},
	{
		Scope: Variables, Capability: "write", Roles: []Role{Leader},
		Why: "keep its records, and elect a leader", Calls: []string{"PUT /v1/var/{path...}"},
	},
	{
		Scope: Variables, Capability: "destroy", Roles: []Role{Leader},
		Why: "forget the records of jobs that are gone", Calls: []string{"DELETE /v1/var/{path...}"},
	},
	{
		Scope: Nodes, Capability: "read", Roles: agents,
		Why: "see nodes and what they have", Calls: []string{"GET /v1/nodes", "GET /v1/node/{id}", readEvents},
	},
	{
		Scope: Nodes, Capability: "write", Roles: []Role{Leader}, With: NodeMetadata,
		Why: "write the pressure of each node into its metadata", Calls: []string{"POST /v1/client/metadata"},
	},
	{
		Scope: HoldPool, Capability: "read", Roles: []Role{Leader},
		Why: "see that the hold pool exists", Calls: []string{"GET /v1/node/pool/{name}"},
	},
	{
		Scope: HoldPool, Capability: "write", Roles: []Role{Leader}, With: CreateHoldPool,
		Why: "create the hold pool where it is missing", Calls: []string{"PUT /v1/node/pools"},
	},
	{
		Scope: HostVolumes, Capability: "mount-readwrite", Roles: []Role{Leader},
		Why: "release a held job with a host volume", Calls: []string{registerJob},
	},
	{
		Scope: Plugins, Capability: "read", Roles: []Role{Leader},
		Why: "release a held job with a CSI volume", Calls: []string{registerJob},
	},

	{Scope: Served, Capability: "parse-job", Roles: []Role{User}, Why: "have the jobspec read, without its performance blocks", Calls: []string{"PUT /v1/jobs/parse"}},
	{Scope: Served, Capability: "submit-job", Roles: []Role{User}, Why: "run, release and strip a job", Calls: []string{"PUT /v1/jobs", registerJob}},
	{Scope: Served, Capability: "read-job", Roles: []Role{User}, Why: "follow the job", Calls: []string{"GET /v1/job/{id}"}},
	{Scope: Served, Capability: "list-jobs", Roles: []Role{User}, Why: "see all that runs on a node", Calls: []string{"GET /v1/jobs"}},
	{Scope: Variables, Capability: "read", Roles: []Role{User}, Why: "read the placer's records: decisions, evaluations, profiles, observations", Calls: []string{"GET /v1/var/{path...}", "GET /v1/vars"}},
	{Scope: Nodes, Capability: "read", Roles: []Role{User}, Why: "see nodes and what they have", Calls: []string{"GET /v1/nodes", "GET /v1/node/{id}"}},
}

// Of are the rights of a role, in the order of its policy. What an option allows is left
// out where it is not among those given.
func Of(role Role, with ...Option) []Right {
	var out []Right
	for _, r := range table {
		if slices.Contains(r.Roles, role) && (r.With == "" || slices.Contains(with, r.With)) {
			out = append(out, r)
		}
	}
	return out
}
