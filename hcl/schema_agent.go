package hcl

import (
	"strconv"
	"strings"

	"github.com/nomad-placer/nomad-placer/profiler/performance"
)

// maxConcurrency bounds profiles at a time: each one loads a whole node.
const maxConcurrency = 64

// Bounds of what is kept of profiles, chosen by us.
const (
	maxKeepDays   = 3650
	maxKeepPerJob = 1000
)

// agentSchema is the grammar of the agent's configuration file.
func agentSchema(o Options) block {
	d := DefaultAgentConfig()
	return block{
		name:    "agent",
		summary: "the configuration file of `nomad-placer agent`",
		attributes: []attribute{
			{
				name: "policy", kind: kindChoice, choices: o.Policies, byDefault: `"` + d.Policy + `"`, example: `"paragon"`,
				summary: "the policy of jobs that name none",
			},
			{
				name: "hold", kind: kindSpan, bounds: bounds{minHoldSeconds, maxHoldSeconds, false},
				byDefault: `"` + formatSpan(d.Hold) + `"`, example: `"5m"`,
				summary: "how long a job that names no hold may be held",
			},
			{
				name: "listen", kind: kindText, byDefault: `"` + d.Listen + `"`, example: `"0.0.0.0:9464"`,
				summary: "host and port of the dashboard and its JSON",
			},
			{
				name: "dashboard_url", kind: kindText, byDefault: "not linked", example: `"http://placer.example:9464"`,
				summary: "where a browser finds the dashboard; job pages of the Nomad UI link there",
			},
			{
				name: "signing_key_file", kind: kindText, byDefault: "unsigned", example: `"/etc/nomad-placer/signing.key"`,
				summary: "the private key that signs what is asked of the driver, where its `signers` ask for that; `nomad-placer keys generate` makes one",
			},
			{
				name: "columns", kind: kindChoices, choices: sourceNames(), byDefault: "what the nodes support",
				example: `["mem_bw", "llc_cap", "int"]`,
				summary: "the sources of interference that are considered in this cluster, in order",
			},
			{
				name: "log_level", kind: kindChoice, choices: []string{"trace", "debug", "info", "warn", "error"},
				byDefault: `"` + d.LogLevel + `"`, example: `"debug"`, summary: "the lowest level that is logged",
			},
			{
				name: "metrics", kind: kindChoice, choices: []string{MetricsLoopback, MetricsToken, MetricsAll},
				byDefault: `"` + d.Metrics + `"`, example: `"token"`,
				summary: "who may read `/metrics` where access control is on: programs on the same machine and holders of a token that may read the placer's Variables, only the latter, or everybody",
			},
			{
				name: "exec_probes", kind: kindTruth, byDefault: "false", example: "true",
				summary: "whether jobs may be measured by commands in their tasks (`probe \"exec\"`); the agent's policy needs the rights of `nomad-placer acl policy -exec-probes` then",
			},
			{
				name: "node_metadata", kind: kindTruth, byDefault: "false", example: "true",
				summary: "whether the pressure of each node is written into its metadata, where Nomad's UI shows it and constraints can use it; the agent's policy needs the right to write nodes then (`nomad-placer acl policy -node-metadata`), and draining and purging go with it",
			},
		},
		blocks: []block{
			{
				name: "pools", summary: "the hold pool and the run pool",
				attributes: []attribute{
					{name: "hold", kind: kindText, byDefault: `"` + d.Pools.Hold + `"`, example: `"placer"`, summary: "the pool without nodes in which jobs wait for their decision"},
					{name: "run", kind: kindText, byDefault: `"` + d.Pools.Run + `"`, example: `"default"`, summary: "the pool that jobs are released into"},
				},
			},
			{
				name: "tls", summary: "serves the dashboard by HTTPS; the files are read again when they change, and on SIGHUP",
				attributes: []attribute{
					{name: "cert_file", kind: kindText, byDefault: "plain HTTP", example: `"/etc/nomad-placer/agent.pem"`, summary: "the certificate"},
					{name: "key_file", kind: kindText, byDefault: "plain HTTP", example: `"/etc/nomad-placer/agent-key.pem"`, summary: "its private key"},
					{name: "client_ca_file", kind: kindText, byDefault: "none", example: `"/etc/nomad-placer/ca.pem"`, summary: "the authorities of callers' certificates"},
					{name: "verify_client", kind: kindTruth, byDefault: "false", example: "true", summary: "whether callers must have a certificate of these authorities, browsers and Prometheus among them"},
				},
			},
			{
				name: "store", summary: "where profiles and decisions are kept", labelled: "store",
				variants: []block{
					{name: "bolt", summary: "one file, for one agent", attributes: []attribute{
						{name: "path", kind: kindText, required: true, example: `"/var/lib/nomad-placer/placer.db"`, summary: "the file"},
					}},
					{name: "nomad", summary: "Nomad Variables, for any number of agents", attributes: []attribute{
						{name: "path", kind: kindText, byDefault: `"` + d.Store.Path + `"`, example: `"nomad-placer"`, summary: "the prefix of the Variables' paths"},
					}},
				},
			},
			provisionSchema(o),
			trafficSchema(d.Traffic),
			diskConfigSchema(),
			{
				name: "profile", summary: "limits what profiling may use",
				attributes: []attribute{
					{
						name: "seconds", kind: kindInteger, bounds: bounds{minProfileSeconds, maxProfileSeconds, false}, unit: "seconds",
						byDefault: strconv.Itoa(d.Profile.Seconds), example: "45", summary: "the length of a profiling run, where a job names none",
					},
					{
						name: "sources", kind: kindChoices, choices: sourceNames(), byDefault: "chosen per job",
						example: `["mem_bw", "llc_cap"]`, summary: "the sources that are measured where a job names none",
					},
					{
						name: "prefer", kind: kindChoices, choices: sourceNames(), byDefault: "the most informative ones",
						example: `["mem_bw", "llc_cap", "llc_bw"]`, summary: "where sources are chosen per job, these are measured first if the node has their kernels; name those whose scores must be exact",
					},
					{
						name: "concurrency", kind: kindInteger, bounds: bounds{1, maxConcurrency, false}, unit: "profiles",
						byDefault: strconv.Itoa(d.Profile.Concurrency), example: "1", summary: "profiling runs at a time in the cluster; namespaces take turns",
					},
					{
						name: "seconds_max", kind: kindInteger, bounds: bounds{minProfileSeconds, maxProfileSeconds, false}, unit: "seconds",
						byDefault: strconv.Itoa(d.Profile.SecondsMax), example: "300", summary: "the longest profiling run that a job may ask for; others wait for it",
					},
					{
						name: "adaptive", kind: kindTruth, byDefault: "false", example: "true",
						summary: "whether a run whose sources nobody names is told while it goes on what to measure next, by the nodes that are candidates and what runs there, and ends when nothing more is expected to change a decision; `seconds` is the most then",
					},
					{
						name: "when", kind: kindChoice, choices: performance.Whens(), byDefault: `"` + string(d.Profile.When) + `"`, example: `"quiet"`,
						summary: "when a group is profiled that does not say when: before it is placed, after, or after where the cluster is quiet",
					},
					{
						name: "share", kind: kindChoice, choices: []string{ShareNamespace, ShareAll}, byDefault: `"` + d.Profile.Share + `"`, example: `"all"`,
						summary: "whose profiles count for whom: those of a namespace for itself alone, or all for all. With `all`, a tenant whose workload behaves otherwise while it is measured moves the predictions of others",
					},
					{
						name: "share_between", kind: kindTexts, byDefault: "none", example: `["web-dev", "web-prod"]`,
						summary: "namespaces that share profiles among themselves",
					},
					{
						name: "ignore_env", kind: kindTexts, byDefault: "usual names of a build: " + strings.Join(d.Profile.IgnoreEnv, ", "), example: `["BUILD_ID", "GIT_COMMIT"]`,
						summary: "variables of a task's environment that do not make another workload of it, so that its profile outlives them. Name none by which a program chooses what it runs",
					},
					{
						name: "keep_days", kind: kindInteger, bounds: bounds{1, maxKeepDays, false}, unit: "days",
						byDefault: strconv.Itoa(d.Profile.KeepDays), example: "90", summary: "a profile that no job has used for so long is deleted",
					},
					{
						name: "keep_per_job", kind: kindInteger, bounds: bounds{1, maxKeepPerJob, false}, unit: "profiles",
						byDefault: strconv.Itoa(d.Profile.KeepPerJob), example: "10", summary: "profiles kept of each group of a job, in addition to that in use; the oldest are deleted",
					},
				},
			},
		},
	}
}
