package hcl

// DiskConfig says what is known of disks besides what is promised of them.
type DiskConfig struct {
	Uses  string `json:"uses,omitempty"`  // folder of recorded uses; empty: nothing is forecast
	Twins string `json:"twins,omitempty"` // folder of storage models by workload; empty: there are none
	Limit string `json:"limit"`           // which promises are limits on the agent's node: LimitJobs and others
	Data  string `json:"data,omitempty"`  // a folder on the disk that is bounded; empty: that of the agent's allocation
}

// Which promises of disk bandwidth are also limits on the agent's node.
const (
	LimitNone = "none"
	LimitJobs = "jobs" // those of jobs that ask for it
	LimitAll  = "all"
)

func diskConfigSchema() block {
	return block{
		name: "disk", summary: "what is known of what jobs do to disks, for the records of decisions, and what of promised bandwidth is also a limit; nothing is decided by it",
		attributes: []attribute{
			{
				name: "uses", kind: kindText, byDefault: "none", example: `"/var/lib/placer/uses"`,
				summary: "a folder with the tables (.csv) that `nomad-placer consolidate record` wrote on the nodes; the agent reads it every five minutes, and the record of a job that asks for disk bandwidth says what the disk is expected to do in the next 30 minutes",
			},
			{
				name: "twins", kind: kindText, byDefault: "none", example: `"/var/lib/placer/twins"`,
				summary: "a folder with storage models of workloads that `nomad-placer twin fit` wrote, each at NAMESPACE/JOB/GROUP.twin (a / in a name is %2F); the record of a job that leans on storage says what its twin says of storage_bw, next to its profile",
			},
			{
				name: "limit", kind: kindChoice, choices: []string{LimitNone, LimitJobs, LimitAll}, byDefault: `"` + LimitJobs + `"`, example: `"all"`,
				summary: "which promises of disk bandwidth are also limits on the node that the agent runs on: of jobs that say `limit = true`, of all, or of none",
			},
			{
				name: "data", kind: kindText, byDefault: "the folder of the agent's own allocation, where it is a job", example: `"/var/lib/nomad/alloc"`,
				summary: "a folder on the disk that is limited, which is that of the node's allocations",
			},
		},
	}
}
