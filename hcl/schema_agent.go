package hcl

import "strconv"

// maxConcurrency bounds profiles at a time: each one loads a whole node.
const maxConcurrency = 64

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
				name: "columns", kind: kindChoices, choices: sourceNames(o.Sources), byDefault: "what the nodes support",
				example: `["mem_bw", "llc_cap", "int"]`,
				summary: "the sources of interference that count in this cluster, in order",
			},
			{
				name: "log_level", kind: kindChoice, choices: []string{"trace", "debug", "info", "warn", "error"},
				byDefault: `"` + d.LogLevel + `"`, example: `"debug"`, summary: "the least severity that is logged",
			},
		},
		blocks: []block{
			{
				name: "pools", summary: "the two node pools of the gate",
				attributes: []attribute{
					{name: "hold", kind: kindText, byDefault: `"` + d.Pools.Hold + `"`, example: `"placer"`, summary: "the pool without nodes that holds jobs"},
					{name: "run", kind: kindText, byDefault: `"` + d.Pools.Run + `"`, example: `"default"`, summary: "the pool held jobs are released to"},
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
			{
				name: "profile", summary: "bounds what profiling may use",
				attributes: []attribute{
					{
						name: "seconds", kind: kindInteger, bounds: bounds{minProfileSeconds, maxProfileSeconds, false}, unit: "seconds",
						byDefault: strconv.Itoa(d.Profile.Seconds), example: "45", summary: "the length of a profile whose job names none",
					},
					{
						name: "sources", kind: kindChoices, choices: sourceNames(o.Sources), byDefault: "chosen per job",
						example: `["mem_bw", "llc_cap"]`, summary: "the sources that are measured where a job names none",
					},
					{
						name: "prefer", kind: kindChoices, choices: sourceNames(o.Sources), byDefault: "those that tell most of the others",
						example: `["mem_bw", "llc_cap", "llc_bw"]`, summary: "where sources are chosen per job: these first, as far as a node can press on them, such as those whose scores bear least error",
					},
					{
						name: "concurrency", kind: kindInteger, bounds: bounds{1, maxConcurrency, false}, unit: "profiles",
						byDefault: strconv.Itoa(d.Profile.Concurrency), example: "1", summary: "profiles that run at a time in the cluster",
					},
				},
			},
		},
	}
}
