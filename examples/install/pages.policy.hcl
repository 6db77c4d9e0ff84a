# What an agent of nomad-placer needs that serves pages only (-role pages): it
# reads.
#
#   nomad acl policy apply -namespace default -job nomad-placer-pages nomad-placer-pages policy.hcl
#
# Written by: nomad-placer acl policy -role pages

# Jobs of every namespace are placed; -namespaces names those that are.
namespace "*" {
  capabilities = [
    "read-job",  # see what runs on the nodes, whoever it belongs to; read jobs; follow events
    "list-jobs", # find held jobs and jobs with a performance block
  ]
}

# Its own namespace, which has its records. A rule that names a namespace replaces
# the one for "*".
namespace "default" {
  capabilities = [
    "read-job",  # see what runs on the nodes, whoever it belongs to; read jobs; follow events
    "list-jobs", # find held jobs and jobs with a performance block
  ]
  variables {
    path "nomad-placer/*" {
      capabilities = [
        "read", # read its records, and who leads
      ]
    }
  }
}

# See nodes and what they have.
node {
  policy = "read"
}
