base   = "trace.base.hcl"
title  = "Philly 2017: training jobs on 40 servers"
source = "Jeon and others 2019"
notes = [
  "applications with interference are drawn from the classes; the trace has none",
  "the trace has GPUs and no cores: two cores and 4 GiB are taken for each",
]
limit = "2400h"

cluster {
  shape = "quasar-local-40"
}

trace "philly" {
  path  = "../../../shared/data/philly-jobs"
  limit = 1500

  task_cores {
    median = 2
  }
  task_memory_mb {
    median = 4096
  }
  classes   = ["ST", "MT", "MP", "IO"]
  platforms = "published"
}
