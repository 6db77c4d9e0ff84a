base   = "trace.base.hcl"
title  = "Alibaba 2023: pods with QoS classes on their 1,523 servers"
source = "Weng and others 2023, openb pod list"
notes = [
  "applications with interference are drawn from the classes; the trace has none",
  "devices are left out: processors and memory only",
]
limit = "9600h"

cluster {
  machines = "../../../shared/data/alibaba-gpu-2023"
}

trace "alibaba-gpu-2023" {
  path      = "../../../shared/data/alibaba-gpu-2023"
  files     = ["openb_pod_list_first.csv.gz"]
  limit     = 5500
  classes   = ["ST", "MT", "MP", "IO"]
  platforms = "published"
}
