// Package dashboard serves the placer's records as pages, charts and JSON.
//
// It shows what is recorded, counts and adds it up, and decides nothing: a page, its JSON twin under
// /v1 and the command line print the same Decision. What is not known is shown
// as unknown, never as zero. Pages are rendered on the server, work without
// scripts, load nothing from elsewhere, and carry a strict content security
// policy; the charts are SVG drawn in chart.go. Two scripts improve them:
// refresh.js puts new content in place, and heat.js draws the heat map of a large
// cluster with only the rows in view. With Options.Access every request but those of
// styles, scripts and /healthz needs a token of Nomad, by a header or by the form at
// /login, and sees what Nomad lets it see. No page writes anything: the what-if forms
// are GETs that ask the engine for a preview, and for a replay of the runs on record.
//
//	/                                  jobs, evaluations under way, nodes × sources
//	/heat                              all nodes × sources: sort, filter
//	/targets                           jobs against their targets
//	/log                               decisions, newest first
//	/policies                          what each policy decided, and how jobs do under it
//	/traffic                           which jobs, racks and nodes exchange how much
//	/profiles, /profile/<key>          what was measured of workloads
//	/job/<namespace>/<job>/<group>     one decision, the profile behind it, what happens now, and what if
//	/node/<id>                         one node: room, headroom, residents
//	/provision                         nodes that are rented, what they cost, and what other strategies would have cost
//	/chart/<namespace>/<job>/<group>.svg  the small chart on Nomad's own job page
//	/v1/…                              the same records as JSON
//	/metrics, /healthz                 for machines
//
// The JSON is stable: fields are added, never renamed. Lists print [] when
// empty; an error is {"error": "…"} with its status, 404 where there is no such
// record. Segments of a path are escaped as one segment each.
//
//	/v1/decisions                      []cluster.Decision, newest first: the newest of every group
//	/v1/decision/<ns>/<job>/<group>    cluster.Decision
//	/v1/evaluations                    []cluster.Evaluation
//	/v1/profiles, /v1/profile/<key>    keys; profile.Profile
//	/v1/productions, /v1/production/<key>  keys; profile.Production: what running jobs said of a workload
//	/v1/nodes, /v1/node/<id>           []cluster.NodeRecord; one
//	/v1/observations/<ns>/<job>/<group>  []cluster.Observation, oldest first
//	/v1/disk-limits/<ns>/<job>/<group>   []cluster.DiskLimit, by node
//	/v1/measured/<ns>/<job>/<group>    wording.Measured: what the group does now, with its verdict: met, missed, absent where it is not known
//	/v1/learnt/<ns>/<job>/<group>      wording.Learnt: what production has taught of the group, in words
//	/v1/actions/<ns>/<job>/<group>     []cluster.ActionRecord, oldest first; [] where none are recorded
//	/v1/heat                           two matrices, nodes × sources (heatRecord)
//	/v1/targets                        a row for every job (targetRecord), the missed ones first
//	/v1/policies                       a row for every policy (policyRecord)
//	/v1/traffic                        traffic.Report: what jobs and nodes exchange, and what uplinks are expected to carry
//	/v1/whatif/<ns>/<job>/<group>      Answer, and its decision in words; ?policy=, ?target= (a number in the target's unit, or a span), ?latency=
//	/v1/provision                      provision.Report: types, rented nodes, what is spent; 404 where none are rented
//	/v1/provision/capacity             provision.Capacities, oldest first
//	/v1/provision/runs                 provision.Runs: every run of a job on record, for who may read all records
//	/v1/provision/whatif               provision.Answering: what strategies would have cost, or how far the answer is;
//	                                   ?since= (a span), ?cores=, ?memory_mb=, ?price=, ?term_weeks= of an owned node
//
// Links in pages are relative: the handler may be mounted under any path, either
// with Options.Base or with the path taken off by the mount (http.StripPrefix, or
// a proxy). Only the path without its slash at the end needs a redirect.
//
// The theory of the numbers shown is in profiler/interference (scores) and
// placer/policy (D1, D2 and headroom; Delimitrou 2015, §3.4). Headroom of a
// node is the least pressure any resident tolerates, which is what a newcomer
// may cause; its pressure is what the residents cause together, which is what a
// newcomer must tolerate.
//
// # Differences from the paper
//
// The papers have no user interface.
package dashboard
