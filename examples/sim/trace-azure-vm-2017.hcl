base   = "trace.base.hcl"
title  = "Azure 2017: an hour and a half of virtual machines on 1,000 servers"
source = "Cortez and others 2017; Bergsma and others 2021"
notes = [
  "applications with interference are drawn from the classes; the trace has none",
  "lifetimes are given in bins; drawn inside them",
]
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
