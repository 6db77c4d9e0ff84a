# What `nomad-placer agent` needs, and no more, when it runs as a Nomad job with
# workload identity (`identity { env = true }`):
#
#   nomad acl policy apply -namespace default -job nomad-placer nomad-placer policy.hcl

# Jobs may be submitted in any namespace; narrow this to the namespaces the
# placer serves where that is wanted.
namespace "*" {
  capabilities = [
    "list-jobs",       # find held jobs and jobs with a performance block
    "read-job",        # jobs, their submissions, allocations, evaluations; job and allocation events
    "submit-job",      # release a held job; start and remove profiling runs and loans; leave scaling events
    "read-fs",         # a profiling run's result and progress; logs, for log probes and last words
    "alloc-exec",      # exec probes
    "alloc-node-exec", # exec probes in tasks without file system isolation (raw_exec)
    "alloc-lifecycle", # stop a best-effort allocation that is in the way of a target
    "csi-mount-volume", # release a held job with a CSI volume
  ]
}

# Its own namespace: the same, because a rule that names a namespace replaces the
# rule for "*", and its own state: profiles, decisions, leadership.
namespace "default" {
  capabilities = [
    "list-jobs", "read-job", "submit-job", "read-fs", "alloc-exec", "alloc-node-exec", "alloc-lifecycle",
    "csi-mount-volume",
  ]
  variables {
    path "nomad-placer/*" {
      capabilities = ["read", "list", "write", "destroy"]
    }
  }
}

# Read nodes, their resources and their events; write each node's pressure as
# dynamic node metadata, which Nomad counts as writing the node.
node {
  policy = "write"
}

# Nomad asks whoever registers a job for the right to its volumes, and releasing a held
# job registers it. Its user's own right was checked when the job was submitted.
host_volume "*" {
  policy = "write"
}
plugin {
  policy = "read"
}

# Create the hold pool where it is missing.
node_pool "placer" {
  policy = "write"
}
