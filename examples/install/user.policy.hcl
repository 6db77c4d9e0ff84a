# What a person needs for `nomad-placer job run`, `plan`, `explain`, `status`,
# `release` and `strip`, and for `node` and `profile`:
#
#   nomad acl policy apply placer-user examples/install/user.policy.hcl
#   nomad acl token create -name=me -policy=placer-user
namespace "default" {
  capabilities = [
    "parse-job",  # the jobspec, without its performance blocks
    "submit-job", # run, release, strip
    "read-job",   # follow the job
    "list-jobs",  # all that runs on a node
  ]

  # The placer's records: decisions, evaluations, profiles, observations.
  variables {
    path "nomad-placer/*" {
      capabilities = ["read", "list"]
    }
  }
}

node {
  policy = "read"
}
