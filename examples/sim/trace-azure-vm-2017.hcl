title  = "Azure 2017: an hour and a half of virtual machines on 1,000 servers"
source = "Cortez and others 2017; Bergsma and others 2021"
notes = [
  "applications with interference are drawn from the classes; the trace has none",
  "lifetimes are given in bins; drawn inside them",
]
seeds = [1, 2, 3]
limit = "24h"

cluster {
  shape = "paragon-ec2-1000"
}

trace "azure-vm-2017" {
  path      = "../../../shared/data/azure-vm-2017"
  to        = "90m"
  classes   = ["ST", "MT", "MP", "IO"]
  platforms = "published"
}

profiling {
  time = "10s"
}

policy "paragon" {
  knowledge = "planned"
}
policy "least-loaded" {}
policy "paragon-oracle" {
  selector  = "paragon"
  knowledge = "oracle"
}
policy "nomad-binpack" { admission = "none" }
policy "nomad-spread"  { admission = "none" }
