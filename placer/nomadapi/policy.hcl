# What an agent of nomad-placer needs, and no more, when it runs as a Nomad job
# with workload identity.
#
#   nomad acl policy apply -namespace default -job nomad-placer nomad-placer policy.hcl
#
# Written by: nomad-placer acl policy -role leader

# Jobs of every namespace are placed; -namespaces names those that are.
namespace "*" {
  capabilities = [
    "read-job",         # see what runs on the nodes, whoever it belongs to; read jobs; follow events
    "list-jobs",        # find held jobs and jobs with a performance block
    "submit-job",       # release a held job; start and remove profiling runs and loans; leave scaling events
    "dispatch-job",     # dispatch again what was dispatched while its parent was held
    "read-fs",          # read a profiling run's result and progress, and logs for log probes and last words
    "alloc-lifecycle",  # stop a best-effort allocation that is in the way of a target; tell a profiling run what to measure next
    "csi-mount-volume", # release a held job with a CSI volume
  ]
}

# Its own namespace, which has its records. A rule that names a namespace replaces
# the one for "*".
namespace "default" {
  capabilities = [
    "read-job",         # see what runs on the nodes, whoever it belongs to; read jobs; follow events
    "list-jobs",        # find held jobs and jobs with a performance block
    "submit-job",       # release a held job; start and remove profiling runs and loans; leave scaling events
    "dispatch-job",     # dispatch again what was dispatched while its parent was held
    "read-fs",          # read a profiling run's result and progress, and logs for log probes and last words
    "alloc-lifecycle",  # stop a best-effort allocation that is in the way of a target; tell a profiling run what to measure next
    "csi-mount-volume", # release a held job with a CSI volume
  ]
  variables {
    path "nomad-placer/*" {
      capabilities = [
        "read",    # read its records, and who leads
        "write",   # keep its records, and elect a leader
        "destroy", # forget the records of jobs that are gone
      ]
    }
  }
}

# See nodes and what they have.
node {
  policy = "read"
}

# See that the hold pool exists.
node_pool "placer" {
  policy = "read"
}

# Release a held job with a host volume.
# Nomad asks whoever registers a job for the right to its volumes; its user's own was
# checked when the job was submitted.
host_volume "*" {
  capabilities = ["mount-readwrite"]
}

# Release a held job with a CSI volume.
plugin {
  policy = "read"
}
