base   = "trace.base.hcl"
title  = "Alibaba 2017: two hours of batch tasks on 1,000 servers"
source = "Alibaba cluster-trace-v2017, batch_task"
notes = [
  "applications with interference are drawn from the classes; the trace has none",
  "a sample of one task in twelve, on a cluster of 1,000 servers of 14 configurations instead of 1,313 alike",
  "1 of the normalised memory is 64 GiB, a choice",
]
limit = "4h"

cluster {
  shape = "paragon-ec2-1000"
}

trace "alibaba-2017" {
  path      = "../../../shared/data/alibaba-2017"
  to        = "2h"
  sample    = 0.08
  memory_mb = 65536
  classes   = ["ST", "MT", "MP", "IO"]
  platforms = "published"
}
