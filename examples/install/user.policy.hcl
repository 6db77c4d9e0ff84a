# What a person needs for `nomad-placer job run`, `plan`, `explain`, `status`,
# `release` and `strip`, and for `node` and `profile`; and a proxy.
#
#   nomad acl policy apply placer-user policy.hcl
#
# Written by: nomad-placer acl policy -role user

# People submit jobs here, and the placer's records are here.
namespace "default" {
  capabilities = [
    "parse-job",  # have the jobspec read, without its performance blocks
    "submit-job", # run, release and strip a job
    "read-job",   # follow the job
    "list-jobs",  # see all that runs on a node
  ]
  variables {
    path "nomad-placer/*" {
      capabilities = [
        "read", # read the placer's records: decisions, evaluations, profiles, observations
      ]
    }
  }
}

# See nodes and what they have.
node {
  policy = "read"
}
